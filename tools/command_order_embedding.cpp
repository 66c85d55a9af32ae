// lamina order-embedding: Section 6.1, Figure 1 and Table 2. Trains the variants of Table 2 one after the
// other and compares them; `search` asks a trained model for images or captions.

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>

#include "core/parallel.h"
#include "models/common/metrics.h"
#include "models/order_embedding/experiment.h"
#include "models/text/tokenizer.h"
#include "tools/commands.h"
#include "tools/common_flags.h"
#include "tools/optimizer_flag.h"
#include "tools/order_report.h"
#include "tools/training_runs.h"

namespace lamina {

namespace {

using namespace order_embedding;

struct OrderFlags {
  CommonFlags common;
  std::vector<std::string> scores;  ///< empty, with empty norms: the three rows of Table 2
  std::int64_t validate_every = 0;  ///< 0: the preset's
  std::string optimizer = "adam", best_by = "both";
  std::vector<OrderVariant> variants;
};

/// All combinations of the chosen scores and norms, or the paper's three.
std::vector<OrderVariant> variants_of(const OrderFlags& flags, bool norm_given) {
  if (flags.scores.empty() && !norm_given) return {{"cosine", "none"}, {"order", "none"}, {"order", "layer"}};
  std::vector<OrderVariant> variants;
  for (const std::string& score : flags.scores.empty() ? std::vector<std::string>{"order"} : flags.scores)
    for (const std::string& norm : flags.common.norms) variants.push_back({score, norm});
  return variants;
}

/// What the user left open is the preset's.
void fill_in_preset(OrderFlags& flags) {
  CommonFlags& common = flags.common;
  const Preset preset = preset_of(common.preset);
  if (common.epochs == 0) common.epochs = static_cast<std::int64_t>(preset.epochs);
  if (common.smoke > 0) common.epochs = std::min(common.epochs, common.smoke);
  if (common.batches.empty()) common.batches = {static_cast<std::int64_t>(preset.options.batch)};
  if (common.learning_rate == 0) common.learning_rate = preset.options.learning_rate;
  if (flags.validate_every == 0) flags.validate_every = static_cast<std::int64_t>(preset.validate_every);
}

Settings to_settings(const OrderFlags& flags) {
  Settings settings = to_settings(flags.common);
  std::string names, scores, norms;
  for (const OrderVariant& variant : flags.variants) {
    const char* const comma = names.empty() ? "" : ",";
    names += comma + variant.name();
    scores += comma + variant.score;
    norms += comma + variant.norm;
  }
  settings.set("variants", names);
  settings.set("score", scores);  // of each variant
  settings.set("norm", norms);
  settings.set("validate_every", flags.validate_every);
  settings.set("optimizer", flags.optimizer);
  settings.set("best_by", flags.best_by);
  return settings;
}

void from_settings(const Settings& settings, OrderFlags& flags) {
  from_settings(settings, flags.common);
  flags.validate_every = settings.get<std::int64_t>("validate_every");
  for (const auto& [name, value] :
       {std::pair("optimizer", &flags.optimizer), std::pair("best_by", &flags.best_by)})
    if (settings.has(name)) *value = settings.get<std::string>(name);
  flags.variants.clear();
  std::istringstream names(settings.get<std::string>("variants"));
  for (std::string name; std::getline(names, name, ',');) {
    const size_t dash = std::min(name.find('-'), name.size() - 1);
    flags.variants.push_back({name.substr(0, dash), name.substr(dash + 1)});
  }
}

OrderOptions options_of(const OrderVariant& variant, const OrderFlags& flags) {
  OrderOptions options = preset_of(flags.common.preset).options;
  options.score = variant.score == "order" ? Score::order : Score::cosine;
  options.norm = norm_from(variant.norm);
  options.batch = static_cast<size_t>(flags.common.batches.front());
  options.optimizer = optimizer_from(flags.optimizer);
  options.learning_rate = flags.common.learning_rate;
  options.best_by = flags.best_by == "both" ? BestBy::both : BestBy::image;
  options.seed = static_cast<std::uint64_t>(flags.common.seed);
  return options;
}

Data load_data(const OrderFlags& flags) {
  if (!flags.common.data.empty()) return load_coco(flags.common.data);
  const auto seed = static_cast<std::uint64_t>(flags.common.seed);
  if (flags.common.smoke > 0) return synthetic_coco(seed, {.train = 320, .valid = 50, .test = 100});
  return synthetic_coco(seed, preset_of(flags.common.preset).world);
}

/// Trains a variant, tests its best model and adds what came of it to the results.
Outcome run_variant(const RunFolder& folder, const OrderVariant& variant, const OrderFlags& flags,
                    const Data& data, std::vector<OrderResult>& results) {
  OrderExperiment experiment(data, options_of(variant, flags), folder);
  const std::uint64_t steps =
      updates_in(static_cast<std::uint64_t>(flags.common.epochs), experiment.steps_per_epoch());
  const Outcome outcome =
      train(folder, experiment.parameters, *experiment.optimizer, experiment,
            plan_in_periods(title_of(variant), steps, static_cast<std::uint64_t>(flags.validate_every),
                            "validation"));
  if (outcome == Outcome::interrupted) return outcome;
  load_model(folder, experiment.parameters, best_model);
  const Retrieval test = experiment.test();
  experiment.write_test(test);
  results.push_back({.variant = variant,
                     .curves = read_table(folder.file("metrics.csv")),
                     .best_by = experiment.options().best_by,
                     .test = test});
  return outcome;
}

int train_variants(OrderFlags flags, bool norm_given) {
  flags.variants = variants_of(flags, norm_given);
  const std::optional<RunFolder> resumed =
      folder_to_resume("order-embedding", flags.common, to_settings(flags));
  if (resumed)
    from_settings(resumed->config().settings, flags);
  else
    fill_in_preset(flags);
  set_threads(flags.common.threads);
  const Data data = load_data(flags);
  if (flags.common.batches.size() > 1)
    fail<UsageError>("--batch: one size at a time; its negatives are the batch, so sizes are not compared");
  require_fitting(flags.common, data.train.images, "training images");
  std::vector<OrderResult> results;
  return train_all(
      {.command = "order-embedding",
       .source = data.source,
       .names = names_of(flags.variants),
       .settings = to_settings(flags),
       .settings_alone =
           [&](size_t i) {
             OrderFlags own = flags;
             own.variants = {flags.variants[i]};
             return to_settings(own);
           },
       .train = [&](const RunFolder& folder,
                    size_t i) { return run_variant(folder, flags.variants[i], flags, data, results); },
       .summary = [&] { return summary(results); },
       .figure = [&] { return figure(results, static_cast<double>(flags.validate_every)); }},
      resumed, flags.common.out);
}

// --- Searching

struct SearchFlags {
  std::string run, sentence;
  std::optional<std::int64_t> image;
  std::int64_t count = 5;
  int threads = 0;
};

/// The numbers of the largest scores, largest first.
std::vector<size_t> best_of(const Tensor& scores, size_t count) {
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  count = std::min(count, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  order.resize(count);
  return order;
}

void list_images(const OrderExperiment& experiment, const Data& data, const SearchFlags& search) {
  const std::vector<std::string> words = tokenize(search.sentence);
  for (const std::string& word : words)
    if (data.vocabulary.number(word) == Vocabulary::unknown)
      std::cout << "not in the vocabulary: " << word << '\n';
  const Points points = experiment.embed(data.test, 0, data.test.images);
  const Tensor scores =
      experiment.model.scores(points.images, experiment.embed(data.vocabulary.sentence(words)));
  for (const size_t image : best_of(scores, static_cast<size_t>(search.count)))
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
  for (const size_t caption : best_of(scores, static_cast<size_t>(search.count)))
    std::cout << text(caption / captions_per_image == image ? "* " : "  ", "score ", scores[caption], ": ",
                      data.test.captions[caption])
              << '\n';
}

/// Lists test images for a sentence, or captions for a test image.
int run_search(const SearchFlags& search) {
  if (search.sentence.empty() == !search.image)
    fail<UsageError>("search: give a sentence in quotes, or --image N");
  const RunFolder folder = RunFolder::open(search.run);
  if (folder.config().experiment != "order-embedding")
    fail<UsageError>("search ", search.run, ": a run of lamina ", folder.config().experiment,
                     "; give the folder of a run of lamina order-embedding");
  OrderFlags flags;
  from_settings(folder.config().settings, flags);
  if (flags.variants.size() > 1)
    fail<UsageError>("search ", search.run, ": holds several runs; name one of them, as in ",
                     folder.file(flags.variants.back().name()));
  set_threads(search.threads);
  const Data data = load_data(flags);
  OrderExperiment experiment(data, options_of(flags.variants.front(), flags), folder);
  load_model(folder, experiment.parameters, best_model);
  std::cout << data.source << '\n';
  if (search.image)
    list_captions(experiment, data, search);
  else
    list_images(experiment, data, search);
  return 0;
}

void add_search(Command& command) {
  Command& search =
      command.add_command("search", "test images for a sentence, or captions for a test image (* its own)");
  search.footer(
      "Example: lamina order-embedding search runs/order/order-layer \"two dogs chase a ball\"\n"
      "         lamina order-embedding search runs/order/order-layer --image 7");
  const auto flags = std::make_shared<SearchFlags>();
  search.add("RUN", flags->run, "folder of a finished run of one variant").required();
  search.add("SENTENCE", flags->sentence, "in quotes");
  search.add("--image", flags->image, "number of a test image, from 0").non_negative();
  search.add("--count", flags->count, "how many to list").positive().show_default();
  search.add("--threads", flags->threads, "worker threads; 0: one per core").range(0, 1024).show_default();
  search.action([flags] { return run_search(*flags); });
}

}  // namespace

void add_order_embedding_command(Command& program) {
  Command& command = program.add_command(
      "order-embedding", "order embeddings of images and language (Section 6.1, Figure 1, Table 2)");
  command.footer(
      "Without --score and --norm it trains the three rows of Table 2: cosine, order, and order with layer "
      "norm.\n"
      "Example: lamina order-embedding --epochs 24 --out runs/order\n"
      "         lamina order-embedding --data coco --score order --norm none,layer --out runs/coco\n"
      "         lamina order-embedding search runs/order/order-layer \"two dogs chase a ball\"");
  const auto flags = std::make_shared<OrderFlags>();
  add_common_flags(command, flags->common, {"layer", "none"});
  command.add("--score", flags->scores, "how a pair is scored, or both separated by a comma: order, cosine")
      .separated_by_commas()
      .one_of({"order", "cosine"});
  command.add("--validate-every", flags->validate_every, "updates between validations; 300 in the paper")
      .positive();
  command
      .add("--best-by", flags->best_by,
           "what the kept model is best at: R@1 + R@5 + R@10 of both directions, or of image search alone, "
           "which is the rule of the public code")
      .one_of({"both", "image"})
      .show_default();
  add_optimizer_flag(command, flags->optimizer);
  add_search(command);
  command.action([flags, &command] {
    if (!flags->common.resume) require_learning_rate(command, flags->optimizer);
    return train_variants(*flags, command.given("--norm"));
  });
}

}  // namespace lamina
