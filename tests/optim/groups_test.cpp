// Parameter groups, and AdamW. PyTorch's numbers are in tests/torch_training_test.cpp.

#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/normalization.h"
#include "optim/adam.h"
#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Model {
  Parameters parameters{1};
  Linear encoder{parameters, "encoder", {.input = 5, .output = 7}};
  LayerNorm norm{parameters, "norm", {.features = 7}};
  Linear head{parameters, "head", {.input = 7, .output = 3}};
  Tensor x = sample({4, 5}, 1);

  void back() {
    Tape tape;
    tape.backward(sum(square(head(norm(encoder(x))))));
  }
  std::vector<real> values() { return {parameters.values().begin(), parameters.values().end()}; }
};

template <class Kind, class Options>
std::vector<real> train(const Options& options, int steps = 3) {
  Model model;
  Kind optimizer(model.parameters, options);
  for (int i = 0; i < steps; ++i) {
    model.back();
    optimizer.step();
  }
  return model.values();
}

template <class Kind, class Options>
void check_without_effect(const Options& options) {
  const std::vector<real> expected = train<Kind>(options);
  Options grouped = options;
  grouped.groups = {{.names = {"encoder", "norm.bias"}},
                    {.names = {"head"}, .learning_rate = options.learning_rate}};
  CHECK(train<Kind>(grouped) == expected);
}

}  // namespace

TEST_CASE("groups: without settings of their own they change no bit") {
  check_without_effect<Adam>(AdamOptions{.weight_decay = real(0.1)});
  check_without_effect<Sgd>(SgdOptions{.momentum = real(0.9), .nesterov = true, .weight_decay = real(0.1)});
  check_without_effect<AdamW>(AdamWOptions{});
}

TEST_CASE(
    "groups: a rate of 0 leaves the group where it is, a schedule scales a factor, and rates may change") {
  Model model;
  Adam adam(model.parameters, {.learning_rate = real(0.1),
                               .groups = {{.names = {"encoder"}, .learning_rate_factor = real(0.5)},
                                          {.names = {"norm"}, .learning_rate = 0},
                                          {.names = {"head"}, .learning_rate = real(0.01)}}});
  // Adam's first step is the learning rate itself, for every number that has a gradient.
  const Tensor encoder = model.encoder.weight.copy(), gain = model.norm.gain.copy(),
               head = model.head.bias.copy();
  model.back();
  adam.step();
  CHECK(std::fabs(std::fabs(model.encoder.weight[0] - encoder[0]) - real(0.05)) < real(1e-3));
  CHECK(identical(model.norm.gain, gain));
  CHECK(std::fabs(std::fabs(model.head.bias[0] - head[0]) - real(0.01)) < real(1e-4));
  adam.options.learning_rate = 0;
  adam.options.groups[1].learning_rate = real(0.1);
  const Tensor before = model.encoder.weight.copy();
  model.back();
  adam.step();
  CHECK(identical(model.encoder.weight, before));
  CHECK(!identical(model.norm.gain, gain));
}

TEST_CASE("AdamW: decays matrices alone, unless it is told otherwise") {
  const auto decayed = [](const AdamWOptions& options) {
    Parameters parameters(1);
    const Linear layer(parameters, "layer", {.input = 3, .output = 2});
    const LayerNorm norm(parameters, "norm", {.features = 2});
    const Normalization of_maps(parameters, "of_maps",
                                {.norm = Norm::layer, .features = 2, .height = 3, .width = 4});
    const Embedding words(parameters, "words", {.entries = 3, .width = 2});
    std::vector<std::string> found;
    AdamW adam(parameters, options);
    std::vector<Tensor> before;
    for (const auto& entry : parameters.learned()) {
      std::ranges::fill(Tensor(entry.value).values(), real(1));
      before.push_back(entry.value.copy());
    }
    parameters.gradients();  // all zero: only the decay changes weights
    adam.step();
    for (size_t i = 0; i < before.size(); ++i)
      if (!identical(parameters.learned()[i].value, before[i])) found.push_back(parameters.learned()[i].name);
    return found;
  };
  CHECK(decayed({}) == std::vector<std::string>{"layer.weight", "words"});
  CHECK(decayed({.decayed = Decayed::all}).size() == 7);
  CHECK(decayed({.weight_decay = 0}).empty());
  CHECK(decayed({.groups = {{.names = {"layer"}, .weight_decay = real(0.5)},
                            {.names = {"words"}, .weight_decay = 0}}}) ==
        std::vector<std::string>{"layer.weight"});
  Model model;
  AdamW adam(model.parameters, {});
  CHECK(adam.name() == "adamw");
  CHECK(adam.state()[0].name == "adamw.first_moment");
  CHECK_ERROR(AdamW(model.parameters, {.learning_rate = 0}), "adamw: learning rate 0; it must be positive");
}

TEST_CASE("groups: errors") {
  Model model;
  CHECK(contains(error_of([&] { Adam(model.parameters, {.groups = {{.names = {"decoder"}}}}); }),
                 "parameters: none is named 'decoder'"));
  CHECK_ERROR(Sgd(model.parameters, {.groups = {{.names = {"encoder"}}, {.names = {}, .weight_decay = 0}}}),
              "sgd: group 1 names no parameter; give it names, or leave it out");
  CHECK_ERROR(Sgd(model.parameters, {.groups = {{.names = {"encoder"}}, {.names = {"encoder.bias"}}}}),
              "sgd: 'encoder.bias' is in the groups 0 and 1; name it in one of them");
  Adam adam(model.parameters, {.groups = {{.names = {"encoder", "encoder.bias"}, .weight_decay = 0}}});
  model.back();
  adam.options.groups[0].learning_rate = real(-1);
  CHECK_ERROR(adam.step(), "adam: the learning rate is -1 after 0 steps; it must be a number of at least 0");
  adam.options.groups[0].learning_rate.reset();
  adam.options.groups[0].weight_decay = real(-1);
  CHECK_ERROR(adam.step(), "adam: the weight decay of 'encoder' is -1; it must be a number of at least 0");
  adam.options.groups[0].weight_decay = 0;
  adam.options.groups.emplace_back();
  CHECK_ERROR(adam.step(),
              "adam: made with 1 groups, it now has 2; change their rates, or make another optimizer");
  adam.options.groups.pop_back();
  adam.step();
  CHECK(adam.steps == 1);
}
