#pragma once
// The flags that every experiment has.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "layers/norm.h"
#include "models/common/run_folder.h"
#include "tools/command_line.h"

namespace lamina {

/// The number in the environment variable LAMINA_SMOKE, or 0. Where it is set and not empty, commands run on a small part
/// of their data for at most so many epochs, which shows that they work and nothing else.
std::int64_t smoke_epochs();

struct CommonFlags {
  std::vector<std::string> norms;  ///< as given; "none", "layer", ...
  std::string preset = "paper";
  std::string data;  ///< folder; empty: built-in data
  std::int64_t seed = 1;
  int threads = 0;                    ///< 0: one per core
  std::int64_t epochs = 0;            ///< 0: the preset's
  std::vector<std::int64_t> batches;  ///< empty: the preset's
  double learning_rate = 0;           ///< 0: the preset's
  std::int64_t record_every = 0;      ///< 0: record nothing
  std::string out;
  bool resume = false;
  std::int64_t smoke = smoke_epochs();                 ///< LAMINA_SMOKE when the run began
  std::function<bool(const std::string& flag)> given;  ///< was this flag on the command line?
  Settings own;  ///< what config.json keeps of a command's flags beside these
};

/// Adds the flags to a subcommand; `norms` are the values that --norm takes, the first being its default.
void add_common_flags(Command& command, CommonFlags& flags, const std::vector<std::string>& norms);

Norm norm_from(const std::string& name);

/// A value of --norm as a legend calls it: "baseline", "layer norm".
std::string title_of(const std::string& norm);

/// Its colour in figures, a number in the palette of plot.h: the same in every figure, and in the report.
int color_of(const std::string& norm);

/// All flags as settings of config.json, and back. Lists become "none,layer".
Settings to_settings(const CommonFlags& flags);
void from_settings(const Settings& settings, CommonFlags& flags);

}  // namespace lamina
