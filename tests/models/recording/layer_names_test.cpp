// Which layer an op belongs to.

#include "models/recording/layer_names.h"

#include <map>

#include "core/listener.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/weight_norm.h"
#include "layers/recurrent/step.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// "op:layer op:layer ..." of what `body` records.
struct Names final : TapeListener {
  explicit Names(const Parameters& parameters) : names(parameters) {}
  void recorded(const Tape::Node& node, std::span<const Tensor> inputs) override {
    all += (all.empty() ? "" : " ") + (node.op + (":" + names.layer_of(node, inputs)));
  }
  LayerNames names;
  std::string all;
};

template <class Body>
std::string names_of(const Parameters& parameters, const Body& body) {
  Names names(parameters);
  const Listening listening(names);
  const Tape tape;
  body();
  return names.all;
}

}  // namespace

TEST_CASE("ops are named after their parameters, and what follows after those") {
  Parameters parameters(1);
  const Linear hidden(parameters, "hidden1", {.input = 3, .output = 4});
  const LayerNorm norm(parameters, "hidden1.norm", {.features = 4});
  const Tensor x = leaf({2, 3}, 1);
  const std::string all = names_of(parameters, [&] {
    const Tensor h = relu(norm(hidden(exp(x))));
    const Scope scope("loss");
    sum(h);
  });
  CHECK(all == "exp:input linear:hidden1 layer_norm:hidden1.norm relu:hidden1.norm sum:loss");
}

TEST_CASE("what is computed from parameters alone counts as a parameter") {
  Parameters parameters(1);
  const Linear a(parameters, "a", {.input = 3, .output = 3, .weights = Norm::weight});
  const Linear b(parameters, "b", {.input = 3, .output = 3});
  const std::string all = names_of(parameters, [&] {
    const Tensor weight = weight_norm(a.weight, a.gain), h = b(leaf({2, 3}, 1));
    matmul(h, weight);  // h was computed last
  });
  CHECK(all == "weight_norm:a linear:b matmul:a");
}

TEST_CASE("what an embedding picks is no parameter: what follows belongs to its own layer") {
  Parameters parameters(1);
  const Embedding words(parameters, "words", {.entries = 5, .width = 4});
  const Embedding places(parameters, "places", {.entries = 3, .width = 4});
  const LayerNorm norm(parameters, "block.norm", {.features = 4});
  const std::vector<int> some{4, 0, 2}, order{0, 1, 2};
  CHECK(names_of(parameters, [&] {
          const Tensor x = words(some);
          norm(x + places(order));
        }) == "embedding:words embedding:places add:places layer_norm:block.norm");
}

TEST_CASE("recurrent layers name all they do, at once and step by step") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "reader.lstm", {.input = 3, .hidden = 4, .norm = Norm::layer});
  const Tensor x = sample({2, 5, 3}, 1);
  CHECK(names_of(parameters, [&] { lstm(x); }) == "linear:reader.lstm recurrence:reader.lstm");
  const std::string steps = names_of(parameters, [&] {
    RecurrentSession session(lstm, {.steps = 1, .rows = 5});
    session(x.step(0), session.initial());
  });
  CHECK(steps ==
        "step_linear:reader.lstm step_linear:reader.lstm step_linear:reader.lstm step_linear:reader.lstm "
        "recurrent_step:reader.lstm");
}

TEST_CASE("the parts of a parameter's name") {
  CHECK(layer_part("hidden1.norm.gain") == "hidden1.norm");
  CHECK(own_part("hidden1.norm.gain") == "gain");
  CHECK(layer_part("w") == "w");
  CHECK(own_part("w") == "value");
}
