#include "models/attentive_reader/experiment.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/ops.h"
#include "core/tape.h"
#include "models/run/metrics.h"
#include "optim/clip.h"

namespace lamina::attentive_reader {

namespace {

// Independent streams of random numbers.
constexpr std::uint64_t order_stream = 0x6f72646572, dropout_stream = 0x64726f70,
                        training_names_stream = 0x6e616d6573, evaluation_names_stream = 0x6e616d6574;
constexpr std::uint64_t population_epoch = std::uint64_t{1} << 32;  // beyond any real epoch
constexpr real longest_gradient = 10;
constexpr size_t sorted_batches = 16;

std::vector<Question> read(const QuestionSplit& split, std::span<const int> chosen) {
  std::vector<Question> questions;
  questions.reserve(chosen.size());
  for (const int i : chosen) questions.push_back(split.read(static_cast<size_t>(i)));
  return questions;
}

/// Shortest passage first, if their lengths are known.
void sort_by_length(const QuestionSplit& split, std::span<int> questions) {
  if (!split.lengths.empty())
    std::ranges::stable_sort(questions, {}, [&](int i) { return split.lengths[static_cast<size_t>(i)]; });
}

/// Restores all state that is not learned.
class KeepState {
 public:
  explicit KeepState(const Parameters& parameters) {
    for (const auto& [name, value] : parameters.state()) kept_.emplace_back(value, value.copy());
  }
  KeepState(const KeepState&) = delete;
  KeepState& operator=(const KeepState&) = delete;
  ~KeepState() {
    for (auto& [value, before] : kept_) std::ranges::copy(before.values(), value.data());
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> kept_;
};

int most_likely(const Tensor& logits, size_t row) {
  const real* const begin = logits.data() + row * logits.columns();
  return static_cast<int>(std::max_element(begin, begin + logits.columns()) - begin);
}

}  // namespace

ReaderExperiment::ReaderExperiment(const Data& data, const ReaderOptions& options, RunFolder folder)
    : data_(data),
      options_(options),
      folder_(std::move(folder)),
      baselines_(baselines_of(data.valid)),
      parameters(options.seed),
      model(parameters, {.norm = options.norm,
                         .everywhere = options.everywhere,
                         .gain = options.gain,
                         .vocabulary = data.vocabulary.size(),
                         .answers = outputs_of(data, options.numbering.answers),
                         .embedding = options.embedding,
                         .hidden = options.hidden,
                         .dropout = options.dropout}),
      adam(parameters, {.learning_rate = options.learning_rate}) {
  if (options.batch == 0 || options.batch > data.train.count)
    fail("attentive reader: a batch of ", options.batch, " from ", data.train.count, " training questions");
  best_ = number_kept(folder_, best_model, "error", 2);  // above every error
}

void ReaderExperiment::draw_epoch(std::uint64_t epoch) {
  if (epoch == drawn_epoch_) return;
  Random random = Random(options_.seed, order_stream).split(epoch);
  const std::vector<int> drawn = random.permutation(data_.train.count);
  const size_t batch = options_.batch;
  order_.clear();
  for (size_t first = 0; first < drawn.size(); first += sorted_batches * batch) {
    std::vector<int> chunk(
        drawn.begin() + static_cast<std::ptrdiff_t>(first),
        drawn.begin() + static_cast<std::ptrdiff_t>(std::min(drawn.size(), first + sorted_batches * batch)));
    chunk.resize(chunk.size() / batch * batch);
    sort_by_length(data_.train, chunk);
    for (const int b : random.permutation(chunk.size() / batch)) {
      const auto from = chunk.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(b) * batch);
      order_.insert(order_.end(), from, from + static_cast<std::ptrdiff_t>(batch));
    }
  }
  drawn_epoch_ = epoch;
}

std::vector<Question> ReaderExperiment::training_questions(std::uint64_t step) {
  draw_epoch(step / steps_per_epoch());
  const auto chosen =
      std::span<const int>(order_).subspan(step % steps_per_epoch() * options_.batch, options_.batch);
  return read(data_.train, chosen);
}

/// A rank's part has as many steps as the whole batch, whose statistics step by step are those of all ranks.
NumberedQuestions ReaderExperiment::training_batch(std::uint64_t step) {
  Random names = Random(options_.seed, training_names_stream).split(step);
  const BatchPart part = part_of_batch(options_.batch, CaseAxis::last_but_one);
  const NumberedQuestions whole =
      number(data_, training_questions(step), options_.numbering, names.permutation(data_.entities));
  return part.is_all() ? whole : questions_of(whole, part.begin, part.end);
}

size_t ReaderExperiment::evaluation_batches(const QuestionSplit& split) const {
  return std::max<size_t>(1, split.count / options_.batch);
}

NumberedQuestions ReaderExperiment::evaluation_batch(const QuestionSplit& split,
                                                     size_t number_of_batch) const {
  std::vector<int> order(split.count);
  std::iota(order.begin(), order.end(), 0);
  sort_by_length(split, order);
  const size_t batches = evaluation_batches(split);
  const size_t begin = number_of_batch * split.count / batches,
               end = (number_of_batch + 1) * split.count / batches;
  const auto chosen = std::span<const int>(order).subspan(begin, end - begin);
  Random names = Random(options_.seed, evaluation_names_stream).split(number_of_batch);
  return number(data_, read(split, chosen), options_.numbering, names.permutation(data_.entities));
}

Tensor ReaderExperiment::loss(std::uint64_t step) {
  const NumberedQuestions numbered = training_batch(step);
  const BatchPart part = part_of_batch(options_.batch, CaseAxis::last_but_one);
  const Answers answers =
      model(numbered.batch, Mode::train, Random(options_.seed, dropout_stream).split(step));
  return part_of_mean(cross_entropy(answers.logits, numbered.answers), part);
}

void ReaderExperiment::adjust_gradients() { clip_gradient_norm(parameters, longest_gradient); }

Answers ReaderExperiment::answer(std::span<const Question> questions) const {
  const Tape::Pause pause;
  return model(number(data_, questions, options_.numbering).batch, Mode::evaluate);
}

void ReaderExperiment::measure_population(std::uint64_t batches) {
  if (options_.norm != Norm::batch) return;
  const Tape::Pause pause;
  for (const Population& population : model.populations()) population.forget();
  const std::uint64_t first = population_epoch * steps_per_epoch();
  distributed::for_own_pieces(std::min(batches, steps_per_epoch()), [&](size_t i) {
    model(training_batch(first + i).batch, Mode::measure_population);
  });
  for (const Population& population : model.populations()) population.merge_ranks();
}

ReaderScore ReaderExperiment::score(const QuestionSplit& split, Mode mode) const {
  const Tape::Pause pause;
  const auto score_batch = [&](size_t i) {
    const NumberedQuestions numbered = evaluation_batch(split, i);
    const Tensor logits = model(numbered.batch, mode).logits;
    const double loss = static_cast<double>(cross_entropy(logits, numbered.answers).item()) *
                        static_cast<double>(numbered.answers.size());
    double wrong = 0;
    for (size_t row = 0; row < numbered.answers.size(); ++row)
      wrong += most_likely(logits, row) == numbered.answers[row] ? 0 : 1;
    return std::array{wrong, loss};
  };
  const auto [wrong, loss] = distributed::sum_of_pieces<2>(evaluation_batches(split), score_batch);
  const auto count = static_cast<double>(split.count);
  return {.error = wrong / count, .loss = loss / count};
}

void ReaderExperiment::keep_best() const {
  save_model(folder_, parameters, best_model, {{"error", exact(best_)}});
}

Metrics ReaderExperiment::evaluate(double mean_training_loss) {
  const bool batch_norm = options_.norm == Norm::batch;
  const ReaderScore moving = batch_norm ? score(data_.valid, Mode::evaluate) : ReaderScore();
  const KeepState moving_averages(parameters);
  measure_population(options_.population_batches);
  const ReaderScore population = batch_norm ? score(data_.valid, Mode::evaluate) : ReaderScore();
  const ReaderScore by_batch = score(data_.valid, Mode::evaluate_by_batch);
  if (adam.steps > 0 && by_batch.error < best_) {
    best_ = by_batch.error;
    keep_best();
  }
  Metrics metrics{{"epoch", epochs_done()},
                  {"train_loss", mean_training_loss},
                  {"valid_loss", by_batch.loss},
                  {"valid_error", by_batch.error}};
  if (batch_norm)
    metrics.insert(metrics.end(), {{"population_loss", population.loss},
                                   {"population_error", population.error},
                                   {"moving_loss", moving.loss},
                                   {"moving_error", moving.error}});
  metrics.insert(metrics.end(), {{"chance_error", baselines_.chance},
                                 {"frequent_error", baselines_.frequent},
                                 {"frequent_other_error", baselines_.frequent_other}});
  return metrics;
}

std::vector<std::string> ReaderExperiment::metric_names() const {
  std::vector<std::string> names{"epoch", "train_loss", "valid_loss", "valid_error"};
  if (options_.norm == Norm::batch)
    names.insert(names.end(), {"population_loss", "population_error", "moving_loss", "moving_error"});
  names.insert(names.end(), {"chance_error", "frequent_error", "frequent_other_error"});
  return names;
}

ReaderTest ReaderExperiment::test() {
  load_model(folder_, parameters, best_model);
  ReaderTest result;
  std::vector<std::string> names{"epoch", "test_loss", "test_error"};
  result.by_batch = score(data_.test, Mode::evaluate_by_batch);
  Metrics row{
      {"epoch", epochs_done()}, {"test_loss", result.by_batch.loss}, {"test_error", result.by_batch.error}};
  if (options_.norm == Norm::batch) {
    measure_population(steps_per_epoch());
    keep_best();
    result.population = score(data_.test, Mode::evaluate);
    names.insert(names.end(), {"test_population_loss", "test_population_error"});
    row.insert(row.end(), {{"test_population_loss", result.population->loss},
                           {"test_population_error", result.population->error}});
  }
  if (folder_.is_ours()) MetricsFile(folder_.file("test.csv"), names).append(row);
  return result;
}

Baselines baselines_of(const QuestionSplit& split) {
  Baselines mean;
  const double share = 1 / static_cast<double>(split.count);
  for (size_t i = 0; i < split.count; ++i) {
    const Baselines one = baselines_of(split.read(i));
    mean.chance += share * one.chance;
    mean.frequent += share * one.frequent;
    mean.frequent_other += share * one.frequent_other;
  }
  return mean;
}

}  // namespace lamina::attentive_reader
