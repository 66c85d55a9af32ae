#include "models/recording/layer_names.h"

#include <algorithm>

#include "core/listener.h"

namespace lamina {

namespace {

/// The dotted parts that both names begin with.
std::string common_part(const std::string& a, const std::string& b) {
  const auto [end, other] = std::ranges::mismatch(a, b);
  const auto length = static_cast<size_t>(end - a.begin());
  const auto ends_a_part = [length](const std::string& name) {
    return length == name.size() || name[length] == '.';
  };
  if (ends_a_part(a) && ends_a_part(b)) return a.substr(0, length);
  const size_t dot = a.substr(0, length).rfind('.');
  return dot == std::string::npos ? "" : a.substr(0, dot);
}

}  // namespace

std::string layer_part(const std::string& parameter) {
  return parameter.substr(0, parameter.rfind('.'));  // all of it when there is no dot
}

std::string own_part(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? "value" : parameter.substr(dot + 1);
}

LayerNames::LayerNames(const Parameters& parameters) {
  for (const auto& [name, value] : parameters.learned())
    parameters_[value.storage()->id] = {.layer = layer_part(name), .parameter = true, .order = 0};
}

const LayerNames::Origin* LayerNames::find(const Tensor& tensor) const {
  if (!tensor.defined()) return nullptr;
  for (const auto* const origins : {&parameters_, &results_})
    if (const auto place = origins->find(tensor.storage()->id); place != origins->end())
      return &place->second;
  return nullptr;
}

bool LayerNames::is_parameter(const Tensor& tensor) const {
  const Origin* const origin = find(tensor);
  return origin != nullptr && origin->parameter;
}

std::string LayerNames::name_by_inputs(std::span<const Tensor> inputs) const {
  const Origin *parameter = nullptr, *latest = nullptr;
  std::string common;
  for (const Tensor& input : inputs) {
    const Origin* const origin = find(input);
    if (origin == nullptr) continue;
    if (origin->parameter) {
      common = parameter == nullptr ? origin->layer : common_part(common, origin->layer);
      if (parameter == nullptr) parameter = origin;
    }
    if (latest == nullptr || origin->order > latest->order) latest = origin;
  }
  if (parameter != nullptr) return common.empty() ? parameter->layer : common;
  return latest != nullptr ? latest->layer : "input";
}

std::string LayerNames::layer_of(const Tape::Node& node, std::span<const Tensor> inputs) {
  const std::string_view scope = Scope::current();
  std::string layer = scope.empty() ? name_by_inputs(inputs) : std::string(scope);
  // What an embedding picks out of its table depends on the data as well.
  const bool parameter =
      std::string_view(node.op) != "embedding" && std::ranges::all_of(inputs, [this](const Tensor& input) {
        return !input.defined() || is_parameter(input);
      });
  ++ops_;
  for (const Tensor& output : node.outputs)
    if (output.defined())
      results_[output.storage()->id] = {.layer = layer, .parameter = parameter, .order = ops_};
  return layer;
}

void LayerNames::clear() {
  results_.clear();
  ops_ = 0;
}

}  // namespace lamina
