// dlib (Debian: libdlib-dev) in the table of small batches (tools/peers/small_case.h). It has neither recurrent layers nor
// attention. Steps are compute_parameter_gradients and update_parameters, which dlib's manual names for own loops: its
// trainer works in a thread of its own.

#include <dlib/dnn.h>

#include <memory>
#include <vector>

#include "tools/peers/small_case.h"

namespace {

using lamina::bench::Small;
using lamina::bench::SmallCase;
using Image = dlib::matrix<float>;

template <class Below>
using hidden = dlib::relu<dlib::fc<1000, Below>>;
using Mlp = dlib::loss_multiclass_log<dlib::fc<10, hidden<hidden<dlib::input<Image>>>>>;

template <long channels, class Below>
using convolution = dlib::max_pool<2, 2, 2, 2, dlib::relu<dlib::con<channels, 5, 5, 1, 1, Below>>>;
using Convnet = dlib::loss_multiclass_log<
    dlib::fc<10, dlib::relu<dlib::fc<512, convolution<64, convolution<32, dlib::input<Image>>>>>>>;

template <class Net>
Small digits(const SmallCase& chosen) {
  struct State {
    Net net;
    dlib::resizable_tensor images;
    std::vector<unsigned long> labels;
    std::vector<dlib::adam> adam;
  };
  const auto state = std::make_shared<State>();
  dlib::rand random;
  std::vector<Image> images(chosen.batch, Image(28, 28));
  for (Image& image : images) {
    for (float& pixel : image) pixel = static_cast<float>(random.get_random_gaussian());
    state->labels.push_back(random.get_random_32bit_number() % 10);
  }
  state->net.to_tensor(images.begin(), images.end(), state->images);
  state->net.forward(state->images);  // the first one makes the parameters
  state->adam.assign(Net::num_computational_layers, dlib::adam(0, 0.9F, 0.999F));
  const auto parameters = static_cast<size_t>(dlib::count_parameters(state->net));
  if (!chosen.trains) return {[=] { state->net.subnet().forward(state->images); }, parameters};
  return {[=] {
            state->net.compute_parameter_gradients(state->images, state->labels.begin());
            state->net.update_parameters(state->adam, lamina::bench::small_learning_rate);
          },
          parameters};
}

Small make(const SmallCase& chosen) {
  if (chosen.model == "mlp") return digits<Mlp>(chosen);
  if (chosen.model == "convnet") return digits<Convnet>(chosen);
  throw std::invalid_argument("dlib has no " + chosen.model);
}

}  // namespace

int main(int argc, char** argv) { return lamina::bench::run_small(argc, argv, make); }
