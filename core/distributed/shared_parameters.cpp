#include "core/distributed/shared_parameters.h"

#include <span>

#include "core/distributed/group.h"

namespace lamina::distributed {

void broadcast_state(Parameters& parameters) {
  if (!is_shared()) return;
  for (auto [name, value] : parameters.state()) group().broadcast(std::as_writable_bytes(value.values()));
}

void broadcast(Parameters& parameters) {
  if (!is_shared()) return;
  group().broadcast(std::as_writable_bytes(parameters.values()));
  broadcast_state(parameters);
}

}  // namespace lamina::distributed
