// Step-by-step use: StepLinear and RecurrentSession. That a session equals the whole sequence is in
// recurrent_test.cpp.

#include <array>

#include "core/memory/allocator.h"
#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Feeds its output back, as DRAW does: y_t = step(tanh(y_{t-1}) + x_t), and skips the last output.
template <class StepFunction>
Tensor feed_back(const Tensor& x, StepFunction&& step) {
  Tensor y = x.step(0), total = Tensor::zeros({});
  for (size_t t = 0; t < x.shape()[0]; ++t) {
    y = step(tanh(y) + x.step(t));
    if (t + 1 < x.shape()[0]) total = total + weighted(y);
  }
  return total;
}

std::vector<Tensor> gradients_of(const Parameters& parameters, Tensor& x,
                                 const std::function<Tensor()>& loss) {
  x.clear_gradient();
  for (const auto& entry : parameters.learned()) Tensor(entry.value).clear_gradient();
  Tape tape;
  tape.backward(loss());
  std::vector<Tensor> all{x.gradient()};
  for (const auto& entry : parameters.learned()) all.push_back(entry.value.gradient());
  return all;
}

}  // namespace

TEST_CASE("step_linear equals the layer called at every step") {
  for (const bool bias : {false, true})
    for (const Norm weights : {Norm::none, Norm::weight, Norm::standardized})
      for (const auto& sizes : std::vector<std::array<size_t, 3>>{{1, 1, 1}, {5, 3, 7}, {3, 33, 180}}) {
        const size_t steps = sizes[0], rows = sizes[1], size = sizes[2];
        CAPTURE(text(bias, name_of(weights), " ", steps, " ", rows, " ", size));
        Parameters parameters(1);
        const Linear layer(parameters, "layer",
                           {.input = size, .output = size, .bias = bias, .weights = weights});
        Tensor x = leaf({steps, rows, size}, 1);
        const auto one_by_one =
            gradients_of(parameters, x, [&] { return feed_back(x, layer) + weighted(layer(x.step(0))); });
        const auto gathered = gradients_of(parameters, x, [&] {
          StepLinear step(layer, steps + 3, rows);  // unused steps cost nothing
          const Tensor extra = weighted(step(x.step(0)));
          return feed_back(x, step) + extra;
        });
        for (size_t i = 0; i < gathered.size(); ++i) {
          CAPTURE(i);
          CHECK(difference(gathered[i], one_by_one[i]) < (sizeof(real) == 8 ? 1e-12 : 1e-4));
        }
      }
}

TEST_CASE("step_linear without a tape computes and gathers nothing") {
  Parameters parameters(1);
  const Linear layer(parameters, "layer", {.input = 3, .output = 4});
  const Tensor x = sample({2, 3}, 1);
  StepLinear step(layer, 100, 2);
  const size_t before = memory::statistics().bytes_in_use;
  for (int t = 0; t < 100; ++t) CHECK(difference(step(x), layer(x)) < 4 * ulp);
  CHECK(memory::statistics().bytes_in_use == before);
  CHECK_ERROR(step(x), "step_linear: the session was opened for 100 steps and this is one more");
}

TEST_CASE("step_linear: a step in a pause is a constant, wherever it stands among the others") {
  Parameters parameters(1);
  const Linear layer(parameters, "layer", {.input = 3, .output = 4});
  Tensor x = leaf({3, 2, 3}, 1);
  const auto in_pause = [](const auto& step, const Tensor& at) {
    const Tape::Pause pause;
    return step(at);
  };
  for (size_t paused = 0; paused < 3; ++paused) {
    CAPTURE(paused);
    const auto loss_of = [&](auto&& step) {
      Tensor total = Tensor::zeros({});
      for (size_t t = 0; t < 3; ++t)
        total = total + weighted(square(t == paused ? in_pause(step, x.step(t)) : step(x.step(t))));
      return total;
    };
    const auto expected = gradients_of(parameters, x, [&] { return loss_of(layer); });
    const auto found = gradients_of(parameters, x, [&] {
      StepLinear step(layer, 3, 2);
      return loss_of([&](const Tensor& at) { return step(at); });
    });
    for (size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(difference(found[i], expected[i]) < (sizeof(real) == 8 ? 1e-12 : 1e-4));
    }
  }
}

TEST_CASE("a NaN is found in the step that made it") {
  Parameters parameters(1);
  const Linear layer(parameters, "layer", {.input = 2, .output = 2});
  Tensor x = leaf({3, 2}, 1);
  Tape tape;
  StepLinear step(layer, 4, 3);
  const Tensor y = log(step(x) - real(1e6));
  step(y);
  CHECK(std::string(first_non_finite(tape)) == "log");
}

TEST_CASE("a session that would lose gradients says so") {
  Parameters parameters(1);
  const Linear layer(parameters, "layer", {.input = 2, .output = 2});
  const Tensor x = sample({3, 2}, 1);
  const char* const lost =
      "step_linear: the session was opened for another recording; open one after each backward()";
  {
    StepLinear early(layer, 4, 3);
    const Tape tape;
    CHECK_ERROR(early(x), lost);
  }
  Tape tape;
  StepLinear step(layer, 4, 3);
  tape.backward(sum(step(x)));
  CHECK_ERROR(step(x), lost);
}

TEST_CASE("errors of sessions name shapes") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 3, .hidden = 4});
  const Gru gru(parameters, "gru", {.input = 3, .hidden = 4});
  const Gru backwards(parameters, "backwards", {.input = 3, .hidden = 4, .reverse = true});
  CHECK_ERROR(
      RecurrentSession(lstm, {.steps = 0, .rows = 2}),
      "step_linear: a weight of [3 x 16], 0 steps and 2 rows; a matrix and positive numbers are needed");
  CHECK_ERROR(
      RecurrentSession(backwards, {.steps = 1, .rows = 2}),
      "recurrent session: the layer runs in reverse; call a session's steps in the order you want instead");
  RecurrentSession session(lstm, {.steps = 9, .rows = 2}), of_gru(gru, {.steps = 9, .rows = 2});
  const RecurrentState start = session.initial();
  const Tensor x = sample({2, 3}, 1);
  CHECK_ERROR(session(sample({3, 3}, 1), start),
              "recurrent session: the input is [3 x 3] in a session of 2 rows");
  CHECK_ERROR(session(sample({2, 4}, 1), start), "step_linear: the input is [2 x 4]; [2 x 3] is needed");
  CHECK_ERROR(
      session(x, {.h = start.h, .c = {}}),
      "recurrent session: the state is h [2 x 4], c missing; h [2 x 4] and c of the same shape are needed");
  CHECK_ERROR(of_gru(x, start),
              "recurrent session: the state is h [2 x 4], c [2 x 4]; h [2 x 4] and no c is needed");
  CHECK_ERROR(session(x, start, Tensor::ones({3})), "recurrent session: the mask is [3]; [2] is needed");
  CHECK(session(x, start).h.shape() == Shape{2, 4});
}

TEST_CASE("step_linear: a write into its weight is found, trained or not") {
  for (const bool trained : {false, true}) {
    const Tensor x = leaf({2, 3}, 1);
    Tensor weight = sample({3, 4}, 2);
    if (trained) weight.require_gradient();
    Tape tape;
    StepLinear linear(weight, {}, 1, 2);
    const Tensor loss = weighted(linear(x));
    weight[0] += 1;
    CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
  }
}

TEST_CASE("step_linear: a result may be looked at before the next step, and not be written") {
  for (const bool written : {false, true}) {
    const Tensor x = leaf({3, 3}, 1), weight = leaf({3, 3}, 2);
    Tape tape;
    StepLinear linear(weight, {}, 3, 3);
    Tensor y = linear(x), total = weighted(y);
    for (int t = 0; t < 2; ++t) {
      Tensor before = y;
      y = linear(tanh(y) + before[0]);
      total = total + weighted(y);
      if (written && t == 1) before[1] += 1;
    }
    const std::string error = error_of([&] { tape.backward(total); });
    CHECK(contains(error, "was written after it was recorded") == written);
    CHECK((written || error.empty()));
  }
}

TEST_CASE("a session refuses a mask that was written before the backward pass") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 2, .hidden = 3});
  Tensor mask = Tensor::ones({4});
  Tape tape;
  RecurrentSession session(lstm, {.steps = 2, .rows = 4});
  const RecurrentState first = session(sample({4, 2}, 1), session.initial(), mask);
  mask[1] = 0;
  const RecurrentState second = session(sample({4, 2}, 2), first, mask);
  CHECK(contains(error_of([&] { tape.backward(sum(second.h)); }), "was written after it was recorded"));
}

TEST_CASE("copies of a session are the same session") {
  for (const Norm norm : {Norm::layer, Norm::batch}) {
    Parameters parameters(1);
    const Lstm lstm(parameters, "lstm", {.input = 2, .hidden = 3, .norm = norm});
    Tensor x = leaf({4, 5, 2}, 1);
    const auto loss = [&](bool copied) {
      RecurrentSession session(lstm, {.steps = 4, .rows = 5});
      RecurrentState state = session.initial();
      for (size_t t = 0; t < 4; ++t) {
        RecurrentSession copy = session;
        state = (copied ? copy : session)(x.step(t), state);
      }
      return weighted(state.h);
    };
    const auto of_one = gradients_of(parameters, x, [&] { return loss(false); });
    const auto of_copies = gradients_of(parameters, x, [&] { return loss(true); });
    for (size_t i = 0; i < of_one.size(); ++i) CHECK(identical(of_copies[i], of_one[i]));
  }
}
