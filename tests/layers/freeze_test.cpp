// Frozen parameters in every layer: they get no gradient, and the others get the same one as before.

#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/sgd.h"
#include "tests/layers/every_layer.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

std::vector<Tensor> gradients_of(Parameters& parameters, const std::function<Tensor()>& loss) {
  parameters.clear_gradients();
  Tape tape;
  const Tensor value = loss();
  if (!value.needs_gradient()) return {};
  tape.backward(value);
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : parameters.learned())
    all.push_back(tensor.gradient_data() == nullptr ? Tensor() : tensor.gradient());
  return all;
}

}  // namespace

TEST_CASE("freeze: all but one parameter of every layer, each in turn") {
  for (const LayerCase& each : every_layer()) {
    CAPTURE(each.name);
    Parameters parameters(1);
    const auto loss = each.make(parameters);
    const std::vector<Tensor> expected = gradients_of(parameters, loss);
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string& kept = parameters.learned()[i].name;
      CAPTURE(kept);
      parameters.freeze("");
      CHECK(gradients_of(parameters, loss).empty());
      parameters.thaw(kept);
      const std::vector<Tensor> found = gradients_of(parameters, loss);
      REQUIRE(found.size() == expected.size());
      for (size_t k = 0; k < found.size(); ++k) {
        if (k == i)
          CHECK(identical(found[k], expected[k]));
        else if (is_named(parameters.learned()[k].name, kept))
          continue;
        else
          CHECK(!found[k].defined());
      }
      parameters.thaw("");
    }
  }
}

TEST_CASE("every parameter of every layer is an input of an op") {
  for (const LayerCase& each : every_layer()) {
    CAPTURE(each.name);
    Parameters parameters(1);
    const auto loss = each.make(parameters);
    check_parameters_are_inputs(parameters, loss);
  }
}

TEST_CASE("freeze: and one parameter of every layer alone") {
  for (const LayerCase& each : every_layer()) {
    CAPTURE(each.name);
    Parameters parameters(1);
    const auto loss = each.make(parameters);
    const std::vector<Tensor> expected = gradients_of(parameters, loss);
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string& frozen = parameters.learned()[i].name;
      CAPTURE(frozen);
      parameters.freeze(frozen);
      const std::vector<Tensor> found = gradients_of(parameters, loss);
      for (size_t k = 0; k < found.size(); ++k) {
        if (k == i)
          CHECK(!found[k].defined());
        else if (!is_named(parameters.learned()[k].name, frozen))
          CHECK(identical(found[k], expected[k]));
      }
      parameters.thaw(frozen);
    }
  }
}

namespace {

/// Three layers in a row of different sizes, so that frozen ranges lie at both ends and between.
struct Model {
  Parameters parameters{1};
  Linear first{parameters, "first", {.input = 5, .output = 7}},
      second{parameters, "second", {.input = 7, .output = 3}},
      third{parameters, "third", {.input = 3, .output = 2}};
  Tensor x = sample({4, 5}, 1);

  void back() {
    Tape tape;
    tape.backward(sum(square(third(tanh(second(tanh(first(x))))))));
  }
};

template <class Kind, class Options>
void check_untouched(const Options& options) {
  for (const std::string frozen : {"first", "second", "third", "second.weight", "first.bias"}) {
    CAPTURE(frozen);
    Model model;
    Kind optimizer(model.parameters, options);
    for (int step = 0; step < 2; ++step) {  // to build up momentum
      model.back();
      optimizer.step();
    }
    model.parameters.freeze(frozen);
    std::vector<Tensor> before, states;
    for (const auto& entry : model.parameters.learned()) before.push_back(entry.value.copy());
    for (const auto& entry : optimizer.state()) states.push_back(entry.value.copy());
    for (int step = 0; step < 3; ++step) {
      model.back();
      clip_gradient_norm(model.parameters, real(0.1));
      optimizer.step();
    }
    for (size_t i = 0; i < before.size(); ++i) {
      const std::string& name = model.parameters.learned()[i].name;
      const Tensor& value = model.parameters.learned()[i].value;
      CAPTURE(name);
      CHECK(identical(value, before[i]) == is_named(name, frozen));
      const size_t begin = model.parameters.offset(i), end = begin + value.size();
      for (size_t s = 0; s < states.size(); ++s) {
        const Tensor now = optimizer.state()[s].value;
        CHECK(identical(now.slice(begin, end), states[s].slice(begin, end)) == is_named(name, frozen));
      }
    }
    model.parameters.thaw(frozen);
    model.back();
    optimizer.step();
    for (size_t i = 0; i < before.size(); ++i)
      CHECK(!identical(model.parameters.learned()[i].value, before[i]));
  }
}

}  // namespace

TEST_CASE("freeze: optimizers leave frozen parameters and their moments alone") {
  check_untouched<Adam>(AdamOptions{.weight_decay = real(0.1)});
  check_untouched<AdamW>(AdamWOptions{.decayed = Decayed::all});
  check_untouched<Sgd>(SgdOptions{.momentum = real(0.9), .weight_decay = real(0.1)});
}

TEST_CASE("freeze: norms and clipping are those of the trained parameters") {
  Model model;
  model.back();
  const real all = gradient_norm(model.parameters);
  model.parameters.freeze("second");
  model.parameters.freeze("first.bias");
  model.parameters.clear_gradients();
  model.back();
  double squares = 0;
  for (const auto& [name, value] : model.parameters.learned()) {
    const Tensor gradient = value.gradient();
    for (const real g : gradient.values()) squares += static_cast<double>(g) * static_cast<double>(g);
  }
  const auto own = std::sqrt(squares);
  CHECK(own < static_cast<double>(all));
  CHECK(std::fabs(static_cast<double>(gradient_norm(model.parameters)) / own - 1) < 10 * ulp);
  CHECK(std::fabs(static_cast<double>(clip_gradient_norm(model.parameters, real(0.01))) / own - 1) <
        10 * ulp);
  CHECK(std::fabs(static_cast<double>(gradient_norm(model.parameters)) / 0.01 - 1) < 20 * ulp);
  clip_each_gradient_norm(model.parameters, real(0.001));
  CHECK(model.second.weight.gradient_data() == nullptr);
  // Through gradients(), frozen parameters read as zeros, and they do not count.
  model.parameters.clear_gradients();
  const std::span<real> gradients = model.parameters.gradients();
  CHECK(std::ranges::all_of(gradients, [](real g) { return g == 0; }));
  std::ranges::fill(gradients, real(1));
  CHECK(model.second.weight.gradient_data() == nullptr);
  CHECK(gradient_norm(model.parameters) < std::sqrt(static_cast<real>(gradients.size())));
}

TEST_CASE("freeze: an embedding of which a step updates some rows") {
  Parameters parameters(1);
  const Embedding words(parameters, "words", {.entries = 6, .width = 3}),
      others(parameters, "others", {.entries = 4, .width = 3});
  Adam adam(parameters, {});
  adam.update_only(words.table(), words.used_rows());
  adam.update_only(others.table(), others.used_rows());
  const auto step = [&] {
    Tape tape;
    tape.backward(sum(square(words(std::vector<int>{1, 4}))) + sum(square(others(std::vector<int>{0}))));
    adam.step();
  };
  parameters.freeze("words");
  const Tensor before = words.table().copy(), other = others.table().copy();
  step();
  CHECK(identical(words.table(), before));
  CHECK(!identical(others.table().step(0), other.step(0)));
  CHECK(identical(others.table().slice(1, 4), other.slice(1, 4)));
  parameters.thaw("words");
  step();
  CHECK(identical(words.table().step(0), before.step(0)));
  CHECK(!identical(words.table().step(4), before.step(4)));
}
