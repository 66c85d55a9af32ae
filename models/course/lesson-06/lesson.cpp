// Lesson 6: layer norm's backward pass, its geometry, Table 1, batch norm's two modes, the bias in front.
#include <lamina.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
using namespace lamina;

using Function = std::function<Tensor(const Tensor&)>;
const Function norm = [](const Tensor& a) { return layer_norm_simple(a); };  // no gain, no bias
const Function detached = [](const Tensor& a) { return detach_norm(a); };    // its mu and sigma are constants
const Initializer draw = normal(1);                                          // mean 0 and deviation 1

real length(const Tensor& x) { return sqrt(sum(square(x))).item(); }

void print(const char* name, const Tensor& x) {
  std::printf("%-22s", name);
  for (const real v : x.values()) std::printf("%8.3f", std::round(1000 * v) / 1000 + 0.0);  // no -0
  std::printf("\n");
}

/// da of y = (a - mu) / sigma for one case of H units: the steps of the page, from the last to the first.
Tensor backward_by_lines(const Tensor& a, const Tensor& dy, real epsilon) {
  const real units = static_cast<real>(a.size());
  const Tensor c = a - mean(a), sigma = sqrt(mean(square(c)) + epsilon);
  const Tensor dsigma = -sum(dy * c) / square(sigma);   // of y = c / sigma, by its denominator
  const Tensor dv = dsigma / (2 * sigma);               // of sigma = sqrt(v + epsilon)
  const Tensor dc = dy / sigma + dv * (2 / units) * c;  // of y by its numerator, and of v = 1/H sum_i c_i^2
  return dc - mean(dc);                                 // of c_i = a_i - mu: every a_j is part of mu
}

/// J^T dy of a function at a: what the tape's backward pass computes.
Tensor backward_by_tape(const Function& function, const Tensor& a, const Tensor& dy) {
  Tensor input = a.copy();
  input.require_gradient();
  Tape tape;
  tape.backward(function(input), dy);
  return input.gradient();
}

void backward_pass(const Tensor& a, const Tensor& dy) {
  const Tensor y = norm(a), sigma = sqrt(mean(square(a - mean(a))) + 1e-5);
  print("a", a);
  print("y", y);
  print("dy", dy);
  print("da, line by line", backward_by_lines(a, dy, 1e-5));
  print("da, in one line", (dy - mean(dy) - y * mean(dy * y)) / sigma);
  print("da, the library's", backward_by_tape(norm, a, dy));
}

/// J is symmetric, so J v is J^T v: what the backward pass makes of v.
void geometry(const Tensor& a, const Tensor& dy) {
  const Tensor ones = Tensor::ones(a.shape()), centered = a - mean(a);
  std::printf("\nlength of y: %.3f\n", length(norm(a)));
  print("J 1", backward_by_tape(norm, a, ones));
  print("J (a - mu)", backward_by_tape(norm, a, centered));
  const Tensor directions = stack({ones, centered}, -1);
  print("da . 1, da . (a - mu)", matmul(backward_by_tape(norm, a, dy), directions));
  print("mu, sigma constant", matmul(backward_by_tape(detached, a, dy), directions));
}

/// Cases of three units, seen along the direction 1: what remains is the plane on which their sum is 0.
void draw_geometry() {
  const real u = std::sqrt(1.0 / 2), v = std::sqrt(1.0 / 6);
  const Tensor plane = Tensor::from({3, 2}, {u, v, -u, v, 0, -2 * v});  // two directions in it
  const Tensor a = 1.5 * draw({20, 3}, Random(5)), y = norm(a);
  std::ofstream out("geometry.svg");
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 480 440'>"
      << "<rect width='480' height='440' fill='white'/>\n"
      << "<text x='12' y='22' font-family='sans-serif'>grey: from a to y, red: da</text>\n"
      << "<g transform='translate(240 220) scale(50)' fill='none' stroke-width='0.04'>\n"
      << "<circle r='1.7321' stroke='#26a'/>\n";
  const auto lines = [&](const Tensor& from, const Tensor& to, const char* color) {
    const Tensor p = matmul(from, plane), q = matmul(to, plane);
    for (size_t i = 0; i < p.rows(); ++i)
      out << "<path stroke='" << color << "' d='M" << p.at(i, 0) << " " << p.at(i, 1) << "L" << q.at(i, 0)
          << " " << q.at(i, 1) << "'/>\n";
  };
  lines(a, y, "#999");
  lines(y, y + backward_by_tape(norm, a, draw({20, 3}, Random(6))), "#c33");
  out << "</g>\n</svg>\n";
}

/// Table 1: how much the output of a layer X W changes, relative to itself. Column i of W is unit i's vector.
void table(real epsilon, real delta) {
  const Tensor x = draw({10, 12}, Random(1)), w = draw({12, 16}, Random(2));
  const Tensor gamma = draw({12, 1}, Random(3)), shift = draw({12}, Random(4));
  const Tensor one = Tensor::ones({16}), zero = Tensor::zeros({16});
  Tensor first_unit = Tensor::ones({16}), first_case = Tensor::ones({10, 1});
  first_unit[0] = first_case[0] = delta;
  const auto row = [&](const char* name, const std::function<Tensor(Tensor x, Tensor w)>& layer) {
    const Tensor y = layer(x, w);
    std::printf("%-12s", name);
    for (const Tensor& changed : {layer(x, delta * w), layer(x, w + gamma), layer(x, w * first_unit),
                                  layer(delta * x, w), layer(x + shift, w), layer(x * first_case, w)})
      std::printf("%11.2f", length(changed - y) / length(y));
    std::printf("\n");
  };
  std::printf("\nepsilon %g, delta %g\n", epsilon, delta);
  std::printf("                delta W  W + gamma  delta w_1    delta X  X + shift  delta x_1\n");
  row("none", [](Tensor p, Tensor q) { return matmul(p, q); });
  row("batch norm", [&](Tensor p, Tensor q) { return batch_norm(matmul(p, q), one, zero, {epsilon}); });
  row("weight norm", [&](Tensor p, Tensor q) { return weight_norm_linear(p, q, one, zero); });
  row("layer norm", [&](Tensor p, Tensor q) { return layer_norm(matmul(p, q), one, zero, epsilon); });
}

/// A unit whose summed inputs have mean 5 and variance 4, in batches of four cases.
void two_modes() {
  Parameters parameters(/*seed=*/1);
  BatchNorm layer(parameters, "norm", {.features = 1, .momentum = 0.01});
  std::printf("\nbatches  running mean  running variance  y of a = 7 in evaluation\n");
  for (std::uint64_t batch = 0; batch <= 1000; ++batch) {
    if (batch == 0 || batch == 10 || batch == 100 || batch == 1000)
      std::printf("%7d%14.2f%18.2f%26.2f\n", int(batch), layer.running_mean[0], layer.running_variance[0],
                  layer(Tensor::full({1, 1}, 7), Mode::evaluate)[0]);
    layer(5 + 2 * draw({4, 1}, Random(100 + batch)), Mode::train);
  }
  print("y of (7 3 5 5)", layer(Tensor::from({4, 1}, {7, 3, 5, 5}), Mode::train));
  print("y of (7 9 8 8)", layer(Tensor::from({4, 1}, {7, 9, 8, 8}), Mode::train));
}

/// The gradient of b in a = x W + b in front of a norm, and what b has to do with the scale of x.
void bias_in_front() {
  const Tensor x = draw({8, 3}, Random(1)), w = draw({3, 5}, Random(2)), b = draw({5}, Random(4));
  const Tensor dy = draw({8, 5}, Random(3)), one = Tensor::ones({5}), zero = Tensor::zeros({5});
  const Function batch = [&](const Tensor& bias) { return batch_norm(linear(x, w, bias), one, zero); };
  const Function layer = [&](const Tensor& bias) { return layer_norm(linear(x, w, bias), one, zero); };
  std::printf("\n");
  print("db before batch norm", backward_by_tape(batch, b, dy));
  print("db before layer norm", backward_by_tape(layer, b, dy));
  print("its sum", sum(backward_by_tape(layer, b, dy)));
  print("LN(x W)", norm(matmul(x.slice(0, 1), w)));
  print("LN(10 x W)", norm(matmul(10 * x.slice(0, 1), w)));
  print("LN(x W + b)", norm(linear(x.slice(0, 1), w, b)));
  print("LN(10 x W + b)", norm(linear(10 * x.slice(0, 1), w, b)));
}

int main() {
  set_threads(1);
  const Tensor a = Tensor::from({5}, {1, 3, 2, 5, -1}), dy = Tensor::from({5}, {1, 0, -1, 2, 0});
  backward_pass(a, dy);
  geometry(a, dy);
  draw_geometry();
  table(/*epsilon=*/0, /*delta=*/8);
  table(/*epsilon=*/1e-5, /*delta=*/0.001);
  two_modes();
  bias_in_front();
}
