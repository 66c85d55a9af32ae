#pragma once
// Comparison of a fused function with its composed twin, or of one and two threads: values and all gradients.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/parameters.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

namespace lamina::test {

using Layer = std::function<Tensor(const std::vector<Tensor>&)>;

/// The value of `layer` on fresh copies of `inputs`, followed by the gradient of each.
inline std::vector<Tensor> value_and_gradients(const Layer& layer, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.copy().require_gradient());
  Tape tape;
  std::vector<Tensor> results{layer(leaves)};
  tape.backward(weighted(results[0]));
  for (const Tensor& leaf : leaves) results.push_back(leaf.gradient());
  return results;
}

/// Both agree to `tolerance`, relative to the largest element of each result.
inline void check_twins(const Layer& fused, const Layer& composed, const std::vector<Tensor>& inputs,
                        double tolerance) {
  const auto ours = value_and_gradients(fused, inputs), theirs = value_and_gradients(composed, inputs);
  for (size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);  // 0: value, then the gradients
    CAPTURE(text(inputs[0].shape()));
    CHECK(difference(ours[i], theirs[i]) <= tolerance);
  }
}

/// Where one input alone needs its gradient, it gets the one that it gets beside the others', which then get none.
inline void check_each_alone(const Layer& layer, const std::vector<Tensor>& inputs) {
  const auto all = value_and_gradients(layer, inputs);
  for (size_t wanted = 0; wanted < inputs.size(); ++wanted) {
    std::vector<Tensor> in;
    for (const Tensor& input : inputs) in.push_back(input.copy());
    in[wanted].require_gradient();
    Tape tape;
    tape.backward(weighted(layer(in)));
    for (size_t i = 0; i < in.size(); ++i) {
      CHECK((in[i].gradient_data() != nullptr) == (i == wanted));
      if (i == wanted) CHECK(identical(in[i].gradient(), all[i + 1]));
    }
  }
}

/// Every parameter is an input of an op: a write into it before the backward pass is found, and where all others are
/// frozen it gets the gradient that it gets beside theirs.
inline void check_parameters_are_inputs(Parameters& parameters, const std::function<Tensor()>& loss) {
  const auto backward = [&](const std::function<void()>& between) {
    parameters.clear_gradients();
    Tape tape;
    const Tensor value = loss();
    between();
    return error_of([&] { tape.backward(value); });
  };
  REQUIRE(backward([] {}).empty());
  std::vector<Tensor> together;
  for (const auto& entry : parameters.learned()) together.push_back(entry.value.gradient());
  for (size_t i = 0; i < together.size(); ++i) {
    const std::string name = parameters.learned()[i].name;
    Tensor value = parameters.learned()[i].value;
    CAPTURE(name);
    const real before = std::as_const(value)[0];
    CHECK(contains(backward([&] { value[0] += 1; }), "was written after it was recorded"));
    value[0] = before;
    parameters.freeze("");
    parameters.thaw(name);
    CHECK(backward([] {}).empty());
    CHECK(identical(value.gradient(), together[i]));
    parameters.thaw("");
  }
}

/// One and two threads agree to `tolerance`, and each repeats bit for bit.
inline void check_threads(const Layer& layer, const std::vector<Tensor>& inputs, double tolerance) {
  set_threads(1);
  const auto single = value_and_gradients(layer, inputs), again = value_and_gradients(layer, inputs);
  set_threads(2);
  const auto both = value_and_gradients(layer, inputs), both_again = value_and_gradients(layer, inputs);
  set_threads(0);
  for (size_t i = 0; i < single.size(); ++i) {
    CAPTURE(i);
    CHECK(identical(single[i], again[i]));
    CHECK(identical(both[i], both_again[i]));
    CHECK(difference(single[i], both[i]) <= tolerance);
  }
}

/// Twins agree to 1e-12 in double and to `ulps` ulp in float.
inline double twin_tolerance(double ulps) { return sizeof(real) == 8 ? 1e-12 : ulps * ulp; }

}  // namespace lamina::test
