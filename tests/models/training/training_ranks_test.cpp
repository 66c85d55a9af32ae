// Training by several ranks, of which one is pretended: what is refused, and whose files are written.

#include "models/training/training_ranks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/files/folder.h"
#include "core/ops.h"
#include "models/run/metrics.h"
#include "models/training/training.h"
#include "optim/adam.h"
#include "tests/check.h"
#include "tests/core/distributed/pretended_rank.h"
#include "tests/core/distributed/rank_threads.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Learns to be zero.
struct Zero : Experiment {
  Tensor loss(std::uint64_t /*step*/) override { return mean(square(x)); }
  Metrics evaluate(double mean_training_loss) override {
    ++evaluations;
    CHECK(distributed::shares_work());
    CHECK_FALSE(distributed::in_shared_step());
    last_mean = mean_training_loss;
    return {{"loss", mean_training_loss}};
  }
  std::vector<std::string> metric_names() const override { return {"loss"}; }

  Parameters parameters{1};
  Tensor x = parameters.add("x", Tensor::ones({3}));
  Adam adam{parameters, {}};
  int evaluations = 0;
  double last_mean = 0;
};

struct SharedZero : Zero {
  bool shares_batches() const override { return true; }
};

Outcome train_here(const RunFolder& folder, Zero& zero) {
  return train(folder, zero.parameters, zero.adam, zero,
               {.label = "zero", .steps_per_epoch = 2, .epochs = 2});
}

}  // namespace

TEST_CASE("ranks: an experiment that computes whole batches is refused") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  const PretendedRank rank(0, 2);
  Zero zero;
  CHECK_ERROR(
      train_here(folder, zero),
      "this experiment does not share its batches among ranks (see part_of_batch()); train it without "
      "mpirun");
}

TEST_CASE("ranks: an optimizer that updates only the rows of a batch is refused") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  SharedZero zero;
  zero.adam.update_only(zero.x, [] { return std::span<const int>(); });
  const PretendedRank rank(0, 2);
  CHECK_ERROR(
      train_here(folder, zero),
      "the optimizer updates only the rows that a batch uses (update_only()), and each rank has other ones; "
      "train it without mpirun, or update all rows");
}

TEST_CASE("ranks: all take the cases in the same order") {
  const auto cases = [] {
    EpochOrder order(1, 12, 4);
    std::vector<int> all;
    for (std::uint64_t step = 0; step < 6; ++step)
      std::ranges::copy(order.batch_of(step), std::back_inserter(all));
    return all;
  };
  const std::vector<int> alone = cases();
  const PretendedRank rank(1, 3);
  CHECK(cases() == alone);
}

TEST_CASE("ranks: all evaluate, and the first one writes") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  {
    const PretendedRank rank(1, 2);
    SharedZero zero;
    CHECK(train_here(folder, zero) == Outcome::followed);
    CHECK(zero.adam.steps == 4);
    CHECK(zero.evaluations == 3);
    CHECK(zero.last_mean > 0);
    CHECK_FALSE(exists(folder.file("state")));
    CHECK_FALSE(exists(folder.file("metrics.csv")));
  }
  const PretendedRank rank(0, 2);
  SharedZero zero;
  CHECK(train_here(folder, zero) == Outcome::finished);
  CHECK(zero.evaluations == 3);  // before the first update, and after each epoch
  CHECK(exists(folder.file("state")));
}

namespace {

struct Readings {
  int all = 0, changed = 0;  ///< changed: in which another rank updated what was read
};

/// Four steps of parameters that all ranks have in common, where a rank takes long to read them in steps of which `reads` says
/// so; the others could update theirs meanwhile. `of_first` is what the first rank says of its gradients, `of_others` the rest.
Readings readings(size_t ranks, RankSteps::GradientsRead of_others, RankSteps::GradientsRead of_first,
                  const std::function<bool(std::uint64_t)>& reads) {
  std::atomic<int> all = 0, changed = 0;
  on_ranks(ranks, [&] {
    Parameters parameters(1);
    const Tensor x = parameters.add("x", Tensor::ones({1000}));
    Adam adam(parameters, {});
    RankSteps steps(parameters, adam, distributed::is_first() ? of_first : of_others);
    for (std::uint64_t done = 0; done < 4; ++done) {
      RankSteps::Step step(steps, done);
      Tape tape;
      const Tensor loss = sum(square(x));
      step.forward_done(0, false);
      tape.backward(loss);
      step.backward_done();
      if (reads(done)) {
        const Tensor before = x.copy();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        changed += difference(x, before) > 0 ? 1 : 0;
        ++all;
      }
      step.parameters_read();
      adam.step();
      step.update_done();
    }
  });
  return {.all = all, .changed = changed};
}

}  // namespace

TEST_CASE("ranks: none updates what the first one records") {
  const Readings found = readings(
      3, {}, {.record = 2}, [](std::uint64_t done) { return distributed::is_first() && done % 2 == 0; });
  CHECK(found.all == 2);
  CHECK(found.changed == 0);
}

/// adjust_gradients() may add the gradient of a penalty on the weights.
TEST_CASE("ranks: none updates what another one reads to adjust gradients") {
  const Readings found = readings(2, {.always = true}, {.always = true},
                                  [](std::uint64_t done) { return distributed::group().rank() == done % 2; });
  CHECK(found.all == 4);
  CHECK(found.changed == 0);
}

namespace {

/// One of two ranks, whose other one has the same losses. Where this one is not the first, `say` is called with what that
/// broadcasts.
struct AnsweringGroup final : distributed::Group {
  explicit AnsweringGroup(size_t own) : own_rank(own) {}
  size_t rank() const override { return own_rank; }
  size_t size() const override { return 2; }
  void start_sum(std::span<double> values) override {
    if (values.size() == 2) values[0] *= 2;  // loss, and interrupts
  }
  void broadcast(std::span<std::byte> values) override { say(values); }

  size_t own_rank;
  std::function<void(std::span<std::byte>)> say = [](std::span<std::byte>) {};
};

/// The group that this process belongs to while it lives.
class Answering {
 public:
  explicit Answering(size_t rank) {
    auto made = std::make_unique<AnsweringGroup>(rank);
    group = made.get();
    distributed::join(std::move(made));
  }
  ~Answering() { distributed::join(nullptr); }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  AnsweringGroup* group;
};

}  // namespace

TEST_CASE("ranks: the files hold the losses of all") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  const Answering first(0);
  SharedZero zero;
  CHECK(train_here(folder, zero) == Outcome::finished);
  const std::vector<double> steps = read_table(folder.file("steps.csv")).column("train_loss"),
                            epochs = read_table(folder.file("metrics.csv")).column("loss");
  CHECK(steps[0] == 2);  // of three ones on each of two ranks
  for (size_t epoch = 0; epoch < 2; ++epoch)
    CHECK(epochs[epoch] == (steps[2 * epoch] + steps[2 * epoch + 1]) / 2);
}

TEST_CASE("ranks: all evaluate the first one's running averages, also after a last epoch that is shorter") {
  struct Averaging final : SharedZero {
    Averaging() { average = parameters.add_state("average", Tensor::full({5}, 1)); }
    Tensor loss(std::uint64_t step) override {
      average[0] = 2;  // this rank's own
      return SharedZero::loss(step);
    }
    Metrics evaluate(double mean_training_loss) override {
      seen.push_back(average[0]);
      return SharedZero::evaluate(mean_training_loss);
    }
    Tensor average;
    std::vector<real> seen;
  };
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  const Answering second(1);
  second.group->say = [](std::span<std::byte> values) {
    const real of_first = 3;
    if (values.size() == 5 * sizeof(real)) std::memcpy(values.data(), &of_first, sizeof of_first);
  };
  Averaging averaging;
  CHECK(train(folder, averaging.parameters, averaging.adam, averaging,
              {.label = "zero", .steps_per_epoch = 2, .epochs = 2, .last_epoch_steps = 1}) ==
        Outcome::followed);
  CHECK(averaging.seen == std::vector<real>{3, 3, 3});
}

TEST_CASE("ranks: the first one alone writes and reads models, and the others have what it has read") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  Parameters parameters(1);
  const Tensor x = parameters.add("x", Tensor::ones({3}));
  save_model(folder, parameters, "kept", {{"loss", exact(1)}});
  const Answering second(1);
  save_model(folder, parameters, "own");
  CHECK_FALSE(exists(folder.file("own")));
  second.group->say = [](std::span<std::byte> values) {
    const real of_first[3] = {5, 6, 7};
    const double loss = 0.5;
    if (values.size() == sizeof loss)
      std::memcpy(values.data(), &loss, sizeof loss);
    else
      std::memcpy(values.data(), of_first, sizeof of_first);
  };
  CHECK(number_kept(folder, "kept", "loss", 2) == 0.5);
  CHECK(number_kept(folder, "missing here", "loss", 2) == 0.5);
  load_model(folder, parameters, "missing here");
  CHECK(identical(x, Tensor::from({3}, {5, 6, 7})));
  second.group->say = [](std::span<std::byte>) {};
  CHECK(number_kept(folder, "kept", "loss", 2) == 2);  // not what this rank could read
}

TEST_CASE("ranks: parameters are compared after every hundredth step") {
  struct Doubtful final : SharedZero {
    Tensor loss(std::uint64_t step) override {
      if (step == 199)  // from here on only the hash is broadcast
        group->say = [](std::span<std::byte> values) { values[0] ^= std::byte{1}; };
      return SharedZero::loss(step);
    }
    AnsweringGroup* group = nullptr;
  };
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "zero"});
  const Answering second(1);
  Doubtful doubtful;
  doubtful.group = second.group;
  const std::string error = error_of([&] {
    train(folder, doubtful.parameters, doubtful.adam, doubtful, {.label = "zero", .steps_per_epoch = 300});
  });
  CHECK(contains(error, "its parameters differ from those of rank 0 after step 200"));
}

TEST_CASE("ranks: parameters that differ from those of rank 0 stop the run") {
  Parameters parameters(1);
  parameters.add("x", Tensor::ones({3}));
  require_equal_parameters(parameters, 100);  // alone
  {
    const PretendedRank same(1, 2);
    require_equal_parameters(parameters, 100);
  }
  const PretendedRank other(1, 2, "another hash");
  CHECK_ERROR(
      require_equal_parameters(parameters, 100),
      "its parameters differ from those of rank 0 after step 100; look for faulty memory and for different "
      "CPUs or libraries, then go on with --resume");
}
