#include "../judge.h"

#include "exercises.h"
using namespace lamina;
using course::compare, course::equal, course::Mistake, course::numbers;

Tensor some(const Shape& shape, std::uint64_t seed) { return uniform(2)(shape, Random(seed)); }

Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }

struct Product {
  Tensor x, weight, dy;
};
Product product_of(size_t cases, size_t units) {
  return {some({cases, 3}, 1), some({3, units}, 2), some({cases, units}, 3)};
}

std::string wrong_gradients(const Product& p, const std::vector<Mistake>& of_x,
                            const std::vector<Mistake>& of_weight) {
  const ProductGradients yours = matmul_backward(p.x, p.weight, p.dy);
  std::string wrong = compare("dx", numbers(yours.dx), numbers(product(p.dy, transpose(p.weight))), of_x);
  if (wrong.empty())
    wrong = compare("dweight", numbers(yours.dweight), numbers(product(transpose(p.x), p.dy)), of_weight);
  if (!wrong.empty()) return wrong;
  if (yours.dx.shape() != p.x.shape()) return text("your dx is ", yours.dx.shape(), "; x is ", p.x.shape());
  if (yours.dweight.shape() != p.weight.shape())
    return text("your dweight is ", yours.dweight.shape(), "; weight is ", p.weight.shape());
  return "";
}

std::string wrong_matmul_backward() {
  // All sizes are 3: then a wrong order or a missing transpose still gives a matrix of the right shape.
  const Product square = product_of(3, 3);
  const auto& [x, weight, dy] = square;
  const Tensor w = transpose(weight), t = transpose(x);
  const std::string wrong = wrong_gradients(
      square,
      {{numbers(product(dy, weight)), "your dx lacks the transpose of weight"},
       {numbers(product(w, dy)), "your dx has its factors in the wrong order"},
       {numbers(product(weight, dy)),
        "your dx has its factors in the wrong order, and lacks the transpose of weight"},
       {numbers(product(slice(dy, 1, 2, 3), w.slice(2, 3))),
        "your dx lacks the sum over the units: it keeps the last one"}},
      {{numbers(product(t, dy) / 3), "your dweight is the mean over the cases; it is the sum"},
       {numbers(product(x, dy)), "your dweight lacks the transpose of x"},
       {numbers(product(transpose(dy), x)), "your dweight is transposed: its factors are in the wrong order"},
       {numbers(product(dy, t)), "your dweight has its factors in the wrong order"},
       {numbers(product(slice(t, 1, 2, 3), dy.slice(2, 3))),
        "your dweight lacks the sum over the cases: it keeps the last one"}});
  return wrong.empty() ? wrong_gradients(product_of(5, 2), {}, {}) : wrong;
}

/// dL/db of x + b by the tape.
Tensor by_tape(const Tensor& dy, const Shape& shape) {
  Tensor b = Tensor::zeros(shape);
  b.require_gradient();
  Tape tape;
  tape.backward(Tensor::zeros(dy.shape()) + b, dy);
  return b.gradient();
}

std::string wrong_sum_to(const Tensor& dy, const Shape& shape) {
  const Tensor yours = sum_to(dy, shape), right = by_tape(dy, shape);
  const std::string not_repeated = "your db is a sum, but b was not repeated: db = dy";
  std::vector<Mistake> mistakes;
  if (shape == dy.shape()) {
    mistakes = {{numbers(sum_rows(dy) + Tensor::zeros(shape)), not_repeated},
                {numbers(sum_columns(dy) + Tensor::zeros(shape)), not_repeated}};
    if (yours.size() < dy.size()) return not_repeated;
  } else {
    const real copies = static_cast<real>(dy.size() / right.size());
    mistakes = {{numbers(right / copies),
                 "your db is the mean over its copies; each of them counts in full: it is the sum"}};
    if (shape.rows() == 1)
      mistakes.push_back(
          {numbers(dy.step(0)), "your db is that of one copy; it is the sum over all of them"});
    if (shape.rank() == 1)
      mistakes.push_back(
          {numbers(sum_columns(dy)), "your db sums along the rows; b was repeated down the columns"});
    if (shape.rank() == 2)
      mistakes.push_back(
          {numbers(sum_rows(dy)), "your db sums down the columns; b was repeated along the rows"});
  }
  const std::string wrong = compare("db", numbers(yours), numbers(right), mistakes);
  if (!wrong.empty()) return wrong;
  if (yours.shape() != shape)
    return text("your db has the shape ", yours.shape(), "; it must have that of b");
  return "";
}

std::string wrong_sum_to() {
  for (const Tensor& dy : {some({3, 3}, 4), some({2, 4}, 5)})
    for (const Shape& shape : {Shape{dy.columns()}, Shape{dy.rows(), 1}, Shape{}, dy.shape()}) {
      const std::string wrong = wrong_sum_to(dy, shape);
      if (!wrong.empty()) return text("for b ", shape, " ", wrong);
    }
  return "";
}

/// dL/dx of a loss that reads x through the op, and a second time if `twice`.
Tensor through(const std::function<Tensor()>& op, Tensor x, const Tensor& dy, bool twice) {
  x.require_gradient().clear_gradient();
  Tape tape;
  const Tensor y = op();  // recorded first, so the other op contributes first
  tape.backward(twice ? sum(y * dy) + sum(x * 3) : sum(y * dy));
  return x.gradient();
}

std::string wrong_smooth_abs() {
  const Tensor x = some({2, 3}, 6), dy = some({2, 3}, 7);
  const Tensor y = sqrt(square(x) + 1) - 1, root = y + 1;
  const std::string wrong = compare("y", numbers(smooth_abs(x)), numbers(y));
  if (!wrong.empty()) return wrong;
  const auto op = [&] { return smooth_abs(x); };
  const std::string wrong_gradient =
      compare("dx", numbers(through(op, x, dy, false)), numbers(dy * x / root),
              {{numbers(x / root), "your dx lacks the factor dy"},
               {numbers(dy * x / y), "your dx divides by y; the root is y + 1"},
               {numbers(dy / root), "your dx lacks the derivative of x^2: the numerator is x"}});
  if (!wrong_gradient.empty()) return wrong_gradient;
  return compare("dx beside another op's", numbers(through(op, x, dy, true)), numbers(dy * x / root + 3),
                 {{numbers(dy * x / root),
                   "your dx overwrites what another op has contributed to x; it must add to it"}});
}

std::string wrong_scale_columns() {
  const Tensor x = some({3, 2}, 8), gain = some({2}, 9), dy = some({3, 2}, 10);
  std::string wrong = compare("y", numbers(scale_columns(x, gain)), numbers(x * gain));
  if (!wrong.empty()) return wrong;
  const auto op = [&] { return scale_columns(x, gain); };
  const Tensor in_other_order = Tensor::from({3, 2}, {gain[0], gain[0], gain[0], gain[1], gain[1], gain[1]});
  const Tensor dx = through(op, x, dy, false);
  if (equal(numbers(dx.step(0)), numbers(dy.step(0) * gain)) && !equal(numbers(dx), numbers(dy * gain)))
    return "your dx is right in the first row only: element i is in column i % columns";
  wrong = compare("dx", numbers(dx), numbers(dy * gain),
                  {{numbers(dy), "your dx lacks the gain"},
                   {numbers(dy * x), "your dx has x where the gain belongs"},
                   {numbers(dy * in_other_order),
                    "your dx takes the gains in the wrong order: element i is in column i % columns"}});
  if (!wrong.empty()) return wrong;
  const Tensor each = dy * x, dgain = through(op, gain, dy, false);
  for (size_t row = 0; row < 3; ++row)
    if (equal(numbers(dgain), numbers(each.step(row)))) return "your d(gain) lacks the sum over the rows";
  wrong =
      compare("d(gain)", numbers(dgain), numbers(sum_rows(each)),
              {{numbers(sum_rows(dy)), "your d(gain) lacks the factor x"},
               {numbers(sum_rows(each) * gain), "your d(gain) has the gain as a factor; it belongs into dx"},
               {numbers(mean_rows(each)), "your d(gain) is the mean over the rows; it is the sum"}});
  if (wrong.empty())
    wrong = compare(
        "dx beside another op's", numbers(through(op, x, dy, true)), numbers(dy * gain + 3),
        {{numbers(dy * gain), "your dx overwrites what another op has contributed to x; it must add to it"}});
  if (wrong.empty())
    wrong = compare("d(gain) beside another op's", numbers(through(op, gain, dy, true)),
                    numbers(sum_rows(each) + 3),
                    {{numbers(sum_rows(each)),
                      "your d(gain) overwrites what another op has contributed to gain; it must add to it"}});
  return wrong;
}

int main() {
  course::exercise("matmul_backward", wrong_matmul_backward);
  course::exercise("sum_to", [] { return wrong_sum_to(); });
  course::exercise("smooth_abs", wrong_smooth_abs);
  course::exercise("scale_columns", wrong_scale_columns);
  return course::verdict();
}
