#include "models/training/digit_experiment.h"

#include <algorithm>
#include <array>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/listener.h"
#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

constexpr size_t pixels = 784;

}  // namespace

size_t wrong_answers(const Tensor& logits, std::span<const int> labels) {
  const std::vector<int> answers = argmax(logits, -1);
  size_t wrong = 0;
  for (size_t i = 0; i < labels.size(); ++i) wrong += answers[i] != labels[i];
  return wrong;
}

DigitExperiment::DigitExperiment(const MnistData& data, const DigitOptions& options)
    : parameters(options.seed),
      data_(data),
      options_(options),
      order_(options.seed, data.train.count(), options.batch) {
  if (options.batch == 0 || options.batch > data.train.count())
    fail("digits: a batch of ", options.batch, " from ", data.train.count(), " training cases");
}

Tensor DigitExperiment::loss(std::uint64_t step) {
  const BatchPart part = part_of_batch(options_.batch);
  const std::span<const int> chosen = order_.batch_of(step).subspan(part.begin, part.size());
  Tensor images({chosen.size(), pixels});
  parallel_for(chosen.size(), grain_of(pixels), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      std::copy_n(data_.train.pixels.data() + static_cast<size_t>(chosen[i]) * pixels, pixels,
                  images.data() + i * pixels);
  });
  labels_.resize(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) labels_[i] = data_.train.labels[static_cast<size_t>(chosen[i])];
  const Tensor answers = logits(images, Mode::train);
  const Scope scope("loss");
  return part_of_mean(cross_entropy(answers, labels_), part);
}

Score DigitExperiment::score(const DigitSplit& split) {
  constexpr size_t chunk = 250;
  const auto score_chunk = [&](size_t i) {
    const size_t begin = i * chunk, count = std::min(chunk, split.count() - begin);
    const Tensor images =
        Tensor::from({count, pixels}, std::span(split.pixels).subspan(begin * pixels, count * pixels));
    const auto labels = std::span(split.labels).subspan(begin, count);
    const Tensor answers = logits(images, Mode::evaluate);
    return std::array{static_cast<double>(cross_entropy(answers, labels).item()) * static_cast<double>(count),
                      static_cast<double>(wrong_answers(answers, labels))};
  };
  const auto [nll, wrong] = distributed::sum_of_pieces<2>((split.count() + chunk - 1) / chunk, score_chunk);
  const auto cases = static_cast<double>(split.count());
  return {.nll = nll / cases, .error = wrong / cases};
}

Metrics DigitExperiment::evaluate(double mean_training_loss) {
  const Score valid = score(data_.valid), test = score(data_.test);
  return {{"train_nll", mean_training_loss},
          {"valid_nll", valid.nll},
          {"valid_error", valid.error},
          {"test_nll", test.nll},
          {"test_error", test.error}};
}

std::vector<std::string> DigitExperiment::metric_names() const {
  return {"train_nll", "valid_nll", "valid_error", "test_nll", "test_error"};
}

}  // namespace lamina
