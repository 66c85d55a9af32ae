#include "core/debug/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tape.h"

namespace lamina {

namespace {

/// Gives an element its value back, also when the loss throws.
struct Restored {
  real& element;
  real value = element;
  ~Restored() { element = value; }
};

double difference(Tensor& input, size_t i, const std::function<Tensor()>& loss, double h) {
  const Tape::Pause pause;  // a tape that is open around the check records none of it
  const Restored kept{input.data()[i]};
  const auto at = [&](double offset) {
    kept.element = static_cast<real>(kept.value + offset);
    return static_cast<double>(loss().item());
  };
  const double near = at(h) - at(-h), far = at(2 * h) - at(-2 * h);
  return (8 * near - far) / (12 * h);
}

double largest_magnitude(const Tensor& x) {
  double largest = 0;
  for (const real v : x.values()) largest = std::max(largest, std::fabs(static_cast<double>(v)));
  return largest;
}

}  // namespace

GradientCheck check_gradient(std::vector<Tensor> inputs, const std::function<Tensor()>& loss, double h) {
  for (Tensor& input : inputs) {
    input.require_gradient();
    input.clear_gradient();
  }
  double noise = 0, size_of_loss = 0;
  size_t elements = 0;
  {
    Tape tape;
    const Tensor value = loss();
    size_of_loss = std::fabs(static_cast<double>(value.item()));
    noise = 4 * std::numeric_limits<real>::epsilon() * size_of_loss / h;
    tape.backward(value);
  }
  GradientCheck result;
  double largest_of_all = 0;
  for (const Tensor& input : inputs)
    largest_of_all = std::max(largest_of_all, largest_magnitude(input.gradient()));
  for (size_t which = 0; which < inputs.size(); ++which) {
    Tensor& input = inputs[which];
    const Tensor analytic = input.gradient();
    elements += input.size();
    const double floor = std::max({largest_magnitude(analytic) / 1000, largest_of_all / 1e5, 1e-10});
    for (size_t i = 0; i < input.size(); ++i) {
      const double a = analytic[i], n = difference(input, i, loss, h);
      const double scale = std::max({std::fabs(a), std::fabs(n), floor});
      if (noise > scale / 10 && a != n) continue;
      ++result.compared;
      result.noise = std::max(result.noise, std::min(std::fabs(a - n), noise) / scale);
      const double error = std::max(std::fabs(a - n) - noise, 0.0) / scale;
      if (!(error <= result.worst_error)) {
        result.worst_error = std::isfinite(error) ? error : HUGE_VAL;
        result.where =
            text("input ", which, " ", input.shape(), " element ", i, ": tape ", a, ", difference ", n);
      }
    }
  }
  if (result.compared == 0 && elements > 0)
    fail("check_gradient: the rounding of a loss of ", size_of_loss, " makes differences uncertain by ",
         noise, ", which hides every derivative; make the loss smaller or h larger, or compute in double");
  return result;
}

}  // namespace lamina
