// The paper's theory in the report: Section 3.1 on stability, 5.1 on invariance and 5.2 on geometry.

#include "core/error.h"
#include "models/analysis/invariance.h"
#include "tools/report/exhibits/exhibits.h"

namespace lamina {

namespace {

Exhibit stability() {
  return {
      .id = "section-3-1",
      .title = "Section 3.1",
      .section = "3.1",
      .subject = "Hidden states and gradients over time",
      .claim =
          "In a plain RNN the summed inputs tend to grow or to shrink at every step, and gradients "
          "explode or vanish. Layer norm does not see the scale of the summed inputs, which makes the "
          "hidden-to-hidden dynamics much more stable.",
      .setting =
          "Ours: a tanh RNN over random inputs, its recurrent weights an orthogonal matrix times a "
          "scale, and a loss that looks at the last state only. The paper shows no figure.",
      .command = "lamina stability --out runs/stability",
      .readme = "models/lab/README.md",
      .file = "stability.csv",
      .group = "norm",
      .distinctions = {{"scale", "weights × "}},
      .charts = {{"Hidden state", "step", "step t", "hidden_norm", "length of h_t", false, true},
                 {"Its gradient", "step", "step t", "hidden_gradient_norm", "length of dL/dh_t", false,
                  true}},
      .measures = {{"h_1", "hidden_norm", Pick::first},
                   {"h_T", "hidden_norm"},
                   {"dL/dh_1", "hidden_gradient_norm", Pick::first},
                   {"dL/dh_T", "hidden_gradient_norm"}},
      .on_data = false,
  };
}

Exhibit table_1() {
  return {
      .id = "table-1",
      .title = "Table 1",
      .section = "5.1",
      .subject = "Invariance of the normalized outputs",
      .claim =
          "Layer norm alone is invariant to re-centering the weight matrix and to re-scaling a single "
          "training case; it gives up the re-scaling of one weight vector and, unlike batch norm, the "
          "re-centering of the data set.",
      .setting =
          text("Ours: the largest relative change of a layer's output over many random draws, in double "
               "precision; yes is a change below ",
               analysis::invariance_threshold, ". The default epsilon breaks exactness."),
      .command = "lamina invariance --out runs/invariance",
      .readme = "models/analysis/README.md",
      .file = "invariance.csv",
      .paper = {{"batch norm", "batch", {"yes", "no", "yes", "yes", "yes", "no"}},
                {"weight norm", "weight", {"yes", "no", "yes", "no", "no", "no"}},
                {"layer norm", "layer", {"yes", "yes", "no", "yes", "no", "yes"}}},
      .paper_columns = {"weight matrix re-scaling", "weight matrix re-centering", "weight vector re-scaling",
                        "dataset re-scaling", "dataset re-centering", "single case re-scaling"},
      .tables = {{.title = "Measured, with epsilon ",
                  .names = {"scheme"},
                  .column = "transformation",
                  .values = {"change"},
                  .split = "epsilon",
                  .threshold = analysis::invariance_threshold}},
      .on_data = false,
  };
}

/// Section 5.2 makes three claims, each with a file of its own from the same command.
Exhibit geometry(const char* id, const char* subject) {
  return {.id = id,
          .title = "Section 5.2",
          .section = "5.2",
          .subject = subject,
          .command = "lamina geometry --data DIR --out runs/geometry",
          .readme = "models/analysis/README.md",
          .group = "norm",
          .on_data = false};
}

Exhibit learning_rate() {
  Exhibit exhibit = geometry("section-5-2", "Implicit learning-rate reduction");
  exhibit.claim =
      "With normalization, growing weight vectors turn less for the same update: normalization lowers the "
      "learning rate by itself, and a large weight norm stops learning early and helps to stabilize it.";
  exhibit.setting =
      "Ours: the angle by which an update at the end of a training on digits turns the weight vectors, "
      "a mean over the last 25 updates, against their mean length.";
  exhibit.on_data = true;
  exhibit.file = "turning.csv";
  exhibit.facet = {"optimizer", ""};
  exhibit.end_of = "scale";
  exhibit.charts = {
      {"Angle", "length", "length of the weight vectors", "degrees", "degrees per update", true, true}};
  return exhibit;
}

Exhibit magnitude() {
  Exhibit exhibit = geometry("section-5-2-gain", "Learning the magnitude of the weights");
  exhibit.claim =
      "Along the gains the metric depends on the error of the prediction alone (Eq. 32 to 34), while in a "
      "standard model the matching move costs more the larger the inputs are (Eq. 35).";
  exhibit.setting = "Ours: mean curvature along the gain when all inputs are multiplied by a factor.";
  exhibit.finding =
      "(32) is not exact under batch norm. It leaves (a_i - mu_i)(a_j - mu_j) / (sigma_i sigma_j) out, whose "
      "mean over the data is 1 for i = j: that is exact for Gaussian outputs, whose covariance is the same "
      "for all cases, and wrong for Bernoulli and categorical ones. (34), of weight norm, grows with the "
      "inputs as the standard model does.";
  exhibit.file = "gain.csv";
  exhibit.facet = {"outputs", ""};
  exhibit.charts = {
      {"Curvature along the gain", "factor", "factor of the inputs", "curvature", "curvature", true, true}};
  return exhibit;
}

Exhibit fisher() {
  Exhibit exhibit = geometry("section-5-2-fisher", "The Fisher matrix of a normalized model");
  exhibit.claim =
      "Equation (13) gives the Fisher matrix of a normalized generalized linear model, with the block of "
      "each pair of outputs made of their own weights.";
  exhibit.setting =
      "Ours: the largest difference between the paper's formulas and the matrix from automatic "
      "differentiation, by block, relative to its largest entry; rounding is some 1e-16.";
  exhibit.finding =
      "Two formulas are not exact; their cells are marked. (13) under layer norm: it differentiates each "
      "output with respect to its own unit's weights, but mu and sigma are shared, so every output depends "
      "on every unit's weights, and all blocks with weights are wrong; those of gains and biases are right. "
      "(32) under batch norm is exact for Gaussian outputs only.";
  exhibit.file = "formulas.csv";
  exhibit.tables = {{.title = "Formula against autodiff",
                     .names = {"outputs", "norm"},
                     .values = {"weights", "weights_bias", "weights_gain", "bias_gain", "along_gain"},
                     .exact_below = 1e-9}};
  return exhibit;
}

}  // namespace

std::vector<Exhibit> exhibits_of_the_theory() {
  return {stability(), table_1(), learning_rate(), magnitude(), fisher()};
}

}  // namespace lamina
