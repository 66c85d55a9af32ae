#include "models/transformer/placement.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <string_view>

#include "core/error.h"
#include "core/listener.h"
#include "core/ops.h"
#include "core/tape.h"
#include "layers/linear.h"

namespace lamina::transformer {

namespace {

double squared_length(const Tensor& x) {
  double total = 0;
  for (const real value : x.values()) total += static_cast<double>(value) * static_cast<double>(value);
  return total;
}

/// Squared lengths per feature of all sums that the blocks record: two each.
struct Sums final : TapeListener {
  void recorded(const Tape::Node& node, std::span<const Tensor> /*inputs*/) override {
    if (std::string_view(node.op) != "add") return;
    const Tensor& sum = node.outputs[0];
    squares.push_back(squared_length(sum) / static_cast<double>(sum.size()));
  }
  std::vector<double> squares;
};

const Tensor& parameter(const Parameters& parameters, const std::string& name) {
  return std::ranges::find(parameters.learned(), name, &Parameters::Entry::name)->value;
}

/// Queries and keys become zero, so that all positions weigh the same.
void make_uniform(const Parameters& parameters, const std::string& block, size_t width) {
  Tensor weight = parameter(parameters, block + ".attention.in.weight");  // [width x 3 width]
  for (size_t row = 0; row < width; ++row) std::fill_n(weight.data() + row * 3 * width, 2 * width, real{0});
}

/// s and q of the header.
struct Products {
  double own, between;

  Products operator+(const Products& other) const { return {own + other.own, between + other.between}; }
  Products times(double factor) const { return {own * factor, between * factor}; }
  Products normalized() const { return times(1 / own); }
  Products averaged(double tokens) const {
    const double mean = between + (own - between) / tokens;
    return {mean, mean};
  }
  Products fed_forward() const {
    const double c = std::clamp(between / own, -1.0, 1.0);
    const double kept = (std::sqrt(1 - c * c) + c * (std::numbers::pi - std::acos(c))) / std::numbers::pi;
    return {own / 2, own * kept / 2};
  }
};

}  // namespace

Stream observe(const StreamOptions& options) {
  const size_t width = options.width;
  Parameters parameters(options.seed);
  std::deque<TransformerBlock> blocks;
  TransformerBlockOptions block{.width = width,
                                .heads = 1,
                                .inner = width,
                                .placement = options.how.placement,
                                .norm = options.how.norm,
                                .activation = Activation::relu};
  for (block.number = 1; block.number <= options.depth; ++block.number) {
    const std::string name = text("block", block.number);
    blocks.emplace_back(parameters, name, block);
    make_uniform(parameters, name, width);
  }
  Normalization norm = norm_after_blocks(parameters, "norm", block);
  const Linear output(parameters, "output", {.input = width, .output = width, .bias = false});

  Tensor x({1, options.tokens, width});
  parameters.random("inputs").fill_normal(x.data(), x.size(), 0, 1);
  Sums sums;
  Tape tape;
  {
    const Listening listening(sums);
    for (TransformerBlock& each : blocks) x = each(x, Mode::train);
  }
  const Tensor last = norm(x, Mode::train).reshape({options.tokens, width}).slice(0, 1);
  tape.backward(cross_entropy(output(last), {0}));

  Stream stream;
  for (size_t l = 0; l < options.depth; ++l) {
    stream.after_attention.push_back(sums.squares.at(2 * l));
    stream.after_block.push_back(sums.squares.at(2 * l + 1));
    const Tensor& last_matrix = parameter(parameters, text("block", l + 1, ".outer.weight"));
    stream.gradient.push_back(std::sqrt(squared_length(last_matrix.gradient())));
  }
  return stream;
}

Stream mean_field(const StreamOptions& options) {
  const Placement placement = options.how.placement;
  const bool without = options.how.norm == Norm::none;
  const auto tokens = static_cast<double>(options.tokens);
  const bool post = placement == Placement::post, sandwich = placement == Placement::sandwich;
  const auto into_part = [&](const Products& x, double number) {
    if (post || without) return x;
    return x.normalized().times(placement == Placement::scaled_pre ? 1 / number : 1);
  };
  Products x{1, 0};
  double entering = 1;  // squared inputs of the last feed-forward part
  Stream stream;
  for (size_t l = 1; l <= options.depth; ++l) {
    const auto number = static_cast<double>(l);
    const auto add = [&](const Products& part, std::vector<double>& sums) {
      x = x + (sandwich ? part.normalized() : part);
      sums.push_back(x.own);
      if (post) x = x.normalized();
    };
    add(into_part(x, number).averaged(tokens), stream.after_attention);
    entering = into_part(x, number).own;
    add(into_part(x, number).fed_forward(), stream.after_block);
  }
  const double hidden = std::sqrt(static_cast<double>(options.width) * entering / 2);
  const double taken_away = (without ? 0.5 : stream.after_block.back()) * (sandwich ? entering / 2 : 1);
  stream.gradient.assign(options.depth, std::nan(""));
  stream.gradient.back() = hidden / std::sqrt(taken_away);
  return stream;
}

double fitted_exponent(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.size() < 2)
    fail("fitted exponent: ", x.size(), " and ", y.size(), " numbers; give as many of both, at least two");
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, along = 0, squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double from_mean = std::log(x[i]) - mean_x;
    along += from_mean * (std::log(y[i]) - mean_y);
    squares += from_mean * from_mean;
  }
  return along / squares;
}

}  // namespace lamina::transformer
