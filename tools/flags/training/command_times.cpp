#include "tools/flags/training/command_times.h"

#include <cmath>
#include <optional>

#include "core/error.h"
#include "models/evidence/known_experiments.h"

namespace lamina {

namespace {

/// Of a command that trains nothing; measured like those of the experiments (models/evidence/known_experiments.h).
struct CommandTime {
  std::string_view words;
  double seconds;
};

constexpr CommandTime times[] = {
    {"geometry", 10.8},
    {"stability", 0.2},
    {"invariance", 0.8},
    {"placement", 3.2},
};

std::optional<double> seconds_of(std::string_view words) {
  for (const CommandTime& each : times)
    if (words == each.words) return each.seconds;
  for (const KnownExperiment& each : known_experiments()) {
    if (words == each.name) return each.seconds;
    if (each.example && words == text(each.name, ' ', each.example->flags)) return each.example->seconds;
  }
  return {};
}

}  // namespace

std::string time_of(std::string_view words) {
  const std::optional<double> seconds = seconds_of(words);
  if (!seconds) return "";
  if (*seconds < 5) return "a few seconds";
  if (*seconds < 90) return text("about ", 5 * std::lround(*seconds / 5), " s");
  return text("about ", std::lround(*seconds / 60), " min");
}

}  // namespace lamina
