#include "tests/oracle/answers/instruction.h"

#include <algorithm>

namespace lamina::oracle {

Shape shape_of(const Json& sizes) {
  if (sizes.size() > Shape::max_rank) fail("oracle: a shape of ", sizes.size(), " dimensions");
  Shape one{1, 1, 1, 1};
  switch (sizes.size()) {
    case 0:
      return {};
    case 1:
      one = {1};
      break;
    case 2:
      one = {1, 1};
      break;
    case 3:
      one = {1, 1, 1};
      break;
    default:
      break;
  }
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    one = one.with(static_cast<int>(axis), sizes[axis].get<size_t>());
  return one;
}

Tensor Instruction::input(size_t index) const {
  if (index >= inputs()) return {};
  const std::string name = json_.at("in")[index].get<std::string>();
  if (name.empty()) return {};
  const auto found = workspace_.tensors.find(name);
  if (found == workspace_.tensors.end()) fail("oracle: the case has no tensor '", name, "'");
  return found->second;
}

Shape Instruction::shape(const std::string& key) const { return shape_of(json_.at(key)); }

void Instruction::adopt(Parameters& parameters) const {
  (void)parameters.values();  // moves them into the flat buffers
  for (const auto* const entries : {&parameters.learned(), &parameters.state()})
    for (const Parameters::Entry& entry : *entries) {
      const auto found = workspace_.tensors.find(entry.name);
      if (found == workspace_.tensors.end()) fail("oracle: the case has no tensor '", entry.name, "'");
      if (found->second.shape() != entry.value.shape())
        fail("oracle: '", entry.name, "' is ", entry.value.shape(), ", the case has ", found->second.shape());
      Tensor value = entry.value;
      std::ranges::copy(found->second.values(), value.data());
      found->second = value;
    }
}

}  // namespace lamina::oracle
