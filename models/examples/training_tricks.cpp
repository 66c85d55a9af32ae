// The techniques that large models are trained with, on built-in digits: AdamW with warm-up and cosine decay,
// a smaller rate for a pretrained part, which is frozen at first, clipping, dropout, label smoothing,
// averaged weights.
#include <lamina.h>
#include <lamina/train.h>

#include <iostream>
using namespace lamina;

struct Model {
  explicit Model(Parameters& parameters)
      : hidden(parameters, "encoder.hidden", {.input = 784, .output = 64}),
        norm(parameters, "encoder.norm", {.features = 64}),
        output(parameters, "output", {.input = 64, .output = 10}) {}
  Tensor operator()(const Tensor& pixels, Mode mode, Random random = Random(0)) const {
    return output(dropout(relu(norm(hidden(pixels))), mode, random));
  }
  Linear hidden;
  LayerNorm norm;
  Linear output;
  Dropout dropout{real(0.1)};
};

double error_of(const Model& model, const DigitSplit& split) {
  const Tensor pixels = Tensor::from({split.count(), 784}, split.pixels);
  const std::vector<int> answers = argmax(model(pixels, Mode::evaluate), -1);
  size_t wrong = 0;
  for (size_t i = 0; i < answers.size(); ++i) wrong += answers[i] != split.labels[i];
  return double(wrong) / double(answers.size());
}

int main() {
  const MnistData data = synthetic_mnist(/*seed=*/1, 2048, 1, 500);
  Parameters parameters(/*seed=*/1);
  const Model model(parameters);
  const std::uint64_t steps = 256;
  const CosineSchedule rate{.initial = real(3e-3), .warmup = 20, .steps = steps};
  MovingAverage average(parameters, {.decay = real(0.98)});
  AdamW adam(parameters, {.weight_decay = real(0.05),
                          .groups = {{.names = {"encoder"}, .learning_rate_factor = real(0.5)}}});
  parameters.freeze("encoder");
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step == 32) parameters.thaw("encoder");
    const size_t first = step % 32 * 64;
    const Tensor pixels =
        Tensor::from({64, 784}, std::span(data.train.pixels).subspan(784 * first, 784 * 64));
    const std::span<const int> labels = std::span(data.train.labels).subspan(first, 64);
    Tape tape;
    const Tensor logits = model(pixels, Mode::train, Random(2).split(step));
    tape.backward(cross_entropy(logits, labels, {.label_smoothing = real(0.1)}));
    clip_gradient_norm(parameters, 1);
    adam.options.learning_rate = rate.at(step);
    adam.step();
    average.update();
  }
  std::cout << "test error: " << error_of(model, data.test) << "\n";
  const auto applied = average.apply();  // until the end of this scope
  std::cout << "with averaged weights: " << error_of(model, data.test) << "\n";
}
