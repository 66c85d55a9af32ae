// Lamina's side of the table of small batches (small_case.h), on one thread.
//
//   echo 0.1 facts | build/bench_small --case lstm_b4

#include <memory>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "core/tape.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/recurrent.h"
#include "models/convnet/model.h"
#include "models/mnist/model.h"
#include "models/transformer/model.h"
#include "optim/adam.h"
#include "tools/peers/small_case.h"

namespace {

using namespace lamina;
using bench::Small;
using bench::SmallCase;

Tensor normal(Shape shape) {
  Tensor values(shape);
  Random(2).fill_normal(values.data(), values.size(), 0, 1);
  return values;
}

std::vector<int> whole_numbers(size_t count, std::uint32_t below, std::uint64_t seed) {
  std::vector<int> numbers(count);
  Random random(seed);
  for (int& number : numbers) number = static_cast<int>(random.below(below));
  return numbers;
}

/// A training step with this loss.
template <class Loss>
Small trained(const std::shared_ptr<Parameters>& parameters, const Loss& loss) {
  const auto adam =
      std::make_shared<Adam>(*parameters, AdamOptions{.learning_rate = real(bench::small_learning_rate)});
  return {[=, kept = parameters] {
            Tape tape;
            tape.backward(loss());
            adam->step();
          },
          parameters->count()};
}

/// A classifier of digits, Model(parameters, Options{}).
template <class Model, class Options>
Small classifier(const SmallCase& chosen) {
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = std::make_shared<Model>(*parameters, Options{});
  const Tensor images = normal({chosen.batch, 784});
  const std::vector<int> labels = whole_numbers(chosen.batch, 10, 3);
  if (chosen.trains)
    return trained(parameters, [=] { return cross_entropy((*model)(images, Mode::train), labels); });
  return {[=] { (*model)(images, Mode::evaluate); }, parameters->count()};
}

template <class Layer>
Small recurrent(const SmallCase& chosen) {
  const auto parameters = std::make_shared<Parameters>(1);
  const auto layer =
      std::make_shared<Layer>(*parameters, "layer", RecurrentOptions{.input = 128, .hidden = 256});
  const Tensor x = normal({100, chosen.batch, 128});
  if (chosen.trains) return trained(parameters, [=] { return mean_square((*layer)(x).hidden); });
  return {[=] { (*layer)(x, {.mode = Mode::evaluate}); }, parameters->count()};
}

Small language_model(const SmallCase& chosen) {
  constexpr size_t characters = 80, length = 64;
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = std::make_shared<transformer::Model>(
      *parameters, transformer::ModelOptions{
                       .vocabulary = characters, .width = 64, .layers = 2, .heads = 4, .length = length});
  const std::vector<int> text = whole_numbers(chosen.batch * length, characters, 3);
  const std::vector<int> next = whole_numbers(chosen.batch * length, characters, 4);
  if (chosen.trains)
    return trained(parameters, [=] { return model->loss(text, next, chosen.batch, Mode::train, Random(5)); });
  return {[=] { (*model)(text, 1); }, parameters->count()};
}

Small make(const SmallCase& chosen) {
  set_threads(1);
  if (chosen.model == "mlp") return classifier<mnist::Model, mnist::ModelOptions>(chosen);
  if (chosen.model == "convnet") return classifier<convnet::Model, convnet::ModelOptions>(chosen);
  if (chosen.model == "lstm") return recurrent<Lstm>(chosen);
  if (chosen.model == "gru") return recurrent<Gru>(chosen);
  if (chosen.model == "transformer") return language_model(chosen);
  fail<UsageError>("no model '", chosen.model, "'; there are mlp, convnet, lstm, gru and transformer");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_small(argc, argv, make); }
