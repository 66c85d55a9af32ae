#pragma once
// The flags that every experiment has.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/real.h"
#include "tools/flags/field.h"
#include "tools/results/norm_table.h"

namespace lamina {

/// The number in the environment variable LAMINA_SMOKE, or 0. Where it is above 0, commands run on a small part
/// of their data for at most so many epochs, which shows that they work and nothing else.
size_t smoke_epochs();

/// Adds --threads.
void add_threads_flag(Command& command, int& threads);

/// What is taken where a flag is not given.
struct CommonDefaults {
  FieldOptions<size_t> epochs = {};
  size_t batch = 128;
  size_t small_batch = batch;  ///< of the small preset
  bool one_batch = false;      ///< the command refuses several sizes
  FieldOptions<double> learning_rate = {1e-3, 1e-3};
};

struct CommonFlags {
  /// Adds the flags to a command; `norm_names` are the values that --norm takes, the first being its default.
  CommonFlags(Command& command, const std::vector<std::string>& norm_names, const CommonDefaults& defaults);
  CommonFlags(const CommonFlags&) = delete;
  CommonFlags& operator=(const CommonFlags&) = delete;
  virtual ~CommonFlags() = default;

  std::vector<std::string> norms;  ///< as given; "none", "layer", ...
  std::string preset;              ///< empty until the one that is open is chosen
  std::string data_folder;         ///< empty: built-in data
  size_t seed = 1;
  size_t seeds = 0;             ///< 0: a single run of each variant
  int threads = 0;              ///< 0: as LAMINA_THREADS says, or one per core
  size_t epochs = 0;            ///< 0: the preset's
  std::vector<size_t> batches;  ///< empty: the preset's
  double learning_rate = 0;     ///< 0: the preset's
  size_t record_every = 0;      ///< 0: record nothing
  bool tensorboard = false;
  std::string out;
  bool resume = false;
  size_t smoke = smoke_epochs();    ///< LAMINA_SMOKE when the run began
  std::optional<Flag> epochs_flag;  ///< for flags that stand in its place
  Fields fields;                    ///< what config.json keeps; a command adds its own

  bool paper() const { return preset == "paper"; }

  /// UsageError where batch norm would have batches of a single case, of which it leaves its bias: said before the
  /// variants in front of it are trained.
  void require_pairs() const;

  // Of a run of one variant.
  Norm norm() const { return norm_from(norms.front()); }
  size_t batch() const { return batches.front(); }
  real rate() const { return static_cast<real>(learning_rate); }
};

}  // namespace lamina
