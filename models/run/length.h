#pragma once
// How long a run trains. It may be told to go on for longer, and is then the run that was asked for so many epochs or
// updates from the start, bit for bit; but for one whose learning rate falls towards its end.

#include <array>

#include "models/run/run_folder.h"

namespace lamina {

/// The settings that say how long a run trains: `updates` where there are any, else `epochs`.
inline constexpr auto length_settings = std::to_array<const char*>({"epochs", "updates"});

/// Whether such a run would have taken the same updates so far if it had been asked for more: its learning rate stays.
bool may_become_longer(const Settings& began);

/// The one of `length_settings` by which a run with the settings `began` ends, where `asked` has a larger one. Empty where it has
/// not, where the run may not become longer, and where LAMINA_SMOKE has cut it down.
Settings longer_than(const Settings& began, const Settings& asked);

}  // namespace lamina
