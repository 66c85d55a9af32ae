// Judges the exercises of lesson 7.
#include "../judge.h"

#include "exercises.h"
using namespace lamina;
using course::compare;
using course::numbers;
using course::Numbers;

namespace {

Tensor sample(const Shape& shape, std::uint64_t seed) { return normal(1)(shape, Random(seed)); }

/// Exceptions of Tensor::at() mean that a loop left an axis.
template <class Check>
std::string within_axes(const Check& check) {
  try {
    return check();
  } catch (const Error& error) {
    return text("your code goes beyond an axis: ", error.what(),
                "; tap (u, v) of the window at (i, j) is on pixel (i + u - padding, j + v - padding)");
  }
}

/// All patches, where tap (u, v) of the window at (i, j) is pixel (row(i, u), column(j, v)).
Tensor gathered(const Tensor& x, size_t kernel, size_t padding, size_t up) {
  const size_t images = x.shape()[0], height = x.shape()[1], width = x.shape()[2], channels = x.shape()[3];
  const size_t rows = height + 2 * padding - kernel + 1, columns = width + 2 * padding - kernel + 1;
  Tensor p = Tensor::zeros({images, rows, columns, kernel * kernel * channels});
  for (size_t n = 0; n < images; ++n)
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        for (size_t t = 0; t < kernel * kernel * channels; ++t) {
          const size_t row = i + t / channels / kernel - up, column = j + t / channels % kernel - up;
          if (row < height && column < width) p.at(n, i, j, t) = x.at(n, row, column, t % channels);
        }
  return p;
}

std::string judge_patches() {
  const Tensor x = sample({2, 5, 4, 3}, 1), right = gathered(x, 3, 1, 1);
  const Tensor taps = right.reshape({right.rows(), 3, 3, 3});  // patch, u, v, channel
  const std::string wrong = compare(
      "matrix of patches", numbers(patches(x, 3, 1)), numbers(right),
      {{numbers(gathered(x, 3, 1, 0)),
        "your patches begin at pixel (i, j): they must begin `padding` pixels further up and to the left"},
       {numbers(permute(taps, {0, 2, 1, 3})), "your patches are transposed: u goes down and v to the right"},
       {numbers(permute(taps, {0, 3, 1, 2})),
        "your taps stand channel by channel: the channels of a pixel must stand side by side"}});
  if (!wrong.empty()) return wrong;
  const bool both = course::equal(numbers(patches(x, 4, 0)), numbers(gathered(x, 4, 0, 0)));
  return both
             ? ""
             : "your patches are right for windows of 3 with padding 1, not for windows of 4 without padding";
}

/// What the loops of the exercise leave in `gradients` when each contribution replaces those before it.
ConvolutionGradients last_contributions(const Tensor& x, const Tensor& w, const Tensor& dy, size_t padding) {
  ConvolutionGradients d = {Tensor::zeros(x.shape()), Tensor::zeros(w.shape()), Tensor::zeros({w.columns()})};
  for (size_t r = 0; r < dy.size(); ++r) {
    const size_t outputs = dy.columns(), o = r % outputs, j = r / outputs % dy.shape()[2];
    const size_t i = r / outputs / dy.shape()[2] % dy.shape()[1], n = r / dy.step(0).size();
    d.db[o] = dy[r];
    for (size_t u = 0; u < w.shape()[0]; ++u)
      for (size_t v = 0; v < w.shape()[1]; ++v)
        for (size_t c = 0; c < w.shape()[2]; ++c) {
          const size_t row = i + u - padding, column = j + v - padding;
          if (row >= x.shape()[1] || column >= x.shape()[2]) continue;
          d.dw.at(u, v, c, o) = x.at(n, row, column, c) * dy[r];
          d.dx.at(n, row, column, c) = w.at(u, v, c, o) * dy[r];
        }
  }
  return d;
}

/// The gradients that the library computes.
ConvolutionGradients gradients_of(const Tensor& x_values, const Tensor& w_values, const Tensor& dy,
                                  size_t padding) {
  Tensor x = x_values.copy(), w = w_values.copy(), b = Tensor::zeros({w.columns()});
  Tape tape;
  tape.backward(
      conv2d(x.require_gradient(), w.require_gradient(), b.require_gradient(), {.padding = padding}), dy);
  return {x.gradient(), w.gradient(), b.gradient()};
}

std::string judge_convolution_backward() {
  const Tensor x = sample({2, 5, 4, 2}, 1), w = sample({3, 3, 2, 3}, 2), dy = sample({2, 5, 4, 3}, 3);
  const ConvolutionGradients right = gradients_of(x, w, dy, 1), last = last_contributions(x, w, dy, 1);
  const ConvolutionGradients first = gradients_of(x.slice(0, 1), w, dy.slice(0, 1), 1);
  Tensor turned(w.shape());  // each window by half a turn
  for (size_t i = 0; i < 9; ++i)
    for (size_t k = 0; k < 6; ++k) turned[6 * i + k] = w[6 * (8 - i) + k];
  const ConvolutionGradients yours = convolution_backward(x, w, dy, 1);
  std::string wrong =
      compare("d(b)", numbers(yours.db), numbers(right.db),
              {{numbers(last.db),
                "your d(b) keeps the last position alone: every position of every image adds to it"},
               {numbers(first.db), "your d(b) lacks the sum over the images"}});
  if (wrong.empty())
    wrong = compare("d(w)", numbers(yours.dw), numbers(right.dw),
                    {{numbers(last.dw), "your d(w) keeps the last position alone: every patch adds to it"},
                     {numbers(first.dw), "your d(w) lacks the sum over the images"}});
  if (wrong.empty())
    wrong =
        compare("d(x)", numbers(yours.dx), numbers(right.dx),
                {{numbers(last.dx),
                  "your d(x) keeps the last window alone: a pixel is in several, and all of them add to it"},
                 {numbers(gradients_of(x, turned, dy, 1).dx),
                  "your d(x) turns the window around: through tap (u, v) a pixel gets w[u][v], whatever the "
                  "direction"}});
  if (!wrong.empty()) return wrong;
  const Tensor large = sample({4, 4, 2, 3}, 4), dy_without = sample({2, 2, 1, 3}, 5);
  const ConvolutionGradients others = convolution_backward(x, large, dy_without, 0),
                             right_others = gradients_of(x, large, dy_without, 0);
  const bool both = course::equal(numbers(others.dx), numbers(right_others.dx)) &&
                    course::equal(numbers(others.dw), numbers(right_others.dw)) &&
                    course::equal(numbers(others.db), numbers(right_others.db));
  return both ? ""
              : "your gradients are right for windows of 3 with padding 1, not for windows of 4 without "
                "padding";
}

/// (x - mu) / sqrt(sigma^2 + 1e-5), over one axis; in the shape of `a`. Mistakes can be put into the divisor.
enum class Divisor { right, no_root, late_epsilon, no_epsilon };
Tensor normalized(const Tensor& x, int axis, const Shape& shape, Divisor divisor = Divisor::right) {
  const Tensor centred = x - mean(x, axis, {.keep = true});
  const Tensor v = variance(x, axis, {.keep = true});
  const Tensor s = divisor == Divisor::right        ? sqrt(v + real(1e-5))
                   : divisor == Divisor::no_root    ? v + real(1e-5)
                   : divisor == Divisor::no_epsilon ? sqrt(v)
                                                    : sqrt(v) + real(1e-5);
  return (centred / s).reshape(shape);
}
const std::string no_epsilon = "you divide by sigma alone: 1e-5 is missing under the root, beside sigma^2";
const std::string late_epsilon = "you add 1e-5 to sigma: it belongs under the root, to sigma^2";

std::string judge_normalize_images() {
  const Tensor a = sample({3, 4, 5, 2}, 1) * real(0.01) + 1;  // of a variance beside which 1e-5 counts
  const Shape& s = a.shape();
  const Tensor images = a.reshape({3, 40});
  return compare(
      "result", numbers(normalize_images(a)), numbers(normalized(images, 1, s)),
      {{numbers(normalized(a, 3, s)),
        "you average over the channels of one position: layer norm averages over all of an image"},
       {numbers(normalized(a.reshape({3, 20, 2}), 1, s)),
        "you average over each channel of an image alone: that is instance norm"},
       {numbers(normalized(a.reshape({120}), 0, s)),
        "you average over all images: the result for one must not depend on the others"},
       {numbers(normalized(a.reshape({60, 2}), 0, s)), "you average over the images: that is batch norm"},
       {numbers(normalized(images, 1, s, Divisor::no_root)),
        "you divide by the variance: its root is missing"},
       {numbers(normalized(images, 1, s, Divisor::no_epsilon)), no_epsilon},
       {numbers(normalized(images, 1, s, Divisor::late_epsilon)), late_epsilon}});
}

std::string judge_normalize_channels() {
  const Tensor a = sample({3, 4, 5, 2}, 1) * real(0.01) + 1;  // of a variance beside which 1e-5 counts
  const Shape& s = a.shape();
  const Tensor channels = a.reshape({60, 2});
  return compare(
      "result", numbers(normalize_channels(a)), numbers(normalized(channels, 0, s)),
      {{numbers(normalized(a, 0, s)),
        "you average over the images alone: batch norm of maps averages over their positions, too"},
       {numbers(normalized(a.reshape({3, 20, 2}), 1, s)),
        "you average over each image alone: batch norm shares mu and sigma among the images"},
       {numbers(normalized(a.reshape({120}), 0, s)),
        "you average over all channels together: each of them has its own mu and sigma"},
       {numbers(normalized(channels, 0, s, Divisor::no_root)),
        "you divide by the variance: its root is missing"},
       {numbers(normalized(channels, 0, s, Divisor::no_epsilon)), no_epsilon},
       {numbers(normalized(channels, 0, s, Divisor::late_epsilon)), late_epsilon}});
}

std::string judge_border_deviation() {
  const size_t size = 6, kernel = 5, padding = 2;
  const Numbers inside = {3, 4, 5, 5, 4, 3}, one_border = {3, 4, 5, 5, 5, 5};
  Numbers right, variances, sums, undivided, one_sided;
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < size; ++j) {
      right.push_back(std::sqrt(inside[i] * inside[j]) / kernel);
      variances.push_back(inside[i] * inside[j] / kernel / kernel);
      sums.push_back(std::sqrt((inside[i] + inside[j]) / 2 / kernel));
      undivided.push_back(std::sqrt(inside[i] * inside[j]));
      one_sided.push_back(std::sqrt(one_border[i] * one_border[j]) / kernel);
    }
  const std::string wrong = compare(
      "deviation", numbers(border_deviation(size, kernel, padding)), right,
      {{one_sided, "you count the rows beyond one border alone: windows end beyond the other one, too"},
       {variances, "your numbers are variances: a deviation is the root of one"},
       {sums, "your numbers are sums of rows and columns: a window has rows times columns taps"},
       {undivided,
        "your numbers are roots of counts of taps: divide them by that of a window inside of the image"}});
  if (!wrong.empty()) return wrong;
  const Numbers inside_of_four = {1, 2, 3, 4, 4, 3, 2, 1};  // all windows that touch the image
  Numbers right_of_four;
  for (const real rows : inside_of_four)
    for (const real columns : inside_of_four) right_of_four.push_back(std::sqrt(rows * columns) / 4);
  return course::equal(numbers(border_deviation(5, 4, 3)), right_of_four)
             ? ""
             : "your deviation is right for a window of 5 with padding 2, not for one of 4 with padding 3";
}

}  // namespace

int main() {
  course::exercise("patches", [] { return within_axes(judge_patches); });
  course::exercise("convolution_backward", [] { return within_axes(judge_convolution_backward); });
  course::exercise("normalize_images", judge_normalize_images);
  course::exercise("normalize_channels", judge_normalize_channels);
  course::exercise("border_deviation", judge_border_deviation);
  return course::verdict();
}
