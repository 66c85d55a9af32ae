// The normalizations as functions, fused and composed, by name.

#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/variants/batch_renorm.h"
#include "layers/norms/variants/dyt.h"
#include "layers/norms/variants/ghost_batch_norm.h"
#include "layers/norms/variants/parameter_free_norm.h"
#include "layers/norms/weight_norm.h"
#include "layers/norms/weight_standardization.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

real epsilon(const Instruction& in) { return in.number("epsilon", real(1e-5)); }
Variance variance(const Instruction& in) {
  return in.flag("unbiased") ? Variance::unbiased : Variance::biased;
}
ReluPool then(const Instruction& in) { return {.relu = in.flag("relu"), .window = in.size("window", 1)}; }

GroupNormOptions group_options(const Instruction& in) {
  return {
      .groups = in.size("groups", 1), .border = in.size("border"), .epsilon = epsilon(in), .then = then(in)};
}

BatchPassOptions batch_options(const Instruction& in) {
  return {.epsilon = epsilon(in), .variance = variance(in), .then = then(in)};
}

void add_row_norms(Functions& functions) {
  functions["layer_norm"] = [](const Instruction& in) {
    return std::vector{layer_norm(in.input(0), in.input(1), in.input(2), epsilon(in))};
  };
  functions["composed_layer_norm"] = [](const Instruction& in) {
    return std::vector{composed::layer_norm(in.input(0), in.input(1), in.input(2), epsilon(in))};
  };
  functions["rms_norm"] = [](const Instruction& in) {
    return std::vector{rms_norm(in.input(0), in.input(1), epsilon(in))};
  };
  functions["composed_rms_norm"] = [](const Instruction& in) {
    return std::vector{composed::rms_norm(in.input(0), in.input(1), epsilon(in))};
  };
}

void add_variants_of_layer_norm(Functions& functions) {
  functions["layer_norm_simple"] = [](const Instruction& in) {
    return std::vector{layer_norm_simple(in.input(0), epsilon(in))};
  };
  functions["composed_layer_norm_simple"] = [](const Instruction& in) {
    return std::vector{composed::layer_norm_simple(in.input(0), epsilon(in))};
  };
  functions["detach_norm"] = [](const Instruction& in) {
    return std::vector{detach_norm(in.input(0), epsilon(in))};
  };
  functions["composed_detach_norm"] = [](const Instruction& in) {
    return std::vector{composed::detach_norm(in.input(0), epsilon(in))};
  };
  functions["ada_norm"] = [](const Instruction& in) {
    return std::vector{
        ada_norm(in.input(0), in.number("scale", 1), in.number("slope", real(0.1)), epsilon(in))};
  };
  functions["composed_ada_norm"] = [](const Instruction& in) {
    return std::vector{
        composed::ada_norm(in.input(0), in.number("scale", 1), in.number("slope", real(0.1)), epsilon(in))};
  };
  functions["dyt"] = [](const Instruction& in) {
    return std::vector{dyt(in.input(0), in.input(1), in.input(2), in.input(3))};
  };
  functions["composed_dyt"] = [](const Instruction& in) {
    return std::vector{composed::dyt(in.input(0), in.input(1), in.input(2), in.input(3))};
  };
}

void add_batch_norms(Functions& functions) {
  functions["batch_norm"] = [](const Instruction& in) {
    BatchStatistics of_batch;
    const Tensor y = batch_norm(in.input(0), in.input(1), in.input(2), batch_options(in), &of_batch);
    return std::vector{y, of_batch.mean, of_batch.variance};
  };
  functions["composed_batch_norm"] = [](const Instruction& in) {
    return std::vector{composed::batch_norm(in.input(0), in.input(1), in.input(2), batch_options(in))};
  };
  functions["batch_norm_maps"] = [](const Instruction& in) {
    BatchStatistics of_batch;
    const Tensor y = batch_norm_maps(in.input(0), in.input(1), in.input(2), batch_options(in), &of_batch);
    return std::vector{y, of_batch.mean, of_batch.variance};
  };
  functions["composed_batch_norm_maps"] = [](const Instruction& in) {
    return std::vector{composed::batch_norm_maps(in.input(0), in.input(1), in.input(2), batch_options(in))};
  };
}

void add_variants_of_batch_norm(Functions& functions) {
  static const auto limits = [](const Instruction& in) {
    return RenormLimits{.r_max = in.number("r_max", 3), .d_max = in.number("d_max", 5)};
  };
  functions["ghost_batch_norm"] = [](const Instruction& in) {
    return std::vector{
        ghost_batch_norm(in.input(0), in.input(1), in.input(2), in.size("part"), batch_options(in))};
  };
  functions["composed_ghost_batch_norm"] = [](const Instruction& in) {
    return std::vector{composed::ghost_batch_norm(in.input(0), in.input(1), in.input(2), in.size("part"),
                                                  batch_options(in))};
  };
  functions["batch_renorm"] = [](const Instruction& in) {
    const BatchStatistics running{in.input(3), in.input(4)};
    return std::vector{
        batch_renorm(in.input(0), in.input(1), in.input(2), running, limits(in), batch_options(in))};
  };
  functions["composed_batch_renorm"] = [](const Instruction& in) {
    const BatchStatistics running{in.input(3), in.input(4)};
    return std::vector{composed::batch_renorm(in.input(0), in.input(1), in.input(2), running, limits(in),
                                              batch_options(in))};
  };
}

}  // namespace

void add_normalizations(Functions& functions) {
  add_row_norms(functions);
  add_variants_of_layer_norm(functions);
  add_batch_norms(functions);
  add_variants_of_batch_norm(functions);
  functions["group_norm"] = [](const Instruction& in) {
    return std::vector{group_norm(in.input(0), in.input(1), in.input(2), group_options(in))};
  };
  functions["composed_group_norm"] = [](const Instruction& in) {
    return std::vector{composed::group_norm(in.input(0), in.input(1), in.input(2), group_options(in))};
  };
  functions["weight_norm"] = [](const Instruction& in) {
    return std::vector{weight_norm(in.input(0), in.input(1))};
  };
  functions["composed_weight_norm"] = [](const Instruction& in) {
    return std::vector{composed::weight_norm(in.input(0), in.input(1))};
  };
  functions["weight_standardization"] = [](const Instruction& in) {
    return std::vector{weight_standardization(in.input(0), in.input(1), epsilon(in))};
  };
  functions["composed_weight_standardization"] = [](const Instruction& in) {
    return std::vector{composed::weight_standardization(in.input(0), in.input(1), epsilon(in))};
  };
  functions["weight_norm_linear"] = [](const Instruction& in) {
    return std::vector{weight_norm_linear(in.input(0), in.input(1), in.input(2), in.input(3))};
  };
}

}  // namespace lamina::oracle
