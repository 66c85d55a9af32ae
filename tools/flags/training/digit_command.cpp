#include "tools/flags/training/digit_command.h"

namespace lamina {

DigitCommand::DigitCommand(Command& command, const NamedTrainingStep& step, const CommonDefaults& defaults)
    : TrainingCommand(command, step, defaults) {
  add_optimizer_flag({"adam", "sgd"});
  fields
      .add("--momentum", momentum_, "of sgd: the part of a step that the next one keeps", {.required = false})
      .range(0, 0.999)
      .show_default();
  fields
      .add("--train-on", train_on_, "training cases to train on, drawn by the seed; by default all",
           {.required = false})
      .positive();
  add_sync_batch_norm_flag();
}

void DigitCommand::complete() {
  if (momentum_ > 0 && optimizer_kind() != OptimizerKind::sgd)
    fail<UsageError>("--momentum ", momentum_, ": it is SGD's; add --optimizer sgd, or leave it out");
  require_pairs();
}

/// Their table has a column for the batch, their figure panels.
std::vector<Variant> DigitCommand::variants() const {
  std::vector<Variant> all = TrainingCommand::variants();
  for (Variant& variant : all) {
    variant.title = title_of(variant.norm);
    variant.line = Line::solid;
  }
  return all;
}

DigitOptions DigitCommand::options() const {
  return {.norm = norm(),
          .batch = batch(),
          .optimizer = optimizer_kind(),
          .learning_rate = rate(),
          .momentum = static_cast<real>(momentum_),
          .seed = seed};
}

TrainingData DigitCommand::load() {
  data_ = !data_folder.empty() ? load_mnist(data_folder)
          : smoke > 0          ? synthetic_mnist(seed, 1280, 200, 200)
                               : synthetic_mnist(seed);
  if (train_on_ > 0) train_on_some(*data_, train_on_, seed);
  return {.source = data_->source, .cases = data_->train.count()};
}

Outcome DigitCommand::train_variant(const RunFolder& folder, const RunLabel& label) {
  const auto experiment = make();
  return train(folder, experiment->parameters, experiment->optimizer(), *experiment,
               {.label = label, .steps_per_epoch = experiment->steps_per_epoch(), .epochs = epochs});
}

/// The last column but one is chosen on the validation set, as one would.
std::string DigitCommand::summary(const TrainedVariants& trained) const {
  const auto at_best = [](const TrainedVariant& each) {
    const size_t best = lowest_row(each.curves, "valid_error");
    return formatted("%.2f%% (", 100 * each.curves.column("test_error")[best]) +
           formatted("%.0f)", each.curves.column("epoch")[best]);
  };
  return table_of(trained,
                  {title_column("variant"),
                   {"batch", [](const TrainedVariant& each) { return each.variant.setting("batch"); }},
                   last("epochs", "epoch", "%.0f"),
                   lowest_bold(last("train NLL", "train_nll", "%.2e")),
                   lowest_bold(last("valid error", "valid_error", "%.2f%%", 100)),
                   lowest_bold(last("test error", "test_error", "%.2f%%", 100)),
                   lowest_bold({"test error at best valid (epoch)", at_best}),
                   last("seconds", "seconds", "%.0f")});
}

/// Figure 6: train NLL on a log axis and test error against epochs, a pair of panels for each batch size.
std::vector<Panel> DigitCommand::figure(const TrainedVariants& trained) const {
  std::vector<Panel> panels;
  for (auto first = trained.begin(); first != trained.end();) {
    const std::string size = first->variant.setting("batch");
    const auto end = std::find_if(first, trained.end(), [&](const TrainedVariant& each) {
      return each.variant.setting("batch") != size;
    });
    const TrainedVariants same_size(first, end);
    const Panel panel{.title = "batch size " + size, .x_label = "epoch"};
    panels.push_back(panel_of(same_size, panel, "epoch", "train_nll"));
    panels.back().y_label = "train NLL [nats]";
    panels.back().log_y = true;
    panels.push_back(panel_of(same_size, panel, "epoch", "test_error"));
    panels.back().y_label = "test error";
    first = end;
  }
  return panels;
}

}  // namespace lamina
