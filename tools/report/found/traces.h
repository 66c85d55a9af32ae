#pragma once
// What an exhibit finds in the runs: traces, each the rows of one run under one normalization. Of a run that diverged there may
// be no rows.

#include <string>
#include <vector>

#include "tools/report/exhibits/exhibits.h"
#include "tools/report/found/runs.h"

namespace lamina {

struct Trace {
  const FoundRun* run = nullptr;
  const Csv* csv = nullptr;
  std::vector<size_t> rows = {};  ///< of the file
  std::string norm = {};          ///< "layer"; empty when the run does not say
  /// Of its colour: the norm's or that of its first word, or else "plain-0", "plain-1", ...
  std::string look = {};
  std::string label = {};  ///< in legends; no two of a facet are alike
  std::string facet = {};  ///< "batch size 4"; empty without facets
  int dash = 0;            ///< 0 for the first label of its look, then 1, 2, ...; the same in every facet
  /// Those of all seeds, where runs differ in nothing else: they are shown as one, the median in its range. Empty for one.
  std::vector<Trace> seeds = {};

  /// One column's numbers, of the first seed; empty when the file has no such column.
  std::vector<double> column(const std::string& name) const;
  /// This trace, or those of all seeds.
  std::vector<Trace> singles() const { return seeds.empty() ? std::vector<Trace>{*this} : seeds; }
};

/// Whether a run is one of an exhibit's, even when its file is missing.
bool belongs(const FoundRun& run, const Exhibit& exhibit);

bool shows(const Exhibit& exhibit, const FoundStudy& study);

/// All traces of an exhibit; runs without rows in the exhibit's file have none, unless they diverged.
std::vector<Trace> traces_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs);

/// The facets of some traces, as they come.
std::vector<std::string> facets_of(const std::vector<Trace>& traces);

/// A setting of a run as text; empty when there is none.
std::string setting_of(const FoundRun& run, const std::string& name);
/// What a run trained on: "synthetic data", "data: data/mnist", or "data not recorded".
std::string data_words(const FoundRun& run);
/// "trained on 1000 alone", "cut down by LAMINA_SMOKE=1": of the data a part; empty when nothing was left out.
std::string part_of_data(const FoundRun& run);

/// The place of a name in a list, at whose end a new one is put.
size_t place_of(std::vector<std::string>& names, const std::string& name);

}  // namespace lamina
