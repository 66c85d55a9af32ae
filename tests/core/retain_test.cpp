// Tapes that are kept for another backward pass.

#include "core/listener.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("retain: gradients of leaves add up, those of results are cleared") {
  const Tensor x = Tensor::from({2}, {2, 3}).require_gradient();
  Tape tape;
  const Tensor y = x * x, loss = sum(y);
  for (int pass = 1; pass <= 3; ++pass) {
    tape.backward(loss, {.retain = true});
    CHECK(difference(x.gradient(), {4.0 * pass, 6.0 * pass}) == 0);
    CHECK(y.gradient_data() == nullptr);
    CHECK(loss.gradient_data() == nullptr);
    CHECK(tape.size() == 2);
  }
  CHECK(!Tape::retaining());
  tape.backward(loss);
  CHECK(difference(x.gradient(), {16, 24}) == 0);
  CHECK(difference(y.gradient(), {1, 1}) == 0);
  CHECK(tape.size() == 0);
  CHECK(contains(error_of([&] { tape.backward(loss); }), "has already run backward from this output"));
}

TEST_CASE("retain: seeds, several outputs, and views of one result") {
  const Tensor x = Tensor::from({2, 2}, {1, 2, 3, 4}).require_gradient();
  Tape tape;
  const Tensor y = x * real(2), first = sum(y.step(0)), second = square(y.step(1));
  tape.backward(second, Tensor::ones({2}), {.retain = true});
  CHECK(difference(x.gradient(), {0, 0, 24, 32}) == 0);
  tape.backward({{first, Tensor::ones({})}, {second, Tensor::ones({2})}}, {.retain = true});
  CHECK(difference(x.gradient(), {2, 2, 48, 64}) == 0);
  tape.backward(first);
  CHECK(difference(x.gradient(), {4, 4, 48, 64}) == 0);
}

TEST_CASE("retain: what is written between the passes is found") {
  Tensor x = Tensor::from({1}, {2}).require_gradient();
  Tensor factor = Tensor::from({1}, {5});
  Tape tape;
  const Tensor loss = x * factor;
  tape.backward(loss, {.retain = true});
  factor[0] = 7;
  CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
  factor[0] = 5;
  tape.backward(loss);
  CHECK(x.gradient().item() == 10);
}

TEST_CASE("retain: a tape within, and one that is not retained within one that is") {
  const Tensor x = Tensor::from({1}, {3}).require_gradient();
  Tape outer;
  const Tensor y = square(x), loss = y * real(5);
  {
    Tape inner;
    const Tensor other = y * real(2);
    inner.backward(other, {.retain = true});
    CHECK(y.gradient().item() == 2);
    inner.backward(other);
    CHECK(y.gradient().item() == 4);  // a leaf to the inner tape
  }
  outer.backward(loss, {.retain = true});
  CHECK(x.gradient().item() == (4 + 5) * 6);
  outer.backward(loss);
  CHECK(x.gradient().item() == (4 + 5 + 5) * 6);
}

TEST_CASE("retain: a pass that fails leaves no gradient of a result behind") {
  const Tensor x = Tensor::from({1}, {3}).require_gradient();
  bool fails = true;
  Tape tape;
  const Tensor y = x * real(2), z = y.copy();
  const Tensor once = record("once", z, {y}, [&] {
    if (fails) Tape::require_last_pass("once");
    const GradientSink sink = y.gradient_sink();
    sink.values[0] = (sink.add ? sink.values[0] : 0) + z.gradient_data()[0];
  });
  CHECK_ERROR(tape.backward(once, {.retain = true}),
              "once: its backward pass uses up what the forward pass has kept, so the tape cannot be "
              "retained; add the "
              "losses up and run backward once");
  CHECK(!Tape::retaining());
  CHECK(z.gradient_data() == nullptr);
  CHECK(x.gradient_data() == nullptr);
  tape.backward(once);
  CHECK(x.gradient().item() == 2);
}

TEST_CASE("retain: listeners hear each pass") {
  struct Counter final : TapeListener {
    void backward_ends(const Tape::Node&) override { ++passes; }
    int passes = 0;
  } counter;
  const Listening listening(counter);
  const Tensor x = Tensor::from({1}, {3}).require_gradient();
  Tape tape;
  const Tensor loss = square(x);
  tape.backward(loss, {.retain = true});
  tape.backward(loss);
  CHECK(counter.passes == 2);
}
