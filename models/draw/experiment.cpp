#include "models/draw/experiment.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/ops.h"
#include "optim/clip.h"

namespace lamina::draw {

namespace {

// Independent streams of random numbers.
constexpr std::uint64_t noise_stream = 0x6e6f697365, score_stream = 0x73636f7265;
constexpr real longest_gradient = 10;

Tensor noise_for(const GlimpseSizes& sizes, size_t rows, Random random) {
  Tensor noise({sizes.glimpses, rows, sizes.latent});
  random.fill_normal(noise.data(), noise.size(), 0, 1);
  return noise;
}

}  // namespace

DrawExperiment::DrawExperiment(const DrawData& data, const ExperimentOptions& options)
    : parameters(options.seed),
      model(parameters, {.norm = options.norm, .sizes = options.sizes}),
      adam(parameters, {.learning_rate = options.learning_rate}),
      data_(data),
      options_(options),
      order_(options.seed, data.train.count(), options.batch) {
  if (options.batch == 0 || options.batch > data.train.count())
    fail("draw: a batch of ", options.batch, " from ", data.train.count(), " training images");
}

Tensor DrawExperiment::loss(std::uint64_t step) {
  const BatchPart part = part_of_batch(options_.batch);
  const Tensor images = data_.train.batch(order_.batch_of(step).subspan(part.begin, part.size()));
  const Tensor noise =
      noise_for(options_.sizes, options_.batch, Random(options_.seed, noise_stream).split(step));
  const Bound bound = model(images, part.is_all() ? noise : slice(noise, 1, part.begin, part.end));
  return part_of_mean(mean(bound.reconstruction + bound.kl), part);
}

void DrawExperiment::adjust_gradients() { clip_gradient_norm(parameters, longest_gradient); }

BoundScore DrawExperiment::score(const BinaryImages& images, size_t count) const {
  constexpr size_t chunk = 128;
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto score_chunk = [&](size_t i) {
    const size_t begin = i * chunk, rows = std::min(chunk, count - begin);
    const Bound bound =
        model(images.batch(std::span(numbers).subspan(begin, rows)),
              noise_for(options_.sizes, rows, Random(options_.seed, score_stream).split(begin)));
    return std::array{static_cast<double>(sum(bound.reconstruction).item()),
                      static_cast<double>(sum(bound.kl).item())};
  };
  const auto [reconstruction, kl] = distributed::sum_of_pieces<2>((count + chunk - 1) / chunk, score_chunk);
  const auto cases = static_cast<double>(count);
  return {.reconstruction = reconstruction / cases, .kl = kl / cases};
}

Metrics DrawExperiment::evaluate(double mean_training_loss) {
  const BoundScore train = score(data_.train, std::min(data_.train.count(), data_.test.count()));
  const BoundScore valid = score(data_.valid, data_.valid.count());
  const BoundScore test = score(data_.test, data_.test.count());
  return {{"epoch_bound", mean_training_loss},
          {"train_bound", train.bound()},
          {"train_reconstruction", train.reconstruction},
          {"train_kl", train.kl},
          {"valid_bound", valid.bound()},
          {"test_bound", test.bound()},
          {"test_reconstruction", test.reconstruction},
          {"test_kl", test.kl}};
}

std::vector<std::string> DrawExperiment::metric_names() const {
  return {"epoch_bound", "train_bound", "train_reconstruction", "train_kl",
          "valid_bound", "test_bound",  "test_reconstruction",  "test_kl"};
}

}  // namespace lamina::draw
