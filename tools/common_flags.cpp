#include "tools/common_flags.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "tools/flag_value.h"

namespace lamina {

namespace {

template <class Value>
std::string joined(const std::vector<Value>& values) {
  std::ostringstream out;
  for (size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ",") << values[i];
  return out.str();
}

/// N of "every=N"; 0 for anything else.
std::int64_t every_of(const std::string& value) {
  constexpr std::string_view prefix = "every=";
  if (!value.starts_with(prefix)) return 0;
  return std::max<std::int64_t>(0, whole_number(std::string_view(value).substr(prefix.size())).value_or(0));
}

std::int64_t batch_size(const std::string& word) {
  const auto size = whole_number(word);
  if (!size || *size < 1)
    fail<DataError>("config.json: setting 'batch' holds '", word,
                    "', which is no size of a batch; restore the value that was written");
  return *size;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

void add_common_flags(Command& command, CommonFlags& flags, const std::vector<std::string>& norms) {
  flags.given = [&command](const std::string& flag) { return command.given(flag); };
  flags.norms = {norms.front()};
  command.add("--norm", flags.norms, "normalization, or several separated by commas: " + joined(norms))
      .separated_by_commas()
      .one_of(norms)
      .show_default(norms.front());
  command.add("--preset", flags.preset, "sizes and lengths: the paper's, or small ones for a first look")
      .one_of({"paper", "small"})
      .show_default();
  command.add("--data", flags.data, "folder with the original files; without it, built-in data");
  command.add("--seed", flags.seed, "of all random numbers").non_negative().show_default();
  command.add("--threads", flags.threads, "worker threads; 0: as LAMINA_THREADS says, or one per core")
      .range(0, 1024)
      .show_default();
  command.add("--epochs", flags.epochs, "passes over the training data").positive();
  command.add("--batch", flags.batches, "cases per step, or several sizes separated by commas")
      .separated_by_commas()
      .positive();
  command.add("--lr", flags.learning_rate, "learning rate").positive();
  command
      .add_read(
          "--record", [&flags](const std::string& value) { flags.record_every = every_of(value); },
          "every=N: look into every N-th step and write what is seen to record.csv, for lamina inspect")
      .check([](const std::string& value) {
        return every_of(value) > 0 ? "" : "'" + value + "' is not every=N; write --record every=100";
      });
  command.add("--out", flags.out, "folder of the run; by default a new one under runs/");
  command.add("--resume", flags.resume, "go on with the run in --out, with the settings it began with");
}

Norm norm_from(const std::string& name) {
  for (const Norm norm : {Norm::none, Norm::batch, Norm::layer, Norm::weight, Norm::rms, Norm::group,
                          Norm::instance, Norm::layer_interior})
    if (name == name_of(norm)) return norm;
  fail<UsageError>("--norm ", name, ": no such normalization");
}

std::string title_of(const std::string& norm) {
  if (norm == "none") return "baseline";
  if (norm == "batch-everywhere") return "batch norm everywhere";
  if (norm == "bag-of-words") return "bag of words";
  return norm == "layer-interior" ? "layer norm, interior" : norm + " norm";
}

int color_of(const std::string& norm) {
  constexpr std::array<std::string_view, 8> in_palette{"layer",    "batch",          "weight", "group",
                                                       "instance", "layer-interior", "none",   "rms"};
  // What no figure shows beside group norm has its colour.
  const auto found = std::ranges::find(in_palette, norm == "batch-everywhere" ? "group" : norm);
  return found == in_palette.end() ? -1 : static_cast<int>(found - in_palette.begin());
}

Settings to_settings(const CommonFlags& flags) {
  Settings settings = flags.own;
  settings.set("norm", joined(flags.norms));
  settings.set("preset", flags.preset);
  settings.set("data", flags.data);
  settings.set("seed", flags.seed);
  settings.set("epochs", flags.epochs);
  settings.set("batch", joined(flags.batches));
  settings.set("lr", flags.learning_rate);
  settings.set("record", flags.record_every);
  settings.set("smoke", flags.smoke);
  return settings;
}

void from_settings(const Settings& settings, CommonFlags& flags) {
  flags.own = settings;
  flags.norms = split(settings.get<std::string>("norm"));
  flags.preset = settings.get<std::string>("preset");
  flags.data = settings.get<std::string>("data");
  flags.seed = settings.get<std::int64_t>("seed");
  flags.epochs = settings.get<std::int64_t>("epochs");
  flags.batches.clear();
  for (const std::string& size : split(settings.get<std::string>("batch")))
    flags.batches.push_back(batch_size(size));
  flags.learning_rate = settings.get<double>("lr");
  if (settings.has("record")) flags.record_every = settings.get<std::int64_t>("record");
  if (settings.has("smoke")) flags.smoke = settings.get<std::int64_t>("smoke");
}

std::int64_t smoke_epochs() {
  const char* const value = std::getenv("LAMINA_SMOKE");
  return value == nullptr || *value == '\0' ? 0 : std::max(1L, std::strtol(value, nullptr, 10));
}

}  // namespace lamina
