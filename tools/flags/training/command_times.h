#pragma once
// How long commands take, as `list`, --help and the report show it.

#include <optional>
#include <string>
#include <string_view>

namespace lamina {

/// "about 40 s", "about 12 min" for the words behind `lamina`, "mnist" or "mnist --norm none,batch,layer"; nothing for what was
/// not measured.
std::string time_of(std::string_view words);

/// How the times were measured.
inline constexpr const char* times_are =
    "Times: one core of an AMD EPYC (Zen 5), built-in data, the small preset.";

}  // namespace lamina
