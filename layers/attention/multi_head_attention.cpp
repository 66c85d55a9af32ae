#include "layers/attention/multi_head_attention.h"

#include <algorithm>
#include <vector>

#include "core/listener.h"
#include "core/ops.h"
#include "layers/attention/positions.h"
#include "layers/named.h"

namespace lamina {

namespace {

/// `count` matrices side by side, each drawn for itself: one product with them starts as `count` layers would.
Initializer side_by_side(const Initializer& initial, size_t count) {
  return [=](const Shape& shape, const Random& random) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < count; ++i)
      parts.push_back(initial({shape[0], shape[1] / count}, random.split(i)));
    return concatenate(parts, -1);
  };
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(Parameters& parameters, const std::string& name,
                                       const MultiHeadAttentionOptions& options)
    : name_(name),
      width_(options.width),
      heads_(options.heads),
      memory_width_(options.memory_width),
      causal_(options.causal),
      rotary_(options.rotary) {
  const auto who = [&] { return text("attention '", name, "': "); };
  if (width_ == 0 || heads_ == 0 || width_ % heads_ != 0)
    fail(who(), "width ", width_, " and ", heads_,
         " heads; the width must be a positive multiple of the heads");
  if (rotary_ && width_ / heads_ % 2 != 0)
    fail(who(), "heads of width ", width_ / heads_, "; rotary positions need an even one");
  if (memory_width_ != 0 && (rotary_ || causal_))
    fail(who(), "causal order and rotary positions are undefined between x and a memory; leave them out");
  const auto linear_of = [&](const char* part, size_t input, size_t matrices) {
    return Linear(parameters, name + part,
                  {.input = input,
                   .output = matrices * width_,
                   .bias = options.bias,
                   .weights = options.weights,
                   .initial = side_by_side(options.initial, matrices)});
  };
  if (memory_width_ == 0) {
    in_ = linear_of(".in", width_, 3);
  } else {
    query_ = linear_of(".query", width_, 1);
    memory_ = linear_of(".memory", memory_width_, 2);
  }
  out_ = linear_of(".out", width_, 1);
}

void MultiHeadAttention::require(const Tensor& x, const char* what, size_t width) const {
  require_values("attention", x);
  if (x.shape().rank() != 3 || x.columns() != width)
    fail("attention '", name_, "': ", what, " is ", x.shape(), "; it must be [cases x length x ", width, "]");
}

Tensor MultiHeadAttention::queries_keys_values(const Tensor& x, size_t first) const {
  require(x, "x", width_);
  if (memory_width_ != 0)
    fail("attention '", name_, "': it has a memory of width ", memory_width_, "; pass it beside x");
  Tensor qkv = (*in_)(x);
  if (!rotary_) return qkv;
  const Shape heads{x.shape()[0], x.shape()[1], 3 * heads_, width_ / heads_};
  return rotate(qkv.reshape(heads), {.first = first, .heads = 2 * heads_}).reshape(qkv.shape());
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionOptions& options) const {
  const Tensor qkv = queries_keys_values(x, 0);
  AttentionOptions chosen = options;
  chosen.causal = causal_ || options.causal;
  return (*out_)(in_layer(name_, [&] { return self_attention(qkv, heads_, chosen); }));
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory,
                                      const AttentionOptions& options) const {
  require(x, "x", width_);
  if (memory_width_ == 0)
    fail("attention '", name_, "': it is self attention; set memory_width for another memory than x");
  require(memory, "the memory", memory_width_);
  const size_t cases = x.shape()[0], length = x.shape()[1], d = width_ / heads_;
  const Tensor keys_values = (*memory_)(memory);
  const auto heads_of = [&](const Tensor& all) { return all.reshape({cases, all.shape()[1], heads_, d}); };
  if (memory.shape()[0] != cases)
    fail("attention '", name_, "': x is ", x.shape(), ", the memory ", memory.shape(),
         "; both need the same cases");
  const Tensor heads = in_layer(name_, [&] {
    return attention(heads_of((*query_)(x)), heads_of(slice(keys_values, -1, 0, width_)),
                     heads_of(slice(keys_values, -1, width_, 2 * width_)), options);
  });
  return (*out_)(heads.reshape({cases, length, width_}));
}

Tensor MultiHeadAttention::next(const Tensor& x, KeyValueCache& cache) const {
  const Tape::Pause pause;
  if (!causal_)
    fail("attention '", name_, "': next() needs a causal layer; set .causal, or use the whole text");
  const Tensor qkv = queries_keys_values(x, cache.length());
  in_layer(name_, [&] { cache.append(qkv, heads_, in_->weight.storage()->id); });
  const size_t cases = x.shape()[0], length = x.shape()[1];
  if (cases == 0) return Tensor(x.shape());
  const Tensor queries = slice(qkv, -1, 0, width_).reshape({cases, length, heads_, width_ / heads_});
  CachedVector<Tensor> results;
  for (size_t i = 0; i < cases; ++i)
    results.push_back(attention(queries.slice(i, i + 1), cache.keys(i), cache.values(i), {.causal = true}));
  const Tensor heads = cases == 1 ? results[0] : concatenate(results, 0);
  return (*out_)(heads.reshape(x.shape()));
}

}  // namespace lamina
