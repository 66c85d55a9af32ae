// What became of layer normalization: Transformers, where it stands in them, and what others put in its place.

#include "core/error.h"
#include "tools/report/exhibits/exhibits.h"

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
          .readme = "models/transformer/README.md",
          .experiment = "placement",
          .file = "placement.csv",
          .group = "placement",
          .on_data = false};
}

/// A column of that file against "block", of the deepest model alone, or "depth"; dotted what theory says of it.
ChartPlan beside_theory(const char* title, const std::string& x, const std::string& y, const char* y_label) {
  return {.title = title,
          .x = x,
          .x_label = x == "depth" ? "blocks L" : "block l",
          .y = y,
          .y_label = y_label,
          .log_x = x == "depth",
          .log_y = true,
          .theory = {"formula_" + y, "mean field"}};
}

Exhibit stream() {
  Exhibit exhibit = placement("placement-stream", "A Transformer's stream before training");
  exhibit.claim =
      "With the normalization in front of each part (pre-LN) the squared length of the stream grows linearly "
      "with the blocks, after block l between (1 + l / 2) d and (1 + 3 l / 2) d. Behind each sum (post-LN) "
      "it stays the same at every depth.";
  exhibit.largest = "depth";
  exhibit.charts = {beside_theory("Squared length / d by block, deepest model", "block", "after_block",
                                  "squared length / d")};
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
  exhibit.charts = {beside_theory("Gradient of the last block", "depth", "gradient", "norm of dL/dW(2,L)")};
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
  exhibit.setting += " Of the gradients it has that of the last block alone, a point.";
  exhibit.largest = "depth";
  exhibit.charts = {
      beside_theory("Gradient by block, deepest model", "block", "gradient", "norm of dL/dW(2,l)")};
  exhibit.measures = {{"blocks", "block"},
                      {"first block", "gradient", Pick::first},
                      {"last block", "gradient"},
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
          "or put something else in its place (Zhang and Sennrich 2019, Xu et al. 2019, Zhu et al. 2025).",
      .setting =
          "Ours: bits per character or word of text held out, with any norm at any place. Single runs, which "
          "say little about norms; the studies below have several seeds.",
      .command = "lamina transformer --data DIR --norm layer,rms --placement post,pre --out runs/transformer",
      .readme = "models/transformer/README.md",
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

/// A study in models/transformer/studies.
Exhibit study(const char* name, const char* paper, const char* subject) {
  return {.part = later_part,
          .id = text("study-", name),
          .title = paper,
          .subject = subject,
          .command = text("lamina study models/transformer/studies/", name, ".json --out runs/study-", name),
          .readme = "models/transformer/README.md",
          .experiment = "transformer",
          .study = name,
          .file = "variants.csv"};
}

/// The bits at the end against the learning rate: median and range of the seeds.
ChartPlan rates() {
  return {.title = "At the end",
          .x = "lr",
          .x_label = "learning rate",
          .y = "valid_bits",
          .y_label = "bits per character",
          .log_x = true,
          .low = "valid_bits_low",
          .high = "valid_bits_high"};
}

Exhibit warmup() {
  Exhibit exhibit = study("warmup", "Xiong et al. 2020", "Warm-up and the place of the normalization");
  exhibit.claim =
      "Post-LN needs a learning rate that rises slowly at first; without it the model ends far worse. Pre-LN "
      "needs none, and ends as well.";
  exhibit.setting =
      "Ours: characters of one novel, 1000 updates, Adam at a constant rate after 0 or 200 updates of "
      "warm-up, 2 or 8 layers of width 64. Lines: median of the seeds; bands: all of them.";
  exhibit.group = "placement";
  exhibit.facet = {"layers", "layers "};
  exhibit.distinctions = {{"warmup", "warm-up "}};
  exhibit.charts = {rates()};
  exhibit.measures = {{"lowest bits", "valid_bits", Pick::lowest, 1, 4},
                      {"at rate", "valid_bits", Pick::where_lowest, 1, 2, "lr"}};
  return exhibit;
}

Exhibit norms() {
  Exhibit exhibit = study("norms", "Xu et al. 2019", "Which part of layer norm helps");
  exhibit.claim =
      "The derivatives of mean and deviation matter more than the normalization of the forward pass: with "
      "both constant in the backward pass (detached) a model is worse than with layer norm, and often than "
      "without. Gain and bias are not needed. Zhang and Sennrich (2019): neither is the mean.";
  exhibit.setting =
      "Ours: characters of one novel, pre-LN with 4 layers of width 64, 2000 updates. Lines: median of the "
      "seeds; bands: all of them.";
  exhibit.group = "norm";
  exhibit.charts = {rates()};
  exhibit.measures = {{"lowest bits", "valid_bits", Pick::lowest, 1, 4},
                      {"at rate", "valid_bits", Pick::where_lowest, 1, 2, "lr"},
                      {"lowest test bits", "test_bits", Pick::lowest, 1, 4}};
  return exhibit;
}

Exhibit passed_back() {
  Exhibit exhibit = study("gradient", "Xu et al. 2019", "What a norm passes back");
  exhibit.claim =
      "The derivatives of mean and deviation re-center and re-scale the gradient: what layer norm passes "
      "back has no component along 1 and none along its centred input. With constant statistics it has both.";
  exhibit.setting =
      "Ours: of the gradient that each norm passes back to its input, the absolute components relative to "
      "its length, means over positions and layers, at the end of the training of the study above. A "
      "gradient of random direction has 0.1 of both.";
  exhibit.group = "norm";
  exhibit.measures = {{"along 1", "passed.along_one", Pick::last, 1, 2},
                      {"along the centred input", "passed.along_input", Pick::last, 1, 2},
                      {"bits per character", "valid_bits", Pick::last, 1, 4}};
  return exhibit;
}

Exhibit dyt() {
  Exhibit exhibit = study("dyt", "Zhu et al. 2025", "DyT in layer norm's place, on little text and on much");
  exhibit.claim =
      "tanh(alpha x) does as well as layer norm without any statistics. Later work has it better where data "
      "are scarce for the model, and worse where they are plenty.";
  exhibit.setting =
      "Ours: the first 0.1, 1 and 2.9 million characters of one novel, pre-LN with 4 layers of width 64, "
      "3000 updates. Lines: median of the seeds; bands: all of them.";
  exhibit.group = "norm";
  exhibit.distinctions = {{"lr", "rate "}};
  exhibit.charts = {rates()};
  exhibit.charts[0].x = "train-on";
  exhibit.charts[0].x_label = "characters to train on";
  exhibit.measures = {{"lowest bits", "valid_bits", Pick::lowest, 1, 4},
                      {"with characters", "valid_bits", Pick::where_lowest, 1, 6, "train-on"},
                      {"lowest test bits", "test_bits", Pick::lowest, 1, 4}};
  return exhibit;
}

}  // namespace

std::vector<Exhibit> exhibits_after_the_paper() {
  return {
      stream(), gradient_by_depth(), gradient_by_block(), language_model(), warmup(), norms(), passed_back(),
      dyt()};
}

}  // namespace lamina
