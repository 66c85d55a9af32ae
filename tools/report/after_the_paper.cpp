// What became of layer normalization: Transformers, where it stands in them, and what others put in its place.

#include "tools/report/exhibits.h"

namespace lamina {

namespace {

/// Three exhibits show the file of lamina placement.
Exhibit placement(const char* id, const char* subject) {
  return {.part = later_part,
          .id = id,
          .title = "Xiong et al. 2020",
          .subject = subject,
          .setting =
              "Ours: random Transformers with one head and uniform attention, means over seeds. Dotted: a "
              "mean field, exact for wide models. Baseline: no normalization.",
          .command = "lamina placement --out runs/placement",
          .experiment = "placement",
          .file = "placement.csv",
          .group = "placement",
          .on_data = false};
}

Exhibit stream() {
  Exhibit exhibit = placement("placement-stream", "A Transformer's stream before training");
  exhibit.claim =
      "With the normalization in front of each part (pre-LN) the squared length of the stream grows linearly "
      "with the blocks, after block l between (1 + l / 2) d and (1 + 3 l / 2) d. Behind each sum (post-LN) "
      "it stays the same at every depth.";
  exhibit.largest = "depth";
  exhibit.charts = {{.title = "Squared length / d by block, deepest model",
                     .x = "block",
                     .x_label = "block l",
                     .y = "after_block",
                     .y_label = "squared length / d",
                     .log_y = true,
                     .theory = {"formula_after_block", "mean field"}}};
  exhibit.measures = {{"blocks", "block"},
                      {"after the first block", "after_block", Pick::first},
                      {"after the last", "after_block"},
                      {"mean field", "formula_after_block"}};
  return exhibit;
}

Exhibit gradient_by_depth() {
  Exhibit exhibit = placement("placement-gradient", "The last block's gradient against the depth");
  exhibit.claim =
      "The gradient of the last block's last matrix does not depend on the number L of blocks under post-LN, "
      "and falls like 1 / sqrt(L) under pre-LN: so post-LN needs a small learning rate at first.";
  exhibit.end_of = "depth";
  exhibit.charts = {{.title = "Gradient of the last block",
                     .x = "depth",
                     .x_label = "blocks L",
                     .y = "gradient",
                     .y_label = "norm of dL/dW(2,L)",
                     .log_x = true,
                     .log_y = true,
                     .theory = {"formula_gradient", "mean field"}}};
  exhibit.measures = {{"fewest blocks", "depth", Pick::first},
                      {"gradient", "gradient", Pick::first},
                      {"most blocks", "depth"},
                      {"gradient", "gradient"},
                      {"mean field", "formula_gradient"}};
  return exhibit;
}

Exhibit gradient_by_block() {
  Exhibit exhibit = placement("placement-blocks", "The gradients of all blocks");
  exhibit.claim =
      "Under pre-LN the gradients are about as large in every block; under post-LN they are largest in the "
      "last ones.";
  exhibit.largest = "depth";
  exhibit.charts = {{.title = "Gradient by block, deepest model",
                     .x = "block",
                     .x_label = "block l",
                     .y = "gradient",
                     .y_label = "norm of dL/dW(2,l)",
                     .log_y = true,
                     .theory = {"formula_gradient", "mean field"}}};
  exhibit.measures = {{"blocks", "block"},
                      {"first block", "gradient", Pick::first},
                      {"last block", "gradient"},
                      {"mean field, first", "formula_gradient", Pick::first},
                      {"mean field, last", "formula_gradient"}};
  return exhibit;
}

Exhibit language_model() {
  return {
      .part = later_part,
      .id = "transformer",
      .title = "Vaswani et al. 2017",
      .subject = "Transformers: a language model of characters or words",
      .claim =
          "Every Transformer normalizes its layers. Later papers move the normalization (Xiong et al. 2020) "
          "or "
          "put something else in its place (Zhang and Sennrich 2019, Xu et al. 2019, Zhu et al. 2025).",
      .setting =
          "Ours: bits per character or word of text held out, with any norm at any place. Single runs, which "
          "say little about norms.",
      .command = "lamina transformer --data DIR --norm layer,rms --placement post,pre --out runs/transformer",
      .experiment = "transformer",
      .facet = {"unit", "per "},
      .distinctions = {{"placement", ""}},
      .charts = {{"Text held out", "step", "updates", "valid_bits", "bits"},
                 {"Training", "step", "updates", "train_nll", "nats"}},
      .measures = {{"updates", "step", Pick::last, 1, 6},
                   {"last bits", "valid_bits", Pick::last, 1, 4},
                   {"lowest bits", "valid_bits", Pick::lowest, 1, 4},
                   {"at update", "valid_bits", Pick::where_lowest, 1, 6, "step"}},
      .length_column = "step",
  };
}

}  // namespace

std::vector<Exhibit> exhibits_after_the_paper() {
  return {stream(), gradient_by_depth(), gradient_by_block(), language_model()};
}

}  // namespace lamina
