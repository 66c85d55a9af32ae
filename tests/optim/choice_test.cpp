// Optimizers by name, and the state of each in a checkpoint.

#include "optim/choice.h"

#include <iterator>
#include <set>

#include "optim/adam.h"
#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Subject {
  explicit Subject(OptimizerKind kind, real momentum = 0) {
    w = parameters.add("w", sample({7}, 1));
    optimizer = make_optimizer(kind, parameters, real(0.1), momentum);
  }
  void step() {
    Tape tape;
    tape.backward(sum(square(square(w))));
    optimizer->step();
  }

  Parameters parameters{1};
  Tensor w;
  std::unique_ptr<Optimizer> optimizer;
};

}  // namespace

TEST_CASE("optimizers: each kind is what it is called, with its learning rate") {
  Parameters parameters(1);
  parameters.add("w", Tensor::ones({1}));
  const auto adam = make_optimizer(OptimizerKind::adam, parameters, real(0.5));
  const auto authors = make_optimizer(OptimizerKind::authors_adam, parameters, real(0.5));
  const auto sgd = make_optimizer(OptimizerKind::sgd, parameters, real(0.5));
  CHECK(dynamic_cast<Adam&>(*adam).options.bias_correction == BiasCorrection::betas);
  CHECK(dynamic_cast<Adam&>(*authors).options.bias_correction == BiasCorrection::complements);
  CHECK(dynamic_cast<Adam&>(*authors).options.learning_rate == real(0.5));
  CHECK(dynamic_cast<Sgd&>(*sgd).options.learning_rate == real(0.5));
  CHECK(dynamic_cast<Sgd&>(*sgd).options.momentum == 0);
  const auto heavy = make_optimizer(OptimizerKind::sgd, parameters, real(0.5), real(0.75));
  CHECK(dynamic_cast<Sgd&>(*heavy).options.momentum == real(0.75));
  CHECK_ERROR(make_optimizer(OptimizerKind::adam, parameters, real(0.5), real(0.75)),
              "optimizer: momentum 0.75 for an optimizer that is not SGD; leave it out or take SGD");
}

TEST_CASE("optimizers: each has one row in their table, and its name stands for it") {
  std::set<OptimizerKind> kinds;
  for (const OptimizerEntry& entry : optimizer_table) {
    CHECK(kinds.insert(entry.kind).second);
    REQUIRE(optimizer_named(entry.name) != nullptr);
    CHECK(optimizer_named(entry.name)->kind == entry.kind);
  }
  for (size_t i = 0; i < std::size(optimizer_table); ++i)
    CHECK(kinds.contains(static_cast<OptimizerKind>(i)));
  CHECK(optimizer_named("none of them") == nullptr);
  Parameters parameters(1);
  parameters.add("w", Tensor::ones({1}));
  CHECK_ERROR(make_optimizer(static_cast<OptimizerKind>(std::size(optimizer_table)), parameters, 1),
              text("optimizer: there is none with the number ", std::size(optimizer_table)));
}

TEST_CASE("optimizers: parameters, state and steps are all that the next step depends on") {
  std::vector<std::pair<OptimizerKind, double>> all{{OptimizerKind::sgd, 0.9}};
  for (const OptimizerEntry& entry : optimizer_table) all.emplace_back(entry.kind, 0);
  for (const auto& [kind, momentum] : all) {
    Subject whole(kind, static_cast<real>(momentum)), again(kind, static_cast<real>(momentum));
    for (int i = 0; i < 3; ++i) whole.step();
    std::ranges::copy(whole.w.values(), again.w.data());
    const auto kept = whole.optimizer->state();
    auto restored = again.optimizer->state();
    REQUIRE(kept.size() == restored.size());
    for (size_t i = 0; i < kept.size(); ++i) {
      CHECK(kept[i].name == restored[i].name);
      CHECK(kept[i].name.starts_with(whole.optimizer->name() + "."));
      CHECK(kept[i].value.shape() == Shape{whole.parameters.values().size()});  // ranks update parts of it
      std::ranges::copy(kept[i].value.values(), restored[i].value.data());
    }
    again.optimizer->steps = whole.optimizer->steps;
    whole.step();
    again.step();
    CHECK(identical(whole.w, again.w));
  }
}
