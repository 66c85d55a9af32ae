#include "../judge.h"

#include <map>

#include "exercises.h"
using namespace lamina;
using course::compare;
using course::Numbers;

namespace {

Tensor sample(const Shape& shape, std::uint64_t seed) {
  Tensor x(shape);
  Random(seed).fill_uniform(x.data(), x.size(), -2, 2);
  return x;
}

/// A loss that sends another derivative to every element.
Tensor weighted(const Tensor& y) { return sum(y * sample(y.shape(), 99)); }

struct Named {
  std::string name;
  Tensor tensor;
};

/// What the tape says is right to differ from, for known wrong repairs: the name of the input, and the mistake.
using Repairs = std::multimap<std::string, course::Mistake>;

/// "" if the tape's gradient of every input is what central differences say; otherwise the worst element.
std::string check(std::vector<Named> inputs, const std::function<Tensor()>& loss,
                  const Repairs& repairs = {}) {
  for (Named& input : inputs) input.tensor.require_gradient();
  {
    Tape tape;
    tape.backward(loss());
  }
  for (Named& input : inputs) {
    const Numbers tape = course::numbers(input.tensor.gradient());
    Numbers differences;
    for (size_t i = 0; i < input.tensor.size(); ++i) {
      const real kept = input.tensor[i], h = real(1e-5);
      input.tensor[i] = kept + h;
      const double ahead = loss().item();
      input.tensor[i] = kept - h;
      differences.push_back((ahead - loss().item()) / (2 * h));
      input.tensor[i] = kept;
    }
    if (course::equal(tape, differences)) continue;
    const auto [first, last] = repairs.equal_range(input.name);
    for (auto repair = first; repair != last; ++repair)
      if (course::equal(tape, repair->second.gives)) return repair->second.message;
    size_t worst = 0;
    for (size_t i = 0; i < tape.size() && std::isfinite(tape[worst]); ++i)
      if (!(std::fabs(tape[i] - differences[i]) <= std::fabs(tape[worst] - differences[worst]))) worst = i;
    std::ostringstream wrong;
    wrong.precision(3);
    wrong << "d(" << input.name << ")[" << worst << "] is " << tape[worst] << " by the backward pass, "
          << differences[worst] << " by differences";
    return wrong.str();
  }
  return "";
}

// --- The student's own checker

std::string check_difference() {
  const Function cubes = [](const std::vector<double>& x) { return x[0] * x[0] * x[0] + 5 * x[1]; };
  const double h = 0.1, one_sided = (1.1 * 1.1 * 1.1 - 1) / h;
  const std::string wrong = compare(
      "difference", {difference(cubes, {1, 2}, 0, h)}, {3 + h * h},
      {{{one_sided},
        "your quotient is one-sided: the error for x^3 at 1 is 3h, where central differences have h^2"},
       {{2 * (3 + h * h)}, "your difference is divided by h, but the two points are 2h apart"},
       {{(3 + h * h) * h * h}, "your difference is multiplied by h: / 2 * h is not / (2 * h)"},
       {{one_sided / 2},
        "your second point is x, not x - h: the first step of h was undone, the second is missing"},
       {{8 + h * h}, "your two steps change all of x; only x[i] may change"}});
  return wrong.empty() ? compare("difference in x[1]", {difference(cubes, {1, 2}, 1, h)}, {5}) : wrong;
}

std::string check_relative_error() {
  if (relative_error(1, 2, 0.1) < 0)
    return "your error is negative when the gradient is the smaller one: take the absolute value";
  if (std::isinf(relative_error(0, 1, 0.1)))
    return "your error is infinite for a gradient of 0: divide by the larger of both";
  if (std::isnan(relative_error(0, 0, 0.1)))
    return "your error is 0 / 0 when gradient and difference are both 0: divide by `floor` at least";
  return compare("error",
                 {relative_error(1, 2, 0.1), relative_error(-4, -3, 0.1), relative_error(0.01, 0, 0.1),
                  relative_error(-1, 1, 0.1)},
                 {0.5, 0.25, 0.1, 2},
                 {{{0.5, 10, 0.1, 2},
                   "your error compares with a negative number: the larger of two magnitudes is asked for"},
                  {{0.5, 0.25, 0.1, 0},
                   "your error is 0 for a gradient with the wrong sign: subtract the numbers themselves"}});
}

// --- The five ops

/// A backward pass can also be made to agree with differences by another function. `right` is the one that is asked for.
std::string another_function(const Tensor& y, const Tensor& right) {
  return course::equal(course::numbers(y), course::numbers(right))
             ? ""
             : "your y is not what the comment says any more: the bug is in the backward pass";
}

std::string check_log_cosh() {
  const Tensor x = sample({2, 3}, 1), dy = sample({2, 3}, 99);
  Numbers no_dy, no_chain;
  for (size_t i = 0; i < x.size(); ++i) {
    no_dy.push_back(std::tanh(x[i]));
    no_chain.push_back(dy[i] / std::cosh(x[i]));
  }
  const std::string wrong = another_function(log_cosh(x), log((exp(x) + exp(-x)) / 2));
  if (!wrong.empty()) return wrong;
  return check(
      {{"x", x}}, [=] { return weighted(log_cosh(x)); },
      {{"x", {no_dy, "your d(x) lacks the factor dy"}},
       {"x", {no_chain, "your d(x) is dy / cosh(x): the derivative of log(c) is 1 / c, times that of c"}}});
}

std::string check_affine() {
  const Tensor x = sample({4, 3}, 1), w = sample({2, 3}, 2), b = sample({2}, 3);
  const Numbers sums = course::numbers(sum_rows(sample({4, 2}, 99)));
  const std::string wrong = another_function(affine(x, w, b), matmul(x, transpose(w)) + b);
  if (!wrong.empty()) return wrong;
  return check(
      {{"x", x}, {"w", w}, {"b", b}}, [=] { return weighted(affine(x, w, b)); },
      {{"b", {course::times(0.25, sums), "your d(b) is the mean over the rows; it must be the sum"}}});
}

std::string check_standardize() {
  const Tensor x = sample({2, 4}, 1), y = standardize(x), dy = sample({2, 4}, 99);
  const Tensor centred = x - mean_columns(x);
  const std::string wrong = another_function(y, centred / sqrt(mean_columns(square(centred))));
  if (!wrong.empty()) return wrong;
  Numbers no_mean, wrong_sign, no_y;
  for (size_t r = 0; r < 2; ++r) {
    double mean = 0, square = 0, mean_dy = 0, mean_dy_y = 0;
    for (size_t j = 4 * r; j < 4 * r + 4; ++j) {
      mean += x[j] / 4, square += x[j] * x[j] / 4, mean_dy += dy[j] / 4, mean_dy_y += dy[j] * y[j] / 4;
    }
    const double deviation = std::sqrt(square - mean * mean);
    for (size_t j = 4 * r; j < 4 * r + 4; ++j) {
      no_mean.push_back((dy[j] - y[j] * mean_dy_y) / deviation);
      no_y.push_back((dy[j] - mean_dy - mean_dy_y) / deviation);
      wrong_sign.push_back((dy[j] - mean_dy + y[j] * mean_dy_y) / deviation);
    }
  }
  return check({{"x", x}}, [=] { return weighted(standardize(x)); },
               {{"x", {no_mean, "your d(x) takes the mean for a constant now"}},
                {"x", {no_y, "your d(x) has the term of the deviation without its factor y"}},
                {"x", {wrong_sign, "your d(x) has the term of the deviation with the wrong sign"}}});
}

std::string check_huber() {
  const Tensor x = Tensor::from({4}, {real(-1.75), real(-0.5), real(0.25), real(1.5)}), dy = sample({4}, 99);
  const auto slopes = [&](double below, double above) {
    return Numbers{dy[0] * below, dy[1] * -0.5, dy[2] * 0.25, dy[3] * above};
  };
  const std::string wrong =
      another_function(huber(x), Tensor::from({4}, {real(1.25), real(0.125), real(0.03125), 1}));
  if (!wrong.empty()) return wrong;
  return check({{"x", x}}, [=] { return weighted(huber(x)); },
               {{"x", {slopes(0, 0), "your d(x) is zero beyond 1, where the loss still rises"}},
                {"x", {slopes(1, 1), "your d(x) is positive below -1, where the loss falls when x grows"}}});
}

std::string check_gate() {
  const Tensor a = sample({3}, 1), b = sample({3}, 2);
  const std::string other = another_function(gate(a, b), a * b);
  if (!other.empty()) return other;
  const std::string alone = check({{"a", a}, {"b", b}}, [=] { return weighted(gate(a, b)); });
  if (!alone.empty())
    return alone + "; if you add to db.values: while db.add is false, no gradient is there yet";
  const Tensor c = sample({3}, 1), d = sample({3}, 2);
  const std::string wrong = check({{"a", c}, {"b", d}}, [=] {
    const Tensor product = gate(c, d);  // recorded first, so that its backward pass runs last
    return weighted(product + 3 * c + 3 * d);
  });
  return wrong.empty() ? "" : "right alone; where later ops use a and b too, " + wrong;
}

}  // namespace

int main() {
  set_threads(1);
  course::exercise("difference", check_difference);
  course::exercise("relative_error", check_relative_error);
  course::exercise("log_cosh", check_log_cosh);
  course::exercise("affine", check_affine);
  course::exercise("standardize", check_standardize);
  course::exercise("huber", check_huber);
  course::exercise("gate", check_gate);
  return course::verdict();
}
