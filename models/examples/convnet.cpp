// A small ConvNet with group norm that reads digits.
//
//   convnet [FOLDER]    the folder with the four files of MNIST; without it, built-in digits
#include <lamina.h>
#include <lamina/train.h>

#include <iostream>
using namespace lamina;

int main(int count, char** arguments) {
  const MnistData data = count > 1 ? load_mnist(arguments[1]) : synthetic_mnist(/*seed=*/1, 2560, 1, 500);
  const auto images = [](const DigitSplit& split) {
    return Tensor::from({split.count(), 28, 28, 1}, split.pixels);
  };

  Parameters parameters(/*seed=*/1);
  const Conv2d first(parameters, "conv1", {.input = 1, .output = 8, .kernel = 5, .padding = 2});
  const GroupNorm first_norm(parameters, "norm1", {8}, {.groups = 2});
  const Conv2d second(parameters, "conv2", {.input = 8, .output = 16, .kernel = 5, .padding = 2});
  const GroupNorm second_norm(parameters, "norm2", {16}, {.groups = 4});
  const Linear output(parameters, "output", {.input = 7 * 7 * 16, .output = 10});
  const auto model = [&](const Tensor& x) {
    const ReluPool then = {.relu = true, .window = 2};  // in the same pass as the normalization
    const Tensor maps = second_norm(second(first_norm(first(x), then)), then);
    return output(maps.reshape({x.rows() / (28 * 28), 7 * 7 * 16}));
  };
  Adam adam(parameters, {.learning_rate = real(2e-3)});

  const Tensor train = images(data.train);
  Random random(2);
  for (int epoch = 1; epoch <= 2; ++epoch) {
    const std::vector<int> order = random.permutation(data.train.count());
    for (size_t begin = 0; begin + 64 <= order.size(); begin += 64) {
      const std::span<const int> batch(order.data() + begin, 64);
      std::vector<int> labels;
      for (const int i : batch) labels.push_back(data.train.labels[static_cast<size_t>(i)]);
      Tape tape;
      const Tensor pixels = gather(train.reshape({data.train.count(), 28 * 28}), batch);
      tape.backward(cross_entropy(model(pixels.reshape({64, 28, 28, 1})), labels));
      adam.step();
    }
    const std::vector<int> answers = argmax(model(images(data.test)), -1);
    size_t wrong = 0;
    for (size_t i = 0; i < answers.size(); ++i) wrong += answers[i] != data.test.labels[i];
    std::cout << "epoch " << epoch << ": " << 100.0 * double(wrong) / double(answers.size()) << "% wrong\n";
  }
}
