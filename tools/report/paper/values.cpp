#include "tools/report/paper/values.h"

#include <algorithm>
#include <cmath>

namespace lamina {

namespace {

/// Pages are those of arXiv 1607.06450, version 1.
const std::vector<PaperChart> charts = {
    {"figure-1", "valid_image_r1", {0, 90000, 34, 43}, "Figure 1, page 6; x: 0 to 300 times 300 updates", {}},
    {"figure-1", "valid_image_r5", {0, 90000, 71, 78}, "Figure 1, page 6; x: 0 to 300 times 300 updates", {}},
    {"figure-1",
     "valid_image_r10",
     {0, 90000, 84, 90},
     "Figure 1, page 6; x: 0 to 300 times 300 updates",
     {}},
    {"figure-2", "valid_error", {0, 800000, 0.4, 1}, "Figure 2, page 7; x: 0 to 800 thousand updates", {}},
    {"figure-3",
     "sick_r",
     {250000, 1000000, 0.82, 0.86},
     "Figure 3, page 8; x: 5 to 20 times 50,000 updates; y: 82 to 86, 100 r",
     {
         {"Kiros et al.", "level", NAN, 0.848, "Table 3, page 8; the line 'Original' of Figure 3"},
         {"baseline, after a million updates", "none", 1e6, 0.842, "Table 3, page 8"},
         {"layer norm, after a million updates", "layer", 1e6, 0.854, "Table 3, page 8"},
     }},
    {"figure-3",
     "sick_mse",
     {250000, 1000000, 0.27, 0.34},
     "Figure 3, page 8; x: 5 to 20 times 50,000 updates; y: 27 to 34, 100 MSE",
     {
         {"Kiros et al.", "level", NAN, 0.287, "Table 3, page 8; the line 'Original' of Figure 3"},
         {"baseline, after a million updates", "none", 1e6, 0.298, "Table 3, page 8"},
         {"layer norm, after a million updates", "layer", 1e6, 0.277, "Table 3, page 8"},
     }},
    {"figure-3",
     "mr",
     {250000, 1000000, 70, 82},
     "Figure 3, page 8; x: 5 to 20 times 50,000 updates; y: 70 to 82%",
     {
         {"Kiros et al.", "level", NAN, 75.5, "Table 3, page 8; the line 'Original' of Figure 3"},
         {"baseline, after a million updates", "none", 1e6, 77.3, "Table 3, page 8"},
         {"layer norm, after a million updates", "layer", 1e6, 79.5, "Table 3, page 8"},
     }},
    {"figure-3",
     "cr",
     {250000, 1000000, 74, 86},
     "Figure 3, page 8; x: 5 to 20 times 50,000 updates; y: 74 to 86%",
     {
         {"Kiros et al.", "level", NAN, 79.3, "Table 3, page 8; the line 'Original' of Figure 3"},
         {"baseline, after a million updates", "none", 1e6, 81.8, "Table 3, page 8"},
         {"layer norm, after a million updates", "layer", 1e6, 82.6, "Table 3, page 8"},
     }},
    {"figure-3",
     "subj",
     {250000, 1000000, 90, 94.5},
     "Figure 3, page 8; x: 5 to 20 times 50,000 updates; y: 90 to 94.5%",
     {
         {"Kiros et al.", "level", NAN, 92.1, "Table 3, page 8; the line 'Original' of Figure 3"},
         {"baseline, after a million updates", "none", 1e6, 92.6, "Table 3, page 8"},
         {"layer norm, after a million updates", "layer", 1e6, 93.4, "Table 3, page 8"},
     }},
    {"figure-3",
     "mpqa",
     {250000, 1000000, 83, 91},
     "Figure 3, page 8; x: 5 to 20 times 50,000 updates; y: 83 to 91%",
     {
         {"Kiros et al.", "level", NAN, 86.9, "Table 3, page 8; the line 'Original' of Figure 3"},
         {"baseline, after a million updates", "none", 1e6, 87.9, "Table 3, page 8"},
         {"layer norm, after a million updates", "layer", 1e6, 89.0, "Table 3, page 8"},
     }},
    {"figure-4",
     "test_bound",
     {0, 100, 80, 100},
     "Figure 4, page 9",
     {
         {"baseline, after 200 epochs", "none", NAN, 82.36, "Section 6.4, page 9"},
         {"layer norm, after 200 epochs", "layer", NAN, 82.09, "Section 6.4, page 9"},
     }},
    {"figure-5", "train_nll", {200, 200000, -900, 0}, "Figure 5, page 9; x: 1 to 1000 times 200 updates", {}},
    {"figure-5", "test_nll", {200, 200000, -900, 0}, "Figure 5, page 9; x: 1 to 1000 times 200 updates", {}},
    {"figure-6", "train_nll", {0, 60, 1e-7, 1}, "Figure 6, page 10", {}},
    {"figure-6", "test_error", {0, 60, 0.005, 0.025}, "Figure 6, page 10", {}},
};

}  // namespace

const PaperChart* paper_chart(const std::string& exhibit, const std::string& column) {
  const auto found = std::ranges::find_if(
      charts, [&](const PaperChart& chart) { return chart.exhibit == exhibit && chart.column == column; });
  return found == charts.end() ? nullptr : &*found;
}

}  // namespace lamina
