#pragma once
// Table 2 and Figure 1 from runs of lamina order-embedding.

#include <string>
#include <vector>

#include "models/common/metrics.h"
#include "models/order_embedding/experiment.h"
#include "tools/plot.h"

namespace lamina {

/// One of the models that a call of the command trains.
struct OrderVariant {
  std::string score, norm;
  std::string name() const { return score + "-" + norm; }
};

/// As in the paper: "OE + LN".
std::string title_of(const OrderVariant& variant);

struct OrderResult {
  OrderVariant variant;
  Table curves;                       ///< its metrics.csv
  order_embedding::BestBy best_by{};  ///< what its best model was chosen by
  order_embedding::Retrieval test{};  ///< of the model that was best on the validation images
};

/// Two markdown tables: Table 2, and when each variant reached its best validation model.
std::string summary(const std::vector<OrderResult>& results);

/// Figure 1: R@1, R@5 and R@10 of images on the validation set against updates / period.
std::vector<Panel> figure(const std::vector<OrderResult>& results, double period);

}  // namespace lamina
