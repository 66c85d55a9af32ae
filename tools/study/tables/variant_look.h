#pragma once
// How a study's variants look in tables and figures.

#include <string>
#include <vector>

#include "models/evidence/study/study.h"

namespace lamina {

/// A title in a panel: the settings of a combination without `left_out` and the one that the panel's title names.
std::string title_in_panel(const Study& study, size_t combination, const std::string& left_out = "");

/// The norms' own colours where they tell all these combinations apart, else the palette's in turn.
std::vector<int> colors_of(const Study& study, const std::vector<size_t>& combinations);

/// The values of the setting that the study gives panels; one empty value where there is none.
std::vector<std::string> panel_values(const Study& study);
/// Whether the combination is in the panel of this value.
bool in_panel(const Study& study, size_t combination, const std::string& value);
/// "mnist", or "batch 128".
std::string panel_title(const Study& study, const std::string& value);

/// A field of a CSV file: what would end it becomes something else.
std::string field_of(std::string value);

/// A cell of a table, with as many digits as tell runs apart.
std::string cell(double value);

}  // namespace lamina
