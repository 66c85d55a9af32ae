#include "tools/skip_thoughts.h"

#include "tools/optimizer_flag.h"

namespace lamina {

using namespace skip_thoughts;

void fill_in_preset(SkipFlags& flags) {
  const Preset preset = preset_of(flags.common.preset);
  if (flags.evaluate_every == 0) flags.evaluate_every = static_cast<std::int64_t>(preset.evaluate_every);
  if (flags.hidden > 0) return;
  const bool smoke = flags.common.smoke > 0;
  flags.embedding = smoke ? 30 : static_cast<std::int64_t>(preset.options.embedding);
  flags.hidden = smoke ? 60 : static_cast<std::int64_t>(preset.options.hidden);
}

void write_settings(const SkipFlags& flags, Settings& settings) {
  settings.set("condition", flags.condition);
  settings.set("evaluate_every", flags.evaluate_every);
  settings.set("embedding", flags.embedding);
  settings.set("hidden", flags.hidden);
  settings.set("lazy", flags.lazy);
  settings.set("optimizer", flags.optimizer);
}

void read_settings(const Settings& settings, SkipFlags& flags) {
  flags.condition = settings.get<std::string>("condition");
  flags.evaluate_every = settings.get<std::int64_t>("evaluate_every");
  for (const auto& [name, value] :
       {std::pair("embedding", &flags.embedding), std::pair("hidden", &flags.hidden)})
    if (settings.has(name)) *value = settings.get<std::int64_t>(name);
  if (settings.has("lazy")) flags.lazy = settings.get<bool>("lazy");
  if (settings.has("optimizer")) flags.optimizer = settings.get<std::string>("optimizer");
}

SkipOptions options_of(const SkipFlags& flags, const std::string& norm, std::int64_t batch) {
  return {.norm = norm_from(norm),
          .condition = flags.condition == "initial" ? Condition::initial : Condition::every_step,
          .embedding = static_cast<size_t>(flags.embedding),
          .hidden = static_cast<size_t>(flags.hidden),
          .batch = static_cast<size_t>(batch),
          .optimizer = optimizer_from(flags.optimizer),
          .learning_rate = flags.common.learning_rate,
          .lazy = flags.lazy,
          .seed = static_cast<std::uint64_t>(flags.common.seed)};
}

Corpus corpus_of(const SkipFlags& flags, const std::string& saved) {
  const Preset preset = preset_of(flags.common.preset);
  if (flags.common.data.empty())
    return synthetic_stories(static_cast<std::uint64_t>(flags.common.seed),
                             flags.common.smoke > 0 ? 150 : preset.stories);
  constexpr size_t without_a_word = 2;  // <eos> and <unk>
  return saved.empty() ? scan_books(flags.common.data, preset.vocabulary - without_a_word)
                       : load_books(saved);
}

}  // namespace lamina
