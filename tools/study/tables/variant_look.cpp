#include "tools/study/tables/variant_look.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/results/norm_table.h"
#include "tools/results/palette.h"

namespace lamina {

namespace {

/// Whether a word tells nothing without its key: another setting has it as well.
bool is_ambiguous(const Study& study, const std::string& key, const std::string& word) {
  for (const Combination& each : study.combinations)
    for (const auto& [other, value] : each.settings.entries())
      if (other != key && text_of(value) == word) return true;
  return false;
}

}  // namespace

std::string title_in_panel(const Study& study, size_t combination, const std::string& left_out) {
  std::string title;
  for (const auto& [key, value] : study.combinations[combination].settings.entries()) {
    if (key == study.panels || key == left_out) continue;
    const std::string word = text_of(value);
    const bool alone = std::holds_alternative<std::string>(value) && !is_ambiguous(study, key, word);
    title += (title.empty() ? "" : ", ") + (key == "norm" ? title_of(word)
                                            : alone       ? word
                                                          : text(key, ' ', word));
  }
  return title.empty() ? study.experiment : title;
}

std::vector<int> colors_of(const Study& study, const std::vector<size_t>& combinations) {
  std::vector<int> colors;
  std::set<int> different;
  for (const size_t i : combinations) {
    colors.push_back(color_of(study.combinations[i].settings.word("norm")));
    if (colors.back() >= 0) different.insert(colors.back());
  }
  if (different.size() == colors.size()) return colors;
  for (size_t i = 0; i < colors.size(); ++i) colors[i] = plain_color(i);
  return colors;
}

std::vector<std::string> panel_values(const Study& study) {
  if (study.panels.empty()) return {""};
  std::vector<std::string> values;
  for (const Combination& each : study.combinations)
    if (const std::string value = each.settings.word(study.panels);
        std::ranges::find(values, value) == values.end())
      values.push_back(value);
  return values;
}

bool in_panel(const Study& study, size_t combination, const std::string& value) {
  return study.panels.empty() || study.combinations[combination].settings.word(study.panels) == value;
}

std::string panel_title(const Study& study, const std::string& value) {
  return study.panels.empty() ? study.experiment : study.panels + ' ' + value;
}

std::string field_of(std::string value) {
  std::ranges::replace(value, ',', ';');
  std::ranges::replace(value, '\n', ' ');
  return value;
}

std::string cell(double value) { return std::isfinite(value) ? formatted("%.4g", value) : "-"; }

}  // namespace lamina
