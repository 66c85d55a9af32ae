#pragma once
// What the report shows: the figures, tables and claims of the paper, in its order, then those of later papers,
// each with the experiment that answers it and the columns that hold the answer. A new experiment comes into the
// report with what models/evidence/known_experiments.cpp says of it, or, with a claim and charts of its own choice, by an
// entry in exhibits.cpp or after_the_paper.cpp; nothing else knows any of them by name.

#include <string>
#include <vector>

#include "models/evidence/known_experiments.h"
#include "tools/report/found/pictures.h"

namespace lamina {

/// A column that is the same for all runs on the same data, such as what guessing gives.
struct Level {
  std::string column = {}, title = {};
};

/// A chart: the column `y` against the column `x`, one curve a run (or a group of rows), and one a level.
struct ChartPlan {
  std::string title = {}, x = {}, x_label = {}, y = {}, y_label = {};
  bool log_x = false, log_y = false;  ///< how it opens; the reader can switch
  std::vector<Level> levels = {};
  std::string low = {}, high = {};  ///< columns of a band around each curve
  Level theory = {};                ///< beside each curve, the column that holds what theory says of it
  bool best_is_highest = false;     ///< a run that diverged counts as the worst
  bool in_all_runs = true;          ///< false: only some settings have the columns, and a run may lack them
};

enum class Pick { first, last, lowest, highest, where_lowest, where_highest };

/// A column of the table of numbers: one value chosen from a column of the file. `first` and `last` are those of the first and
/// the last row, known or not. `where_...` is not the value itself but the x at which it stands.
struct Measure {
  std::string title = {};
  std::string column = {};
  Pick pick = Pick::last;
  double scale = 1;  ///< 100 for percent
  int digits = 3;    ///< significant ones
  std::string x = "epoch";
};

/// A row of the paper's own numbers, one cell a measure; "" where the paper has none.
struct PaperRow {
  std::string label = {};
  std::string norm = {};
  std::vector<std::string> cells = {};
  std::vector<std::string> of = {};  ///< runs beside it have these values of the exhibit's distinctions
};

/// A table made of the rows of a file. Without `column` a row of the file is a row of the table, and `values`
/// are its columns; otherwise each value of `column` is one, and a cell holds the largest of the only value.
struct TablePlan {
  std::string title = {};
  std::vector<std::string> names = {};  ///< the columns that name a row; one called norm or scheme colours it
  std::string column = {};
  std::vector<std::string> values = {};
  std::string split = {};  ///< a table for each value of this column
  double threshold = 0;    ///< above 0: cells say yes when below it, or else no, before the number
  double exact_below = 0;  ///< above 0: cells that are not below it are marked
};

/// What tells curves apart besides the norm: a setting of the run or a column of the file.
struct Distinction {
  std::string name = {};    ///< "gain"
  std::string phrase = {};  ///< before the value in a legend: "gain "
};

inline constexpr const char* paper_part = "The paper";
inline constexpr const char* later_part = "After the paper";
inline constexpr const char* laboratory_part = "The laboratory";
inline constexpr const char* speed_part = "Speed";

struct Exhibit {
  std::string part = paper_part;  ///< of the report: exhibits of one part follow each other
  std::string id = {};            ///< "figure-6", also the anchor in the page
  std::string title = {};         ///< "Figure 6"
  std::string section = {};       ///< of the paper, "6.6"
  std::string subject = {};       ///< "Permutation-invariant MNIST"
  std::string claim = {};         ///< the paper's, in our words; empty where nobody claims anything
  std::string setting = {};       ///< the paper's data and settings, or how we measure
  std::string finding = {};       ///< what we found that the paper does not say; empty for most
  std::string command = {};       ///< reproduces it
  std::string readme = {};        ///< of the experiment: "models/mnist/README.md"
  std::string experiment = {};    ///< in config.json; empty: any folder with the file will do
  std::string study =
      {};  ///< "warmup": shows this study of the experiment (lamina study), or this lab, instead of runs
  std::string file = "metrics.csv";
  Distinction facet = {};    ///< what gets charts of its own for each value: "batch", "batch size "
  std::string group = {};    ///< the column that holds the norm, when one file has the rows of several
  std::string end_of = {};   ///< of the rows with the same value in this column, only the last makes a curve
  std::string largest = {};  ///< only the rows with the largest number in this column
  std::vector<Distinction> distinctions = {};
  std::vector<ChartPlan> charts = {};
  std::vector<Measure> measures = {};
  std::vector<PaperRow> paper = {};
  std::string paper_data = {};                  ///< what the paper's curves were trained on: "the CNN corpus"
  std::vector<std::string> paper_columns = {};  ///< heads of the paper's table, where they are no measures
  std::vector<TablePlan> tables = {};
  std::vector<PicturePlan> pictures = {};
  double full_length = 0;  ///< of the paper's runs, in `length_column`; 0: the paper does not say
  std::string length_column = "epoch";
  bool on_data = true;  ///< false: random inputs only, so nothing is real or synthetic
};

/// The same exhibit of the single updates of its runs (steps.csv, models/run/FILES.md): loss and gradient norm, which grow
/// within an epoch. Without charts where the exhibit has none or shows no training.
Exhibit updates_of(Exhibit exhibit);

/// What shows the runs of an experiment without an exhibit written by hand: a chart of each of its curves against updates, and
/// the last and the best value of each. It has no claim, and no numbers of a paper.
Exhibit exhibit_of(const KnownExperiment& experiment);

/// All of them: those of the paper, in its order, those of what came after it, of other experiments, and one for each lab.
const std::vector<Exhibit>& exhibits();

/// Parts of them, the first those of the paper's sections before its experiments.
std::vector<Exhibit> exhibits_of_the_theory();
std::vector<Exhibit> exhibits_after_the_paper();
/// One for each experiment whose runs none of `by_hand` shows.
std::vector<Exhibit> exhibits_of_other_experiments(const std::vector<Exhibit>& by_hand);
std::vector<Exhibit> exhibits_of_the_laboratory();

}  // namespace lamina
