#pragma once
// The paper's curves, read off its figures as points: tools/report/paper/curves.json, which tools/paper-curves.py makes of the
// paper's PDF.

#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct PaperAxis {
  std::string name;  ///< "iteration x 300"
  double low, high;  ///< the ends of the figure's frame, in its own units
  double line;  ///< how wide a curve's line is in them; on a logarithmic axis the factor between its edges
  bool log;
  double times, plus;  ///< our column's value is the figure's times `times`, plus `plus`

  double ours(double value) const { return times * value + plus; }
};

struct PaperCurve {
  std::string name;                    ///< in the figure's legend: "LN-LSTM"
  std::string norm;                    ///< as in config.json; "level" for what has none
  std::string column;                  ///< ours of the y axis: "valid_error"
  std::vector<double> x = {}, y = {};  ///< in units of our columns; NaN is a gap
};

struct PaperPanel {
  int figure, page;
  std::string panel;    ///< "(a) Recall@1", "upper left"; empty where a figure has one
  std::string exhibit;  ///< "figure-1"
  std::string facet;    ///< "batch size 128"; empty for any
  PaperAxis x, y;
  std::vector<PaperCurve> curves;
};

/// Of the content of the file. DataError with the path and the remedy for anything else.
std::vector<PaperPanel> panels_from(const std::string& path, std::string_view content);

/// The file that `make` puts beside the page; nothing where there is none.
std::vector<PaperPanel> read_panels();

/// The panel with this column of this exhibit in this facet; nullptr when the paper has none.
const PaperPanel* panel_of(const std::vector<PaperPanel>& panels, const std::string& exhibit,
                           const std::string& column, const std::string& facet);

/// "Figure 1 (a) Recall@1, page 6; x: iteration x 300, 0 to 300; y: mean Recall@1, 34 to 43".
std::string source_of(const PaperPanel& panel);

}  // namespace lamina
