// What a C++ programmer writes without any framework, in some 500 lines on OpenBLAS, in the table of small batches
// (tools/peers/small_case.h): every model with its gradient by hand, all memory taken once. Compiled with -ffast-math, with which
// g++ vectorizes exp and tanh. A Transformer is more than one writes by hand.

#include <memory>

#include "tools/peers/by_hand/digits.h"
#include "tools/peers/by_hand/recurrent.h"
#include "tools/peers/small_case.h"

namespace {

using lamina::bench::Small;
using lamina::bench::SmallCase;
using namespace by_hand;

template <class Model>
Small digits(const SmallCase& chosen) {
  const auto model = std::make_shared<Model>(chosen.batch);
  const Numbers images = normal(chosen.batch * 784, 1, 1);
  std::vector<int> labels(chosen.batch);
  for (size_t image = 0; image < chosen.batch; ++image) labels[image] = static_cast<int>(image % 10);
  const size_t parameters = model->parameters.value.size();
  if (!chosen.trains) return {[=] { model->forward(images); }, parameters};
  return {[=] {
            model->forward(images);
            cross_entropy(model->logits.y, labels, model->logits.dy);
            model->backward(images);
            model->parameters.adam_step(lamina::bench::small_learning_rate);
          },
          parameters};
}

template <class Layer>
Small recurrent(const SmallCase& chosen) {
  const Sizes sizes{100, chosen.batch, 128, 256};
  const auto layer = std::make_shared<Layer>(sizes);
  const Numbers x = normal(sizes.steps * sizes.batch * sizes.input, 1, 1);
  const size_t parameters = layer->parameters.value.size();
  if (!chosen.trains) return {[=] { layer->forward(x.data()); }, parameters};
  return {[=] {
            layer->forward(x.data());
            layer->backward(x.data());
            layer->parameters.adam_step(lamina::bench::small_learning_rate);
          },
          parameters};
}

Small make(const SmallCase& chosen) {
  if (chosen.model == "mlp") return digits<Mlp>(chosen);
  if (chosen.model == "convnet") return digits<Convnet>(chosen);
  if (chosen.model == "lstm") return recurrent<Lstm>(chosen);
  if (chosen.model == "gru") return recurrent<Gru>(chosen);
  throw std::invalid_argument("nobody wrote a " + chosen.model + " by hand");
}

}  // namespace

int main(int argc, char** argv) { return lamina::bench::run_small(argc, argv, make); }
