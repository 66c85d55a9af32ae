// Writing: the cache of keys and values against the full pass, and how tokens are drawn.

#include "models/text/vocabulary.h"
#include "models/transformer/writing.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::transformer;

namespace {

constexpr ModelOptions tiny{.vocabulary = 9, .width = 8, .layers = 2, .heads = 2, .length = 6};

/// What comes after the last of these tokens, by the full pass.
std::vector<real> logits_after(Model& model, std::span<const int> tokens) {
  const Tensor logits = model(tokens, 1);
  return {logits.data() + (tokens.size() - 1) * 9, logits.data() + tokens.size() * 9};
}

}  // namespace

TEST_CASE("writing: the cached logits are those of the full pass") {
  const std::vector<int> tokens{3, 2, 8, 4, 7, 5};
  for (const PlacementEntry& placement : placement_table)
    for (const PositionsEntry& positions : positions_table)
      for (const Norm norm : {Norm::layer, Norm::none, Norm::rms}) {
        CAPTURE(std::string(placement.name));
        CAPTURE(std::string(positions.name));
        CAPTURE(std::string(name_of(norm)));
        Parameters parameters(4);
        ModelOptions options = tiny;
        options.placement = placement.placement;
        options.positions = positions.positions;
        options.norm = norm;
        Model model(parameters, options);
        const Tensor all = model(tokens, 1);
        Caches caches = model.caches();
        size_t done = 0;
        for (const size_t count : std::vector<size_t>{2, 1, 1, 2}) {
          const Tensor some = model.next(std::span(tokens).subspan(done, count), caches);
          CHECK(some.shape() == Shape{count, 9});
          CHECK(difference(some.values(), {all.data() + done * 9, count * 9}) < 40 * ulp);
          done += count;
        }
      }
}

TEST_CASE("writing: each token is drawn from the full pass over what the model still sees") {
  for (const size_t length : {size_t{6}, size_t{7}}) {
    Parameters parameters(4);
    ModelOptions model_options = tiny;
    model_options.length = length;
    Model model(parameters, model_options);
    const std::vector<int> prompt{3, 2};
    const WritingOptions options{.length = 20, .temperature = 0};
    const std::vector<int> written = write(model, prompt, options);
    REQUIRE(written.size() == 20);
    std::vector<int> seen = prompt;
    Random unused(1);
    for (const int token : written) {
      CHECK(token == draw_token(logits_after(model, seen), options, unused));
      seen.push_back(token);
      if (seen.size() > length)  // the newer half
        seen.erase(seen.begin(), seen.end() - (length == 6 ? 3 : 4));
    }
  }
}

TEST_CASE("writing: the same for a seed; never <eos> or <unk>") {
  Parameters parameters(4);
  Model model(parameters, tiny);
  const std::vector<int> prompt{3};
  const auto text = [&](std::uint64_t seed) { return write(model, prompt, {.length = 300, .seed = seed}); };
  CHECK(text(1) == text(1));
  CHECK(text(1) != text(2));
  CHECK(std::ranges::min(text(1)) > Vocabulary::unknown);
}

TEST_CASE("drawing: frequencies follow softmax(logits / temperature) over the likeliest k") {
  const std::vector<real> logits{9, 9, 0, real(1), real(2), real(-1)};  // the first two never come
  const auto frequencies = [&](const WritingOptions& options) {
    std::vector<double> counts(logits.size());
    Random random(7);
    for (int i = 0; i < 20000; ++i)
      counts[static_cast<size_t>(draw_token(logits, options, random))] += 1.0 / 20000;
    return counts;
  };
  const auto near = [](double expected) { return doctest::Approx(expected).epsilon(0.001).scale(20); };
  const auto all = frequencies({.temperature = 2});
  const double sum = 1 + std::exp(0.5) + std::exp(1) + std::exp(-0.5);
  CHECK(all[0] + all[1] == 0);
  CHECK(all[2] == near(1 / sum));
  CHECK(all[3] == near(std::exp(0.5) / sum));
  CHECK(all[4] == near(std::exp(1) / sum));
  CHECK(all[5] == near(std::exp(-0.5) / sum));
  const auto two = frequencies({.temperature = 1, .top_k = 2});
  CHECK(two[3] == near(1 / (1 + std::exp(1))));
  CHECK(two[3] + two[4] == doctest::Approx(1));
  CHECK(frequencies({.temperature = 0})[4] == doctest::Approx(1));
}

TEST_CASE("writing: errors") {
  Parameters parameters(4);
  Model model(parameters, tiny);
  CHECK_ERROR(write(model, {}, {}), "transformer: the prompt is empty; give at least one token");
  const std::vector<int> seven(7, 3);
  CHECK_ERROR(write(model, seven, {}),
              "transformer: a prompt of 7 tokens, but the model sees at most 6; give a shorter one");
}
