// The laboratory in the report: an exhibit for each lab, made from its own declaration.

#include "core/error.h"
#include "models/lab/labs.h"
#include "tools/report/exhibits.h"

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

}  // namespace

std::vector<Exhibit> exhibits_of_the_laboratory() {
  std::vector<Exhibit> all;
  for (const lab::Lab& lab : lab::labs()) all.push_back(exhibit_of(lab));
  return all;
}

}  // namespace lamina
