// lamina order-embedding: Section 6.1, Figure 1 and Table 2. Trains the variants of Table 2 one after the
// other and compares them; `search` asks a trained model for images or captions.

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "core/ops.h"
#include "core/threads/parallel.h"
#include "models/order_embedding/experiment.h"
#include "models/text/tokenizer.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"
#include "tools/flags/flag_value.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

namespace {

using namespace order_embedding;

struct SearchFlags {
  std::string run, sentence;
  std::optional<std::int64_t> image;
  size_t count = 5;
  int threads = 0;
};

std::vector<ReportColumn> recall_columns() {
  std::vector<ReportColumn> columns{title_column("")};
  for (const std::string direction : {"caption", "image"}) {
    for (const int k : {1, 5, 10})
      columns.push_back(
          tested(text(k == 1 ? direction + " " : "", "R@", k), text("test_", direction, "_r", k), "%.1f"));
    columns.push_back(tested("mean r", text("test_", direction, "_mean_rank"), "%.1f"));
  }
  return columns;
}

/// The numbers of the largest scores, largest first; of equal ones the lower number.
std::vector<size_t> best_of(const Tensor& scores, size_t count) {
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  count = std::min(count, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(count),
      [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  order.resize(count);
  return order;
}

void list_images(const OrderExperiment& experiment, const Data& data, const SearchFlags& search) {
  const std::vector<std::string> words = tokenize(search.sentence);
  std::cout << data.vocabulary.lines_of_unknown(words);
  const Points points = experiment.embed(data.test, 0, data.test.images);
  const Tensor scores =
      experiment.model.scores(points.images, experiment.embed(data.vocabulary.sentence(words)));
  for (const size_t image : best_of(scores, search.count))
    std::cout << text("image ", image, ", score ", scores[image], ": ",
                      data.test.captions[image * captions_per_image])
              << '\n';
}

void list_captions(const OrderExperiment& experiment, const Data& data, const SearchFlags& search) {
  const auto image = static_cast<size_t>(*search.image);
  if (image >= data.test.images)
    fail<UsageError>("--image ", image, ": the test images have the numbers 0 to ", data.test.images - 1);
  const Points points = experiment.embed(data.test, 0, data.test.images);
  const Tensor scores = experiment.model.scores(points.images.slice(image, image + 1), points.captions);
  for (const size_t caption : best_of(scores, search.count))
    std::cout << text(caption / captions_per_image == image ? "* " : "  ", "score ", scores[caption], ": ",
                      data.test.captions[caption])
              << '\n';
}

class OrderCommand final : public TrainingCommand {
 public:
  explicit OrderCommand(Command& command)
      : TrainingCommand(
            command, order_embedding_step(),
            {.epochs = {preset_of("paper").epochs, preset_of("small").epochs}, .one_batch = true}) {
    fields
        .add("--score", scores_, "how a pair is scored, or both separated by a comma: order, cosine",
             {.required = false})
        .separated_by_commas()
        .one_of({"order", "cosine"});
    fields
        .add("--validate-every", validate_every_, "updates between validations; 300 in the paper",
             {preset_of("paper").validate_every, preset_of("small").validate_every})
        .positive();
    fields
        .add("--best-by", best_by_,
             "what the kept model is best at: R@1 + R@5 + R@10 of both directions, or of image search alone, "
             "which is the rule of the public code",
             {.required = false})
        .one_of({"both", "image"})
        .show_default();
    fields.keep("variants", names_, {});
    add_optimizer_flag({"adam", "authors-adam", "sgd"});
  }

  /// Lists test images for a sentence, or captions for a test image.
  void search(const SearchFlags& flags) {
    if (flags.sentence.empty() == !flags.image)
      fail<UsageError>("search: give a sentence in quotes, or --image N");
    const RunFolder folder = open_single("search", flags.run);
    set_threads(flags.threads);
    load_again(folder);
    OrderExperiment experiment(*data_, options(), folder);
    load_model(folder, experiment.parameters, best_model);
    std::cout << data_->source << '\n';
    if (flags.image)
      list_captions(experiment, *data_, flags);
    else
      list_images(experiment, *data_, flags);
  }

 private:
  /// All combinations of the chosen scores and norms, or the three rows of Table 2.
  void spell_out() override {
    if (scores_.empty() && !fields.given("--norm")) {
      scores_ = {"cosine", "order", "order"};
      norms = {"none", "none", "layer"};
    } else {
      const std::vector<std::string> each = std::exchange(norms, {});
      for (const std::string& score :
           scores_.empty() ? std::vector<std::string>{"order"} : std::exchange(scores_, {})) {
        scores_.insert(scores_.end(), each.size(), score);
        norms.insert(norms.end(), each.begin(), each.end());
      }
    }
    for (size_t i = 0; i < norms.size(); ++i) names_.push_back(scores_[i] + "-" + norms[i]);
  }

  std::vector<Variant> variants() const override {
    std::vector<Variant> all;
    for (const std::string& name : names_) {
      const size_t dash = std::min(name.find('-'), name.size() - 1);
      const std::string score = name.substr(0, dash), norm = name.substr(dash + 1);
      all.push_back({.norm = norm,
                     .name = name,
                     .title = text(score == "order" ? "OE" : "Sym", norm == "layer" ? " + LN" : ""),
                     .own = {{"variants", name}, {"score", score}, {"norm", norm}},
                     .line = score == "order" ? Line::solid : Line::dashed});
    }
    return all;
  }

  TrainingData load() override {
    data_ = !data_folder.empty() ? load_coco(data_folder)
            : smoke > 0          ? synthetic_coco(seed, {.train = 320, .valid = 50, .test = 100})
                                 : synthetic_coco(seed, preset_of(preset).world);
    if (batches.size() > 1)
      fail<UsageError>("--batch: one size at a time; its negatives are the batch, so sizes are not compared");
    if (batch() < 2)
      fail<UsageError>("--batch 1: the loss compares a pair with the others of its batch; give 2 or more");
    return {.source = data_->source, .cases = data_->train.images, .called = "training images"};
  }

  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override {
    OrderExperiment experiment(*data_, options(), folder);
    const Outcome outcome = train(folder, experiment.parameters, *experiment.optimizer, experiment,
                                  plan_in_periods(label, updates_in(epochs, experiment.steps_per_epoch()),
                                                  validate_every_, "validation"));
    test_together(outcome, [&] {
      load_model(folder, experiment.parameters, best_model);
      experiment.write_test(experiment.test());
    });
    return outcome;
  }

  /// Table 2, and when each variant reached its best validation: against the order embedding without normalization, or
  /// else the first.
  std::string summary(const TrainedVariants& trained) const override {
    const auto found =
        std::ranges::find(trained, "order-none", [](const auto& each) { return each.variant.name; });
    const TrainedVariant& baseline = found == trained.end() ? trained.front() : *found;
    const std::vector<double> goals = sums_of(baseline.curves);
    const double goal = std::ranges::max(goals), goal_step = *step_reaching(baseline.curves, goal);
    const std::string of = "best of " + baseline.variant.title + " at";
    const auto best = [this](const TrainedVariant& each) { return std::ranges::max(sums_of(each.curves)); };
    const auto best_step = [=, this](const TrainedVariant& each, double unit, const char* format) {
      return formatted(format, *step_reaching(each.curves, best(each)) / unit);
    };
    const auto reached = [=, this](const TrainedVariant& each, double unit, const char* format,
                                   const char* never) {
      const auto step = step_reaching(each.curves, goal);
      return step ? formatted(format, *step / unit) : never;
    };
    return table_of(trained, recall_columns()) + "\n" +
           table_of(trained,
                    {title_column(""),
                     last("updates", "step", "%.0f"),
                     {"best validation at update", [=](auto& each) { return best_step(each, 1, "%.0f"); }},
                     {"its sum of R@K", [=](auto& each) { return formatted("%.1f", best(each)); }},
                     {"best at / " + of, [=](auto& each) { return best_step(each, goal_step, "%.2f"); }},
                     {"reaches the best of " + baseline.variant.title + " at",
                      [=](auto& each) { return reached(each, 1, "%.0f", "never"); }},
                     {"that / " + of, [=](auto& each) { return reached(each, goal_step, "%.2f", ""); }},
                     last("seconds", "seconds", "%.0f")});
  }

  /// Image recall on the validation set against updates in periods between validations.
  std::vector<Panel> figure(const TrainedVariants& trained) const override {
    const auto period = static_cast<double>(validate_every_);
    std::vector<Panel> panels;
    for (const int k : {1, 5, 10}) {
      panels.push_back(panel_of(trained,
                                {.title = text("image R@", k, ", validation"),
                                 .x_label = text("iteration / ", period),
                                 .y_label = text("R@", k, " [%]")},
                                "step", text("valid_image_r", k)));
      for (Curve& curve : panels.back().curves)
        for (double& step : curve.x) step /= period;
    }
    return panels;
  }

  OrderOptions options() const {
    OrderOptions options = preset_of(preset).options;
    options.score = names_.front().starts_with("order") ? Score::order : Score::cosine;
    options.norm = norm();
    options.batch = batch();
    options.optimizer = optimizer_kind();
    options.learning_rate = learning_rate;
    options.best_by = best_by_ == "both" ? BestBy::both : BestBy::image;
    options.seed = seed;
    return options;
  }

  /// What the best model of a run was chosen by, at each validation.
  std::vector<double> sums_of(const Table& curves) const {
    if (best_by_ == "both") return curves.column("valid_sum");
    std::vector<double> sums(curves.column("step").size());
    for (const int k : {1, 5, 10}) {
      const auto recall = curves.column(text("valid_image_r", k));
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += recall[i];
    }
    return sums;
  }

  /// The step of the first validation that was at least as good, if one was.
  std::optional<double> step_reaching(const Table& curves, double sum) const {
    const std::vector<double> sums = sums_of(curves);
    const auto place = std::ranges::find_if(sums, [=](double value) { return value >= sum; });
    if (place == sums.end()) return {};
    return curves.column("step")[static_cast<size_t>(place - sums.begin())];
  }

  std::vector<std::string> names_, scores_;  ///< of each variant, as are `norms`
  size_t validate_every_ = 0;
  std::string best_by_ = "both";
  std::optional<Data> data_;
};

void add_search(Command& command, const std::shared_ptr<OrderCommand>& order) {
  Command& search = command.add_command(
      "search", "test images for a sentence, or captions for a test image (* its own)",
      "Example: lamina order-embedding search runs/order/order-layer \"two dogs chase a ball\"\n"
      "         lamina order-embedding search runs/order/order-layer --image 7");
  const auto flags = std::make_shared<SearchFlags>();
  search.add("RUN", flags->run, "folder of a finished run of one variant").required();
  search.add("SENTENCE", flags->sentence, "in quotes");
  search.add("--image", flags->image, "number of a test image, from 0").non_negative();
  search.add("--count", flags->count, "how many to list").positive().show_default();
  add_threads_flag(search, flags->threads);
  search.action([order, flags] { order->search(*flags); });
}

/// At the paper's size, on captions of 15 words.
TrainingStep step_on_random_captions(const TrainingStepOptions& options) {
  const auto parameters = std::make_shared<Parameters>(1);
  const ModelOptions sizes{.norm = options.norm, .vocabulary = 10000};
  const auto model = std::make_shared<Model>(*parameters, sizes);
  const Tensor features = relu(normal({options.batch, sizes.features}));
  const auto captions =
      std::make_shared<const TokenBatch>(random_sentences(15, options.batch, sizes.vocabulary));
  return {.parameters = parameters, .loss = [=] { return model->loss(features, *captions); }};
}

}  // namespace

NamedTrainingStep order_embedding_step() {
  return {.name = "order-embedding",
          .norms = {Norm::layer, Norm::none},
          .batch = 128,
          .make = step_on_random_captions,
          .clips = true};
}

void add_order_embedding_command(Command& program) {
  Command& command = program.add_command(
      "order-embedding", "order embeddings of images and language (Section 6.1, Figure 1, Table 2)",
      "Without --score and --norm it trains the three rows of Table 2: cosine,\n"
      "order, and order with layer norm.\n"
      "Example: lamina order-embedding --epochs 24 --out runs/order\n"
      "         lamina order-embedding --data coco --score order --norm none,layer --out runs/coco\n"
      "         lamina order-embedding search runs/order/order-layer \"two dogs chase a ball\"");
  const auto order = std::make_shared<OrderCommand>(command);
  add_search(command, order);
  command.action([order] { return order->run(); });
}

}  // namespace lamina
