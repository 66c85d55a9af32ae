// The differentiable ops of core/ops, by name.

#include "core/ops.h"
#include "core/tape.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

void add_unary(Functions& functions, const std::string& name, Unary function) {
  functions[name] = [=](const Instruction& in) { return std::vector{function(in.input(0))}; };
}

void add_binary(Functions& functions, const std::string& name, Binary function) {
  functions[name] = [=](const Instruction& in) { return std::vector{function(in.input(0), in.input(1))}; };
}

void add_elementwise(Functions& functions) {
  add_binary(functions, "add", operator+);
  add_binary(functions, "subtract", operator-);
  add_binary(functions, "multiply", operator*);
  add_binary(functions, "divide", operator/);
  add_unary(functions, "negate", operator-);
  add_unary(functions, "exp", exp);
  add_unary(functions, "log", log);
  add_unary(functions, "sqrt", sqrt);
  add_unary(functions, "square", square);
  add_unary(functions, "abs", abs);
  add_unary(functions, "tanh", tanh);
  add_unary(functions, "sigmoid", sigmoid);
  add_unary(functions, "relu", relu);
  using Number = Tensor (*)(const Tensor&, real);
  const auto with_number = [&](const std::string& name, Number function) {
    functions[name] = [=](const Instruction& in) {
      return std::vector{function(in.input(0), in.number("number", 0))};
    };
  };
  with_number("add_number", [](const Tensor& x, real b) { return x + b; });
  with_number("subtract_number", [](const Tensor& x, real b) { return x - b; });
  with_number("multiply_number", [](const Tensor& x, real b) { return b * x; });
  with_number("divide_number", [](const Tensor& x, real b) { return x / b; });
  with_number("number_minus", [](const Tensor& x, real b) { return b - x; });
  with_number("clip_gradient", clip_gradient);
}

void add_sums_and_products(Functions& functions) {
  add_unary(functions, "sum", sum);
  add_unary(functions, "mean", mean);
  add_unary(functions, "mean_square", mean_square);
  add_unary(functions, "composed_mean_square", composed::mean_square);
  add_unary(functions, "sum_columns", sum_columns);
  add_unary(functions, "mean_columns", mean_columns);
  add_unary(functions, "sum_rows", sum_rows);
  add_unary(functions, "mean_rows", mean_rows);
  functions["matmul"] = [](const Instruction& in) {
    const auto side = [&](const char* key) { return in.flag(key) ? Transpose::yes : Transpose::no; };
    return std::vector{
        matmul(in.input(0), in.input(1), {.a = side("transpose_a"), .b = side("transpose_b")})};
  };
  functions["linear"] = [](const Instruction& in) {
    return std::vector{linear(in.input(0), in.input(1), in.input(2))};
  };
}

void add_losses(Functions& functions) {
  add_unary(functions, "softmax", softmax);
  add_unary(functions, "log_softmax", log_softmax);
  add_binary(functions, "bernoulli_cross_entropy", bernoulli_cross_entropy);
  functions["cross_entropy"] = [](const Instruction& in) {
    return std::vector{cross_entropy(in.input(0), in.integers("labels"))};
  };
}

void add_structure(Functions& functions) {
  add_unary(functions, "transpose", transpose);
  add_unary(functions, "unit_rows", unit_rows);
  add_unary(functions, "composed_unit_rows", composed::unit_rows);
  functions["slice"] = [](const Instruction& in) {
    return std::vector{slice(in.input(0), in.integer("axis"), in.size("begin"), in.size("end"))};
  };
  functions["concatenate"] = [](const Instruction& in) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < in.inputs(); ++i) parts.push_back(in.input(i));
    return std::vector{concatenate(parts, in.integer("axis"))};
  };
  functions["gather"] = [](const Instruction& in) {
    return std::vector{gather(in.input(0), in.integers("indices"))};
  };
  functions["reshape"] = [](const Instruction& in) {
    return std::vector{in.input(0).reshape(in.shape("shape"))};
  };
  functions["leading"] = [](const Instruction& in) {
    return std::vector{in.input(0).slice(in.size("begin"), in.size("end"))};
  };
  functions["step"] = [](const Instruction& in) { return std::vector{in.input(0).step(in.size("index"))}; };
  functions["detach"] = [](const Instruction& in) { return std::vector{in.input(0).detach()}; };
}

}  // namespace

void add_primitives(Functions& functions) {
  add_elementwise(functions);
  add_sums_and_products(functions);
  add_losses(functions);
  add_structure(functions);
}

}  // namespace lamina::oracle
