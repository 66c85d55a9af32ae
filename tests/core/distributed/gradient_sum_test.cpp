// The buckets of a model's gradients: which numbers they hold, and when their sums start.

#include "core/distributed/gradient_sum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/listener.h"
#include "core/ops.h"
#include "layers/linear.h"
#include "tests/check.h"
#include "tests/core/distributed/pretended_rank.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Three layers, of which the last is used twice.
struct Model {
  Parameters parameters{1};
  Linear first{parameters, "first", {.input = 4, .output = 6}};
  Linear second{parameters, "second", {.input = 6, .output = 6}};
  Linear last{parameters, "last", {.input = 6, .output = 6}};

  void backward() {
    Tape tape;
    tape.backward(mean(square(last(last(second(first(sample({3, 4}, 2))))))));
  }
};

/// How many numbers each sum was started of.
std::vector<size_t> sizes_of(const PretendedRank& rank) {
  std::vector<size_t> sizes;
  for (const std::span<real> values : rank.started()) sizes.push_back(values.size());
  return sizes;
}

}  // namespace

TEST_CASE("gradient sum: every bucket starts before the end of the backward pass, in place, last one first") {
  Model model;
  model.backward();
  const std::span<real> plain = model.parameters.gradients();
  const std::vector<real> wanted(plain.begin(), plain.end());
  model.parameters.clear_gradients();

  const PretendedRank rank(0, 2);
  distributed::GradientSum sum(model.parameters, 1);
  CHECK(sum.buckets() == 6);
  for (int step = 0; step < 2; ++step) {
    sum.begin();
    model.backward();
    CHECK(sum.started_early() == 6);
    sum.finish();
    CHECK(std::ranges::equal(model.parameters.gradients(), wanted));
    model.parameters.clear_gradients();
  }
  const real* end = plain.data() + plain.size();
  for (size_t i = 0; i < 6; ++i) {
    const std::span<real> values = rank.started()[i];
    CHECK(values.data() + values.size() == end);
    end = values.data();
  }
  CHECK(end == plain.data());
}

TEST_CASE(
    "gradient sum: buckets of many parameters, of none that are frozen, and of those that no gradient "
    "reaches") {
  Model model;
  const PretendedRank rank(0, 2);
  const size_t all = model.parameters.gradients().size();
  {
    distributed::GradientSum sum(model.parameters, 1000);
    CHECK(sum.buckets() == 1);
    sum.begin();
    model.backward();
    sum.finish();
    CHECK(sizes_of(rank) == std::vector<size_t>{all});
  }
  model.parameters.clear_gradients();
  model.parameters.freeze("second");
  distributed::GradientSum sum(model.parameters, 1000);
  CHECK(sum.buckets() == 2);
  sum.begin();
  {
    Tape tape;
    tape.backward(mean(model.first(sample({3, 4}, 2))));  // nothing for `last`
  }
  CHECK(sum.started_early() == 0);
  sum.finish();
  const Tensor unused = model.last.weight.gradient();
  for (const real value : unused.values()) CHECK(value == 0);
  CHECK(rank.started().size() == 3);
}

TEST_CASE("gradient sum: of what is thawed later, and not of what is frozen") {
  Model model;
  const PretendedRank rank(0, 2);
  model.parameters.freeze("first");
  distributed::GradientSum sum(model.parameters, 1);
  CHECK(sum.buckets() == 4);
  model.parameters.thaw("first");
  for (const char* const frozen : {"", "second"}) {
    if (*frozen != 0) model.parameters.freeze(frozen);
    sum.begin();
    model.backward();
    sum.finish();
    CHECK(sum.buckets() == (*frozen == 0 ? 6 : 4));
    model.parameters.clear_gradients();
  }
  CHECK(rank.started().size() == 6 + 4);
}

TEST_CASE("gradient sum: of what no gradient reaches there is nothing left of the step before") {
  Model model;
  const PretendedRank rank(0, 2);
  distributed::GradientSum sum(model.parameters, 1);
  sum.begin();
  model.backward();
  sum.finish();
  model.parameters.clear_gradients();
  sum.begin();
  {
    Tape tape;
    tape.backward(mean(model.first(sample({3, 4}, 2))));
  }
  CHECK(sum.started_early() == 0);  // a checkpointed piece might still use the last layer
  sum.finish();
  const Tensor unused = model.last.weight.gradient();
  for (const real value : unused.values()) CHECK(value == 0);
}

TEST_CASE("gradient sum: where something else listens, the same sums start at the end") {
  struct Nothing final : TapeListener {
  } nothing;
  Model model;
  const PretendedRank rank(0, 2);
  distributed::GradientSum sum(model.parameters, 1);
  const Listening listening(nothing);
  for (const size_t buckets : {6U, 4U}) {
    if (buckets == 4) model.parameters.freeze("second");
    const size_t before = rank.started().size();
    sum.begin();
    model.backward();
    CHECK(sum.started_early() == 0);
    sum.finish();
    CHECK(rank.started().size() == before + buckets);
    model.parameters.clear_gradients();
  }
}
