// What ranks take over from the first one, and what they exchange in a step: threads, whose sums are real ones.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/distributed/batch_part.h"
#include "core/ops.h"
#include "core/tape.h"
#include "models/training/training_ranks.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "tests/check.h"
#include "tests/core/distributed/rank_threads.h"

using namespace lamina;
using namespace lamina::test;

namespace {

size_t own_rank() { return distributed::group().rank(); }

/// Two layers with dropout in between, by Adam with weight decay. `last` is frozen in every third step, so that its moments are
/// corrected by fewer steps than those of `first`. The batch has 7 cases.
struct Model {
  Parameters parameters{1};
  Tensor first = parameters.add("first", sample({5, 6}, 1));
  Tensor last = parameters.add("last", sample({6, 1}, 2));
  Adam adam{parameters, {.learning_rate = real(0.02), .weight_decay = real(0.1)}};
  double loss = 0;  ///< of the last step

  /// This rank's summand of the loss of the batch.
  Tensor loss_at(std::uint64_t step) const {
    const BatchPart part = part_of_batch(7);
    const Tensor x = sample({7, 5}, 10 + step).slice(part.begin, part.end);
    Random noise(20 + step);
    const Tensor y = matmul(dropout(matmul(x, first), real(0.3), noise), last);
    return part_of_mean(mean(square(y - real(1))), part);
  }

  void train(std::uint64_t begin, std::uint64_t end, bool clips) {
    RankSteps ranks(parameters, adam, {.always = clips});
    for (std::uint64_t step = begin; step < end; ++step) {
      parameters.thaw("");
      if (step % 3 == 1) parameters.freeze("last");
      RankSteps::Step shared(ranks, step);
      Tape tape;
      const Tensor own = loss_at(step);
      shared.forward_done(static_cast<double>(own.item()), false);
      tape.backward(own);
      shared.backward_done();
      loss = shared.loss();
      if (clips) clip_gradient_norm(parameters, real(0.05));
      shared.parameters_read();
      adam.step();
      shared.update_done();
    }
  }

  std::vector<real> numbers() {
    std::vector<real> all(parameters.values().begin(), parameters.values().end());
    for (const auto& [name, value] : adam.state())
      all.insert(all.end(), value.values().begin(), value.values().end());
    return all;
  }
};

constexpr std::uint64_t steps = 8;

/// As many ranks train the last steps of a run whose first `before` ones one process has taken, which is the first rank now.
void check_ranks(size_t ranks, std::uint64_t before, bool clips) {
  CAPTURE(ranks);
  CAPTURE(before);
  CAPTURE(clips);
  Model alone;
  alone.train(0, steps, clips);
  std::vector<std::unique_ptr<Model>> models;
  for (size_t rank = 0; rank < ranks; ++rank) models.push_back(std::make_unique<Model>());
  models[0]->train(0, before, clips);
  on_ranks(ranks, [&] {
    Model& own = *models[own_rank()];
    Position position{.step = own_rank() == 0 ? before : 0};
    share_state(own.parameters, own.adam, position);
    own.train(position.step, steps, clips);
  });
  const double allowed = sizeof(real) == 4 ? 1e-4 : 1e-12;
  for (const auto& model : models) {
    CHECK(difference(model->numbers(), alone.numbers()) < allowed);
    CHECK(model->loss == doctest::Approx(alone.loss).epsilon(allowed));
    CHECK(model->numbers() == models[0]->numbers());
  }
}

}  // namespace

TEST_CASE(
    "ranks: with frozen parameters, dropout, clipping and weight decay as one, also from its saved state") {
  for (const char* const shared : {"1", "0"}) {
    ::setenv("LAMINA_SHARED_MEMORY", shared, 1);
    for (const size_t ranks : {2U, 3U})
      for (const std::uint64_t before : {0U, 3U})
        for (const bool clips : {false, true}) check_ranks(ranks, before, clips);
  }
  ::unsetenv("LAMINA_SHARED_MEMORY");
}

TEST_CASE("ranks: all take over what the first one has loaded") {
  std::vector<std::unique_ptr<Model>> models;
  std::vector<Position> positions(3);
  for (size_t rank = 0; rank < 3; ++rank) {
    Model& model = *models.emplace_back(std::make_unique<Model>());
    const auto own = static_cast<real>(rank + 1);
    std::ranges::fill(model.parameters.values(), own);
    for (auto [name, value] : model.adam.state()) std::ranges::fill(value.values(), own);
    model.parameters.add_state("mean", Tensor::full({4}, own));
    model.adam.steps = rank;
  }
  models[0]->adam.steps = 9;
  models[0]->adam.missed = {0, 4};
  models[2]->adam.missed = {1, 1};
  positions[0] = {.step = 7, .loss_sum = 0.25, .reported = 5};
  on_ranks(3, [&] {
    share_state(models[own_rank()]->parameters, models[own_rank()]->adam, positions[own_rank()]);
  });
  for (size_t rank = 0; rank < 3; ++rank) {
    CHECK(positions[rank].step == 7);
    CHECK(positions[rank].loss_sum == 0.25);
    CHECK(positions[rank].reported == 5);
    CHECK(models[rank]->adam.steps == 9);
    CHECK(models[rank]->adam.missed == std::vector<std::uint64_t>{0, 4});
    CHECK(models[rank]->numbers() == models[0]->numbers());
    CHECK(models[rank]->parameters.state()[0].value[3] == 1);
  }
}

TEST_CASE("ranks: all hear of an interrupt of any, and of the loss of the whole batch") {
  for (const size_t interrupted : {0U, 1U, 2U, 3U})  // 3: none
    on_ranks(3, [&] {
      Model model;
      RankSteps ranks(model.parameters, model.adam, {});
      RankSteps::Step step(ranks, 0);
      Tape tape;
      const Tensor loss = model.loss_at(0);
      step.forward_done(static_cast<double>(own_rank() + 1), own_rank() == interrupted);
      tape.backward(loss);
      step.backward_done();
      CHECK(step.interrupted() == (interrupted < 3));
      CHECK(step.loss() == 1 + 2 + 3);
      model.adam.step();
      step.update_done();
    });
}

/// What the first one says of its files counts.
TEST_CASE("ranks: where something reads the gradients each has the sums of all, also on its first step") {
  const RankSteps::GradientsRead rows{.rows = 2}, record{.record = 2}, always{.always = true};
  for (const RankSteps::GradientsRead& read : {rows, record, always})
    on_ranks(2, [&] {
      Model model;
      RankSteps ranks(model.parameters, model.adam,
                      distributed::is_first() ? read : RankSteps::GradientsRead{});
      for (std::uint64_t done = 0; done < 3; ++done) {
        RankSteps::Step step(ranks, done);
        Tape tape;
        const Tensor loss = sum(model.first * static_cast<real>(own_rank() + 1));
        step.forward_done(0, false);
        tape.backward(loss);
        step.backward_done();
        const Tensor gradient = model.first.gradient();
        if (read.always || done % 2 == 0)
          for (const real each : gradient.values()) CHECK(each == 3);
        step.parameters_read();
        model.adam.step();
        step.update_done();
      }
    });
}

TEST_CASE("ranks: after the last step each updates the whole of a model of its own") {
  on_ranks(2, [&] {
    Model model;
    model.train(0, 2, false);
    const std::vector<real> before(model.parameters.values().begin(), model.parameters.values().end());
    model.parameters.clear_gradients();
    Tape tape;
    tape.backward(sum(model.first) + sum(model.last));
    model.adam.step();
    for (size_t i = 0; i < 5 * 6; ++i) CHECK(model.parameters.values()[i] != before[i]);
  });
}
