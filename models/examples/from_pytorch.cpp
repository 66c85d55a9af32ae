// Weights from PyTorch: the state_dict of nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.LayerNorm(3),
// nn.Linear(3, 1)), as safetensors.torch.save_file(model.state_dict(), "model.safetensors") writes it.
// core/PYTORCH.md has the other layers and the other direction.
//
//   from_pytorch FILE
#include <lamina.h>

#include <iostream>
using namespace lamina;

int main(int count, char** arguments) {
  if (count != 2) return std::cerr << "usage: from_pytorch FILE\n", 2;
  Parameters parameters(/*seed=*/1);
  const Linear hidden(parameters, "hidden", {.input = 2, .output = 3});
  const LayerNorm norm(parameters, "norm", {.features = 3});
  const Linear output(parameters, "output", {.input = 3, .output = 1});
  const auto model = [&](const Tensor& x) { return output(norm(tanh(hidden(x)))); };
  try {
    // A Linear of PyTorch keeps its matrix [output x input].
    Checkpoint weights = load_checkpoint(arguments[1]);
    for (auto& [name, value] : weights.tensors)
      if (value.shape().rank() == 2) value = transpose(value);
    save_checkpoint("converted.safetensors", weights);
    load(parameters, "converted.safetensors",
         {.rename = {{"0", "hidden"}, {"2", "norm"}, {"2.weight", "norm.gain"}, {"3", "output"}}});
  } catch (const Error& error) {
    return std::cerr << error.what() << "\n", 1;
  }
  for (const auto& [name, value] : parameters.learned()) std::cout << name << " " << value.shape() << "\n";
  std::cout << "f(1, 2) = " << model(Tensor::from({1, 2}, {1, 2})).item() << "\n";
}
