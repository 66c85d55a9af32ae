#include "models/order_embedding/experiment.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/distributed/shared_pieces.h"
#include "core/ops/map.h"
#include "core/ops/shape/structure.h"
#include "models/run/metrics.h"
#include "optim/clip.h"

namespace lamina::order_embedding {

namespace {

constexpr std::uint64_t order_stream = 0x6f72646572;  // a separate stream for the order of epochs

// In the order of numbers_of.
constexpr std::array<std::string_view, 8> valid_names{
    "valid_caption_r1", "valid_caption_r5", "valid_caption_r10", "valid_caption_mean_rank",
    "valid_image_r1",   "valid_image_r5",   "valid_image_r10",   "valid_image_mean_rank"};

std::vector<double> numbers_of(const Retrieval& all) {
  const auto& [caption, image] = all;
  return {caption.at1, caption.at5, caption.at10, caption.mean_rank,
          image.at1,   image.at5,   image.at10,   image.mean_rank};
}

constexpr size_t chunk = 250;  // images or captions that are embedded at a time

}  // namespace

Preset preset_of(std::string_view name) {
  if (name == "paper") return {};
  if (name != "small") fail("order embedding: no preset '", name, "'; there are paper and small");
  return {.options = {.embedding = 64, .hidden = 256},
          .epochs = 20,
          .validate_every = 100,
          .world = {.train = 6400, .test = 1000}};
}

OrderExperiment::OrderExperiment(const Data& data, const OrderOptions& options, RunFolder folder)
    : data_(data),
      options_(options),
      folder_(std::move(folder)),
      parameters(options.seed),
      model(parameters, {.score = options.score,
                         .norm = options.norm,
                         .vocabulary = data.vocabulary.size(),
                         .features = data.features,
                         .embedding = options.embedding,
                         .hidden = options.hidden}),
      optimizer(make_optimizer(options.optimizer, parameters, static_cast<real>(options.learning_rate))) {
  if (options.batch == 0 || options.batch > data.train.images)
    fail("order embedding: a batch of ", options.batch, " from ", data.train.images, " training images");
  best_ = number_kept(folder_, best_model, "sum", -1);  // below every sum
}

void OrderExperiment::draw_epoch(std::uint64_t epoch) {
  if (epoch == drawn_epoch_) return;
  Random random = Random(options_.seed, order_stream).split(epoch);
  order_ = random.permutation(data_.train.images);
  captions_.resize(order_.size());
  for (size_t i = 0; i < order_.size(); ++i)
    captions_[i] =
        order_[i] * static_cast<int>(captions_per_image) + static_cast<int>(random.below(captions_per_image));
  drawn_epoch_ = epoch;
}

Tensor OrderExperiment::features_of(const CaptionSplit& split, size_t count,
                                    const std::function<size_t(size_t)>& image) const {
  Tensor features({count, data_.features});
  parallel_for(count, grain_of(data_.features), [&, to = features.data()](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) split.copy_features(image(i), to + i * data_.features);
  });
  return features;
}

Tensor OrderExperiment::loss(std::uint64_t step) {
  draw_epoch(step / steps_per_epoch());
  const BatchPart part = part_of_batch(options_.batch);
  const size_t first = step % steps_per_epoch() * options_.batch + part.begin;
  const Tensor features =
      features_of(data_.train, part.size(), [&](size_t i) { return static_cast<size_t>(order_[first + i]); });
  return model.loss(
      features, make_batch(data_.train.sentences, std::span(captions_).subspan(first, part.size())), part);
}

void OrderExperiment::adjust_gradients() {
  clip_each_gradient_norm(parameters, gradient_limit,
                          [&](const std::string& name) { return model.seam(name); });
}

Points OrderExperiment::embed(const CaptionSplit& split, size_t begin, size_t end) const {
  const Tape::Pause pause;
  const size_t count = end - begin, width = options_.hidden;
  Points points{.images = Tensor({count, width}), .captions = Tensor({count * captions_per_image, width})};
  distributed::share_pieces((count + chunk - 1) / chunk, points.images.values(), [&](size_t piece) {
    const size_t done = piece * chunk, now = std::min(chunk, count - done);
    const Tensor some = model.images(features_of(split, now, [=](size_t i) { return begin + done + i; }));
    std::ranges::copy(some.values(), points.images.data() + done * width);
  });
  const auto sentences =
      std::span(split.sentences).subspan(begin * captions_per_image, count * captions_per_image);
  const std::vector<std::vector<int>> batches = batches_by_length(sentences, chunk);
  distributed::share_pieces(batches.size(), points.captions.values(), [&](size_t piece) {
    const std::vector<int>& batch = batches[piece];
    const Tensor some = model.captions(make_batch(sentences, batch));
    for (size_t i = 0; i < batch.size(); ++i)
      std::copy_n(some.data() + i * width, width,
                  points.captions.data() + static_cast<size_t>(batch[i]) * width);
  });
  return points;
}

Tensor OrderExperiment::embed(const Sentence& sentence) const {
  const Tape::Pause pause;
  const std::vector<int> only{0};
  return model.captions(make_batch({&sentence, 1}, only));
}

Retrieval OrderExperiment::score(const CaptionSplit& split, size_t begin, size_t end) const {
  const Tape::Pause pause;
  const Points points = embed(split, begin, end);
  const size_t images = end - begin, captions = images * captions_per_image;
  Tensor scores({images, captions});
  distributed::share_pieces((images + chunk - 1) / chunk, scores.values(), [&](size_t i) {
    const size_t from = i * chunk, to = std::min(from + chunk, images);
    const Tensor some = model.scores(slice(points.images, 0, from, to), points.captions);
    std::ranges::copy(some.values(), scores.data() + from * captions);
  });
  return retrieval_of(scores, captions_per_image);
}

Retrieval OrderExperiment::test() const {
  const size_t images = data_.test.images, parts = std::max<size_t>(1, images / searched_images);
  std::vector<Retrieval> results;
  results.reserve(parts);
  for (size_t part = 0; part < parts; ++part)
    results.push_back(
        score(data_.test, part * searched_images, std::min(images, (part + 1) * searched_images)));
  return mean_of(results);
}

Metrics OrderExperiment::evaluate(double mean_training_loss) {
  const Retrieval valid = score(data_.valid, 0, std::min(searched_images, data_.valid.images));
  const double quality = options_.best_by == BestBy::both ? valid.sum() : valid.image.sum();
  if (optimizer->steps > 0 && quality > best_) {
    best_ = quality;
    save_model(folder_, parameters, best_model, {{"sum", exact(best_)}});
  }
  Metrics metrics{{"epoch", epochs_done()}, {"train_loss", mean_training_loss}, {"valid_sum", valid.sum()}};
  const std::vector<double> numbers = numbers_of(valid);
  for (size_t i = 0; i < numbers.size(); ++i) metrics.emplace_back(valid_names[i], numbers[i]);
  return metrics;
}

std::vector<std::string> OrderExperiment::metric_names() const {
  std::vector<std::string> names{"epoch", "train_loss", "valid_sum"};
  names.insert(names.end(), valid_names.begin(), valid_names.end());
  return names;
}

void OrderExperiment::write_test(const Retrieval& result) const {
  if (!folder_.is_ours()) return;
  std::vector<std::string> columns{"epoch"};
  for (const std::string_view name : valid_names)
    columns.push_back(text("test", name.substr(name.find('_'))));
  MetricsFile file(folder_.file("test.csv"), columns);
  std::vector<std::pair<std::string, double>> row{{"epoch", epochs_done()}};
  const std::vector<double> numbers = numbers_of(result);
  for (size_t i = 0; i < numbers.size(); ++i) row.emplace_back(columns[i + 1], numbers[i]);
  file.append(row);
}

}  // namespace lamina::order_embedding
