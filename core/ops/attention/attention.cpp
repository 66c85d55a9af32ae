#include "core/ops/attention/attention.h"

#include "core/ops/attention/few_queries.h"
#include "core/ops/attention/head.h"
#include "core/ops/attention/sizes.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

using namespace attention_head;

/// Multiply-adds that are worth a share, some 3 us; and those with few queries, which wait for memory.
constexpr size_t worth_a_share = 400'000, worth_a_share_of_few = 50'000;

// Purposes of scratch memory.
struct KeysGradients;

/// Where the queries, the keys, the values or the results of all heads lie in a tensor: position t of case b begins at
/// `first` + (b positions + t) row, and there one head follows the other.
struct Layout {
  size_t positions, row, first = 0;
};

/// Both passes over all heads.
class AllHeads {
 public:
  AllHeads(const AttentionSizes& sizes, const AttentionOptions& options, const Layout& queries,
           const Layout& keys, const Layout& values)
      : sizes_(sizes),
        options_(options),
        queries_(queries),
        keys_(keys),
        values_(values),
        out_({sizes.queries, sizes.heads * sizes.width}) {}

  /// The numbers that the backward pass needs beside the result.
  Shape kept_shape() const { return {2, sizes_.cases, sizes_.heads, sizes_.queries}; }

  /// The result, and what the backward pass needs. The result does not depend on whether there will be one: few queries
  /// have a pass of their own, and the other one only tells what to keep.
  void forward(const real* q, const real* k, const real* v, real* y, real* kept) const {
    forward_in_panels(q, k, v, y, kept);
    if (sizes_.queries <= few_queries) forward_only(q, k, v, y);
  }

  /// The same without a backward pass.
  void forward_only(const real* q, const real* k, const real* v, real* y) const {
    if (sizes_.queries > few_queries) return forward_in_panels(q, k, v, y, Tensor(kept_shape()).data());
    for_each_part(split(1, worth_a_share_of_few),
                  [&](size_t i, const Part&) { forward_few(head(i, q, k, v), rows(y, out_, i)); });
  }

  struct Gradients {
    GradientSink q, k, v;
  };
  void backward(const real* q, const real* k, const real* v, const real* dy, real* kept,
                const Gradients& to) const {
    const Offsets offsets(sizes_.width);
    const Split heads = split(panels_of(sizes_.queries));
    const auto finish = [&](size_t i, real* contributions) {
      finish_keys_gradients(head(i, q, k, v), contributions, heads.parts, gradient_rows(to.k, keys_, i),
                            gradient_rows(to.v, values_, i));
    };
    const size_t most = keys_gradients_size(sizes_.keys, sizes_.width);
    Tensor contributions;  // to dK and dV, where several parts of a head make them
    if (heads.parts > 1) contributions = Tensor({count(), heads.parts, most});
    for_each_part(heads, [&](size_t i, const Part& part) {
      const Head one = head(i, q, k, v);
      const size_t size = keys_gradients_size(one.keys, one.width);
      real* const own = part.count == 1 ? scratch<KeysGradients>(size)
                                        : contributions.data() + i * part.count * most + part.index * size;
      attention_head::backward(one, offsets, part, rows(dy, out_, i), softmax(kept, i), own,
                               gradient_rows(to.q, queries_, i));
      if (part.count == 1) finish(i, own);
    });
    if (heads.parts > 1)
      for_each_share(count(), [&](size_t i) { finish(i, contributions.data() + i * heads.parts * most); });
  }

 private:
  void forward_in_panels(const real* q, const real* k, const real* v, real* y, real* kept) const {
    const Offsets offsets(sizes_.width);
    for_each_part(split(panels_of(sizes_.queries)), [&](size_t i, const Part& part) {
      attention_head::forward(head(i, q, k, v), offsets, part, rows(y, out_, i), softmax(kept, i));
    });
  }

  /// How many heads there are, in all cases.
  size_t count() const { return sizes_.cases * sizes_.heads; }

  template <class Number>
  Rows<Number> rows(Number* data, const Layout& layout, size_t i) const {
    const size_t item = i / sizes_.heads, number = i % sizes_.heads;
    return {data + layout.first + item * layout.positions * layout.row + number * sizes_.width, layout.row};
  }
  GradientRows gradient_rows(const GradientSink& sink, const Layout& layout, size_t i) const {
    return {rows(sink.values, layout, i), sink.add};
  }
  Softmax softmax(real* kept, size_t i) const {
    real* const largest = kept + i * sizes_.queries;
    return {largest, largest + count() * sizes_.queries};
  }
  Rows<const real> mask(size_t i) const {
    if (!options_.mask.defined()) return {nullptr, 0};
    const int rank = options_.mask.shape().rank();
    const size_t index = rank == 2 ? 0 : rank == 3 ? i / sizes_.heads : i;
    return {options_.mask.data() + index * sizes_.queries * sizes_.keys, sizes_.keys};
  }

  Head head(size_t i, const real* q, const real* k, const real* v) const {
    return {.queries = sizes_.queries,
            .keys = sizes_.real_keys(options_, i / sizes_.heads),
            .all_keys = sizes_.keys,
            .width = sizes_.width,
            .scale = sizes_.scale,
            .q = rows(q, queries_, i),
            .k = rows(k, keys_, i),
            .v = rows(v, values_, i),
            .causal = options_.causal,
            .mask = mask(i)};
  }

  /// How the heads are shared out: a head is cut into parts only where there are few of them for the threads.
  struct Split {
    size_t shares, parts;
  };
  Split split(size_t pieces, size_t worth = worth_a_share) const {
    const size_t most_parts = std::max<size_t>(pieces, 1);
    const size_t products = 2 * sizes_.queries * sizes_.keys * sizes_.width;  // of a head
    const size_t shares = shares_of(count() * most_parts, grain_of(products / most_parts, worth));
    const bool enough = count() % shares == 0 || count() >= 4 * shares;
    return {shares, enough ? 1 : std::min(shares, most_parts)};
  }

  /// body(i, part) for each part of each head i. The shares take turns, so that each gets long and short cases.
  template <class Body>
  void for_each_part(const Split& heads, const Body& body) const {
    for_each_share(heads.shares, [&](size_t share) {
      for (size_t i = share; i < count() * heads.parts; i += heads.shares)
        body(i / heads.parts, Part{i % heads.parts, heads.parts});
    });
  }

  AttentionSizes sizes_;
  AttentionOptions options_;
  Layout queries_, keys_, values_, out_;
};

bool same_storage(const Tensor& a, const Tensor& b) { return a.storage() == b.storage(); }

/// Gradients that lie in one buffer are added to it one after another.
void contribute_one_by_one(const Tensor& x, const Tensor& gradient) {
  contribute(x, [from = gradient.data()](size_t i) { return from[i]; });
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const AttentionSizes s = attention_sizes(q, k, v, options);
  const size_t row = s.heads * s.width;
  const AllHeads heads(s, options, {s.queries, row}, {s.keys, row}, {s.keys, row});
  Tensor y(q.shape());
  const Tensor inputs[] = {q, k, v};
  if (Tape::recording(inputs) == nullptr) {
    heads.forward_only(q.data(), k.data(), v.data(), y.data());
    return y;
  }
  Tensor kept(heads.kept_shape());
  heads.forward(q.data(), k.data(), v.data(), y.data(), kept.data());
  return record("attention", y, {q, k, v, options.mask}, [=]() mutable {
    const auto run = [&](const AllHeads::Gradients& to) {
      heads.backward(q.data(), k.data(), v.data(), y.gradient_data(), kept.data(), to);
    };
    if (!same_storage(q, k) && !same_storage(k, v) && !same_storage(v, q))
      return run({GradientTarget(q).sink(), GradientTarget(k).sink(), GradientTarget(v).sink()});
    Tensor dq(q.shape()), dk(k.shape()), dv(v.shape());
    run({{dq.data(), false}, {dk.data(), false}, {dv.data(), false}});
    contribute_one_by_one(q, dq);
    contribute_one_by_one(k, dk);
    contribute_one_by_one(v, dv);
  });
}

Tensor self_attention(const Tensor& qkv, size_t heads, const AttentionOptions& options) {
  const AttentionSizes s = self_attention_sizes(qkv, heads, options);
  const size_t width = s.heads * s.width, row = 3 * width;
  const AllHeads all(s, options, {s.queries, row}, {s.keys, row, width}, {s.keys, row, 2 * width});
  Tensor y({s.cases, s.queries, width});
  const real* const in = qkv.data();
  if (Tape::recording({&qkv, 1}) == nullptr) {
    all.forward_only(in, in, in, y.data());
    return y;
  }
  Tensor kept(all.kept_shape());
  all.forward(in, in, in, y.data(), kept.data());
  return record("self_attention", y, {qkv, options.mask}, [=]() mutable {
    const real* const x = qkv.data();
    const GradientSink sink = qkv.gradient_sink();
    all.backward(x, x, x, y.gradient_data(), kept.data(), {sink, sink, sink});
  });
}

}  // namespace lamina
