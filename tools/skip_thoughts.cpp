#include "tools/skip_thoughts.h"

namespace lamina {

using namespace skip_thoughts;

void write_settings(const SkipFlags& flags, Settings& settings) {
  settings.set("condition", flags.condition);
  settings.set("evaluate_every", flags.evaluate_every);
  settings.set("lazy", flags.lazy);
}

void read_settings(const Settings& settings, SkipFlags& flags) {
  flags.condition = settings.get<std::string>("condition");
  flags.evaluate_every = settings.get<std::int64_t>("evaluate_every");
  if (settings.has("lazy")) flags.lazy = settings.get<bool>("lazy");
}

SkipOptions options_of(const SkipFlags& flags, const std::string& norm, std::int64_t batch) {
  return {.norm = norm_from(norm),
          .condition = flags.condition == "initial" ? Condition::initial : Condition::every_step,
          .embedding = flags.paper() ? size_t{620} : size_t{300},
          .hidden = flags.paper() ? size_t{2400} : size_t{600},
          .batch = static_cast<size_t>(batch),
          .learning_rate = static_cast<real>(flags.common.learning_rate),
          .lazy = flags.lazy,
          .seed = static_cast<std::uint64_t>(flags.common.seed)};
}

Corpus corpus_of(const SkipFlags& flags, const std::string& saved) {
  if (flags.common.data.empty()) {
    const size_t stories = smoke_epochs() > 0 ? 150 : flags.paper() ? 20000 : 2000;
    return synthetic_stories(static_cast<std::uint64_t>(flags.common.seed), stories);
  }
  return saved.empty() ? scan_books(flags.common.data, flags.paper() ? 20000 : 10000) : load_books(saved);
}

}  // namespace lamina
