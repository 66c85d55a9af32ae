#pragma once
// The library's version, as the command, a run's config.json, figures and the pkg-config file give it.

namespace lamina {

inline constexpr const char* version = "0.1.0";

/// The commit that this library was built from, as git describes it ("1a2b3c4", followed by "-dirty" where
/// files had changed), or "unknown" outside of a git checkout.
const char* commit();

/// The vectors that this library's kernels were built for: "AVX-512", "AVX2", or "128-bit" on other CPUs.
/// Where `make install` has put several side by side, the dynamic linker chooses when the program starts.
/// Sums in vectors of another length round differently, so a run does not repeat bit for bit across them.
const char* kernels();

}  // namespace lamina
