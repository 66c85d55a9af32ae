// Writes into tensors that several handles, or several tapes, hold; tape_test.cpp has the simple ones.

#include "core/tape.h"
#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

std::string error_of_backward(Tape& tape, const Tensor& loss) {
  return error_of([&] { tape.backward(loss); });
}

const std::string written = "was written after it was recorded";

}  // namespace

TEST_CASE("a write through detach() is found, whichever of the handles is recorded") {
  for (const bool detached_before : {true, false}) {
    CAPTURE(detached_before);
    Tensor x = leaf({2}, 1);
    Tape tape;
    Tensor y = exp(x);
    Tensor cut = detached_before ? y.detach() : Tensor();
    Tensor loss = sum(y);
    if (!detached_before) cut = y.detach();
    CHECK(cut[0] == std::as_const(y)[0]);
    cut[0] = 100;
    CHECK_ERROR(tape.backward(loss),
                "backward: a tensor [2] of the op 'sum' was written after it was recorded, so the gradient "
                "would be wrong; write before the forward pass or after backward(), or into a copy(), and "
                "evaluate under Tape::Pause, or it is recorded, too");
    tape.clear();
    loss = sum(x * cut);  // the detached one is recorded, the other is written
    y[1] = 7;
    CHECK(contains(error_of_backward(tape, loss), written));
    tape.clear();
    loss = sum(x * cut);
    y.detach().slice(0, 1).data()[0] = 3;  // yet another
    CHECK(contains(error_of_backward(tape, loss), written));
    tape.clear();
    cut[0] = 5;
    CHECK(error_of_backward(tape, sum(x * cut)).empty());
  }
}

TEST_CASE("each part of a tensor is watched by itself, from each op that reads the tensor on") {
  Tensor x = leaf({3, 2}, 1);
  Tensor first = x.step(0), last = x.detach().step(2);
  Tape tape;
  const auto error_after = [&](const std::function<void()>& write) {
    const Tensor loss = sum(square(x));
    write();
    const std::string error = error_of_backward(tape, loss);
    tape.clear();
    return error;
  };
  CHECK(error_after([&] { CHECK(first[1] != last[0]); }).empty());
  CHECK(contains(error_after([&] { last[1] += first[0] + 1; }), written));
  CHECK(contains(error_after([&] { first[1] += last[1] + 1; }), written));
  CHECK(contains(error_after([&] { x.slice(1, 3)[0] += first[0] + 2; }), written));
  const real kept = first[0];
  CHECK(error_after([&] { first[0] = 7, first[0] = kept; }).empty());
  const Tensor before = sum(square(x));
  first[0] = 7;
  const Tensor loss = before + sum(square(x));  // its gradient there needs the 7
  first[0] = kept;
  CHECK(contains(error_of_backward(tape, loss), written));
}

TEST_CASE("each of many parts that a loop asks for, again and again, is watched") {
  constexpr size_t rows = 500;
  for (const size_t written_row : {size_t{0}, size_t{251}, rows - 1, rows}) {
    CAPTURE(written_row);
    Tensor x = leaf({rows, 2}, 1);
    Tape tape;
    const Tensor loss = sum(square(x));
    for (int again = 0; again < 3; ++again)
      for (size_t r = 0; r < rows; ++r) {
        Tensor row = x.step(r);
        if (again == 1 && r == written_row) row[1] += 1;
        CHECK(std::isfinite(row[0]));
      }
    CHECK(contains(error_of_backward(tape, loss), written) == (written_row < rows));
    tape.clear();
  }
}

TEST_CASE("a part that no op has read is refused with what to do about it") {
  const Tensor w = leaf({2}, 1);
  for (const bool copied : {false, true}) {
    Tensor steps = Tensor::zeros({3, 2}), loss = Tensor::zeros({1});
    Tape tape;
    for (size_t t = 0; t < 3; ++t) {
      Tensor part = steps.step(t);
      part[0] = real(1) + static_cast<real>(t);
      loss = loss + sum(w * (copied ? part.copy() : part));
    }
    const std::string error = error_of_backward(tape, loss);
    CHECK(error.ends_with(copied
                              ? ""
                              : "an op holds all of the tensor of which it reads a part, so fill every part "
                                "before it, or pass it a copy() of its part"));
    CHECK(error.empty() == copied);
  }
}

TEST_CASE("after a write every further pass is refused, of a new loss too, until the tape is cleared") {
  Tensor x = leaf({2}, 1), other = leaf({2}, 2);
  Tape tape;
  const Tensor loss = sum(square(x));
  x[0] = 100;
  for (const bool retain : {false, true}) {
    CHECK(contains(error_of([&] { tape.backward(loss, {.retain = retain}); }), written));
    CHECK(contains(error_of([&] { tape.backward(sum(x * other), {.retain = retain}); }), written));
  }
  CHECK(x.gradient_data() == nullptr);
  CHECK(other.gradient_data() == nullptr);
  tape.clear();
  tape.backward(sum(square(x)));
  CHECK(x.gradient()[0] == 200);
}

TEST_CASE("a write through the detach() of a parameter is found") {
  Parameters parameters(1);
  const Tensor w = parameters.add("w", Tensor::from({2}, {1, 2})),
               other = parameters.add("other", Tensor::ones({2}));
  Tape tape;
  Tensor loss = sum(square(w)), cut = w.detach(), cut_other = other.detach();
  cut_other[0] = 100;  // which the tape does not hold
  CHECK(error_of_backward(tape, loss).empty());
  loss = sum(square(w));
  cut[0] = 100;
  CHECK(contains(error_of_backward(tape, loss), written));
  tape.clear();
  loss = sum(square(w));
  parameters.values()[0] = 3;
  CHECK(contains(error_of_backward(tape, loss), written));
}

TEST_CASE("a write is found by each of the tapes that hold the tensor, and only by them") {
  Parameters parameters(1);
  const Tensor w = parameters.add("w", Tensor::from({2}, {1, 2}));
  Tensor v = parameters.add("v", Tensor::from({2}, {1, 2}));
  Sgd sgd(parameters, {.learning_rate = real(0.1)});
  Tape outer;
  const Tensor before = sum(square(w)) + sum(v);
  {
    Tape inner;
    Tensor loss = sum(square(w));
    inner.backward(loss, {.retain = true});
    sgd.step();
    CHECK(contains(error_of_backward(inner, loss), written));
    inner.clear();
    loss = sum(square(w));
    v[0] = 5;  // the outer one alone holds it
    CHECK(error_of_backward(inner, loss).empty());
    loss = sum(square(w));
    CHECK(error_of_backward(inner, loss).empty());
  }
  CHECK(contains(error_of_backward(outer, before), written));
}
