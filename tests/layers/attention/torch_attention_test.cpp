// Attention layers agree with PyTorch's, values and gradients, as recorded in tests/fixtures.

#include "layers/attention/transformer_block.h"
#include "tests/check.h"
#include "tests/fixtures/torch_attention_fixtures.h"
#include "tests/fixtures/torch_encoder_fixtures.h"

using namespace lamina;
using namespace lamina::test;

namespace {

using Numbers = std::vector<double>;

Tensor tensor(const Shape& shape, const Numbers& values) {
  return Tensor::from(shape, std::vector<real>(values.begin(), values.end()));
}

void check_equal(std::span<const real> ours, const Numbers& theirs) {
  const std::vector<real> expected(theirs.begin(), theirs.end());
  CHECK(difference(ours, expected) < (sizeof(real) == 8 ? 1e-11 : 2e-5));
}

/// Sets all parameters, in their order.
void set(Parameters& parameters, const Numbers& values) {
  REQUIRE(parameters.count() == values.size());
  auto from = values.begin();
  for (const Parameters::Entry& entry : parameters.learned()) {
    Tensor value = entry.value;
    for (real& each : value.values()) each = static_cast<real>(*from++);
  }
}

void check_gradients_equal(const Parameters& parameters, const Numbers& expected) {
  size_t at = 0;
  for (const Parameters::Entry& entry : parameters.learned()) {
    CAPTURE(entry.name);
    const double* const from = &expected[at];
    check_equal(entry.value.gradient().values(), Numbers(from, from + entry.value.size()));
    at += entry.value.size();
  }
}

}  // namespace

TEST_CASE("torch: MultiheadAttention") {
  for (const auto& each : torch_attention::attentions) {
    CAPTURE(&each - torch_attention::attentions.data());
    Parameters parameters(1);
    const MultiHeadAttention layer(parameters, "layer",
                                   {.width = each.width,
                                    .heads = each.heads,
                                    .memory_width = each.memory_width,
                                    .causal = each.causal,
                                    .bias = each.bias});
    set(parameters, each.weights);
    const Tensor x = tensor({each.cases, each.length, each.width}, each.x).require_gradient();
    const AttentionOptions options = {.lengths = {each.lengths.begin(), each.lengths.end()}};
    const bool cross = each.memory_width > 0;
    Tensor memory;
    if (cross) memory = tensor({each.cases, each.keys, each.memory_width}, each.memory).require_gradient();
    Tape tape;
    const Tensor y = cross ? layer(x, memory, options) : layer(x, options);
    check_equal(y.values(), each.y);
    tape.backward(sum(square(y)));
    check_equal(x.gradient().values(), each.dx);
    if (cross) check_equal(memory.gradient().values(), each.dmemory);
    check_gradients_equal(parameters, each.dweights);
  }
}

TEST_CASE("torch: TransformerEncoderLayer") {
  for (const auto& each : torch_encoder::encoders) {
    CAPTURE(&each - torch_encoder::encoders.data());
    Parameters parameters(1);
    TransformerBlock block(parameters, "block",
                           {.width = each.width,
                            .heads = each.heads,
                            .inner = each.inner,
                            .placement = each.pre ? Placement::pre : Placement::post,
                            .causal = each.causal,
                            .activation = each.gelu ? Activation::gelu : Activation::relu});
    set(parameters, each.weights);
    const Tensor x = tensor({each.cases, each.length, each.width}, each.x).require_gradient();
    Tape tape;
    const Tensor y = block(x, Mode::train, {.lengths = {each.lengths.begin(), each.lengths.end()}});
    check_equal(y.values(), each.y);
    tape.backward(sum(square(y)));
    check_equal(x.gradient().values(), each.dx);
    check_gradients_equal(parameters, each.dweights);
  }
}
