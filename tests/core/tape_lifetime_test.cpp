// Tapes that end otherwise than usual: in another order, within a pause, by an op that throws; and results that are inputs.

#include <memory>
#include <optional>

#include "core/ops/map.h"
#include "core/tape.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// y = x, whose backward pass throws.
Tensor failing(const Tensor& x) {
  return record("failing", x.copy(), {x}, [] { fail("failing"); });
}

}  // namespace

TEST_CASE("tapes may be destroyed in any order") {
  Tensor x = Tensor::from({1}, {3}).require_gradient();
  std::unique_ptr<Tape> tape;
  for (int step = 0; step < 3; ++step) {
    tape = std::make_unique<Tape>();  // before the last one is gone
    CHECK(Tape::current() == tape.get());
    tape->backward(square(x));
  }
  CHECK(x.gradient()[0] == 18);
  tape.reset();
  CHECK(Tape::current() == nullptr);

  auto first = std::make_unique<Tape>(), second = std::make_unique<Tape>(), third = std::make_unique<Tape>();
  second.reset();
  CHECK(Tape::current() == third.get());
  third.reset();
  CHECK(Tape::current() == first.get());
  third = std::make_unique<Tape>();
  first.reset();
  const Tensor loss = square(x);
  CHECK(Tape::any_recorded());
  x[0] = 4;
  CHECK(contains(error_of([&] { third->backward(loss); }), "was written"));
  third.reset();
  CHECK(Tape::current() == nullptr);
  CHECK(!Tape::any_recorded());
}

TEST_CASE("a tape may be destroyed within a pause, and a pause before a tape that was opened in it") {
  Tensor x = leaf({1}, 1);
  Tape outer;
  {
    auto tape = std::make_unique<Tape>();
    const Tape::Pause pause;
    tape.reset();
    CHECK(Tape::current() == nullptr);
    CHECK(!square(x).needs_gradient());
  }
  CHECK(Tape::current() == &outer);
  std::optional<Tape::Pause> first, second;
  first.emplace();
  second.emplace();
  auto tape = std::make_unique<Tape>();
  first.reset();
  CHECK(Tape::current() == &outer);
  second.reset();
  tape.reset();
  const Tape last;
  CHECK(Tape::current() == &last);
}

TEST_CASE("a backward pass that throws leaves the tape empty") {
  Tensor x = Tensor::from({2}, {1, 2}).require_gradient(), z = Tensor::ones({2}).require_gradient();
  Tape tape;
  CHECK_ERROR(tape.backward(sum(failing(x * real(3)) * z)), "failing");
  CHECK(tape.size() == 0);
  CHECK(!Tape::retaining());
  CHECK(Tape::current() == &tape);
  x.clear_gradient();
  z.clear_gradient();
  tape.backward(sum(x * z));
  CHECK(difference(x.gradient(), {1, 1}) == 0);
  CHECK(difference(z.gradient(), {1, 2}) == 0);
}

TEST_CASE("an op whose result is its input or a view of it is refused, where both would share a gradient") {
  const Tensor x = Tensor::from({2, 2}, {1, 2, 3, 4}).require_gradient();
  const auto reverse_gradient = [](const Tensor& from, const Tensor& y) {
    return record("reverse_gradient", y, {from},
                  [=] { contribute(from, [dy = y.gradient_data()](size_t i) { return -dy[i]; }); });
  };
  Tape tape;
  const std::string error =
      " is an input or a view of one, so the gradients of both would have one place; give it values of its "
      "own, as copy() does";
  CHECK_ERROR(reverse_gradient(x, x), "reverse_gradient: its result [2 x 2]" + error);
  CHECK_ERROR(reverse_gradient(x, x.reshape({4})), "reverse_gradient: its result [4]" + error);
  CHECK_ERROR(reverse_gradient(x.step(0), x), "reverse_gradient: its result [2 x 2]" + error);
  CHECK(tape.size() == 0);
  for (const bool copied : {true, false}) {
    Tensor leaf_of_both = x.copy().require_gradient();
    const Tensor y = reverse_gradient(leaf_of_both, copied ? leaf_of_both.copy() : leaf_of_both.detach());
    tape.backward(sum(y * real(3)));
    CHECK(difference(leaf_of_both.gradient(), {-3, -3, -3, -3}) == 0);
  }
  Tensor whole({2, 2});  // parts of one buffer, as a cell writes the steps of a sequence
  tape.backward(sum(reverse_gradient(reverse_gradient(x.step(0), whole.step(0)), whole.step(1))));
  CHECK(difference(x.gradient(), {1, 1, 0, 0}) == 0);
}

TEST_CASE("a tape does not run backward before a later one that holds ops on its results") {
  Tensor x = Tensor::from({1}, {3}).require_gradient();
  Tape outer;
  const Tensor twice = x * real(2), loss = square(twice);
  Tape inner;
  const Tensor later = sum(x * x) + sum(twice.detach() * x);  // of its leaves and of a constant
  const Tensor on_result = square(twice);
  CHECK_ERROR(
      outer.backward(loss),
      "backward: a tape that was opened later holds the op 'square' on a result of this one, which its "
      "gradient would reach too late; run that tape backward first, clear() it, or pass the result's "
      "detach() to the op");
  CHECK(x.gradient_data() == nullptr);
  outer.backward(loss, {.retain = true});  // may be followed by another pass
  CHECK(x.gradient()[0] == 24);
  inner.backward(on_result);
  CHECK(x.gradient()[0] == 24);
  outer.backward(loss);
  CHECK(x.gradient()[0] == 72);
}
