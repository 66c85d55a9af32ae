// Ops by axes, by name: broadcast operands, reductions, and ops that rearrange elements; and the activations.

#include "core/ops.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

using Of = const Tensor&;
using Unary = Tensor (*)(Of);
using Binary = Tensor (*)(Of, Of);
using Number = Tensor (*)(Of, real);
using Along = Tensor (*)(Of, int);

void add_elementwise(Functions& functions) {
  const auto unary = [&](const std::string& name, Unary function) {
    functions[name] = [=](const Instruction& in) { return std::vector{function(in.input(0))}; };
  };
  unary("erf", erf);
  unary("gelu", [](Of x) { return gelu(x); });
  unary("gelu_tanh", [](Of x) { return gelu(x, {.tanh = true}); });
  unary("silu", silu);
  unary("softplus", softplus);
  const auto with_number = [&](const std::string& name, Number function) {
    functions[name] = [=](const Instruction& in) {
      return std::vector{function(in.input(0), in.number("number", 0))};
    };
  };
  with_number("number_over", [](Of x, real a) { return a / x; });
  with_number("pow", pow);
  with_number("clamp", [](Of x, real limit) { return clamp(x, -limit, limit); });
  with_number("leaky_relu", leaky_relu);
  const auto binary = [&](const std::string& name, Binary function) {
    functions[name] = [=](const Instruction& in) { return std::vector{function(in.input(0), in.input(1))}; };
  };
  binary("maximum", maximum);
  binary("minimum", minimum);
  functions["where"] = [](const Instruction& in) {
    return std::vector{where(in.input(0), in.input(1), in.input(2))};
  };
}

void add_along(Functions& functions) {
  const auto along = [&](const std::string& name, Along function) {
    functions[name] = [=](const Instruction& in) {
      return std::vector{function(in.input(0), in.integer("axis"))};
    };
  };
  along("sum_over", [](Of x, int axis) { return sum(x, axis); });
  along("mean_over", [](Of x, int axis) { return mean(x, axis); });
  along("variance_over", [](Of x, int axis) { return variance(x, axis); });
  along("max_over", [](Of x, int axis) { return max(x, axis); });
  along("min_over", [](Of x, int axis) { return min(x, axis); });
  along("softmax_over", softmax);
  along("log_softmax_over", log_softmax);
  along("log_sum_exp_over", [](Of x, int axis) { return log_sum_exp(x, axis); });
}

void add_structure(Functions& functions) {
  functions["permute"] = [](const Instruction& in) {
    return std::vector{permute(in.input(0), in.integers("axes"))};
  };
  functions["stack"] = [](const Instruction& in) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < in.inputs(); ++i) parts.push_back(in.input(i));
    return std::vector{stack(parts, in.integer("axis"))};
  };
  functions["pad"] = [](const Instruction& in) {
    std::vector<AxisPadding> padding;
    for (const auto& [low, high] : in.json().at("padding").get<std::vector<std::pair<size_t, size_t>>>())
      padding.push_back({low, high});
    return std::vector{pad(in.input(0), padding, in.number("number", 0))};
  };
}

}  // namespace

void add_axes(Functions& functions) {
  add_elementwise(functions);
  add_along(functions);
  add_structure(functions);
}

}  // namespace lamina::oracle
