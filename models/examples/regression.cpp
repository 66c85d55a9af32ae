// Regression: Friedman's first problem (1991), with metrics, early stopping, and the best model saved.
//
//   y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise,  x uniform in [0, 1]^10, noise of deviation 1
#include <lamina.h>
#include <lamina/train.h>

#include <cmath>
#include <iostream>
using namespace lamina;

struct Cases {
  Tensor x, y;
};

Cases draw_cases(size_t count, std::uint64_t seed) {
  Cases cases{Tensor({count, 10}), Tensor({count, 1})};
  Random random(seed);
  random.fill_uniform(cases.x.data(), cases.x.size(), 0, 1);
  random.fill_normal(cases.y.data(), count, 0, 1);
  for (size_t i = 0; i < count; ++i) {
    const Tensor x = cases.x.step(i);
    const real third = x[2] - real(0.5);
    cases.y[i] += 10 * std::sin(real(M_PI) * x[0] * x[1]) + 20 * third * third + 10 * x[3] + 5 * x[4];
  }
  return cases;
}

int main() {
  const Cases train = draw_cases(2000, 1), valid = draw_cases(500, 2), test = draw_cases(500, 4);
  Parameters parameters(/*seed=*/1);
  const Linear hidden(parameters, "hidden", {.input = 10, .output = 64});
  const LayerNorm norm(parameters, "norm", {.features = 64});
  const Linear output(parameters, "output", {.input = 64, .output = 1});
  const auto model = [&](const Tensor& x) { return output(relu(norm(hidden(x)))); };
  const auto error_on = [&](const Cases& cases) {
    return std::sqrt(mean_squared_error(model(cases.x), cases.y).item());
  };
  Adam adam(parameters, {.learning_rate = real(3e-3)});

  MetricsFile metrics("regression.csv", {"epoch", "train_rmse", "valid_rmse"});
  Random random(3);
  double best = INFINITY;
  for (int epoch = 1, waited = 0; epoch <= 100 && waited < 10; ++epoch) {
    double squares = 0;
    const std::vector<int> order = random.permutation(2000);
    for (size_t begin = 0; begin < 2000; begin += 50) {
      const std::span<const int> batch(order.data() + begin, 50);
      Tape tape;
      const Tensor loss = mean_squared_error(model(gather(train.x, batch)), gather(train.y, batch));
      tape.backward(loss);
      adam.step();
      squares += loss.item() / 40;
    }
    const double error = error_on(valid);
    metrics.append({{"epoch", epoch}, {"train_rmse", std::sqrt(squares)}, {"valid_rmse", error}});
    if (error < best) save(parameters, "regression.safetensors", {{"epoch", std::to_string(epoch)}});
    waited = error < best ? 0 : waited + 1;
    best = error < best ? error : best;
  }
  const Loaded kept = load(parameters, "regression.safetensors");
  // The validation error is too good a number for the model that it has chosen: that is what test cases are for.
  std::cout << "epoch " << kept.metadata.at("epoch") << ": validation error " << best << ", test error "
            << error_on(test) << " (noise: 1)\n";
}
