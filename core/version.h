#pragma once
// The library's version, as the command, a run's config.json, figures and the pkg-config file give it.

namespace lamina {

inline constexpr const char* version = "0.1.0";

/// The commit that this library was built from, as git describes it ("1a2b3c4", with "-dirty" behind it where files
/// had changed), or "unknown" outside of a git checkout.
const char* commit();

}  // namespace lamina
