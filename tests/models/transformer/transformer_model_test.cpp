// The language model: its size, gradients, that no position sees later ones, and its errors.

#include "models/transformer/model.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::transformer;

namespace {

constexpr ModelOptions tiny{.vocabulary = 7, .width = 8, .layers = 2, .heads = 2, .length = 5};

const std::vector<int> some_tokens{3, 2, 5, 4, 2, 6, 6, 3, 2, 4}, next_tokens{2, 5, 4, 2, 3, 6, 3, 2, 4, 5};

}  // namespace

TEST_CASE("transformer: as many parameters as Radford et al. count, with an output layer of its own") {
  const auto count = [](const ModelOptions& options) {
    Parameters parameters(1);
    const Model model(parameters, options);
    return parameters.count();
  };
  // Per block: matrices d x 3d, d x d, d x 4d, 4d x d, their biases, two norms.
  const auto blocks = [](size_t d, size_t layers) { return layers * (12 * d * d + 9 * d + 4 * d); };
  const size_t d = 256, words = 103 * d, positions = 256 * d, output = d * 103 + 103;
  CHECK(count({.vocabulary = 103}) == words + positions + blocks(d, 6) + 2 * d + output);
  CHECK(count({.vocabulary = 103, .placement = Placement::post}) ==
        words + positions + blocks(d, 6) + output);
  CHECK(count({.vocabulary = 103, .norm = Norm::none, .positions = Positions::rotary}) ==
        words + blocks(d, 6) - 6 * 4 * d + output);
}

TEST_CASE("transformer: gradients of all parameters, every placement and kind of position") {
  for (const PlacementEntry& placement : placement_table)
    for (const PositionsEntry& positions : positions_table) {
      CAPTURE(std::string(placement.name));
      CAPTURE(std::string(positions.name));
      Parameters parameters(5);
      ModelOptions options = tiny;
      options.placement = placement.placement;
      options.positions = positions.positions;
      options.layers = positions.positions == Positions::learned ? 2 : 1;
      Model model(parameters, options);
      std::vector<Tensor> inputs;
      for (const auto& [name, value] : parameters.learned()) inputs.push_back(value);
      check_gradients(inputs,
                      [&] { return model.loss(some_tokens, next_tokens, 2, Mode::train, Random(1)); });
    }
}

TEST_CASE("transformer: what comes later changes nothing before, and one text nothing in another") {
  for (const Norm norm : {Norm::layer, Norm::rms, Norm::none}) {
    Parameters parameters(2);
    ModelOptions options = tiny;
    options.norm = norm;
    Model model(parameters, options);
    const Tensor before = model(some_tokens, 2);
    for (size_t changed = 0; changed < some_tokens.size(); ++changed) {
      std::vector<int> tokens = some_tokens;
      tokens[changed] = 1;
      const Tensor after = model(tokens, 2);
      const size_t text = changed / options.length;
      for (size_t i = 0; i < tokens.size(); ++i) {
        const bool may_differ = i / options.length == text && i >= changed;
        const bool same =
            std::equal(before.data() + i * 7, before.data() + (i + 1) * 7, after.data() + i * 7);
        CAPTURE(changed);
        CAPTURE(i);
        CHECK(same != may_differ);
      }
    }
  }
}

TEST_CASE("transformer: the order of tokens counts, with positions of any kind and through the mask alone") {
  for (const PositionsEntry& positions : positions_table) {
    Parameters parameters(2);
    ModelOptions options = tiny;
    options.positions = positions.positions;
    Model model(parameters, options);
    const Tensor a = model(std::vector<int>{2, 3, 4, 5}, 1), b = model(std::vector<int>{3, 2, 4, 5}, 1);
    const double last = difference({a.data() + 21, 7}, {b.data() + 21, 7});
    CAPTURE(std::string(positions.name));
    // Without positions, the first two tokens differ by what they have seen, which reaches the last by block 2.
    CHECK(last > 1e-4);
  }
}

TEST_CASE("transformer: starts as it says") {
  const auto deviation = [](const Parameters& parameters, const std::string& name) {
    const auto& all = parameters.learned();
    const Tensor value = std::ranges::find(all, name, &Parameters::Entry::name)->value;
    double total = 0;
    for (const real each : value.values()) total += static_cast<double>(each) * static_cast<double>(each);
    return std::sqrt(total / static_cast<double>(value.size()));
  };
  ModelOptions options{.vocabulary = 100, .width = 64, .layers = 8, .heads = 4, .length = 100};
  Parameters xavier(1), gpt2(1);
  const Model first(xavier, options);
  options.start = Start::gpt2;
  const Model second(gpt2, options);
  const auto near = [](double expected) { return doctest::Approx(expected).epsilon(0.05).scale(0); };
  CHECK(deviation(xavier, "words") == near(std::sqrt(0.5)));
  CHECK(deviation(xavier, "positions") == near(std::sqrt(0.5)));
  CHECK(deviation(xavier, "block1.inner.weight") == near(std::sqrt(2.0 / (64 + 256))));
  CHECK(deviation(gpt2, "words") == near(0.02));
  CHECK(deviation(gpt2, "positions") == near(0.01));
  CHECK(deviation(gpt2, "block8.inner.weight") == near(0.02));
  CHECK(deviation(gpt2, "block8.outer.weight") == near(0.02 / 4));
  CHECK(deviation(gpt2, "block8.attention.out.weight") == near(0.02 / 4));
  CHECK(deviation(gpt2, "block8.attention.in.weight") == near(0.02));
}

TEST_CASE("transformer: dropout acts in training, and its noise is a function of the generator") {
  Parameters parameters(2);
  ModelOptions options = tiny;
  options.dropout = real(0.3);
  Model model(parameters, options);
  const auto loss = [&](Mode mode, std::uint64_t seed) {
    return model.loss(some_tokens, next_tokens, 2, mode, Random(seed)).item();
  };
  CHECK(loss(Mode::train, 1) == loss(Mode::train, 1));
  CHECK(loss(Mode::train, 1) != loss(Mode::train, 2));
  CHECK(loss(Mode::evaluate, 1) == loss(Mode::evaluate, 2));
}

TEST_CASE("transformer: errors") {
  Parameters parameters(1);
  Model model(parameters, tiny);
  CHECK_ERROR(model(some_tokens, 3), "transformer: 10 tokens in 3 texts; give texts of one length");
  CHECK_ERROR(model(std::vector<int>{}, 1), "transformer: 0 tokens in 1 texts; give texts of one length");
  CHECK_ERROR(model(some_tokens, 1),
              "transformer: 10 tokens, but vectors of 5 positions; give shorter texts, or train with a "
              "larger length");
  Caches none;
  CHECK_ERROR(model.next(std::vector<int>{1}, none),
              "transformer: 0 caches for 2 blocks; take them from caches()");
  const auto make = [](const ModelOptions& options) {
    return [=] {
      Parameters others(1);
      const Model other(others, options);
    };
  };
  ModelOptions odd = tiny;
  odd.heads = 3;
  CHECK(contains(error_of(make(odd)), "heads"));
  odd = tiny;
  odd.layers = 0;
  CHECK_ERROR(make(odd)(), "transformer: 0 layers for 5 positions; both must be positive");
}
