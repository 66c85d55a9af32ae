#pragma once
// The library's version, as the command, a run's config.json and the pkg-config file give it.

namespace lamina {

inline constexpr const char* version = "0.1.0";

}  // namespace lamina
