// Lesson 2: the tape beside a graph of numbers, broadcasting and its gradient, an op of your own.
#include <lamina.h>
#include <lamina/extend.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>
using namespace lamina;

const size_t cases = 8, inputs = 16, units = 16;

/// mean(tanh(x W)^2) with a node for every product and every sum, as the engine of lesson 1 has them.
Tensor loss_of_numbers(const std::vector<Tensor>& x, const std::vector<Tensor>& weight) {
  Tensor total = Tensor::zeros({});
  for (size_t r = 0; r < cases; ++r)
    for (size_t c = 0; c < units; ++c) {
      Tensor summed_input = Tensor::zeros({});
      for (size_t k = 0; k < inputs; ++k)
        summed_input = summed_input + x[r * inputs + k] * weight[k * units + c];
      total = total + square(tanh(summed_input));
    }
  return total / real(cases * units);
}

/// A tensor of its own for every number.
std::vector<Tensor> one_by_one(const Tensor& x) {
  std::vector<Tensor> numbers;
  for (const real v : x.values()) numbers.push_back(Tensor::full({}, v));
  return numbers;
}

/// Forward and backward pass; prints the tape, or how long it is, and the time.
template <class Loss>
void run(const char* name, const Loss& loss_of) {
  const auto start = std::chrono::steady_clock::now();
  Tape tape;
  const Tensor loss = loss_of();
  std::printf("%s: loss %.6f, nodes: %zu\n", name, loss.item(), tape.size());
  if (tape.size() < 10)
    for (const Tape::Node* node = tape.last(); node != nullptr; node = node->previous)
      std::cout << "  " << node->op << " -> " << node->outputs[0].shape() << "\n";
  tape.backward(loss);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  std::printf("%s: %.0f microseconds\n", name, time.count());
}

void numbers_and_tensors() {
  const Tensor x = normal(1)({cases, inputs}, Random(1));
  Tensor weight = normal(0.25)({inputs, units}, Random(2));
  std::vector<Tensor> weights = one_by_one(weight);
  weight.require_gradient();
  for (Tensor& w : weights) w.require_gradient();
  run("numbers", [&] { return loss_of_numbers(one_by_one(x), weights); });
  run("tensors", [&] { return mean(square(tanh(matmul(x, weight)))); });
  std::printf("dW[0][0]: %.6f and %.6f\n\n", weights[0].gradient().item(), weight.gradient()[0]);
}

/// The gradients of what is repeated in x + b, for dy = 1 2 3 / 4 5 6.
void broadcasting() {
  const Tensor x = Tensor::zeros({2, 3}), dy = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const Shape& shape : {Shape{3}, Shape{2, 1}, Shape{}}) {
    Tensor b = Tensor::zeros(shape);
    b.require_gradient();
    Tape tape;
    tape.backward(x + b, dy);
    std::cout << "b " << shape << ": db = " << b.gradient().reshape({b.size()}) << "\n";
  }
  try {
    const Tensor predictions = Tensor::ones({4, 1}), targets = Tensor::ones({4});
    std::cout << predictions - targets;
  } catch (const Error& error) {
    std::cout << error.what() << "\n\n";
  }
}

/// x + b and db as tables of squares: b is repeated in the forward pass, dy summed in the backward pass.
void draw_broadcasting() {
  std::ofstream out("broadcasting.svg");
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 560 150' font-family='sans-serif' "
         "font-size='13' text-anchor='middle'>\n<rect width='560' height='150' fill='white'/>\n";
  const auto cell = [&](int left, int top, const std::string& label, const char* color) {
    out << "<rect x='" << left << "' y='" << top << "' width='40' height='26' stroke='#555' fill='" << color
        << "'/><text x='" << left + 20 << "' y='" << top + 18 << "'>" << label << "</text>\n";
  };
  for (int column = 0; column < 3; ++column) {
    const std::string c = std::to_string(column + 1);
    for (int row = 0; row < 3; ++row) {
      const std::string rc = std::to_string(row + 1) + c;
      cell(10 + 40 * column, 30 + 26 * row, "x" + rc, "#eee");
      cell(170 + 40 * column, 30 + 26 * row, "b" + c, row == 0 ? "#9cf" : "#def");
      cell(350 + 40 * column, 30 + 26 * row, "dy" + rc, "#fed");
    }
    cell(350 + 40 * column, 116, "db" + c, "#fa8");
  }
  out << "<text x='70' y='20'>x</text><text x='150' y='73'>+</text><text x='230' y='20'>b, repeated</text>"
      << "<text x='410' y='20'>dy, summed over the copies</text>\n";
  out << "</svg>\n";
}

/// y = log(cosh(x)) = |x| + log(1 + e^(-2|x|)) - log(2);  dx = dy tanh(x)
Tensor log_cosh(const Tensor& x) {
  require_values("log_cosh", x);
  const real* const in = x.data();
  const Tensor y = generate(x.shape(), [=](size_t i) {
    const real size = std::fabs(in[i]);
    return size + std::log1p(std::exp(-2 * size)) - std::log(real(2));
  });
  return record("log_cosh", y, {x}, [x, y] {
    const real *const value = x.data(), *const dy = y.gradient_data();
    contribute(x, [=](size_t i) { return dy[i] * std::tanh(value[i]); });
  });
}

Tensor composed_log_cosh(const Tensor& x) { return log((exp(x) + exp(-x)) / 2); }

void print(const char* name, const Tensor& x) {
  std::printf("%-14s", name);
  for (const real v : x.values()) std::printf("%10.4f", std::isnan(v) ? NAN : v);  // a NaN without its sign
  std::printf("\n");
}

void own_op() {
  for (Tensor (*op)(const Tensor&) : {composed_log_cosh, log_cosh}) {
    Tensor x = Tensor::from({3}, {-0.5, 2, 1000});
    x.require_gradient();
    Tape tape;
    const Tensor y = op(x);
    tape.backward(sum(y));
    print(op == log_cosh ? "own op: y" : "composed: y", y);
    print(op == log_cosh ? "own op: dx" : "composed: dx", x.gradient());
  }
  Tensor some = Tensor::from({4}, {-2, -0.5, 0.1, 3});
  const Tensor weights = Tensor::from({4}, {1, -2, 3, 4});  // another dy for every element
  const double error = check_gradient({some}, [&] { return sum(log_cosh(some) * weights); }).worst_error;
  std::cout << "gradient check: " << (error < 1e-8 ? "right" : "wrong") << "\n";
}

int main() {
  set_threads(1);
  numbers_and_tensors();
  broadcasting();
  draw_broadcasting();
  own_op();
}
