// Recording, backward, nesting, pausing, and the errors of their misuse.

#include "core/tape.h"

#include <atomic>
#include <thread>
#include <vector>

#include "core/memory/allocator.h"
#include "core/ops/map.h"
#include "core/ops/shape/structure.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {
const std::string no_leaf =
    "backward: the output depends on no leaf that asks for its gradient; call require_gradient() on one, or "
    "thaw() what is frozen, "
    "before "
    "the forward pass, and have no detach() or Tape::Pause on the way";
const std::string twice =
    "backward: a tape has already run backward from this output and has let go of what led to it; add "
    "several "
    "losses up and run backward once, or record the forward pass again";
}  // namespace

TEST_CASE(
    "an op inside a share is refused by a tape that was opened outside, which would see a part of the "
    "shares") {
  Tensor w = leaf({3}, 1);
  // More shares than other threads, each of which waits until this one has begun a share.
  const auto shares = static_cast<size_t>(threads()) + 1;
  std::vector<Tensor> losses(shares);
  std::atomic<bool> began = false;
  const auto each = [&, caller = std::this_thread::get_id()](size_t s) {
    if (std::this_thread::get_id() == caller) began = true;
    while (!began) std::this_thread::yield();
    losses[s] = sum(w * static_cast<real>(s));
  };
  {
    Tape tape;
    CHECK(contains(
        error_of([&] { for_each_share(shares, each); }),
        "recorded inside a share, of which this tape sees only those that its own thread runs; open a tape"));
    const Tape::Pause pause;
    CHECK(error_of([&] { for_each_share(shares, each); }).empty());
  }
  std::vector<real> gradients(4);
  for_each_share(4, [&](size_t s) {
    Tensor own = w.copy().require_gradient();
    Tape tape;
    tape.backward(sum(own * static_cast<real>(s)));
    gradients[s] = own.gradient()[0];
  });
  CHECK(gradients == std::vector<real>{0, 1, 2, 3});
}

TEST_CASE("several outputs: one of another tape is refused as a single one is") {
  const Tensor w = leaf({2}, 1);
  Tape outer;
  const Tensor first = sum(w);
  Tape inner;
  const Tensor h = w * real(2);
  CHECK_ERROR(outer.backward({{first, Tensor::ones({})}, {h, Tensor::ones({2})}}),
              "backward: the output was recorded on another tape; run that one backward");
}

TEST_CASE("an input used twice gets both contributions; a second backward adds") {
  Tensor x = Tensor::from({2}, {3, 5}).require_gradient();
  for (const double times : {1, 2, 3}) {
    Tape tape;
    tape.backward(sum(x * x + x));
    CHECK(difference(x.gradient(), {7 * times, 11 * times}) == 0);
  }
  x.clear_gradient();
  Tape tape;
  tape.backward(sum(x));
  CHECK(difference(x.gradient(), {1, 1}) == 0);
}

TEST_CASE("a diamond: the gradient of an inner result is complete before it is passed on") {
  const Tensor x = sample({3, 5}, 1);
  check_gradients({x}, [&] {
    const Tensor y = tanh(x), left = exp(y), right = sigmoid(y * real(2));
    return weighted(left * right + y * left);
  });
}

TEST_CASE("nothing is recorded without a tape, or without a leaf that asks") {
  Tensor x = leaf({3}, 1);
  const Tensor outside = exp(x);
  CHECK(!outside.needs_gradient());
  Tape tape;
  exp(sample({3}, 2));
  CHECK(tape.size() == 0);
  const Tensor y = exp(x);
  CHECK(tape.size() == 1);
  CHECK(y.needs_gradient());
  CHECK(std::string(tape.last()->op) == "exp");
  CHECK(tape.last()->inputs[0] == x.storage()->id);
  CHECK(tape.last()->outputs[0].storage() == y.storage());
}

TEST_CASE("the tape that would record an op is known before") {
  const Tensor inputs[] = {sample({2}, 1), leaf({2}, 2), Tensor()};
  CHECK(Tape::recording(inputs) == nullptr);
  const Tape tape;
  CHECK(Tape::recording(inputs) == &tape);
  CHECK(Tape::recording({inputs, 1}) == nullptr);
  CHECK(Tape::recording({inputs + 2, 1}) == nullptr);
  const Tape::Pause pause;
  CHECK(Tape::recording(inputs) == nullptr);
}

TEST_CASE("a pause stops recording while it lives") {
  Tensor x = leaf({3}, 1);
  Tape tape;
  {
    const Tape::Pause pause;
    CHECK(Tape::current() == nullptr);
    CHECK(!exp(x).needs_gradient());
    Tape inside;  // a tape in a pause records
    CHECK(exp(x).needs_gradient());
  }
  CHECK(Tape::current() == &tape);
  CHECK(tape.size() == 0);
}

TEST_CASE("tapes nest: the innermost records, and its results are its own") {
  Tensor x = Tensor::from({1}, {3}).require_gradient();
  Tape outer;
  const Tensor y = square(x);
  {
    Tape inner;
    const Tensor z = x * real(5);
    CHECK(outer.size() == 1);
    CHECK_ERROR(inner.backward(y),
                "backward: the output was recorded on another tape; run that one backward");
    inner.backward(z);
  }
  CHECK(difference(x.gradient(), {5}) == 0);
  outer.backward(y);
  CHECK(difference(x.gradient(), {11}) == 0);
}

TEST_CASE("an inner tape's gradient of an outer result flows on with the outer backward") {
  Tensor x = Tensor::from({1}, {3}).require_gradient();
  Tape outer;
  const Tensor y = square(x);
  {
    Tape inner;
    inner.backward(y * real(2));
  }
  outer.backward(y);
  CHECK(difference(x.gradient(), {3 * 6}) == 0);
}

TEST_CASE("backward with a seed contracts the Jacobian") {
  Tensor x = Tensor::from({2}, {3, 5}).require_gradient();
  {
    Tape tape;
    tape.backward(square(x), Tensor::from({2}, {1, 10}));
  }
  CHECK(difference(x.gradient(), {6, 100}) == 0);
  x.clear_gradient();
  Tape tape;
  const Tensor y = square(x);
  tape.backward(y.step(1), Tensor::full({}, 2));  // from a part of an output
  CHECK(difference(x.gradient(), {0, 20}) == 0);
}

TEST_CASE("backward refuses what it cannot differentiate") {
  Tensor x = leaf({2, 3}, 1);
  Tape tape;
  CHECK_ERROR(tape.backward(exp(x)),
              "backward: the loss is [2 x 3], not one number; reduce it with sum or mean, or pass a seed");
  CHECK_ERROR(tape.backward(exp(x), Tensor({3})), "backward: the seed is [3], the output [2 x 3]");
  CHECK_ERROR(tape.backward(sum(sample({3}, 1))), no_leaf);
  CHECK_ERROR(tape.backward(Tensor()), "backward: the output is an empty handle; pass the result of an op");
  CHECK_ERROR(tape.backward(Tensor::ones({1}).require_gradient()),
              "backward: the output is a leaf itself; pass a result that was computed from it");
  const Tensor loss = sum(x);
  tape.backward(loss);
  CHECK(tape.size() == 0);
  CHECK_ERROR(tape.backward(loss), twice);
  CHECK_ERROR(tape.backward({{loss, Tensor::ones({})}}), twice);
}

TEST_CASE("backward names the mistake: tape gone, cleared, opened too late, another thread's, no leaf") {
  Tensor x = leaf({3}, 1);
  const Tensor early = sum(x);
  Tensor kept;
  {
    Tape first;
    kept = sum(x);
  }
  Tape tape;
  const std::string gone =
      "backward: the tape that recorded this output was cleared or destroyed; run backward while it lives";
  CHECK_ERROR(tape.backward(kept), gone);
  const Tensor cleared = sum(x);
  tape.clear();
  CHECK_ERROR(tape.backward(cleared), gone);
  CHECK_ERROR(
      tape.backward(early),
      "backward: the output was computed before this tape was opened; open it before the forward pass");
  CHECK_ERROR(tape.backward(sum(x).detach()), no_leaf);
  Tensor elsewhere;
  std::string error;
  std::thread([&] {
    elsewhere = sum(x);
    error = error_of([&] { tape.backward(elsewhere, Tensor::ones({})); });
  }).join();
  CHECK(error ==
        "backward: the output was computed by another thread, which this tape does not record; open a tape "
        "in the "
        "thread that runs the forward pass");
  CHECK_ERROR(tape.backward(elsewhere), error);
  const Tensor here = sum(x);
  std::thread([&] { error = error_of([&] { tape.backward(here); }); }).join();
  CHECK(error == "backward: this tape was opened by another thread; run it backward there");
  tape.backward(here);
  CHECK(difference(x.gradient(), {1, 1, 1}) == 0);
}

TEST_CASE("a result of a tape that is past enters a new recording as detach() only, not in silence") {
  Tensor x = Tensor::from({1}, {3}).require_gradient();
  const std::string remedy =
      ", so no gradient can flow through it; compute it again on this tape, or pass its detach(), which is a "
      "constant";
  for (const bool run : {true, false}) {
    CAPTURE(run);
    Tensor y;
    {
      Tape first;
      y = square(x);
      if (run) first.backward(y);
    }
    CHECK(y.item() == 9);  // without a tape it is like any other tensor
    CHECK(tanh(y).size() == 1);
    Tape second;
    const std::string error = text("multiply: the input [1] was computed on a tape that ",
                                   run ? "has run backward since" : "is gone", remedy);
    CHECK_ERROR(x * y, error);
    CHECK_ERROR(x * y.reshape({1}), error);
    const std::vector<Tensor> parts(12, x);
    std::vector<Tensor> with_y = parts;
    with_y.push_back(y);
    CHECK(contains(error_of([&] { concatenate(with_y, 0); }), "concatenate: the input [1] was computed"));
    CHECK(second.size() == 0);
    x.clear_gradient();
    second.backward(x * y.detach());
    CHECK(x.gradient()[0] == 9);
    second.backward(x * y.detach().require_gradient());
    CHECK(x.gradient()[0] == 18);
  }
}

TEST_CASE("an op that is refused leaves nothing behind") {
  Tensor x = leaf({1000}, 1), y;
  {
    Tape first;
    y = square(x);
  }
  const size_t before = memory::statistics().bytes_in_use;
  {
    Tape second;
    for (int i = 0; i < 100; ++i) CHECK(error_of([&] { x* y; }) != "");
  }
  CHECK(memory::statistics().bytes_in_use == before);
}

TEST_CASE("branches that the loss does not use get nothing, and do not run") {
  Tensor x = leaf({3}, 1), unused = leaf({3}, 2);
  Tape tape;
  const Tensor side = exp(unused);
  const Tensor loss = sum(x);
  const Tensor later = log(unused);
  tape.backward(loss);
  CHECK(x.gradient_data() != nullptr);
  CHECK(unused.gradient_data() == nullptr);
  CHECK(identical(unused.gradient(), Tensor::zeros({3})));
}

TEST_CASE("backward and clear release the activations") {
  const size_t before = memory::statistics().bytes_in_use;
  {
    Tensor x = leaf({1000}, 1);
    const size_t with_leaf = memory::statistics().bytes_in_use;
    Tape tape;
    Tensor y = x;
    for (int i = 0; i < 1000; ++i) y = tanh(y);  // more nodes than one chunk of the tape holds
    CHECK(memory::statistics().bytes_in_use > with_leaf + 1000 * 1000 * sizeof(real));
    y = Tensor();
    tape.clear();
    CHECK(tape.size() == 0);
    CHECK(memory::statistics().bytes_in_use == with_leaf);
    tape.backward(sum(exp(x)));
  }
  CHECK(memory::statistics().bytes_in_use == before);
}

TEST_CASE("the gradients of an inner and an enclosing tape's losses add up; detach keeps them apart") {
  for (const bool apart : {false, true}) {
    Tensor x = Tensor::from({2}, {1, 2}).require_gradient(), w = Tensor::from({2}, {3, 4}).require_gradient();
    Tape outer;
    const Tensor y = square(x);
    {
      Tape inner;
      inner.backward(sum((apart ? y.detach() : y) * w));
    }
    CHECK(difference(w.gradient(), {1, 4}) == 0);
    outer.backward(sum(y));
    CHECK(difference(x.gradient(), apart ? Tensor::from({2}, {2, 4}) : Tensor::from({2}, {8, 20})) == 0);
  }
}

TEST_CASE("a deep chain differentiates") {
  Tensor x = Tensor::from({1}, {1}).require_gradient();
  Tape tape;
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y + real(0);
  tape.backward(y);
  CHECK(x.gradient()[0] == 1);
}

TEST_CASE("an op with several outputs runs when any of them was reached") {
  Tensor x = Tensor::from({1}, {2}).require_gradient();
  Tape tape;
  Tensor first = Tensor::from({1}, {4}), second = Tensor::from({1}, {6});
  record("both", {first, second}, {x}, [=] {
    CHECK(first.gradient_data() == nullptr);
    contribute(x, [dy = second.gradient_data()](size_t i) { return 3 * dy[i]; });
  });
  tape.backward(sum(second));
  CHECK(x.gradient()[0] == 3);
}

TEST_CASE("first_non_finite names the first op, not the last") {
  Tensor x = Tensor::from({2}, {1, 0}).require_gradient();
  Tape tape;
  const Tensor fine = x * real(2);
  CHECK(first_non_finite(tape) == nullptr);
  const Tensor loss = mean(exp(log(fine)) * real(0) + square(log(fine)));
  CHECK(std::string(first_non_finite(tape)) == "log");
  tape.clear();
  const Tensor nan = Tensor::full({2}, std::numeric_limits<real>::quiet_NaN());
  sum(tanh(relu(x * nan)));
  CHECK(std::string(first_non_finite(tape)) == "multiply");
}

namespace {

std::string written(const std::string& shape, const std::string& op) {
  return "backward: a tensor " + shape + " of the op '" + op +
         "' was written after it was recorded, so the gradient would be wrong; write before the forward pass "
         "or "
         "after backward(), or into a copy(), and evaluate under Tape::Pause, or it is recorded, too";
}

}  // namespace

TEST_CASE("a write into an input or a result between forward and backward is an error") {
  Tensor w = leaf({2}, 1), x = sample({2}, 2);
  const auto error_after = [&](const auto& write) {
    Tape tape;
    Tensor y = tanh(w * x);
    const Tensor loss = sum(square(y));
    write(y);
    return error_of([&] { tape.backward(loss); });
  };
  CHECK(error_after([](Tensor&) {}) == "");
  CHECK(error_after([&](Tensor&) { x[1] = 5; }) == written("[2]", "multiply"));
  CHECK(error_after([&](Tensor&) { x.values()[1] = 6; }) == written("[2]", "multiply"));
  CHECK(error_after([&](Tensor&) { x.step(1).data()[0] = 7; }) ==
        written("[scalar]", "multiply") +
            "; an op holds all of the tensor of which it reads a part, so fill every part before it, or pass "
            "it "
            "a copy() of its part");
  CHECK(error_after([&](Tensor&) { w[0] += 1; }) == written("[2]", "multiply"));
  CHECK(error_after([&](Tensor& y) { y[0] = 0; }) == written("[2]", "square"));
  CHECK(error_after([&](Tensor&) {}) == "");
  x[0] = 3;  // allowed before a forward pass and after its backward pass
  CHECK(error_after([&](Tensor&) {}) == "");
}

TEST_CASE("a node knows all inputs of its op, however many") {
  std::vector<Tensor> parts;
  for (std::uint64_t i = 0; i < 20; ++i) parts.push_back(leaf({2}, i));
  Tape tape;
  const Tensor loss = sum(square(concatenate(parts, 0)));
  parts[19].values()[1] = 5;
  CHECK_ERROR(tape.backward(loss), written("[2]", "concatenate"));
}

TEST_CASE("an op with more outputs than a node holds is refused with the remedy") {
  const Tensor x = leaf({2}, 1);
  const Tape tape;
  CHECK_ERROR(record("split", {x.copy(), x.copy(), x.copy(), x.copy()}, {x}, [] {}),
              "split: 4 outputs, and a node of the tape holds 3; put some of them into one tensor and give "
              "slices of it, or record several ops");
}

TEST_CASE("reading through a handle that could write is no write, nor is writing what was there") {
  Tensor w = leaf({2}, 1), x = sample({2}, 2);
  Tape tape;
  Tensor y = tanh(w * x);
  CHECK(y[0] == std::as_const(y)[0]);
  for (real& v : x.values()) CHECK(v != 0);
  const real kept = x[0];
  x[0] = 42;
  x[0] = kept;
  tape.backward(sum(y));
  x[0] = 42;  // the tape is empty
}

TEST_CASE("a write in a pause, or while an inner tape records, is found by the tape that holds the tensor") {
  Tensor w = leaf({2}, 1);
  Tape outer;
  const Tensor y = square(w);
  {
    Tape inner;
    const Tensor z = y * w;
    const Tape::Pause pause;
    w[0] = 42;
  }
  CHECK_ERROR(outer.backward(sum(y)), written("[2]", "square"));
  outer.clear();
  w.clear_gradient();
  outer.backward(sum(square(w)));
  CHECK(w.gradient()[0] == 84);
}
