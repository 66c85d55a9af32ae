// Multi-head attention as a layer: self, cross, causal, rotary, and token by token.

#include "layers/attention/multi_head_attention.h"

#include "layers/attention/positions.h"
#include "tests/layers/attention/attention_layers.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr real never = -std::numeric_limits<real>::infinity();

struct Made {
  explicit Made(const MultiHeadAttentionOptions& options)
      : attention(parameters, "layer", options), drawn(drawn_parameters(parameters)) {}
  Tensor named(const std::string& name) const {
    return parameters.learned()[parameters.named("layer." + name)[0]].value;
  }
  Parameters parameters{1};
  MultiHeadAttention attention;
  std::vector<Tensor> drawn;
};

/// softmax(Q_h K_h^T / sqrt(d) + mask) V_h of every head, side by side, from primitive ops. q [B x Tq x width], k and v
/// [B x Tk x width].
Tensor heads_of(const Tensor& q, const Tensor& k, const Tensor& v, size_t heads, const Tensor& mask) {
  const size_t d = q.columns() / heads;
  std::vector<Tensor> answers;
  for (size_t h = 0; h < heads; ++h) {
    const auto part = [&](const Tensor& all) { return slice(all, -1, h * d, (h + 1) * d); };
    Tensor scores = matmul(part(q), part(k), {.b = Transpose::yes}) / std::sqrt(static_cast<real>(d));
    if (mask.defined()) scores = scores + mask;
    answers.push_back(matmul(softmax(scores), part(v)));
  }
  return concatenate(answers, -1);
}

/// 0 where a position sees another, else -infinity: [T x T].
Tensor causal_mask(size_t length) {
  Tensor mask = Tensor::zeros({length, length});
  for (size_t i = 0; i < length; ++i)
    for (size_t j = i + 1; j < length; ++j) mask.at(i, j) = never;
  return mask;
}

Tensor self_twin(const Made& layer, const Tensor& x, const MultiHeadAttentionOptions& options) {
  const size_t width = options.width, d = width / options.heads, length = x.shape()[1];
  const Tensor all = linear(x, layer.named("in.weight"), options.bias ? layer.named("in.bias") : Tensor());
  const auto part = [&](size_t i) {
    Tensor each = slice(all, -1, i * width, (i + 1) * width);
    if (!options.rotary || i == 2) return each;
    return composed::rotate(each.reshape({x.shape()[0], length, options.heads, d})).reshape(x.shape());
  };
  const Tensor mask = options.causal ? causal_mask(length) : Tensor();
  return linear(heads_of(part(0), part(1), part(2), options.heads, mask), layer.named("out.weight"),
                options.bias ? layer.named("out.bias") : Tensor());
}

const std::vector<MultiHeadAttentionOptions> self_options = {
    {.width = 6, .heads = 1},
    {.width = 6, .heads = 3, .causal = true},
    {.width = 8, .heads = 2, .causal = true, .rotary = true},
    {.width = 4, .heads = 2, .rotary = true, .bias = false},
    {.width = 1, .heads = 1}};

}  // namespace

TEST_CASE("attention layer: self attention agrees with its twin, values and gradients") {
  for (const MultiHeadAttentionOptions& options : self_options)
    for (const size_t length : {1U, 5U}) {
      const Made layer(options);
      std::vector<Tensor> leaves = layer.drawn;
      const Tensor x = leaf({3, length, options.width}, 2);
      leaves.push_back(x);
      const auto ours = results_of(leaves, [&] { return layer.attention(x); }),
                 twins = results_of(leaves, [&] { return self_twin(layer, x, options); });
      for (size_t i = 0; i < ours.size(); ++i)
        CHECK(difference(ours[i], twins[i]) < (sizeof(real) == 8 ? 1e-12 : 1e-5));
    }
}

TEST_CASE("attention layer: gradients of self attention") {
  for (const MultiHeadAttentionOptions& options : self_options) {
    const Made layer(options);
    std::vector<Tensor> leaves = layer.drawn;
    leaves.push_back(leaf({2, 4, options.width}, 2));
    check_gradients(leaves, [&] { return weighted(layer.attention(leaves.back())); });
    check_gradients(leaves, [&] { return weighted(layer.attention(leaves.back(), {.lengths = {3, 1}})); });
  }
}

TEST_CASE("attention layer: cross attention agrees with its twin, and its gradients with differences") {
  for (const size_t memory_width : {6U, 5U}) {
    const Made layer({.width = 6, .heads = 2, .memory_width = memory_width});
    std::vector<Tensor> leaves = layer.drawn;
    const Tensor x = leaf({2, 3, 6}, 2), memory = leaf({2, 5, memory_width}, 3);
    const Tensor q = linear(x, layer.named("query.weight"), layer.named("query.bias")),
                 kv = linear(memory, layer.named("memory.weight"), layer.named("memory.bias"));
    const Tensor twin = linear(heads_of(q, slice(kv, -1, 0, 6), slice(kv, -1, 6, 12), 2, {}),
                               layer.named("out.weight"), layer.named("out.bias"));
    CHECK(difference(layer.attention(x, memory), twin) < (sizeof(real) == 8 ? 1e-12 : 1e-5));
    leaves.push_back(x);
    leaves.push_back(memory);
    check_gradients(leaves, [&] { return weighted(layer.attention(x, memory, {.lengths = {5, 2}})); });
  }
}

TEST_CASE("attention layer: keys beyond a length change nothing, and get no gradient") {
  const Made layer({.width = 4, .heads = 2, .memory_width = 4});
  const Tensor x = sample({1, 2, 4}, 1), memory = leaf({1, 5, 4}, 2);
  const Tensor longer = concatenate({slice(memory, 1, 0, 3), sample({1, 2, 4}, 3, 50, 60)}, 1);
  const Tensor exact = layer.attention(x, slice(memory, 1, 0, 3));
  CHECK(difference(layer.attention(x, longer, {.lengths = {3}}), exact) < 10 * ulp);
  Tape tape;
  tape.backward(weighted(layer.attention(x, memory, {.lengths = {3}})));
  const Tensor beyond = memory.gradient().step(0).slice(3, 5);
  for (const real g : beyond.values()) CHECK(g == 0);
}

TEST_CASE("attention layer: a later token changes no earlier result of a causal layer") {
  for (const bool by_call : {false, true}) {
    const Made layer({.width = 8, .heads = 2, .causal = !by_call, .rotary = true});
    const auto run = [&](const Tensor& x) { return layer.attention(x, {.causal = by_call}); };
    const Tensor x = sample({2, 6, 8}, 1);
    for (size_t at = 1; at < 6; ++at) {
      Tensor changed = x.copy();
      for (size_t i = 0; i < 2; ++i) changed.at(i, at, 3) += 1;
      CHECK(identical(slice(run(changed), 1, 0, at), slice(run(x), 1, 0, at)));
      CHECK(!identical(slice(run(changed), 1, at, at + 1), slice(run(x), 1, at, at + 1)));
    }
  }
}

TEST_CASE("attention layer: token by token as the whole text") {
  for (const bool rotary : {false, true})
    for (const size_t capacity : {0U, 7U}) {
      const Made layer({.width = 8, .heads = 2, .causal = true, .rotary = rotary});
      for (const size_t cases : {1U, 3U}) {
        const Tensor x = sample({cases, 7, 8}, 1), whole = layer.attention(x);
        KeyValueCache cache({.capacity = capacity});
        const auto next = [&](const Tensor& piece) { return layer.attention.next(piece, cache); };
        const double tolerance = sizeof(real) == 8 ? 1e-14 : 1e-6;
        CHECK(difference(in_pieces(x, {1, 1, 1, 1, 1, 1, 1}, next), whole) < tolerance);
        cache.reset();
        CHECK(difference(in_pieces(x, {4, 1, 2}, next), whole) < tolerance);
      }
    }
}

TEST_CASE("attention layer: next records nothing") {
  const Made layer({.width = 4, .heads = 2, .causal = true});
  KeyValueCache cache;
  const Tape tape;
  CHECK(!layer.attention.next(leaf({1, 2, 4}, 1), cache).needs_gradient());
  CHECK(tape.size() == 0);
}

TEST_CASE("attention layer: parameters and their initial values") {
  Parameters parameters(1);
  const MultiHeadAttention self(parameters, "self", {.width = 64, .heads = 2}),
      cross(parameters, "cross", {.width = 64, .heads = 2, .memory_width = 32, .bias = false}),
      scaled(parameters, "scaled", {.width = 4, .heads = 2, .bias = false, .weights = Norm::weight});
  std::string list;
  for (const auto& [name, value] : parameters.learned()) list += text(name, value.shape(), ' ');
  CHECK_EQ(list,
           "self.in.weight[64 x 192] self.in.bias[192] self.out.weight[64 x 64] self.out.bias[64] "
           "cross.query.weight[64 x 64] cross.memory.weight[32 x 128] cross.out.weight[64 x 64] "
           "scaled.in.direction[4 x 12] scaled.in.gain[12] scaled.out.direction[4 x 4] scaled.out.gain[4] ");
  // Each of the matrices side by side has the deviation of Glorot and Bengio for itself, and its own numbers.
  const auto deviation = [](const Tensor& w) { return std::sqrt(mean(square(w)).item()); };
  const Tensor in = parameters.learned()[0].value, memory = parameters.learned()[5].value;
  for (size_t i = 0; i < 3; ++i)
    CHECK(deviation(slice(in, 1, 64 * i, 64 * (i + 1))) ==
          doctest::Approx(std::sqrt(2.0 / 128)).epsilon(0.05).scale(0));
  CHECK(deviation(memory) == doctest::Approx(std::sqrt(2.0 / 96)).epsilon(0.05).scale(0));
  CHECK(!identical(slice(in, 1, 0, 64), slice(in, 1, 64, 128)));
}

TEST_CASE("attention layer: errors") {
  Parameters parameters(1);
  const auto make = [&](const MultiHeadAttentionOptions& options) {
    return MultiHeadAttention(parameters, "a", options);
  };
  CHECK_ERROR(make({.width = 6, .heads = 4}),
              "attention 'a': width 6 and 4 heads; the width must be a positive multiple of the heads");
  CHECK_ERROR(make({.width = 6, .heads = 0}),
              "attention 'a': width 6 and 0 heads; the width must be a positive multiple of the heads");
  CHECK_ERROR(make({.width = 0, .heads = 2}),
              "attention 'a': width 0 and 2 heads; the width must be a positive multiple of the heads");
  CHECK_ERROR(make({.width = 6, .heads = 2, .rotary = true}),
              "attention 'a': heads of width 3; rotary positions need an even one");
  CHECK_ERROR(make({.width = 6, .heads = 2, .memory_width = 6, .causal = true}),
              "attention 'a': causal order and rotary positions are undefined between x and a memory; leave "
              "them out");
  CHECK_ERROR(make({.width = 4, .heads = 2, .memory_width = 6, .rotary = true}),
              "attention 'a': causal order and rotary positions are undefined between x and a memory; leave "
              "them out");
  CHECK(parameters.learned().empty());
  const Made self({.width = 4, .heads = 2}), cross({.width = 4, .heads = 2, .memory_width = 6});
  const Tensor x = Tensor::zeros({2, 3, 4});
  KeyValueCache cache;
  CHECK_ERROR(self.attention(Tensor::zeros({2, 3, 5})),
              "attention 'layer': x is [2 x 3 x 5]; it must be [cases x length x 4]");
  CHECK_ERROR(self.attention(Tensor::zeros({3, 4})),
              "attention 'layer': x is [3 x 4]; it must be [cases x length x 4]");
  CHECK_ERROR(self.attention(x, {.lengths = {1}}),
              "self_attention 'layer': 1 lengths for 2 cases; give one for each, or none");
  CHECK_ERROR(self.attention(x, x),
              "attention 'layer': it is self attention; set memory_width for another memory than x");
  CHECK_ERROR(self.attention.next(x, cache),
              "attention 'layer': next() needs a causal layer; set .causal, or use the whole text");
  CHECK_ERROR(cross.attention(x), "attention 'layer': it has a memory of width 6; pass it beside x");
  CHECK_ERROR(cross.attention(x, x),
              "attention 'layer': the memory is [2 x 3 x 4]; it must be [cases x length x 6]");
  CHECK_ERROR(cross.attention(x, Tensor::zeros({1, 3, 6})),
              "attention 'layer': x is [2 x 3 x 4], the memory [1 x 3 x 6]; both need the same cases");
}

TEST_CASE("attention layer: next of no cases, and with the cache of another layer") {
  Parameters parameters(1);
  const MultiHeadAttention one(parameters, "one", {.width = 4, .heads = 2, .causal = true}),
      two(parameters, "two", {.width = 4, .heads = 2, .causal = true});
  KeyValueCache empty, cache;
  for (const size_t length : {2U, 1U})
    CHECK(one.next(Tensor({0, length, 4}), empty).shape() == Shape{0, length, 4});
  const Tensor x = sample({1, 1, 4}, 1);
  one.next(x, cache);
  CHECK_ERROR(two.next(x, cache),
              "key-value cache 'two': it holds the positions of another layer; have one for each layer");
  MultiHeadAttention moved = one;  // the same layer, at another address
  CHECK(moved.next(x, cache).shape() == x.shape());
}
