// The laboratory in the report: an exhibit for each lab, made from its own declaration.

#include "core/error.h"
#include "models/lab/labs.h"
#include "tools/report/exhibits/exhibits.h"

namespace lamina {

namespace {

Exhibit exhibit_of(const lab::Lab& lab) {
  Exhibit exhibit{.part = laboratory_part,
                  .id = "lab-" + lab.name,
                  .title = "Lab " + lab.name,
                  .subject = lab.title,
                  .claim = lab.sentence,
                  .setting = text("From: ", lab.source, ". Ours: ", lab.setting,
                                  " Lines: median of the seeds; bands: all of them."),
                  .command = text("lamina lab ", lab.name, " --out runs/lab/", lab.name),
                  .readme = "models/lab/README.md",
                  .experiment = "lab",
                  .study = lab.name,
                  .file = "curves.csv",
                  .group = "variant",
                  .on_data = false};
  for (const lab::LabChart& chart : lab.charts)
    exhibit.charts.push_back({.title = chart.title,
                              .x = "x",
                              .x_label = chart.x_label,
                              .y = chart.quantity,
                              .y_label = chart.y_label,
                              .log_x = chart.log_x,
                              .log_y = chart.log_y,
                              .low = chart.quantity + " low",
                              .high = chart.quantity + " high"});
  return exhibit;
}

/// What lamina graph draws.
Exhibit tape() {
  return {.part = laboratory_part,
          .id = "tape",
          .title = "The tape",
          .subject = "The graph of a training step",
          .claim =
              "A step of training is a list of ops in the order in which they ran; the backward pass walks "
              "it from its end.",
          .setting =
              "Of the experiment's own training step on random data: the darker, the longer an op or layer "
              "takes.",
          .command = "lamina graph mnist --norm layer --collapse --out runs/graph-mnist",
          .readme = "models/analysis/INSPECT.md",
          .file = "",
          .pictures = {{"layers.svg", "One node a layer"}, {"tape.svg", "One node an op"}},
          .on_data = false};
}

}  // namespace

std::vector<Exhibit> exhibits_of_the_laboratory() {
  std::vector<Exhibit> all;
  for (const lab::Lab& lab : lab::labs()) all.push_back(exhibit_of(lab));
  all.push_back(tape());
  return all;
}

}  // namespace lamina
