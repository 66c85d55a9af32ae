// The Transformer block: placements, norms, dropout, and token by token.

#include "layers/attention/transformer_block.h"

#include "tests/layers/attention/attention_layers.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Made {
  explicit Made(const TransformerBlockOptions& options)
      : block(parameters, "block", options), drawn(drawn_parameters(parameters)) {}
  Tensor named(const std::string& name) const {
    return parameters.learned()[parameters.named("block." + name)[0]].value;
  }
  Parameters parameters{1};
  TransformerBlock block;
  std::vector<Tensor> drawn;
};

/// A causal block with layer norm, relu and two heads, from primitive ops.
Tensor twin(const Made& made, const Tensor& x, Placement placement, real number) {
  const size_t cases = x.shape()[0], length = x.shape()[1], width = x.shape()[2];
  const auto dense = [&](const std::string& layer, const Tensor& z) {
    return matmul(z, made.named(layer + ".weight")) + made.named(layer + ".bias");
  };
  const auto norm = [&](const std::string& layer, const Tensor& z) {
    return composed::layer_norm(z, made.named(layer + ".gain"), made.named(layer + ".bias"));
  };
  const auto attend = [&](const Tensor& z) {
    const Tensor all = permute(dense("attention.in", z).reshape({cases, length, 6, width / 2}), {2, 0, 1, 3});
    const auto part = [&](size_t i) {  // [B x 2 x T x d]
      return permute(all.slice(2 * i, 2 * i + 2), {1, 0, 2, 3});
    };
    Tensor later = Tensor::zeros({length, length});
    for (size_t i = 0; i < length; ++i)
      for (size_t j = i + 1; j < length; ++j) later.at(i, j) = -std::numeric_limits<real>::infinity();
    const Tensor scores = matmul(part(0), part(1), {.b = Transpose::yes}) / std::sqrt(real(width) / 2);
    const Tensor answer = permute(matmul(softmax(scores + later), part(2)), {0, 2, 1, 3});
    return dense("attention.out", answer.reshape({cases, length, width}));
  };
  const auto feed_forward = [&](const Tensor& z) { return dense("outer", relu(dense("inner", z))); };
  const auto add = [&](const std::string& name, const Tensor& z, const auto& part) {
    if (placement == Placement::post) return norm(name + "_norm", z + part(z));
    const Tensor normal = norm(name + "_norm", z);
    if (placement == Placement::sandwich) return z + norm(name + "_result_norm", part(normal));
    return z + part(placement == Placement::pre ? normal : normal / std::sqrt(number));
  };
  return add("feed_forward", add("attention", x, attend), feed_forward);
}

/// All for vectors, but for those that are no derivative on purpose (detached, ada), batch renormalization, whose running
/// averages move between two evaluations, and what is another of them here: ghost batch norm of one part, layer norm
/// without borders, group norm of eight groups.
std::vector<Norm> norms_with_exact_gradient() {
  constexpr Norm without[] = {Norm::detached,       Norm::ada,  Norm::renorm, Norm::ghost,
                              Norm::layer_interior, Norm::group};
  std::vector<Norm> norms;
  for (const NormEntry& entry : norm_table)
    if (entry.vectors && std::ranges::find(without, entry.norm) == std::end(without))
      norms.push_back(entry.norm);
  return norms;
}

}  // namespace

TEST_CASE("transformer block: every placement agrees with its twin, values and gradients") {
  for (const Placement placement : placements) {
    CAPTURE(std::string(name_of(placement)));
    Made made({.width = 6,
               .heads = 2,
               .inner = 7,
               .placement = placement,
               .number = 3,
               .causal = true,
               .activation = Activation::relu});
    const Tensor x = leaf({2, 5, 6}, 1);
    std::vector<Tensor> leaves = made.drawn;
    leaves.push_back(x);
    const auto ours = results_of(leaves, [&] { return made.block(x, Mode::train); }),
               twins = results_of(leaves, [&] { return twin(made, x, placement, 3); });
    for (size_t i = 0; i < ours.size(); ++i)
      CHECK(difference(ours[i], twins[i]) < (sizeof(real) == 8 ? 1e-12 : 2e-5));
  }
}

TEST_CASE("transformer block: gradients of every placement and norm") {
  for (const Placement placement : placements)
    for (const Norm norm : norms_with_exact_gradient()) {
      CAPTURE(std::string(name_of(placement)));
      CAPTURE(std::string(name_of(norm)));
      Made made({.width = 4, .heads = 2, .inner = 3, .placement = placement, .norm = norm, .number = 2});
      const Tensor x = leaf({2, 3, 4}, 1);
      std::vector<Tensor> leaves = made.drawn;
      leaves.push_back(x);
      check_gradients(leaves, [&] { return weighted(made.block(x, Mode::train)); });
    }
}

TEST_CASE("transformer block: gradients with causal order, rotary positions, lengths and dropout") {
  for (const Placement placement : placements) {
    Made made({.width = 4,
               .heads = 1,
               .placement = placement,
               .causal = true,
               .rotary = true,
               .dropout = real(0.25)});
    const Tensor x = leaf({2, 3, 4}, 1);
    std::vector<Tensor> leaves = made.drawn;
    leaves.push_back(x);
    const auto loss = [&] {
      Random random(7);
      return weighted(made.block(x, Mode::train, random, {.lengths = {3, 2}}));
    };
    check_gradients(leaves, loss, 3e-4);  // small: a norm of few features is strongly curved
  }
}

TEST_CASE(
    "transformer block: token by token as the whole text, and no later token changes an earlier result") {
  for (const Placement placement : placements)
    for (const bool rotary : {false, true}) {
      Made made({.width = 8,
                 .heads = 2,
                 .placement = placement,
                 .number = 2,
                 .causal = true,
                 .rotary = rotary,
                 .dropout = real(0.5)});
      const Tensor x = sample({2, 6, 8}, 1), whole = made.block(x, Mode::evaluate);
      KeyValueCache cache;
      const auto next = [&](const Tensor& piece) { return made.block.next(piece, cache); };
      CHECK(difference(in_pieces(x, {3, 1, 1, 1}, next), whole) < 20 * ulp);
      Tensor changed = x.copy();
      changed.at(1, 4, 0) += 1;
      const Tensor after = made.block(changed, Mode::evaluate);
      CHECK(identical(slice(after, 1, 0, 4), slice(whole, 1, 0, 4)));
      CHECK(!identical(after, whole));
    }
}

TEST_CASE("transformer block: with every norm for vectors it trains, and writes what it computes") {
  for (const NormEntry& entry : norm_table) {
    if (!entry.vectors) continue;
    CAPTURE(std::string(entry.name));
    Made made({.width = 16, .heads = 2, .norm = entry.norm, .causal = true});
    const Tensor x = leaf({2, 5, 16}, 1), whole = made.block(x, Mode::evaluate);
    KeyValueCache cache;
    const auto next = [&](const Tensor& piece) { return made.block.next(piece, cache); };
    CHECK(difference(in_pieces(x, {2, 1, 1, 1}, next), whole) < 20 * ulp);
    for (const Tensor& gradient : results_of({x}, [&] { return made.block(x, Mode::train); }))
      CHECK(std::ranges::all_of(gradient.values(), [](real g) { return std::isfinite(g); }));
    for (const Tensor& parameter : made.drawn) {
      const Tensor gradient = parameter.gradient();
      CHECK(std::ranges::any_of(gradient.values(), [](real g) { return g != 0; }));
    }
  }
}

TEST_CASE("transformer block: lengths hide keys") {
  Made made({.width = 4, .heads = 2});
  const Tensor x = sample({1, 5, 4}, 1);
  Tensor changed = x.copy();
  for (size_t t = 3; t < 5; ++t) changed.at(0, t, 1) += 5;
  const auto first = [&](const Tensor& in) {
    return slice(made.block(in, Mode::evaluate, {.lengths = {3}}), 1, 0, 3);
  };
  CHECK(identical(first(x), first(changed)));
  CHECK(difference(first(x), made.block(slice(x, 1, 0, 3), Mode::evaluate)) < 20 * ulp);
}

TEST_CASE("transformer block: dropout is a function of its generator, and off in evaluation") {
  Made noisy({.width = 8, .heads = 2, .dropout = real(0.5)}), plain({.width = 8, .heads = 2});
  const Tensor x = sample({3, 4, 8}, 1);
  const auto run = [&](std::uint64_t step) {
    Random random = Random(5).split(step);
    return noisy.block(x, Mode::train, random);
  };
  CHECK(identical(run(1), run(1)));
  CHECK(!identical(run(1), run(2)));
  Random random(5);
  const Random::State before = random.state();
  const Tensor exact = plain.block(x, Mode::train);
  CHECK(identical(noisy.block(x, Mode::evaluate, random), exact));
  CHECK(identical(noisy.block(x, Mode::evaluate), exact));
  CHECK(random.state() == before);
  // Each part that is added is zero or doubled: with both parts zero, the stream is x.
  const Tensor y = run(1);
  size_t untouched = 0;
  for (size_t i = 0; i < x.size(); ++i) untouched += x[i] == y[i];
  CHECK(untouched > x.size() / 8);
  CHECK(untouched < x.size() / 2);
  CHECK_ERROR(noisy.block(x, Mode::train),
              "transformer block 'block': dropout 0.5 in training needs a Random for its noise");
}

TEST_CASE("transformer block: parameters, and the norm after the blocks") {
  const auto names = [](Placement placement, Norm norm) {
    Parameters parameters(1);
    const TransformerBlockOptions options = {.width = 4, .heads = 2, .placement = placement, .norm = norm};
    const TransformerBlock block(parameters, "b", options);
    const Normalization last = norm_after_blocks(parameters, "last", options);
    std::string list;
    for (const auto& [name, value] : parameters.learned()) list += text(name, value.shape(), ' ');
    return list;
  };
  const std::string linear =
      "b.attention.in.weight[4 x 12] b.attention.in.bias[12] b.attention.out.weight[4 x 4] "
      "b.attention.out.bias[4] b.inner.weight[4 x 16] b.inner.bias[16] b.outer.weight[16 x 4] "
      "b.outer.bias[4] ";
  CHECK_EQ(names(Placement::post, Norm::layer),
           linear +
               "b.attention_norm.gain[4] b.attention_norm.bias[4] b.feed_forward_norm.gain[4] "
               "b.feed_forward_norm.bias[4] ");
  CHECK_EQ(names(Placement::pre, Norm::rms),
           linear + "b.attention_norm.gain[4] b.feed_forward_norm.gain[4] last.gain[4] ");
  CHECK_EQ(names(Placement::scaled_pre, Norm::none), linear);
  CHECK_EQ(names(Placement::sandwich, Norm::rms),
           linear +
               "b.attention_norm.gain[4] b.attention_result_norm.gain[4] b.feed_forward_norm.gain[4] "
               "b.feed_forward_result_norm.gain[4] last.gain[4] ");
  CHECK(contains(names(Placement::pre, Norm::weight),
                 "b.attention.in.direction[4 x 12] b.attention.in.gain[12]"));
}

TEST_CASE("transformer block: names and errors") {
  for (const PlacementEntry& entry : placement_table) {
    CHECK(name_of(entry.placement) == std::string(entry.name));
    CHECK(placement_named(entry.name) == entry.placement);
  }
  for (size_t i = 0; i < placements.size(); ++i) CHECK(placements[i] == static_cast<Placement>(i));
  CHECK(!placement_named("pre-LN"));
  Parameters parameters(1);
  const auto make = [&](const TransformerBlockOptions& options) {
    return TransformerBlock(parameters, "b", options);
  };
  CHECK_ERROR(
      make({.width = 6, .heads = 4}),
      "attention 'b.attention': width 6 and 4 heads; the width must be a positive multiple of the heads");
  CHECK_ERROR(make({.width = 6, .heads = 2, .norm = Norm::instance}),
              "normalization 'b.attention_norm': instance norm needs maps with more than one position");
  Made other({.width = 6, .heads = 2, .activation = static_cast<Activation>(2)});
  CHECK_ERROR(other.block(Tensor::ones({1, 2, 6}), Mode::evaluate),
              "transformer block: there is no activation with the number 2");
  CHECK_ERROR(make({.width = 6, .heads = 2, .dropout = 1}),
              "dropout: the rate is 1; it must be at least 0 and below 1");
  Made made({.width = 4, .heads = 2});
  CHECK_ERROR(Made({.width = 4, .heads = 2, .number = 0}),
              "transformer block 'block': number 0; blocks are counted from 1");
  CHECK_ERROR(made.block(Tensor::zeros({2, 3, 6}), Mode::train),
              "transformer block 'block': x is [2 x 3 x 6]; it must be [cases x length x 4]");
  KeyValueCache cache;
  CHECK_ERROR(made.block.next(Tensor::zeros({2, 3, 4}), cache),
              "attention 'block.attention': next() needs a causal layer; set .causal, or use the whole text");
}
