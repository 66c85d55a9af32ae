// Lesson 7: a convolution is one small linear layer that every patch of an image shares. What sharing does to the
// gradient, what batch norm and layer norm average on maps, and what happens at the image's border.
#include <lamina.h>
#include <lamina/train.h>

#include <cmath>
#include <cstdio>
#include <fstream>
using namespace lamina;

constexpr size_t side = 28, kernel = 5, padding = 2, maps = 64;

Tensor convolution(const Tensor& x, const Tensor& w) { return conv2d(x, w, {}, {.padding = padding}); }

/// The same in loops for one image of one channel, z being the image in a frame of zeros:
///   y_ijo = sum over u, v of z_(i + u)(j + v) w_uvo
Tensor convolution_by_loops(const Tensor& x, const Tensor& w) {
  const Tensor z = pad(x, {{}, {padding, padding}, {padding, padding}, {}});
  Tensor y = Tensor::zeros({1, side, side, w.columns()});
  for (size_t i = 0; i < side; ++i)
    for (size_t j = 0; j < side; ++j)
      for (size_t u = 0; u < kernel; ++u)
        for (size_t v = 0; v < kernel; ++v)
          for (size_t o = 0; o < w.columns(); ++o)
            y.at(0, i, j, o) += z.at(0, i + u, j + v, 0) * w.at(u, v, 0, o);
  return y;
}

real largest(const Tensor& x) { return max(abs(x).reshape({x.size()}), 0).item(); }

/// Tables of numbers [H x W] side by side, a number a square: red above 0, blue below, white at 0.
void draw(const std::string& file, const std::vector<Tensor>& tables) {
  std::ofstream svg(file);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' height='140' width='" << 150 * tables.size() - 10
      << "' style='background:white'>\n";
  for (size_t k = 0; k < tables.size(); ++k)
    for (size_t i = 0; i < tables[k].size(); ++i) {
      const real share = tables[k][i] / largest(tables[k]);
      const int pale = 255 - 17 * int(15 * std::fabs(share) + real(0.5));
      if (pale == 255) continue;
      svg << "<path d='M" << 150 * k + 5 * (i % side) << ' ' << 5 * (i / side) << "h5v5h-5' fill='rgb("
          << (share > 0 ? 255 : pale) << ',' << pale << ',' << (share > 0 ? pale : 255) << ")'/>\n";
    }
  svg << "</svg>\n";
}

NormalizationOptions on_maps(Norm norm, size_t channels, size_t size) {
  return {.norm = norm, .features = channels, .height = size, .width = size};
}

/// Maps [N x 28 x 28 x C] as training would normalize them, with gain 1 and bias 0.
Tensor normalized(Norm norm, const Tensor& a) {
  Parameters parameters(/*seed=*/1);
  return Normalization(parameters, "norm", on_maps(norm, a.columns(), side))(a, Mode::train);
}

/// Two convolutions, each normalized, cut off at 0, and the largest of each 2 x 2 positions kept; ten logits.
struct Model {
  Model(Parameters& parameters, Norm norm)
      : conv1(parameters, "conv1", {.input = 1, .output = 8, .kernel = kernel, .padding = padding}),
        conv2(parameters, "conv2", {.input = 8, .output = 16, .kernel = kernel, .padding = padding}),
        norm1(parameters, "norm1", on_maps(norm, 8, side)),
        norm2(parameters, "norm2", on_maps(norm, 16, side / 2)),
        output(parameters, "output", {.input = side / 4 * (side / 4) * 16, .output = 10}) {}
  Tensor operator()(const Tensor& x, Mode mode) {
    const ReluPool then = {.relu = true, .window = 2};
    const Tensor h = norm2(conv2(norm1(conv1(x), mode, then)), mode, then);
    return output(h.reshape({x.shape()[0], output.weight.rows()}));
  }
  Conv2d conv1, conv2;
  Normalization norm1, norm2;
  Linear output;
};

Tensor images(const DigitSplit& split) { return Tensor::from({split.count(), side, side, 1}, split.pixels); }

/// The loss on 1000 new digits after one pass through 3000, `batch` at a time.
double train(Norm norm, size_t batch, std::uint64_t seed) {
  const MnistData data = synthetic_mnist(seed, 3000, 1, 1000);
  Parameters parameters(seed);
  Model model(parameters, norm);
  Adam adam(parameters, {.learning_rate = real(2e-3)});
  const Tensor digits = images(data.train);
  for (size_t begin = 0; begin + batch <= data.train.count(); begin += batch) {
    Tape tape;
    const Tensor logits = model(digits.slice(begin, begin + batch), Mode::train);
    tape.backward(cross_entropy(logits, std::span(data.train.labels).subspan(begin, batch)));
    adam.step();
  }
  return double(cross_entropy(model(images(data.test), Mode::evaluate), data.test.labels).item());
}

void one_layer_for_all_patches(const Tensor& x, const Tensor& w) {
  const Tensor y = convolution(x, w);
  std::printf("weights of a dense layer %zu, of the convolution %zu\n", x.size() * y.size(), w.size());
  std::printf("loops and library: largest difference %.4f\n", largest(convolution_by_loops(x, w) - y));
  Tensor slopes({kernel, kernel, 1, 2});  // answer where there is more ink on the right, or below
  for (size_t i = 0; i < kernel * kernel; ++i)
    slopes[2 * i] = real(i % kernel) - 2, slopes[2 * i + 1] = real(i / kernel) - 2;
  const Tensor answers = channels_first(convolution(x, slopes)).reshape({2, side, side});
  draw("slopes.svg", {x.reshape({side, side}), answers.step(0), answers.step(1)});
}

void gradient_of_shared_weights(const Tensor& x, Tensor w) {
  const Tensor dy = normal(1)({1, side, side, maps}, Random(/*seed=*/3));
  Tape tape;
  tape.backward(convolution(x, w.require_gradient()), dy);
  const Tensor dw = convolution(x, dy.reshape({side, side, 1, maps})).reshape(w.shape());
  std::printf("d(w) and x convolved with d(y): largest difference %.4f\n", largest(dw - w.gradient()));
}

void who_shares_a_mean(const Tensor& digits, const Tensor& w) {
  Tensor others = digits.copy();
  for (real& pixel : others.slice(1, 4).values()) pixel *= 3;  // the first image stays as it is
  for (const Norm norm : {Norm::batch, Norm::layer}) {
    const Tensor change = normalized(norm, convolution(others, w)) - normalized(norm, convolution(digits, w));
    std::printf("%s: the maps of image 1 change by %.1f\n", entry_of(norm).title,
                largest(change.slice(0, 1)));
  }
}

void the_border(const Tensor& w) {
  const Tensor noise = normal(1)({500, side, side, 1}, Random(/*seed=*/4));
  for (const Norm norm : {Norm::none, Norm::batch, Norm::layer}) {
    const Tensor a = normalized(norm, convolution(noise, w));
    Tensor s = sqrt(mean(mean(square(a), -1), 0));  // the deviation at each position: [28 x 28]
    s = s / s.at(14, 14);
    if (norm == Norm::none) draw("border.svg", {1 - s});
    std::printf("%s: corner %.2f, edge %.2f, centre 1\n", entry_of(norm).title, s.at(0, 0), s.at(0, 14));
  }
}

int main() {
  set_threads(1);
  const Tensor w = normal(real(0.2))({kernel, kernel, 1, maps}, Random(/*seed=*/2));
  const Tensor digits = images(synthetic_mnist(/*seed=*/1, 4, 1, 1).train);
  one_layer_for_all_patches(digits.slice(0, 1), w);
  gradient_of_shared_weights(digits.slice(0, 1), w);
  who_shares_a_mean(digits, w);
  the_border(w);
  for (const size_t batch : {size_t{50}, size_t{5}})
    for (const Norm norm : {Norm::none, Norm::batch, Norm::layer}) {
      Tensor losses({5});
      for (size_t i = 0; i < losses.size(); ++i) losses[i] = real(train(norm, batch, /*seed=*/i + 1));
      std::printf("%s, batch size %zu: test loss %.2f, from %.2f to %.2f\n", entry_of(norm).title, batch,
                  mean(losses).item(), min(losses, 0).item(), max(losses, 0).item());
    }
}
