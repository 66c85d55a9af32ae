#pragma once
// A run's folder: config.json holds the settings, metrics.csv the measurements, model.safetensors and state
// what the run learned. With --data, data.txt says which folder that was and, in a digest, what was in it. Without --out the
// folder is runs/<experiment>-<variant>, with -2, -3, ... for later runs of the same kind.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/distributed/group.h"
#include "core/error.h"
#include "models/run/run_lock.h"

namespace lamina {

/// "float" or "double": of this program.
extern const char* const scalar_name;

/// Of a run that diverged: a line that says what was not finite. It stays until the run goes on.
inline constexpr const char* diverged_file = "diverged.txt";

/// One setting's value, as config.json can hold it.
using SettingValue = std::variant<bool, std::int64_t, double, std::string>;
/// A setting as its flag has it: 0.001, true, layer.
std::string text_of(const SettingValue& value);
/// The name in config.json of a flag without its leading dashes: "train_on" for "train-on".
std::string name_of_setting(std::string flag);
/// And back: "--train-on".
std::string flag_of_setting(std::string name);

/// A run's settings by name, in the order in which they were first set.
class Settings {
 public:
  Settings() = default;
  /// {{"norm", "layer"}, {"gain", 0.1}}
  Settings(std::initializer_list<std::pair<std::string_view, SettingValue>> entries) {
    for (const auto& [name, value] : entries) put(name, value);
  }

  /// Sets or replaces a value. Integers of any size below 2^63, floating-point numbers, bool and text. Throws Error for
  /// what config.json cannot hold: larger integers and infinities.
  template <class Value>
  void set(std::string_view name, const Value& value) {
    if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, SettingValue>) {
      put(name, value);
    } else if constexpr (std::is_integral_v<Value>) {
      if (value > 0 && static_cast<std::int64_t>(value) < 0) refuse(name, text(value));
      put(name, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      put(name, static_cast<double>(value));
    } else {
      put(name, std::string(value));
    }
  }

  /// A value as `bool`, `std::int64_t`, `double` (also from a whole number) or `std::string`.
  /// DataError when there is no such setting or it is of another kind.
  template <class Value>
  Value get(std::string_view name) const;

  /// These, replaced by the others where both name one.
  Settings with(const Settings& others) const;

  bool has(std::string_view name) const;
  /// A value as its flag has it; empty where there is no such setting.
  std::string word(std::string_view name) const;
  const std::vector<std::pair<std::string, SettingValue>>& entries() const { return entries_; }
  bool operator==(const Settings&) const = default;

 private:
  [[noreturn]] static void refuse(std::string_view name, const std::string& value);
  void put(std::string_view name, SettingValue value);
  const SettingValue& find(std::string_view name) const;
  std::vector<std::pair<std::string, SettingValue>> entries_;
};

/// The content of config.json. With the same settings, seed, scalar type, version and backend, and with as many
/// threads and ranks, a run repeats bit for bit.
struct RunConfig {
  std::string experiment = {};  // "mnist"
  std::string variant = {};     // "layer"; empty when the experiment has only one
  Settings settings = {};       // every flag with its value, defaults included
  std::string backend = {};     // one line on the kernels in use and the BLAS library; empty: gemm_backend()

  // Filled in when the folder is created.
  std::string version = {};  // the library's
  std::string commit = {};   // of the programs that trained it, "1a2b3c4, 5d6e7f8"; empty: unknown
  std::string scalar = {};   // "float" or "double"
  int threads = 0;
  size_t ranks = 1;
};

/// Makes a folder and its parents; returns whether it is new. DataError when that is not possible.
bool make_folder(const std::string& path);

/// Writes `config` into a folder, replacing an existing one, and returns it with the fields that this program
/// fills in.
RunConfig write_config(const std::string& folder, RunConfig config);

/// UsageError where the results of `config` would replace something else in a folder, which need not exist: a run or a
/// variant of another kind, a study, or a run under way.
void require_place_for(const std::string& folder, const RunConfig& config);

class RunFolder {
 public:
  /// Makes the folder `path`, or the first free default when it is empty, locks it (models/run/run_lock.h)
  /// and writes config.json into it. UsageError when there is a run or a study already, or a file that the run could
  /// replace, or another process is about to start one; DataError when it cannot be written.
  /// Where several ranks train, all call this and resume(), and the folder is that of the first.
  static RunFolder create(const std::string& path, RunConfig config);

  /// Opens the folder of an earlier run of `experiment` to continue it (`--resume --out DIR`), locks it and
  /// removes the unfinished files that a killed process left in it. UsageError when `path` is empty, another
  /// process trains there, or the run is of another experiment; DataError when it is not a run's folder, its
  /// config.json is broken, or it was written with the other scalar type.
  static RunFolder resume(const std::string& path, std::string_view experiment);

  /// Opens the folder of an earlier run for reading, whatever its scalar type. DataError when it is not a
  /// run's folder, or its config.json is broken.
  static RunFolder open(const std::string& path);

  /// Goes on with these settings, also in config.json. Of what else is there nothing changes.
  void change_settings(const Settings& settings);

  /// Whether this process may write into it: only the first of several ranks does.
  static bool is_ours() { return distributed::is_first(); }

  /// DataError where it was moved or removed since it was locked, so that another run may stand in its place.
  void require_at_its_place() const {
    if (lock_) lock_->require_at_its_place();
  }

  const std::string& path() const { return path_; }
  const RunConfig& config() const { return config_; }

  /// The path of a file of this run, for instance `file("metrics.csv")`. DataError as require_at_its_place(): call it when
  /// the file is to be read or written, and do not keep the path.
  std::string file(std::string_view name) const {
    require_at_its_place();
    return path_ + '/' + std::string(name);
  }

 private:
  /// The folder that the first rank has opened or made, and what it tells the others about it.
  static RunFolder follow();
  RunFolder led() &&;

  RunFolder(std::string path, RunConfig config, std::shared_ptr<const RunLock> lock)
      : path_(std::move(path)), config_(std::move(config)), lock_(std::move(lock)) {}
  std::string path_;
  RunConfig config_;
  std::shared_ptr<const RunLock> lock_;  // shared by copies; none when the run is only read
};

/// Says in the run's config.json that this program trains it, from its first update or from where another one left it.
void note_commit(const RunFolder& run, bool from_first_update);

}  // namespace lamina
