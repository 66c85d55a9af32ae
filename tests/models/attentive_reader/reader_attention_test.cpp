// Attention over a passage: gradients, the composed twin, padding, threads.

#include "models/attentive_reader/attention.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

struct Sizes {
  size_t steps, rows, hidden, units;
};
const std::vector<Sizes> sizes{{1, 1, 1, 1}, {3, 2, 5, 4}, {6, 3, 70, 33}};

/// Case b is padded after steps - b steps, but keeps at least one.
Tensor lengths(const Sizes& s) {
  Tensor mask({s.steps, s.rows});
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = 0; b < s.rows; ++b) mask[t * s.rows + b] = t == 0 || t + b < s.steps ? 1 : 0;
  return mask;
}

/// states, keys, query, relation, weight
std::vector<Tensor> samples(const Sizes& s) {
  return {sample({s.steps, s.rows, s.hidden}, 1), sample({s.steps, s.rows, s.units}, 2),
          sample({s.rows, s.units}, 3), sample({s.rows, s.hidden}, 4), sample({s.units}, 5)};
}

ar::AttentionInputs inputs_of(const std::vector<Tensor>& in, const Tensor& mask, bool related) {
  return {.states = in[0],
          .keys = in[1],
          .query = in[2],
          .relation = related ? in[3] : Tensor(),
          .weight = in[4],
          .mask = mask};
}

}  // namespace

TEST_CASE("reader attention: by hand") {
  // Two steps, with w = 2: scores 2 tanh(0) and 2 tanh(d v) = log 3 by the bilinear term only, weights 1/4
  // and 3/4.
  const Tensor states = Tensor::from({2, 1, 1}, {0, 1});
  const ar::Attended seen = ar::attend({.states = states,
                                        .keys = Tensor::zeros({2, 1, 1}),
                                        .query = Tensor::zeros({1, 1}),
                                        .relation = Tensor::full({1, 1}, std::atanh(std::log(real(3)) / 2)),
                                        .weight = Tensor::full({1}, 2)});
  CHECK(difference(seen.weights, {0.25, 0.75}) < 4 * ulp);
  CHECK(difference(seen.context, {0.75}) < 4 * ulp);
  CHECK(difference(ar::mean_state(states, {}), {0.5}) == 0);
}

TEST_CASE("reader attention: gradients, and the composed twin") {
  for (const Sizes& s : sizes)
    for (const bool padded : {false, true})
      for (const bool related : {false, true}) {
        const Tensor mask = padded ? lengths(s) : Tensor();
        std::vector<Tensor> in = samples(s);
        const auto value = [&](const auto& attend, const std::vector<Tensor>& leaves) {
          const Tensor context = attend(inputs_of(leaves, mask, related)).context;
          return related ? context : context + leaves[3] * 0;  // every leaf needs a gradient
        };
        check_twins([&](const auto& leaves) { return value(ar::attend, leaves); },
                    [&](const auto& leaves) { return value(ar::composed::attend, leaves); }, in,
                    twin_tolerance(256));
        CHECK(difference(ar::attend(inputs_of(in, mask, related)).weights,
                         ar::composed::attend(inputs_of(in, mask, related)).weights) < twin_tolerance(64));
        if (s.hidden > 10) continue;
        if (!related) in.erase(in.begin() + 3);
        check_gradients(
            in,
            [&] {
              std::vector<Tensor> all = in;
              if (!related) all.insert(all.begin() + 3, Tensor());
              // The second use of states and keys makes their gradients sums of two.
              return weighted(ar::attend(inputs_of(all, mask, related)).context) + sum(square(all[0])) +
                     sum(square(all[1]));
            },
            1e-4);
      }
}

TEST_CASE("reader attention: the mean state, its gradient and its twin") {
  for (const Sizes& s : sizes)
    for (const Tensor& mask : {lengths(s), Tensor()}) {
      const std::vector<Tensor> in{samples(s)[0]};
      check_twins([&](const auto& leaves) { return ar::mean_state(leaves[0], mask); },
                  [&](const auto& leaves) { return ar::composed::mean_state(leaves[0], mask); }, in,
                  twin_tolerance(64));
      if (s.hidden < 10)
        check_gradients(in, [&] { return weighted(ar::mean_state(in[0], mask)) + sum(square(in[0])); });
    }
}

TEST_CASE("reader attention: what stands at padded steps changes nothing") {
  const Sizes s = sizes[2];
  const Tensor mask = lengths(s);
  std::vector<std::vector<Tensor>> results;
  for (const real junk : {real(0), real(1000)}) {
    std::vector<Tensor> in = samples(s);
    for (size_t i = 0; i < s.steps * s.rows; ++i)
      if (mask[i] == 0) {
        std::fill_n(in[0].data() + i * s.hidden, s.hidden, junk);
        std::fill_n(in[1].data() + i * s.units, s.units, junk);
      }
    results.push_back(value_and_gradients(
        [&](const auto& leaves) { return ar::attend(inputs_of(leaves, mask, true)).context; }, in));
    results.back().push_back(ar::mean_state(in[0], mask));
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    CAPTURE(i);
    CHECK(identical(results[0][i], results[1][i]));
  }
}

TEST_CASE("reader attention: one and two threads") {
  const Sizes s{40, 7, 64, 48};
  check_threads([&](const auto& in) { return ar::attend(inputs_of(in, lengths(s), true)).context; },
                samples(s), 64 * ulp);
}

TEST_CASE("reader attention: shapes that do not fit are named") {
  const std::vector<Tensor> in = samples({3, 2, 5, 4});
  const auto complaint = [](const ar::AttentionInputs& inputs) {
    return error_of([&] { ar::attend(inputs); });
  };
  ar::AttentionInputs inputs = inputs_of(in, {}, true);
  inputs.query = in[3];
  CHECK(complaint(inputs) == "attend: query [2 x 5]; [2 x 4] is needed");
  inputs = inputs_of(in, Tensor::ones({2, 3}), true);
  CHECK(complaint(inputs) == "attend: the mask is [2 x 3] for states [3 x 2 x 5]; [3 x 2] is needed");
  inputs = inputs_of(in, {}, true);
  inputs.states = in[2];
  CHECK(complaint(inputs) == "attend: the states are [2 x 4]; [T x B x H] with at least one step is needed");
}
