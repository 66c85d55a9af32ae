// Arithmetic with every kind of repetition, and functions of single elements.

#include "core/ops/elementwise.h"

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);
constexpr Binary add = operator+, subtract = operator-, multiply = operator*, divide = operator/;

struct Function {
  const char* name;
  Tensor (*apply)(const Tensor&);
  double (*exact)(double);
  double low, high;  ///< where to check it
};

const Function functions[] = {
    {"exp", exp, std::exp, -2, 2},
    {"log", log, std::log, 0.5, 3},
    {"sqrt", sqrt, std::sqrt, 0.5, 3},
    {"square", square, [](double x) { return x * x; }, -2, 2},
    {"abs of positive numbers", abs, std::fabs, 0.1, 2},
    {"abs of negative numbers", abs, std::fabs, -2, -0.1},
    {"tanh", tanh, std::tanh, -2, 2},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -3, 3},
    {"relu of positive numbers", relu, [](double x) { return x; }, 0.1, 2},
    {"relu of negative numbers", relu, [](double) { return 0.0; }, -2, -0.1},
    {"negation", operator-, [](double x) { return -x; }, -2, 2},
    {"add number", [](const Tensor& x) { return x + real(0.5); }, [](double x) { return x + 0.5; }, -2, 2},
    {"number plus", [](const Tensor& x) { return real(0.5) + x; }, [](double x) { return x + 0.5; }, -2, 2},
    {"subtract number", [](const Tensor& x) { return x - real(0.5); }, [](double x) { return x - 0.5; }, -2,
     2},
    {"number minus", [](const Tensor& x) { return real(0.5) - x; }, [](double x) { return 0.5 - x; }, -2, 2},
    {"scale", [](const Tensor& x) { return x * real(1.5); }, [](double x) { return x * 1.5; }, -2, 2},
    {"number times", [](const Tensor& x) { return real(1.5) * x; }, [](double x) { return x * 1.5; }, -2, 2},
    {"divide by number", [](const Tensor& x) { return x / real(4); }, [](double x) { return x / 4; }, -2, 2},
};

}  // namespace

TEST_CASE("functions of one variable: values and gradients") {
  for (const Function& f : functions)
    for (const Shape& shape : odd_shapes) {
      CAPTURE(std::string(f.name));
      CAPTURE(shape.size());
      const Tensor x = sample(shape, 1, f.low, f.high);
      const Tensor y = f.apply(x);
      for (size_t i = 0; i < x.size(); ++i) {
        const double exact = f.exact(static_cast<double>(x[i]));
        CHECK(std::fabs(y[i] - exact) <= 4 * ulp * std::fabs(exact));
      }
      check_gradients({x}, [&] { return weighted(f.apply(x)); });
    }
}

TEST_CASE("abs and relu have derivative 0 at 0, and keep NaN") {
  const auto derivative = [](Tensor (*function)(const Tensor&)) {
    Tensor x = Tensor::from({3}, {0, -1, 1}).require_gradient();
    Tape tape;
    tape.backward(sum(function(x)));
    return x.gradient();
  };
  CHECK(difference(derivative(abs), {0, -1, 1}) == 0);
  CHECK(difference(derivative(relu), {0, 0, 1}) == 0);
  const Tensor nan = Tensor::full({1}, std::numeric_limits<real>::quiet_NaN());
  for (const Function& f : functions)
    if (std::string(f.name) != "relu of negative numbers") CHECK(std::isnan(f.apply(nan)[0]));
}

TEST_CASE("what relu and clamp cut off gets derivative 0, also where the one that arrives is infinite") {
  const auto derivative = [](const std::function<Tensor(const Tensor&)>& function) {
    Tensor x = Tensor::from({3}, {-1, 4, 9}).require_gradient();
    Tape tape;
    tape.backward(sum(function(x)));
    return x.gradient();
  };
  CHECK(difference(derivative([](const Tensor& x) { return sqrt(relu(x)); }), {0, 0.25, 1.0 / 6}) <= ulp);
  CHECK(difference(derivative([](const Tensor& x) { return log(relu(x)); }), {0, 0.25, 1.0 / 9}) <= ulp);
  CHECK(difference(derivative([](const Tensor& x) { return sqrt(clamp(x, 0, 5)); }), {0, 0.25, 0}) <= ulp);
}

TEST_CASE("the second operand is repeated: values") {
  const Tensor a = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor row = Tensor::from({3}, {10, 20, 30}), column = Tensor::from({2, 1}, {10, 20});
  const Tensor number = Tensor::full({}, 10);
  CHECK(difference(a + a, {2, 4, 6, 8, 10, 12}) == 0);
  CHECK(difference(a + row, {11, 22, 33, 14, 25, 36}) == 0);
  CHECK(difference(a + column, {11, 12, 13, 24, 25, 26}) == 0);
  CHECK(difference(a + number, {11, 12, 13, 14, 15, 16}) == 0);
  CHECK(difference(a - row, {-9, -18, -27, -6, -15, -24}) == 0);
  CHECK(difference(a * column, {10, 20, 30, 80, 100, 120}) == 0);
  CHECK(difference(a / number, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}) <= ulp);
  // A tensor of size one is a number whatever its rank.
  CHECK(difference(a + Tensor::full({1, 1, 1}, 1), {2, 3, 4, 5, 6, 7}) == 0);
}

TEST_CASE("the second operand is repeated: gradients of both operands") {
  const Binary all[] = {add, subtract, multiply, divide};
  for (const Shape& shape : odd_shapes)
    for (size_t op = 0; op < 4; ++op) {
      const Tensor a = sample(shape, 1);
      for (const Shape& other : {shape, Shape{shape[1]}, Shape{shape[0], 1}, Shape{}, Shape{1}}) {
        CAPTURE(op);
        CAPTURE(text(shape, other));
        const Tensor b = sample(other, 2, 0.5, 2);
        check_gradients({a, b}, [&] { return weighted(all[op](a, b)); });
      }
    }
}

TEST_CASE("tensors of more than two dimensions are matrices of their last axis") {
  const Tensor a = sample({2, 3, 5}, 1), row = sample({5}, 2, 0.5, 2), column = sample({2, 3, 1}, 3, 0.5, 2);
  check_gradients({a, row, column}, [&] { return weighted((a * row + row) / column - column); });
}

TEST_CASE("one tensor as both operands gets both contributions") {
  Tensor x = leaf({3, 5}, 1, 0.5, 2);
  check_gradients({x}, [&] { return weighted(x * x + x / x - (x + x)); });
  const Tensor whole = sample({4, 3}, 2, 0.5, 2);
  check_gradients({whole}, [&] { return weighted(whole.slice(0, 2) * whole.slice(1, 3)); });
  check_gradients({whole}, [&] { return weighted(whole * whole.step(1)); });
}

TEST_CASE("no rows, no columns") {
  Tensor none = Tensor({0, 3}).require_gradient(), row = leaf({3}, 1),
         column = Tensor({0, 1}).require_gradient();
  Tape tape;
  tape.backward(sum((none + row) * column / Tensor::full({}, 2)));
  CHECK(none.gradient().size() == 0);
  CHECK(identical(row.gradient(), Tensor::zeros({3})));
  CHECK((Tensor({3, 0}) + Tensor({3, 1})).shape() == Shape{3, 0});
}

TEST_CASE("only the inputs that ask get a gradient") {
  const Tensor constant = sample({3, 5}, 1);
  Tensor row = leaf({5}, 2);
  Tape tape;
  tape.backward(sum(constant * row));
  CHECK(row.gradient_data() != nullptr);
  CHECK(constant.gradient_data() == nullptr);
}

TEST_CASE("large tensors: one and two threads agree, repeated runs are identical") {
  const auto run = [](int count) {
    set_threads(count);
    Tensor a = leaf({301, 257}, 1), row = leaf({257}, 2, 0.5, 2), column = leaf({301, 1}, 3),
           one = leaf({}, 4);
    Tape tape;
    const Tensor y = tanh(a / row) * column + one * real(2);
    tape.backward(weighted(y));
    return std::vector<Tensor>{y, a.gradient(), row.gradient(), column.gradient(), one.gradient()};
  };
  const auto single = run(1), twice = run(2), again = run(2);
  for (size_t i = 0; i < single.size(); ++i) {
    CHECK(identical(twice[i], again[i]));
    CHECK(difference(single[i], twice[i]) < 100 * ulp);
  }
  set_threads(0);
}

TEST_CASE("operands that do not fit are named") {
  const std::string must = ", counted from the right, must be equal or one of them 1";
  const Tensor a({2, 3});
  CHECK_ERROR(a + Tensor({2}), "add: [2 x 3] and [2]: the sizes 3 and 2 of axis -1" + must +
                                   "; one number for each row is a column [2 x 1]");
  CHECK_ERROR(a - Tensor({3, 1}), "subtract: [2 x 3] and [3 x 1]: the sizes 2 and 3 of axis -2" + must);
  CHECK_ERROR(a / Tensor({2, 4}), "divide: [2 x 3] and [2 x 4]: the sizes 3 and 4 of axis -1" + must);
  CHECK(contains(error_of([&] { Tensor({2}) * a; }), "multiply: [2] and [2 x 3]"));
}

TEST_CASE("quotients, and derivatives that are quotients, round once") {
  const Tensor dy = sample({7, 33}, 3);
  const auto gradient_by = [&](const auto& function, const Tensor& x) {
    Tensor leaf = x.copy().require_gradient();
    Tape tape;
    tape.backward(function(leaf), dy);
    return leaf.gradient();
  };
  const Tensor x = sample({7, 33}, 1, 0.3, 3), b = sample({7, 33}, 2, 0.3, 3);
  const Tensor root = sqrt(x), by_log = gradient_by([](const Tensor&a) { return log(a); }, x);
  const Tensor by_root = gradient_by([](const Tensor& a) { return sqrt(a); }, x);
  const Tensor by_number = gradient_by([](const Tensor& a) { return a / real(7); }, x);
  const Tensor by_tensor = gradient_by([&](const Tensor& a) { return a / b; }, x);
  const Tensor seventh = x / real(7);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(by_log[i] == dy[i] / x[i]);
    CHECK(by_root[i] == dy[i] / (2 * root[i]));
    CHECK(by_number[i] == dy[i] / 7);
    CHECK(by_tensor[i] == dy[i] / b[i]);
    CHECK(seventh[i] == x[i] / 7);
  }
}

TEST_CASE("quotients: derivatives where the divisor's square leaves the range of real") {
  const real small = sizeof(real) == 4 ? real(1e-25) : real(1e-200), large = 1 / small;
  const Tensor u = Tensor::from({5}, {0, small, -2 * small, large, 1}),
               v = Tensor::from({5}, {small, small, small, -large, large});
  const Tensor expected = Tensor::from({5}, {0, -large, 2 * large, -small, 0});  // -u / v^2
  const Tensor row = v.reshape({1, 5});
  for (const Tensor& divisor : {v, row}) {
    Tensor b = divisor.copy().require_gradient();
    Tape tape;
    tape.backward(sum(u / b));
    for (size_t i = 0; i < 5; ++i) {
      CAPTURE(i);
      const real d = b.gradient()[i];
      CHECK(std::fabs(d - expected[i]) <= 4 * ulp * std::fabs(expected[i]));
    }
  }
}
