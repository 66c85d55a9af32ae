#include "models/handwriting/experiment.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/tape.h"

namespace lamina::handwriting {

namespace {

constexpr size_t scored_train_lines = 64, scored_test_lines = 128;

}  // namespace

HandwritingExperiment::HandwritingExperiment(const Data& data, const ExperimentOptions& options,
                                             RunFolder folder)
    : parameters(options.seed),
      model(parameters, options.model),
      adam(parameters, {.learning_rate = options.learning_rate}),
      data_(data),
      options_(options),
      folder_(std::move(folder)),
      order_(options.seed, data.train.size(), options.batch) {
  if (options.batch == 0 || options.batch > data.train.size())
    fail("handwriting: a batch of ", options.batch, " from ", data.train.size(), " training lines");
  model.deviation[0] = data.deviation_x;
  model.deviation[1] = data.deviation_y;
}

Tensor HandwritingExperiment::loss(std::uint64_t step) {
  const BatchPart part = part_of_batch(options_.batch);
  return model.loss(
      make_batch(data_.train, order_.batch_of(step).subspan(part.begin, part.size()), options_.length));
}

double HandwritingExperiment::score(std::span<const Line> lines, size_t count) const {
  constexpr size_t chunk = 16;
  const Tape::Pause pause;
  count = std::min(count, lines.size());
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto [total] = distributed::sum_of_pieces<1>((count + chunk - 1) / chunk, [&](size_t i) {
    const auto some = std::span(numbers).subspan(i * chunk, std::min(chunk, count - i * chunk));
    return std::array{static_cast<double>(model.loss(make_batch(lines, some, options_.length)).item())};
  });
  return total / static_cast<double>(count);
}

Metrics HandwritingExperiment::evaluate(double mean_training_loss) {
  const std::uint64_t reports = adam.steps / updates_per_report;
  if (adam.steps % updates_per_report == 0 && std::has_single_bit(reports))
    save_model(folder_, parameters, stage_file(adam.steps));
  return {{"epoch", static_cast<double>(adam.steps) / static_cast<double>(steps_per_epoch())},
          {"running_nll", mean_training_loss / static_cast<double>(options_.batch)},
          {"train_nll", score(data_.train, scored_train_lines)},
          {"test_nll", score(data_.test, scored_test_lines)}};
}

std::vector<std::string> HandwritingExperiment::metric_names() const {
  return {"epoch", "running_nll", "train_nll", "test_nll"};
}

std::string stage_file(std::uint64_t updates) { return text("model-", updates, ".safetensors"); }

}  // namespace lamina::handwriting
