// Handles, views, lifetimes, and gradients that arrive through views.

#include "core/tensor.h"

#include <sys/resource.h>

#include <fstream>
#include <new>

#include "core/parameters.h"
#include "core/tape.h"
#include "layers/norms/weight_norm.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("shape: sizes, axes, text") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 24);
  CHECK(shape.rows() == 6);
  CHECK(shape.columns() == 4);
  CHECK(shape[-1] == 4);
  CHECK(shape.with(-2, 7) == Shape{2, 7, 4});
  CHECK(text(shape) == "[2 x 3 x 4]");
  CHECK(text(Shape{}) == "[scalar]");
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{0, 3}.size() == 0);
  CHECK(Shape{3} != Shape{1, 3});
  CHECK_ERROR(shape[3], "shape [2 x 3 x 4]: has no axis 3");
  CHECK_ERROR(shape.with(-4, 1), "shape [2 x 3 x 4]: has no axis -4");
  CHECK_ERROR((Shape{1, 2, 3, 4, 5}), "shape: 5 dimensions; at most 4 are supported");
}

TEST_CASE("tensor: what was moved from is an empty handle, in its shape too") {
  std::vector<Tensor> from{sample({4, 6}, 1), sample({4, 6}, 1).step(2)};
  const Tensor values = from[0].copy(), row = values.step(2).copy();
  Tensor to = std::move(from[1]);
  CHECK(identical(to, row));
  CHECK(text(from[1].shape()) == "[an empty handle]");
  to = std::move(from[0]);
  CHECK(identical(to, values));
  CHECK(from[0].shape() == Shape::none());
  Tensor& same = to;
  to = std::move(same);
  CHECK(identical(to, values));
  // An op that looks at the shape alone.
  CHECK_ERROR(weight_norm(values, from[1]),
              "weight_norm: v is [4 x 6], the gain [an empty handle]; one gain a column is needed");
  CHECK(contains(error_of([&] { from[1].gradient_in_place(); }),
                 "gradient_in_place: a tensor is an empty handle"));
  CHECK(!Tape().watches(from[1]));
}

TEST_CASE("tensor: construction") {
  CHECK(!Tensor().defined());
  CHECK(Tensor::full({}, 3).item() == 3);
  CHECK(difference(Tensor::ones({2}), {1, 1}) == 0);
  CHECK(Tensor({0, 5}).size() == 0);
  CHECK_ERROR(Tensor::from({2, 2}, {1, 2, 3}), "tensor: 3 values given for shape [2 x 2] of size 4");
  CHECK_ERROR(Tensor::ones({2, 1}).item(), "item: a tensor with one element is needed, this one is [2 x 1]");
  CHECK(contains(error_of([] { Tensor({static_cast<size_t>(-3), 2}); }), "x 2] is too large"));
  CHECK(contains(error_of([] { Tensor({size_t{1} << 40, size_t{1} << 40}); }), "is too large"));
  for (const size_t size : {1U, 5U, 1000U})
    CHECK(reinterpret_cast<std::uintptr_t>(Tensor({size}).data()) % 64 == 0);
}

TEST_CASE("tensor: views share the buffer, copies do not") {
  Tensor x = Tensor::from({3, 2}, {1, 2, 3, 4, 5, 6});
  x.reshape({6})[5] = 7;
  x.slice(1, 2)[0] = 8;
  x.step(0)[1] = 9;
  CHECK(difference(x, {1, 9, 8, 4, 5, 7}) == 0);
  x.copy()[0] = 0;
  CHECK(x[0] == 1);
  CHECK(x.step(1).shape() == Shape{2});
  CHECK(Tensor({2, 3, 4}).step(1).shape() == Shape{3, 4});
  CHECK(Tensor({2, 3, 4, 5}).step(1).shape() == Shape{3, 4, 5});
  CHECK(Tensor({4}).step(3).shape() == Shape{});
  CHECK(x.slice(3, 3).size() == 0);
  CHECK(difference(x.slice(1, 3).slice(1, 2), {5, 7}) == 0);
}

TEST_CASE("tensor: views outside the tensor are errors") {
  const Tensor x({3, 2});
  CHECK_ERROR(x.reshape({5}), "reshape: [3 x 2] to [5]: the sizes differ");
  // As many elements as x has, counted modulo 2^64.
  CHECK_ERROR(x.reshape({(size_t{1} << 63) + 3, 2}), "tensor: [9223372036854775811 x 2] is too large");
  CHECK_ERROR(Tensor({4}).reshape({(size_t{1} << 62) + 1, 4}),
              "tensor: [4611686018427387905 x 4] is too large");
  CHECK_ERROR(x.slice(1, 4), "slice: [1, 4) is outside the leading axis of [3 x 2]");
  CHECK_ERROR(x.slice(2, 1), "slice: [2, 1) is outside the leading axis of [3 x 2]");
  CHECK_ERROR(x.step(3), "slice: [3, 4) is outside the leading axis of [3 x 2]");
  CHECK_ERROR(Tensor(Shape{}).slice(0, 1), "slice: a scalar has no leading axis");
}

TEST_CASE("tensor: a handle keeps the values of a temporary alive") {
  Tensor view;
  {
    Tensor x = Tensor::from({2, 2}, {1, 2, 3, 4});
    view = x.step(1);
  }
  CHECK(difference(view, {3, 4}) == 0);
}

TEST_CASE("gradient of partial views: the rest is zero, overlaps add") {
  Tensor x = leaf({3, 2}, 1);
  {
    Tape tape;
    tape.backward(sum(x.step(1) * real(2)));
  }
  CHECK(difference(x.gradient(), {0, 0, 2, 2, 0, 0}) == 0);
  CHECK(difference(x.step(1).gradient(), {2, 2}) == 0);

  x.step(1).clear_gradient();  // a view clears its part
  CHECK(difference(x.gradient(), {0, 0, 0, 0, 0, 0}) == 0);
  {
    Tape tape;
    tape.backward(sum(x));
  }
  x.slice(0, 2).clear_gradient();
  CHECK(difference(x.gradient(), {0, 0, 0, 0, 1, 1}) == 0);

  // The cleared buffer holds old numbers: a partial view must not leave them outside its own part.
  x.clear_gradient();
  CHECK(x.gradient_data() == nullptr);
  CHECK(identical(x.gradient(), Tensor::zeros({3, 2})));
  {
    Tape tape;
    tape.backward(sum(x.slice(0, 2)) + sum(x.slice(1, 3)));
  }
  CHECK(difference(x.gradient(), {1, 1, 2, 2, 1, 1}) == 0);
}

TEST_CASE("gradients through reshape, slice and step") {
  const Tensor x = sample({4, 3, 2}, 1);
  check_gradients({x}, [&] { return weighted(square(x.reshape({2, 12}))); });
  check_gradients({x}, [&] { return weighted(square(x.slice(1, 3))); });
  check_gradients({x}, [&] { return weighted(square(x.step(2).reshape({6}))); });
  check_gradients({x}, [&] { return weighted(square(x.slice(0, 3)) * x.slice(1, 4)); });
  check_gradients({x}, [&] {
    const Tensor y = tanh(x);  // views of a recorded output
    return weighted(y.step(0)) + weighted(square(y.step(3))) + weighted(y.reshape({24}));
  });
}

namespace {

/// y_i = a_i b_(n-1-i), whose backward pass writes both gradients at once, each in an order of its own, or one after the
/// other.
Tensor mirrored_product(const Tensor& a, const Tensor& b, bool at_once) {
  const size_t n = a.size();
  Tensor y(a.shape());
  for (size_t i = 0; i < n; ++i) y[i] = a[i] * b[n - 1 - i];
  return record("mirrored_product", y, {a, b}, [=] {
    const auto put = [](const GradientSink& to, size_t i, real value) {
      to.values[i] = (to.add ? to.values[i] : 0) + value;
    };
    const real* const dy = y.gradient_data();
    const GradientTarget da(a);
    for (size_t i = 0; i < n && !at_once; ++i) put(da.sink(), i, dy[i] * b[n - 1 - i]);
    const GradientTarget db(b);
    for (size_t i = 0; i < n; ++i) {
      if (at_once) put(da.sink(), i, dy[i] * b[n - 1 - i]);
      put(db.sink(), n - 1 - i, dy[i] * a[i]);
    }
  });
}

}  // namespace

TEST_CASE("a gradient's target: one tensor may be given for two inputs") {
  const Tensor a = leaf({5}, 1), b = leaf({6}, 2);
  for (const bool at_once : {false, true}) {
    check_gradients({a}, [&] { return weighted(mirrored_product(a, a, at_once)); });
    check_gradients(
        {b}, [&] { return weighted(mirrored_product(b.slice(0, 5), b.slice(1, 6), at_once)) + sum(b); });
    check_gradients({a, b}, [&] { return weighted(mirrored_product(a, b.slice(1, 6), at_once)); });
  }
}

TEST_CASE("a gradient's target: the gradient, or memory that nobody reads") {
  const Tensor wanted = leaf({2, 3}, 1), unwanted = sample({2, 3}, 2);
  const GradientTarget into(wanted), nowhere(unwanted), none{Tensor()};
  CHECK(into.sink().values == wanted.gradient_data());
  CHECK(into.at(4).values == wanted.gradient_data() + 4);
  CHECK(!into.sink().add);
  CHECK(GradientTarget(wanted).sink().add);
  CHECK(nowhere.sink().values != nullptr);
  CHECK(!nowhere.sink().add);
  CHECK(unwanted.gradient_data() == nullptr);
  CHECK(none.sink().values == nullptr);
}

TEST_CASE("detach: same values, no gradient, and it may be a leaf of its own") {
  Tensor x = leaf({3}, 1);
  Tape tape;
  const Tensor y = x * real(2);
  Tensor cut = y.detach().require_gradient();
  tape.backward(sum(square(cut)) + sum(y));
  CHECK(identical(cut, y));
  CHECK(difference(x.gradient(), {2, 2, 2}) == 0);
  CHECK(difference(cut.gradient(), y.detach() * real(2)) == 0);
  CHECK(cut.data() == y.data());
}

TEST_CASE("detach: outlives its source, also one that is a parameter of a model") {
  Tensor cut;
  {
    Tensor x = sample({1000}, 1);
    cut = x.detach().detach().slice(10, 990);
  }
  CHECK(identical(cut, sample({1000}, 1).slice(10, 990)));

  Tensor moved, before = sample({1000}, 2);
  {
    Parameters parameters(1);
    Tensor weight = parameters.add("weight", before.copy());
    moved = weight.detach();
    parameters.values()[0] = 42;
    CHECK(weight[0] == 42);
    const Tensor recycled = Tensor::full({1000}, -1);  // would take the buffer if it had been released
    before[0] = 42;
    CHECK(identical(moved, before));
    moved = weight.detach();
    weight[1] = 43;
  }
  CHECK(moved[0] == 42);
  CHECK(moved[1] == 43);
}

TEST_CASE("tensor: an empty handle is an error that names the op") {
  const Tensor x = sample({2, 3}, 1), none;
  const std::string remedy =
      ": a tensor is an empty handle; give it values first, as Tensor::zeros({2, 3}) has them";
  CHECK_ERROR(tanh(none), "tanh" + remedy);
  CHECK_ERROR(x + none, "add" + remedy);
  CHECK_ERROR(none * x, "multiply" + remedy);
  CHECK_ERROR(none + none, "add" + remedy);
  CHECK_ERROR(none / real(2), "divide by number" + remedy);
  CHECK_ERROR(sum(none), "sum" + remedy);
  CHECK_ERROR(mean(none), "mean" + remedy);
  CHECK_ERROR(matmul(x, none), "matmul" + remedy);
  CHECK_ERROR(linear(none, x, Tensor()), "linear" + remedy);
  CHECK_ERROR(softmax(none), "softmax" + remedy);
  CHECK_ERROR(bernoulli_cross_entropy(none, none), "bernoulli_cross_entropy" + remedy);
  CHECK_ERROR(none.item(), "item" + remedy);
  CHECK_ERROR(none.copy(), "copy" + remedy);
  CHECK_ERROR(none.detach(), "detach" + remedy);
  CHECK_ERROR(none.reshape({1}), "reshape" + remedy);
  CHECK_ERROR(none.slice(0, 1), "slice" + remedy);
  CHECK_ERROR(none.gradient(), "gradient" + remedy);
  CHECK_ERROR(none.values(), "tensor" + remedy);
  CHECK_ERROR(Tensor().data(), "tensor" + remedy);
  CHECK_ERROR(Tensor().require_gradient(), "require_gradient" + remedy);
  CHECK_ERROR(Tensor().clear_gradient(), "clear_gradient" + remedy);
  CHECK_ERROR(transpose(none), "transpose: a matrix is needed, this is [an empty handle]");
  CHECK_ERROR(concatenate({x, none}, 0),
              "concatenate: [2 x 3] and [an empty handle] differ in more than axis 0");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which themselves need address space
TEST_CASE("tensor: memory that the system does not grant is an error that names the shape") {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit tight = before;
  tight.rlim_cur = pages * 4096 + (size_t{256} << 20);
  setrlimit(RLIMIT_AS, &tight);
  std::string message;
  try {
    (void)Tensor({1000, 1000, 1000});
  } catch (const std::bad_alloc& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK(message == text("tensor: [1000 x 1000 x 1000] needs ", sizeof(real),
                        " GB, which the system does not grant; take smaller sizes, or compute it in parts"));
}
#endif

TEST_CASE("a constant that a tape has read does not become a leaf") {
  Tensor x = sample({3}, 1), w = leaf({3}, 2);
  Parameters parameters(1);
  Tape tape;
  // Of these only the product is recorded: dL/dx would be w, without the 2.
  const Tensor loss = sum(w * x + x * real(2));
  const char* const refused =
      "require_gradient: a tape has recorded the op 'multiply' with this [3] as a constant, and its gradient "
      "would be incomplete; call it before the forward pass, or on a detach() or copy()";
  CHECK_ERROR(x.require_gradient(), refused);
  CHECK_ERROR(parameters.add("x", x), refused);
  CHECK(parameters.learned().empty());
  CHECK(parameters.values().empty());
  {
    const Tape later;
    CHECK_ERROR(x.require_gradient(), refused);
  }
  CHECK(x.detach().require_gradient().needs_gradient());
  CHECK(w.require_gradient().needs_gradient());
  tape.backward(loss);
  CHECK(!x.needs_gradient());
  CHECK(x.require_gradient().needs_gradient());
  CHECK(parameters.add("w", w.copy()).needs_gradient());
}
