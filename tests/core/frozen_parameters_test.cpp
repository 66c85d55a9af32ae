// Names, freezing and moving of parameters.

#include <memory>

#include "core/files/parameter_file.h"
#include "core/parameters.h"
#include "layers/linear.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/moving_average.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

void add_some(Parameters& parameters) {
  for (const std::string name : {"layer1.weight", "layer1.bias", "layer10.weight", "head"})
    parameters.add(name, sample({3}, 1));
}

}  // namespace

TEST_CASE("parameters: names end where a dot does") {
  CHECK(is_named("layer1.weight", "layer1"));
  CHECK(is_named("layer1.weight", "layer1."));
  CHECK(is_named("layer1.weight", "layer1.weight"));
  CHECK(is_named("layer1.weight", ""));
  CHECK(!is_named("layer10.weight", "layer1"));
  CHECK(!is_named("layer1", "layer1.weight"));
  CHECK(!is_named("layer1", "layer1."));

  Parameters parameters(1);
  add_some(parameters);
  CHECK(parameters.named("layer1") == std::vector<size_t>{0, 1});
  CHECK(parameters.named("head") == std::vector<size_t>{3});
  CHECK(parameters.named("").size() == 4);
  CHECK_ERROR(parameters.named("layer"),
              "parameters: none is named 'layer' or 'layer....'; there are 'layer1.weight', 'layer1.bias', "
              "'layer10.weight', 'head'");
  CHECK_ERROR(Parameters(1).freeze("x"), "parameters: none is named 'x' or 'x....'; there are none");
}

TEST_CASE("freeze: which ranges are trained") {
  Parameters parameters(1);
  add_some(parameters);
  const auto trained = [&] {
    std::vector<size_t> found;
    for (size_t i = 0; i < 4; ++i)
      for (const Range& range : parameters.trained())
        if (parameters.offset(i) >= range.begin && parameters.offset(i) + 3 <= range.end) found.push_back(i);
    return found;
  };
  REQUIRE(parameters.trained().size() == 1);
  CHECK(parameters.trained()[0].begin == 0);
  CHECK(parameters.trained()[0].end == parameters.values().size());
  parameters.freeze("layer1");
  CHECK(trained() == std::vector<size_t>{2, 3});
  CHECK(parameters.trained().size() == 1);
  CHECK(parameters.frozen(0));
  CHECK(!parameters.frozen(2));
  parameters.freeze("head");
  CHECK(trained() == std::vector<size_t>{2});
  parameters.thaw("layer1.weight");
  CHECK(trained() == std::vector<size_t>{0, 2});
  CHECK(parameters.trained().size() == 2);
  parameters.add("late", sample({3}, 2));
  parameters.thaw("");
  CHECK(parameters.trained().size() == 1);
}

TEST_CASE("freeze: not between a forward pass and its backward pass, and gradients so far are dropped") {
  Parameters parameters(1);
  add_some(parameters);
  const Tensor head = parameters.learned()[3].value;
  {
    Tape tape;
    const Tensor loss = sum(square(head));
    CHECK_ERROR(
        parameters.freeze("head"),
        "freeze 'head': a tape has recorded ops that would then get wrong gradients; call it before the "
        "forward pass or after backward()");
    CHECK(contains(error_of([&] { parameters.thaw("head"); }), "thaw 'head': a tape has recorded"));
    tape.backward(loss);
  }
  CHECK(parameters.any_gradient());
  parameters.freeze("head");
  CHECK(!parameters.any_gradient());
  CHECK(gradient_norm(parameters) == 0);
  Tape tape;
  CHECK(!sum(square(head)).needs_gradient());
  CHECK(tape.size() == 0);
}

TEST_CASE("freeze: require_gradient() does not thaw") {
  Parameters parameters(1);
  add_some(parameters);
  Tensor head = parameters.learned()[3].value;
  parameters.freeze("head");
  CHECK_ERROR(head.require_gradient(),
              "require_gradient: this [3] is a frozen parameter; thaw() it by its name, or take its detach() "
              "or copy()");
  CHECK(parameters.frozen(3));
  CHECK(head.detach().require_gradient().needs_gradient());
  CHECK(!head.needs_gradient());
  parameters.thaw("head");
  CHECK(head.require_gradient().needs_gradient());
}

TEST_CASE("freeze: an optimizer of frozen parameters alone says so") {
  Parameters parameters(1);
  add_some(parameters);
  Adam adam(parameters, {});
  parameters.freeze("");
  CHECK_ERROR(adam.step(), "adam: every parameter is frozen; thaw() some before step()");
  CHECK(adam.steps == 0);
}

TEST_CASE("parameters: layers, optimizers and averages follow them when they are moved") {
  const auto run = [](bool move) {
    auto first = std::make_unique<Parameters>(1);
    const Linear layer(*first, "layer", {.input = 3, .output = 2});
    Adam adam(*first, {});
    MovingAverage average(*first, {.decay = real(0.5)});
    const Tensor x = sample({4, 3}, 1);
    const auto step = [&] {
      Tape tape;
      tape.backward(sum(square(layer(x))));
      adam.step();
      average.update();
    };
    step();
    Parameters second(5);
    second.add("other", sample({2}, 1));
    if (move) {
      Parameters between(std::move(*first));
      second = std::move(between);
      first.reset();
      CHECK(second.learned().size() == 2);
      CHECK(second.learned()[0].value.storage() == layer.weight.storage());
    }
    Parameters& now = move ? second : *first;
    step();
    average.swap();
    std::vector<real> values(now.values().begin(), now.values().end());
    const Tensor before = layer.weight.copy();
    average.swap();
    CHECK(!identical(before, layer.weight));
    return values;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("parameters: what was moved from says so, and what was assigned to is gone") {
  Parameters from(1), to(2);
  add_some(from);
  to.add("old", sample({3}, 1));
  Adam of_old(to, {});
  to = std::move(from);
  CHECK(to.learned().size() == 4);
  CHECK(contains(error_of([&] { of_old.step(); }), "adam: the parameters are gone"));
  const std::string moved = "parameters: this object has been moved from; use the one that it was moved to";
  CHECK_ERROR(from.learned(), moved);  // NOLINT(bugprone-use-after-move)
  CHECK_ERROR(from.state(), moved);
  CHECK_ERROR(from.values(), moved);
  CHECK_ERROR(from.gradients(), moved);
  CHECK_ERROR(from.gradients_to_scale(), moved);
  CHECK_ERROR(from.any_gradient(), moved);
  CHECK_ERROR(from.clear_gradients(), moved);
  CHECK_ERROR(from.offset(0), moved);
  CHECK_ERROR(from.lock("why"), moved);
  CHECK_ERROR(from.unlock(), moved);
  CHECK_ERROR(from.locked(), moved);
  CHECK_ERROR(from.count(), moved);
  CHECK_ERROR(from.random("x"), moved);
  CHECK_ERROR(from.freeze(""), moved);
  CHECK_ERROR(from.lifetime(), moved);
  CHECK_ERROR(from.add("x", sample({1}, 1)), moved);
  CHECK_ERROR(from.add_state("x", sample({1}, 1)), moved);
  CHECK_ERROR(Adam(from, {}), moved);
  CHECK_ERROR(checkpoint_of(from), moved);
  from = Parameters(3);  // may be used again
  add_some(from);
  CHECK(from.learned().size() == 4);
}
