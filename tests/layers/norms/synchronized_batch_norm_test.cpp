// Batch norm over the cases of several ranks: what one rank computes on all of them.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/tape.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/masked_batch_norm.h"
#include "layers/recurrent/recurrent.h"
#include "layers/statistics/column_norm.h"
#include "tests/check.h"
#include "tests/core/distributed/rank_threads.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr size_t steps = 6, cases = 5, width = 19;

/// Cases of 6, 5, 4, 3 and 2 steps: no rank but the first has any at the last one.
Tensor lengths() {
  Tensor mask({steps, cases});
  for (size_t t = 0; t < steps; ++t)
    for (size_t r = 0; r < cases; ++r) mask[t * cases + r] = t + r < steps ? 1 : 0;
  return mask;
}

/// What a layer makes of the cases [begin, end) of x [T x B x width], as a loss that is a sum over cases; with the
/// gradients, which for several ranks add up, and the population statistics.
struct Result {
  std::vector<real> hidden, dx, gradients, state;
};

template <class Layer>
Result run(const Layer& make, const BatchPart& part, const Tensor& mask) {
  Parameters parameters(3);
  const auto layer = make(parameters);
  const Tensor whole = sample({steps, cases, width}, 1);
  const Tensor x = slice(whole, 1, part.begin, part.end).require_gradient();
  const Tensor own_mask = mask.defined() ? slice(mask, 1, part.begin, part.end) : mask;
  Tape tape;
  const Tensor y = layer(x, own_mask);
  tape.backward(sum(y * slice(sample(Shape{steps, cases, y.columns()}, 2), 1, part.begin, part.end)));
  Result result;
  const auto keep = [](std::span<const real> values, std::vector<real>& to) {
    to.insert(to.end(), values.begin(), values.end());
  };
  keep(y.values(), result.hidden);
  keep(x.gradient().values(), result.dx);
  keep(parameters.gradients(), result.gradients);
  for (const auto& [name, value] : parameters.state()) keep(value.values(), result.state);
  return result;
}

void check_close(std::span<const real> a, std::span<const real> b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, scale = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i] - b[i])));
    scale = std::max(scale, std::abs(static_cast<double>(b[i])));
  }
  CHECK(worst < (sizeof(real) == 4 ? 1e-4 : 1e-12) * scale);
}

/// Rows [begin, end) of the middle axis.
std::vector<real> part_of_cases(const std::vector<real>& all, const BatchPart& part) {
  const size_t each = all.size() / (steps * cases);
  std::vector<real> some;
  for (size_t t = 0; t < steps; ++t)
    some.insert(some.end(), all.begin() + static_cast<std::ptrdiff_t>((t * cases + part.begin) * each),
                all.begin() + static_cast<std::ptrdiff_t>((t * cases + part.end) * each));
  return some;
}

template <class Layer>
void check_ranks(const Layer& make, const Tensor& mask) {
  const Result alone = run(make, {0, cases, cases}, mask);
  for (const size_t ranks : {2U, 3U}) {
    std::vector<Result> results(ranks);
    std::vector<BatchPart> parts(ranks);
    distributed::synchronize_statistics(true);
    on_ranks(ranks, [&] {
      const distributed::SharedStep step;
      const size_t rank = distributed::group().rank();
      parts[rank] = part_of_batch(cases, CaseAxis::last_but_one);
      results[rank] = run(make, parts[rank], mask);
    });
    distributed::synchronize_statistics(false);
    std::vector<real> gradients(alone.gradients.size());
    for (size_t rank = 0; rank < ranks; ++rank) {
      check_close(results[rank].hidden, part_of_cases(alone.hidden, parts[rank]));
      check_close(results[rank].dx, part_of_cases(alone.dx, parts[rank]));
      check_close(results[rank].state, alone.state);
      for (size_t i = 0; i < gradients.size(); ++i) gradients[i] += results[rank].gradients[i];
    }
    check_close(gradients, alone.gradients);
  }
}

template <class Layer>
void check_recurrent(bool count_padded) {
  const auto make = [=](Parameters& parameters) {
    return [=, layer = Layer(parameters, "layer",
                             {.input = width, .hidden = 7, .norm = Norm::batch, .max_steps = steps - 1})](
               const Tensor& x, const Tensor& mask) {
      return layer(x, {.mask = mask, .mode = Mode::train, .count_padded = count_padded}).hidden;
    };
  };
  check_ranks(make, lengths());
  if (!count_padded) check_ranks(make, Tensor());
}

}  // namespace

TEST_CASE("synchronized batch norm: recurrent layers normalize every step over the cases of all ranks") {
  check_recurrent<Lstm>(false);
  check_recurrent<Gru>(false);
  check_recurrent<Rnn>(false);
}

TEST_CASE("synchronized batch norm: where padded cases count") { check_recurrent<Lstm>(true); }

TEST_CASE("synchronized batch norm: outside of recurrence, with a mask, with and without a bias") {
  for (const bool bias : {true, false})
    for (const Tensor& mask : {lengths(), Tensor()})
      check_ranks(
          [=](Parameters& parameters) {
            return [layer = MaskedBatchNorm(parameters, "norm", {.features = width, .bias = bias})](
                       const Tensor& x, const Tensor& own_mask) { return layer(x, own_mask, Mode::train); };
          },
          mask);
}

TEST_CASE("synchronized batch norm: a layer's, with either variance") {
  for (const Variance variance : {Variance::biased, Variance::unbiased})
    check_ranks(
        [=](Parameters& parameters) {
          const auto layer = std::make_shared<BatchNorm>(
              parameters, "norm", BatchNormOptions{.features = width, .variance = variance});
          return [=](const Tensor& x, const Tensor&) { return (*layer)(x, Mode::train); };
        },
        Tensor());
}

TEST_CASE("population: ranks that measured different batches have what one measured on all") {
  const auto batch = [](size_t number) {
    return sample({3 + number, 4}, 10 + static_cast<std::uint64_t>(number));
  };
  const auto measured = [&] {
    Parameters parameters(1);
    const MaskedBatchNorm norm(parameters, "norm", {.features = 4});
    const distributed::SharedWork sharing;
    distributed::for_own_pieces(5, [&](size_t i) { norm(batch(i), {}, Mode::measure_population); });
    norm.population.merge_ranks();
    return norm.population;
  };
  const Population alone = measured();
  CHECK(alone.cases[0] == 25);
  std::vector<Population> all(3);
  on_ranks(3, [&] { all[distributed::group().rank()] = measured(); });
  for (const Population& each : all) {
    CHECK(each.cases[0] == 25);
    check_close(each.mean.values(), alone.mean.values());
    check_close(each.variance.values(), alone.variance.values());
  }
}

TEST_CASE("synchronized batch norm: statistics may be changed before the backward pass, a mask may not") {
  Tensor mask = Tensor::ones({5});
  const Tensor gain = sample({3}, 2), bias = sample({3}, 3);
  const auto gradient = [&](bool change, bool change_mask) {
    const Tensor a = leaf({5, 3}, 1);
    Tape tape;
    Tensor mean({3}), variance({3});
    const real all = column_norm::measure_over_ranks(a, mask, 0, mean, variance);
    const Tensor y = column_norm::normalize(
        {.op = "batch_norm", .epsilon = real(1e-5), .mask = mask, .measured = true, .cases_of_ranks = all}, a,
        gain, bias, mean, variance);
    if (change) std::ranges::fill(mean.values(), real{7});
    if (change_mask) mask[0] = 0;
    tape.backward(weighted(y));
    return a.gradient();
  };
  CHECK(identical(gradient(true, false), gradient(false, false)));
  CHECK(contains(error_of([&] { gradient(false, true); }), "was written after it was recorded"));
}

TEST_CASE("synchronized batch norm: parts and corrections stay each rank's own") {
  const Tensor x = sample({8, 3}, 1);
  for (const BatchNormOptions& options : {BatchNormOptions{.features = 3, .part = 2},
                                          BatchNormOptions{.features = 3, .r_max = 3, .d_max = 5}}) {
    const auto run_rank = [&](size_t rank) {
      Parameters parameters(1);
      BatchNorm norm(parameters, "norm", options);
      return norm(x.slice(4 * rank, 4 * rank + 4), Mode::train);
    };
    std::vector<Tensor> together(2);
    distributed::synchronize_statistics(true);
    on_ranks(2, [&] {
      const distributed::SharedStep step;
      const size_t rank = distributed::group().rank();
      together[rank] = run_rank(rank);
    });
    distributed::synchronize_statistics(false);
    for (size_t rank = 0; rank < 2; ++rank) CHECK(identical(together[rank], run_rank(rank)));
  }
}
