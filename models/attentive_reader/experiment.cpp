#include "models/attentive_reader/experiment.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/ops.h"
#include "core/tape.h"
#include "models/common/metrics.h"
#include "optim/clip.h"

namespace lamina::attentive_reader {

namespace {

// Streams of random numbers that have nothing to do with each other.
constexpr std::uint64_t order_stream = 0x6f72646572, dropout_stream = 0x64726f70;
constexpr real longest_gradient = 10;
constexpr size_t sorted_batches = 16;

/// Some questions as numbers, side by side, with the number of each one's answer.
struct Numbered {
  QuestionBatch batch;
  std::vector<int> answers;
};

Numbered number(const Data& data, std::span<const Question> questions) {
  std::vector<Sentence> passages, queries;
  std::vector<int> all(questions.size());
  std::iota(all.begin(), all.end(), 0);
  Numbered numbered;
  for (const Question& question : questions) {
    passages.push_back(data.numbered(question.passage));
    queries.push_back(data.numbered(question.query));
    numbered.answers.push_back(static_cast<int>(entity_number(question.answer).value_or(0)));
  }
  numbered.batch = {.passages = make_batch(passages, all), .questions = make_batch(queries, all)};
  return numbered;
}

std::vector<Question> read(const Split& split, std::span<const int> chosen) {
  std::vector<Question> questions;
  questions.reserve(chosen.size());
  for (const int i : chosen) questions.push_back(split.read(static_cast<size_t>(i)));
  return questions;
}

/// Shortest passage first, if their lengths are known.
void sort_by_length(const Split& split, std::span<int> questions) {
  if (!split.lengths.empty())
    std::ranges::stable_sort(questions, {}, [&](int i) { return split.lengths[static_cast<size_t>(i)]; });
}

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
                         .entities = data.entities,
                         .embedding = options.embedding,
                         .hidden = options.hidden}),
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

Tensor ReaderExperiment::loss(std::uint64_t step) {
  draw_epoch(step / steps_per_epoch());
  const auto chosen =
      std::span<const int>(order_).subspan(step % steps_per_epoch() * options_.batch, options_.batch);
  const Numbered numbered = number(data_, read(data_.train, chosen));
  const Answers answers =
      model(numbered.batch, Mode::train, Random(options_.seed, dropout_stream).split(step));
  return cross_entropy(answers.logits, numbered.answers);
}

void ReaderExperiment::adjust_gradients() { clip_gradient_norm(parameters, longest_gradient); }

Answers ReaderExperiment::answer(std::span<const Question> questions) const {
  const Tape::Pause pause;
  return model(number(data_, questions).batch, Mode::evaluate);
}

ReaderScore ReaderExperiment::score(const Split& split) const {
  std::vector<int> order(split.count);
  std::iota(order.begin(), order.end(), 0);
  sort_by_length(split, order);
  double wrong = 0, loss = 0;
  for (size_t begin = 0; begin < order.size(); begin += options_.batch) {
    const auto chosen =
        std::span<const int>(order).subspan(begin, std::min(options_.batch, order.size() - begin));
    const std::vector<Question> questions = read(split, chosen);
    const Tape::Pause pause;
    const Numbered numbered = number(data_, questions);
    const Tensor logits = model(numbered.batch, Mode::evaluate).logits;
    loss += static_cast<double>(cross_entropy(logits, numbered.answers).item()) *
            static_cast<double>(chosen.size());
    for (size_t row = 0; row < chosen.size(); ++row)
      wrong += most_likely(logits, row) == numbered.answers[row] ? 0 : 1;
  }
  const auto count = static_cast<double>(split.count);
  return {.error = wrong / count, .loss = loss / count};
}

Metrics ReaderExperiment::evaluate(double mean_training_loss) {
  const auto [error, loss] = score(data_.valid);
  if (error < best_) {
    best_ = error;
    save_model(folder_, parameters, best_model, {{"error", exact(best_)}});
  }
  return {{"epoch", epochs_done()},
          {"train_loss", mean_training_loss},
          {"valid_loss", loss},
          {"valid_error", error},
          {"chance_error", baselines_.chance},
          {"frequent_error", baselines_.frequent},
          {"frequent_other_error", baselines_.frequent_other}};
}

std::vector<std::string> ReaderExperiment::metric_names() const {
  return {"epoch",        "train_loss",     "valid_loss",          "valid_error",
          "chance_error", "frequent_error", "frequent_other_error"};
}

ReaderScore ReaderExperiment::test() const {
  const ReaderScore result = score(data_.test);
  MetricsFile file(folder_.file("test.csv"), {"epoch", "test_loss", "test_error"});
  file.append({{"epoch", epochs_done()}, {"test_loss", result.loss}, {"test_error", result.error}});
  return result;
}

Baselines baselines_of(const Split& split) {
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
