#pragma once
// What the tests of attention layers share: leaves among parameters, and models of every placement and norm.

#include "layers/attention/transformer_block.h"
#include "tests/check.h"

namespace lamina::test {

/// Those of placement_table.
inline const std::vector<Placement> placements = [] {
  std::vector<Placement> all;
  for (const PlacementEntry& entry : placement_table) all.push_back(entry.placement);
  return all;
}();

/// All parameters, after each has been drawn anew: biases that are 0 and gains that are 1 hide errors.
inline std::vector<Tensor> drawn_parameters(Parameters& parameters) {
  std::vector<Tensor> all;
  std::uint64_t seed = 100;
  for (const Parameters::Entry& entry : parameters.learned()) {
    Tensor value = entry.value;
    const bool gain = contains(entry.name, ".gain");
    std::ranges::copy(sample(value.shape(), ++seed, gain ? 0.5 : -0.5, gain ? 1.5 : 0.5).values(),
                      value.data());
    all.push_back(value);
  }
  return all;
}

/// The value of `function`, followed by the gradient of each leaf.
inline std::vector<Tensor> results_of(std::vector<Tensor> leaves, const std::function<Tensor()>& function) {
  for (Tensor& leaf : leaves) leaf.clear_gradient();
  Tape tape;
  std::vector<Tensor> results{function()};
  tape.backward(weighted(results[0]));
  for (const Tensor& leaf : leaves) results.push_back(leaf.gradient());
  return results;
}

/// `step` on pieces of x [B x T x width], one after another, whose results are put together.
template <class Step>
Tensor in_pieces(const Tensor& x, std::initializer_list<size_t> lengths, const Step& step) {
  std::vector<Tensor> results;
  size_t begin = 0;
  for (const size_t length : lengths) {
    results.push_back(step(slice(x, 1, begin, begin + length)));
    begin += length;
  }
  REQUIRE(begin == x.shape()[1]);
  return concatenate(results, 1);
}

}  // namespace lamina::test
