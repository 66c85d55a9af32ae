#pragma once
// The first rank's model on every rank.

#include "core/parameters.h"

namespace lamina::distributed {

/// Every rank receives what is not learned, as running averages, from rank 0.
void broadcast_state(Parameters& parameters);
/// And the learned values.
void broadcast(Parameters& parameters);

}  // namespace lamina::distributed
