#include "tools/report/paper/values.h"

#include <algorithm>
#include <cmath>

namespace lamina {

namespace {

struct PaperChart {
  const char* exhibit;  ///< "figure-4"
  const char* column;   ///< ours of the y axis: "test_bound"
  std::vector<PaperValue> values;
};

/// Pages are those of arXiv 1607.06450, version 1.
/// Its scores of the baseline are those of Figure 3's curve after 800,000 updates and not after the last, but for SICK's MSE,
/// which is 0.298 in the table and 0.299 there.
constexpr const char* table_3 = "Table 3, page 8";
constexpr const char* original = "Table 3, page 8; the line 'Original' of Figure 3";

const std::vector<PaperChart> charts = {
    {"figure-3",
     "sick_r",
     {
         {"Kiros et al.", "level", NAN, 0.848, original},
         {"baseline, after 800,000 updates", "none", 8e5, 0.842, table_3},
         {"layer norm, after a million updates", "layer", 1e6, 0.854, table_3},
     }},
    {"figure-3",
     "sick_mse",
     {
         {"Kiros et al.", "level", NAN, 0.287, original},
         {"baseline, after 800,000 updates", "none", 8e5, 0.298, table_3},
         {"layer norm, after a million updates", "layer", 1e6, 0.277, table_3},
     }},
    {"figure-3",
     "mr",
     {
         {"Kiros et al.", "level", NAN, 75.5, original},
         {"baseline, after 800,000 updates", "none", 8e5, 77.3, table_3},
         {"layer norm, after a million updates", "layer", 1e6, 79.5, table_3},
     }},
    {"figure-3",
     "cr",
     {
         {"Kiros et al.", "level", NAN, 79.3, original},
         {"baseline, after 800,000 updates", "none", 8e5, 81.8, table_3},
         {"layer norm, after a million updates", "layer", 1e6, 82.6, table_3},
     }},
    {"figure-3",
     "subj",
     {
         {"Kiros et al.", "level", NAN, 92.1, original},
         {"baseline, after 800,000 updates", "none", 8e5, 92.6, table_3},
         {"layer norm, after a million updates", "layer", 1e6, 93.4, table_3},
     }},
    {"figure-3",
     "mpqa",
     {
         {"Kiros et al.", "level", NAN, 86.9, original},
         {"baseline, after 800,000 updates", "none", 8e5, 87.9, table_3},
         {"layer norm, after a million updates", "layer", 1e6, 89.0, table_3},
     }},
    {"figure-4",
     "test_bound",
     {
         {"baseline, after 200 epochs", "none", NAN, 82.36, "Section 6.4, page 9"},
         {"layer norm, after 200 epochs", "layer", NAN, 82.09, "Section 6.4, page 9"},
     }},
};

}  // namespace

std::vector<PaperSetting> paper_settings(const std::string& exhibit) {
  // The paper says Adam; the code has one of its own.
  const PaperSetting adam{"optimizer", {"adam", "authors-adam"}};
  if (exhibit == "table-2") return {{"batch", {"128"}}, {"lr", {"0.001"}}, adam};
  if (exhibit == "table-3") return {{"batch", {"64"}}, {"lr", {"0.0002"}}, adam};
  if (exhibit == "figure-4") return {{"batch", {"128"}}, {"lr", {"0.001"}}};
  return {};
}

std::vector<PaperValue> paper_values(const std::string& exhibit, const std::string& column) {
  const auto found = std::ranges::find_if(
      charts, [&](const PaperChart& chart) { return chart.exhibit == exhibit && chart.column == column; });
  return found == charts.end() ? std::vector<PaperValue>{} : found->values;
}

}  // namespace lamina
