// One model for all ranks of a machine: sums without messages, steps of the optimizer in parts, and copies again afterwards.

#include "core/distributed/machine/shared_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/distributed/gradient_sum.h"
#include "core/distributed/group.h"
#include "core/ops.h"
#include "core/tape.h"
#include "optim/adam.h"
#include "tests/check.h"
#include "tests/core/distributed/rank_threads.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr size_t rows = 7, columns = 333;  // pieces of unequal sizes

/// A model of two parameters, and its optimizer.
struct Model {
  Parameters parameters{1};
  Tensor weight = parameters.add("weight", sample({rows, columns}, 3));
  Tensor bias = parameters.add("bias", sample({columns}, 4));
  Adam adam{parameters, {.learning_rate = real(0.1)}};

  /// The gradients of a loss that differs from rank to rank.
  void backward(size_t rank) {
    Tape tape;
    tape.backward(sum(square(weight) * static_cast<real>(rank + 1)) + sum(square(bias)));
  }
  std::vector<real> numbers() {
    std::vector<real> all(parameters.values().begin(), parameters.values().end());
    for (const auto& [name, value] : adam.state())
      all.insert(all.end(), value.values().begin(), value.values().end());
    return all;
  }
};

struct AfterSteps {
  std::vector<real> shared,
      alone;  ///< numbers() while the model is shared, and when each rank has changed its copy
  size_t own_numbers = 0;
  bool is_shared = false;
};

/// Three steps on each rank, clipped by nobody.
std::vector<AfterSteps> steps_on(size_t ranks, distributed::SumsAre sums = distributed::SumsAre::complete) {
  std::vector<AfterSteps> after(ranks);
  on_ranks(ranks, [&] {
    const size_t rank = distributed::group().rank();
    AfterSteps& own = after[rank];
    Model model;
    {
      distributed::SharedModel shared(model.parameters, model.adam.state());
      distributed::GradientSum sum(model.parameters, 1, shared.sum());
      own.is_shared = shared.sum() != nullptr;
      own.own_numbers = std::min(shared.own_part().size(), model.parameters.values().size());
      model.adam.update_part(shared.own_part(), [&](Range range) { sum.sum_here(range); });
      for (int step = 0; step < 3; ++step) {
        sum.begin(sums);
        model.backward(rank);
        sum.finish();
        model.adam.step();
        shared.updated();
      }
      own.shared = model.numbers();
      distributed::gather(0);  // others may change theirs only now
    }
    std::ranges::fill(model.parameters.values(), static_cast<real>(rank));
    std::ranges::fill(model.adam.first_moment.values(), static_cast<real>(rank));
    distributed::gather(0);
    own.alone = model.numbers();
  });
  return after;
}

}  // namespace

TEST_CASE("shared model: each rank updates a part, and all have what one that summed alone has") {
  for (const size_t ranks : {2U, 3U}) {
    const std::vector<AfterSteps> after = steps_on(ranks);
    ::setenv("LAMINA_SHARED_MEMORY", "0", 1);
    const std::vector<AfterSteps> apart = steps_on(ranks);
    ::unsetenv("LAMINA_SHARED_MEMORY");
    size_t updated = 0;
    for (size_t rank = 0; rank < ranks; ++rank) {
      CHECK(after[rank].is_shared);
      CHECK_FALSE(apart[rank].is_shared);
      CHECK(after[rank].shared == apart[0].shared);
      updated += after[rank].own_numbers;
    }
    CHECK(updated == Model().parameters.values().size());
    CHECK(apart[0].own_numbers == updated);
  }
}

TEST_CASE("shared model: sums that are left to the update give the same bits, and no rank has all of them") {
  using distributed::SumsAre;
  for (const size_t ranks : {2U, 3U}) {
    const std::vector<AfterSteps> complete = steps_on(ranks),
                                  left = steps_on(ranks, SumsAre::left_to_the_update);
    for (size_t rank = 0; rank < ranks; ++rank) CHECK(left[rank].shared == complete[0].shared);
  }
  std::array<std::vector<real>, 2> gradients;
  on_ranks(2, [&] {
    const size_t rank = distributed::group().rank();
    Model model;
    distributed::SharedModel shared(model.parameters, model.adam.state());
    distributed::GradientSum sum(model.parameters, 1, shared.sum());
    sum.begin(SumsAre::left_to_the_update);
    model.backward(rank);
    sum.finish();
    const Range part = shared.own_part();
    sum.sum_here(part);
    gradients[rank].assign(model.parameters.gradients().begin(), model.parameters.gradients().end());
    shared.updated();
  });
  // 2 w from rank 0 and 4 w from rank 1: their sum is 6 w, in the own part alone.
  const Model model;
  const size_t last = model.weight.size() - 1;
  for (const size_t rank : {0U, 1U}) {
    CHECK(gradients[rank][0] == model.weight[0] * static_cast<real>(rank == 0 ? 6 : 4));
    CHECK(gradients[rank][last] ==
          doctest::Approx(model.weight[last] * static_cast<real>(rank == 1 ? 6 : 2)));
  }
}

TEST_CASE("shared model: state of another size, which each rank would update, is refused") {
  std::array<std::string, 2> errors;
  on_ranks(2, [&] {
    Parameters parameters(1);
    parameters.add("w", Tensor::ones({16}));
    const Parameters::Entry state{"own.product", Tensor::ones({1})};
    errors[distributed::group().rank()] =
        error_of([&] { const distributed::SharedModel shared(parameters, {state}); });
  });
  for (const std::string& error : errors)
    CHECK(
        error ==
        "shared model: the optimizer's 'own.product' is [1], for 16 values; every rank would update it: give "
        "it one number for each of parameters.values()");
}

TEST_CASE("shared model: afterwards each rank has a copy of its own") {
  const std::vector<AfterSteps> after = steps_on(2);
  const size_t values = Model().parameters.values().size();
  for (size_t rank = 0; rank < 2; ++rank) {
    const std::vector<real>& alone = after[rank].alone;
    CHECK(std::all_of(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(2 * values),
                      [&](real value) { return value == static_cast<real>(rank); }));
    CHECK(
        std::equal(alone.begin() + static_cast<std::ptrdiff_t>(2 * values), alone.end(),
                   after[rank].shared.begin() + static_cast<std::ptrdiff_t>(2 * values)));  // second moments
  }
}

TEST_CASE("neighbour sum: in the order of the ranks, of several ranges under way") {
  constexpr size_t ranks = 3, count = 1000;
  std::array<std::vector<real>, ranks> values;
  std::array<distributed::Signals, ranks> signals;
  std::vector<distributed::Neighbour> neighbours;
  std::vector<real> wanted(count);
  for (size_t rank = 0; rank < ranks; ++rank) {
    for (size_t i = 0; i < count; ++i)
      values[rank].push_back(static_cast<real>(i) / static_cast<real>(rank + 3));
    neighbours.push_back({values[rank].data(), &signals[rank]});
    for (size_t i = 0; i < count; ++i) wanted[i] += values[rank][i];
  }
  on_ranks(ranks, [&] {
    distributed::NeighbourSum sum(neighbours, distributed::group().rank());
    for (const Range range : {Range{500, count}, Range{20, 500}, Range{0, 20}}) sum.start(range);
    sum.finish();
    sum.start({0, 0});
    sum.finish();
  });
  for (const std::vector<real>& sums : values) CHECK(sums == wanted);
}

TEST_CASE("neighbour sum: who has the sums may change them while others come later") {
  using namespace std::chrono_literals;
  std::array<std::vector<real>, 2> values{std::vector<real>(1000, 1), std::vector<real>(1000, 2)};
  std::array<distributed::Signals, 2> signals;
  const std::vector<distributed::Neighbour> neighbours{{values[0].data(), &signals[0]},
                                                       {values[1].data(), &signals[1]}};
  on_ranks(2, [&] {
    const size_t rank = distributed::group().rank();
    distributed::NeighbourSum sum(neighbours, rank);
    if (rank == 1) std::this_thread::sleep_for(20ms);
    sum.start({0, 1000});  // the second rank, which comes last, sums its piece here
    if (rank == 1) std::this_thread::sleep_for(50ms);
    sum.finish();
    CHECK(values[rank] == std::vector<real>(1000, 3));
    std::ranges::fill(values[rank], real{-1});
  });
}
