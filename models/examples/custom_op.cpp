// A custom op, used in a layer and checked against the same function from existing ops. core/OWN_OP.md
// explains its parts.
#include <lamina.h>
#include <lamina/extend.h>

#include <algorithm>
#include <iostream>
using namespace lamina;

/// SwiGLU (Shazeer 2020) of x = (a, b) [... x 2H]: y = a b s(b) [... x H], s(b) = 1 / (1 + e^-b)
///
/// da = dy b s(b);  db = dy a (s(b) + b s(b) (1 - s(b)))
Tensor swiglu(const Tensor& x) {
  require_values("swiglu", x);
  const size_t rows = x.rows(), width = x.columns() / 2, grain = grain_of(8 * width);
  if (x.columns() != 2 * width) fail("swiglu: ", x.shape(), " has no two halves; give an even last size");
  Tensor y(x.shape().with(-1, width));
  parallel_for(rows, grain, [=, in = x.data(), out = y.data()](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      const real *const a = in + 2 * r * width, *const b = a + width;
      real* const to = out + r * width;
#pragma omp simd
      for (size_t c = 0; c < width; ++c) to[c] = a[c] * b[c] * scalar::sigmoid(b[c]);
    }
  });
  return record("swiglu", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    parallel_for(rows, grain, [=, in = x.data(), dout = y.gradient_data()](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) {
        const real *const a = in + 2 * r * width, *const b = a + width, *const dy = dout + r * width;
        real *const da = sink.values + 2 * r * width, *const db = da + width;
#pragma omp simd
        for (size_t c = 0; c < width; ++c) {
          const real s = scalar::sigmoid(b[c]);
          da[c] = (sink.add ? da[c] : 0) + dy[c] * b[c] * s;
          db[c] = (sink.add ? db[c] : 0) + dy[c] * a[c] * (s + b[c] * s * (1 - s));
        }
      }
    });
  });
}

Tensor composed_swiglu(const Tensor& x) {
  const size_t width = x.columns() / 2;
  const Tensor b = slice(x, -1, width, 2 * width);
  return slice(x, -1, 0, width) * (b * sigmoid(b));
}

int main() {
  Parameters parameters(/*seed=*/1);
  const Linear gates(parameters, "gates", {.input = 4, .output = 2 * 32});
  const Linear output(parameters, "output", {.input = 32, .output = 1});
  Tensor x({64, 4});
  Random(2).fill_normal(x.data(), x.size(), 0, 1);
  const Tensor y = sum_columns(square(x));
  const auto gradient_with = [&](auto op) {
    parameters.clear_gradients();
    Tape tape;
    tape.backward(mean(square(output(op(gates(x))) - y)));
    return gates.weight.gradient();
  };
  const Tensor apart = abs(gradient_with(swiglu) - gradient_with(composed_swiglu));
  std::cout << "largest difference of the gradients: " << *std::ranges::max_element(apart.values()) << "\n";

  Adam adam(parameters, {.learning_rate = real(0.01)});
  for (int step = 1; step <= 300; ++step) {
    Tape tape;
    const Tensor loss = mean(square(output(swiglu(gates(x))) - y));
    tape.backward(loss);
    adam.step();
    if (step % 100 == 0) std::cout << "step " << step << ": squared error " << loss.item() << "\n";
  }
}
