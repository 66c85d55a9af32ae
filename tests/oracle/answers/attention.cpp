// Attention: core/ops/attention.

#include "core/ops/attention/attention.h"

#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

/// With the mask under the input's number, if there is one.
AttentionOptions options_of(const Instruction& in, size_t mask) {
  AttentionOptions options{
      .causal = in.flag("causal"), .mask = in.input(mask), .scale = in.number("scale", 0)};
  if (in.has("lengths"))
    for (const int length : in.integers("lengths")) options.lengths.push_back(length);
  return options;
}

}  // namespace

void add_attention(Functions& functions) {
  functions["attention"] = [](const Instruction& in) {
    return std::vector{attention(in.input(0), in.input(1), in.input(2), options_of(in, 3))};
  };
  functions["composed_attention"] = [](const Instruction& in) {
    return std::vector{composed::attention(in.input(0), in.input(1), in.input(2), options_of(in, 3))};
  };
  functions["self_attention"] = [](const Instruction& in) {
    return std::vector{self_attention(in.input(0), in.size("heads"), options_of(in, 1))};
  };
}

}  // namespace lamina::oracle
