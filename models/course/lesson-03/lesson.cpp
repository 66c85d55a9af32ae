// Is a gradient right? Differences of the function itself tell: how large a step, what they cannot see, and a check.
#include <lamina.h>
#include <lamina/extend.h>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <vector>
using namespace lamina;

// --- One variable: f(x) = e^sin(x), f'(x) = cos(x) e^sin(x)

template <class T>
T f(T x) {
  return std::exp(std::sin(x));
}

/// (f(x + h) - f(x)) / h, the error is h f'' / 2
template <class T>
T one_sided(T x, T h) {
  return (f(x + h) - f(x)) / h;
}

/// (f(x + h) - f(x - h)) / 2h, the error is h^2 f''' / 6
template <class T>
T central(T x, T h) {
  return (f(x + h) - f(x - h)) / (2 * h);
}

/// (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h, the error is -h^4 f''''' / 30
template <class T>
T fourth_order(T x, T h) {
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

/// The largest error of a quotient at 1000 points between -1 and 1.
template <class T>
double largest_error(T (*quotient)(T, T), double h) {
  double largest = 0;
  for (int i = 0; i < 1000; ++i) {
    const T x = static_cast<T>(-1 + 0.002 * i);
    const double right = std::cos(double{x}) * std::exp(std::sin(double{x}));
    largest = std::max(largest, std::fabs(double{quotient(x, static_cast<T>(h))} - right));
  }
  return largest;
}

/// The errors of the quotients for h = 1e-1, 1e-2, ..., 1e-12, as a table and, both logarithmic, as a picture.
void step_sizes() {
  const char* const names[] = {"one-sided", "central", "fourth order", "central, float"};
  const char* const colors[] = {"#c33", "#27b", "#283", "#b60"};
  std::ostringstream grid, lines[4];
  std::cout << "       h  one-sided    central  fourth order  central, float\n"
            << std::scientific << std::setprecision(1);
  for (int i = 1; i <= 12; ++i) {
    const double h = std::pow(10, -i);
    const double errors[] = {largest_error(one_sided<double>, h), largest_error(central<double>, h),
                             largest_error(fourth_order<double>, h), largest_error(central<float>, h)};
    std::cout << h << std::setw(11) << errors[0] << std::setw(11) << errors[1] << std::setw(14) << errors[2];
    if (i <= 7) std::cout << std::setw(16) << errors[3];  // a float x + h is x from there on
    std::cout << "\n";
    grid << "<path d='M" << 615 - 45 * i << " 20V465M75 " << 35 * i + 30 << "H570' stroke='#ddd'/>\n<text x='"
         << 615 - 45 * i << "' y='485' text-anchor='middle'>1e-" << i << "</text>\n<text x='70' y='"
         << 35 * i + 34 << "' text-anchor='end'>1e-" << i << "</text>\n";
    for (int c = 0; c < (i <= 7 ? 4 : 3); ++c)
      lines[c] << (i == 1 ? "M" : "L") << 615 - 45 * i << " " << std::lround(30 - 35 * std::log10(errors[c]));
  }
  std::ofstream svg("steps.svg");
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='680' height='515' font-family='sans-serif' "
         "font-size='13'>\n"
      << "<rect width='680' height='515' fill='#fff'/>\n<text x='75' y='14'>largest error</text>\n"
      << "<text x='300' y='508'>step h</text>\n"
      << grid.str();
  for (int c = 0; c < 4; ++c)
    svg << "<path d='" << lines[c].str() << "' fill='none' stroke-width='2' stroke='" << colors[c]
        << "'/>\n<text x='" << 580 << "' y='" << 130 + 22 * c << "' fill='" << colors[c] << "'>" << names[c]
        << "</text>\n";
  svg << "</svg>\n";
}

void kinks() {
  std::cout << std::defaultfloat << std::setprecision(3);
  const auto relu = [](double x) { return std::max(0.0, x); };
  for (const double x : {-0.0015, -0.0005, 0.0005, 0.0015}) {
    std::cout << "max(0, x) at " << x << ":";
    for (const double h : {1e-3, 1e-4})
      std::cout << "  h = " << h << ": " << (relu(x + h) - relu(x - h)) / (2 * h);
    std::cout << "\n";
  }
}

// --- Many variables: Lamina's check, and what it cannot see

/// y = x, with a planted bug: dx = 2 dy
Tensor doubling(const Tensor& x) {
  const Tensor y = generate(x.shape(), [from = x.data()](size_t i) { return from[i]; });
  return record("doubling", y, {x},
                [x, y] { contribute(x, [dy = y.gradient_data()](size_t i) { return 2 * dy[i]; }); });
}

Tensor sample(const Shape& shape, std::uint64_t seed) {
  Tensor x(shape);
  Random(seed).fill_normal(x.data(), x.size(), 0, 1);
  return x;
}

void what_a_loss_sees() {
  const Tensor x = sample({2, 3}, 1), weights = sample({2, 3}, 2);
  const auto weighted = check_gradient({x}, [&] { return sum(softmax(doubling(x)) * weights); });
  const auto plain = check_gradient({x}, [&] { return sum(softmax(doubling(x))); });
  std::cout << "weighted sum: relative error " << weighted.worst_error << ", " << weighted.where << "\n"
            << "plain sum: relative error " << plain.worst_error << "\n";
}

/// For a random direction d in the space of all parameters p: g d, and (L(p + h d) - L(p - h d)) / 2h
void one_direction() {
  Parameters parameters(1);
  const Linear hidden(parameters, "hidden", {.input = 20, .output = 50});
  const LayerNorm norm(parameters, "norm", {.features = 50});
  const Tensor x = sample({30, 20}, 2), y = sample({30, 50}, 3);
  const auto loss = [&] { return mean(square(tanh(norm(hidden(x))) - y)); };
  {
    Tape tape;
    tape.backward(loss());
  }
  const std::span<real> p = parameters.values();
  const Tensor d = sample({p.size()}, 4);
  double along = 0;
  for (size_t i = 0; i < p.size(); ++i) along += parameters.gradients()[i] * d[i];
  const auto after_moving = [&](double distance) {
    for (size_t i = 0; i < p.size(); ++i) p[i] += static_cast<real>(distance) * d[i];
    return double{loss().item()};
  };
  const double h = 1e-5, ahead = after_moving(h), behind = after_moving(-2 * h);
  std::cout << std::setprecision(6) << parameters.count() << " parameters in one direction: gradient "
            << along << ", difference " << (ahead - behind) / (2 * h) << "\n";
}

int main() {
  set_threads(1);
  step_sizes();
  kinks();
  what_a_loss_sees();
  one_direction();
}
