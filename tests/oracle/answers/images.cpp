// Ops on images [N x H x W x C], by name.

#include "core/ops.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

Conv2dGeometry geometry(const Instruction& in) {
  return {.stride = in.size("stride", 1), .padding = in.size("padding")};
}

Pool2dOptions window(const Instruction& in) {
  return {.window = in.size("window", 2), .stride = in.size("stride")};
}

ReluPool relu_and_window(const Instruction& in) {
  return {.relu = in.flag("relu"), .window = in.size("window", 1)};
}

}  // namespace

void add_images(Functions& functions) {
  functions["channels_last"] = [](const Instruction& in) { return std::vector{channels_last(in.input(0))}; };
  functions["channels_first"] = [](const Instruction& in) {
    return std::vector{channels_first(in.input(0))};
  };
  functions["conv2d"] = [](const Instruction& in) {
    return std::vector{conv2d(in.input(0), in.input(1), in.input(2), geometry(in))};
  };
  functions["composed_conv2d"] = [](const Instruction& in) {
    return std::vector{composed::conv2d(in.input(0), in.input(1), in.input(2), geometry(in))};
  };
  functions["max_pool2d"] = [](const Instruction& in) {
    return std::vector{max_pool2d(in.input(0), window(in))};
  };
  functions["composed_max_pool2d"] = [](const Instruction& in) {
    return std::vector{composed::max_pool2d(in.input(0), window(in))};
  };
  functions["average_pool2d"] = [](const Instruction& in) {
    return std::vector{average_pool2d(in.input(0), window(in))};
  };
  functions["composed_average_pool2d"] = [](const Instruction& in) {
    return std::vector{composed::average_pool2d(in.input(0), window(in))};
  };
  functions["relu_pool"] = [](const Instruction& in) {
    return std::vector{relu_pool(in.input(0), relu_and_window(in))};
  };
  functions["composed_relu_pool"] = [](const Instruction& in) {
    return std::vector{composed::relu_pool(in.input(0), relu_and_window(in))};
  };
}

}  // namespace lamina::oracle
