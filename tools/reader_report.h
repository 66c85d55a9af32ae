#pragma once
// Figure 2 from runs of lamina attentive-reader.

#include <string>
#include <vector>

#include "models/attentive_reader/experiment.h"
#include "models/common/metrics.h"
#include "tools/plot.h"

namespace lamina {

/// One of the models that a call of the command trains.
struct ReaderVariant {
  std::string norm;  ///< "none", "batch", "batch-everywhere" or "layer"
  double gain = 1;   ///< where layer norm's gains start
  std::string name() const;
};

/// As in the paper's Figure 2: "BN-LSTM".
std::string title_of(const ReaderVariant& variant);

struct ReaderResult {
  ReaderVariant variant;
  Table curves;                            ///< its metrics.csv
  attentive_reader::ReaderTest test = {};  ///< of the model that was best on the validation questions
};

/// A markdown table, one row a variant, up to the last update that all have reached.
std::string summary(const std::vector<ReaderResult>& results);

/// Figure 2: the validation error against updates, as far as all have come, and what guessing gives.
std::vector<Panel> figure(const std::vector<ReaderResult>& results);

}  // namespace lamina
