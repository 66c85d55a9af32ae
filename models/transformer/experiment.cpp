#include "models/transformer/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <utility>

#include "core/distributed/batch_part.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/tape.h"
#include "models/run/metrics.h"
#include "models/transformer/writing.h"
#include "optim/clip.h"
#include "optim/schedule.h"

namespace lamina::transformer {

namespace {

// Streams of random numbers apart from those of the weights and of the order.
constexpr std::uint64_t begin_stream = 0x626567696e, noise_stream = 0x6e6f697365;

constexpr double lowest_rate = 0.1;  // of a cosine, relative to the highest

/// The file without what was written after so many updates or later: by a run that was killed before it could save.
std::string earlier_samples(const std::string& path, std::uint64_t updates) {
  if (!exists(path)) return {};
  std::string samples = read_file(path);
  constexpr std::string_view heading = "after ";  // lines of samples are indented
  for (size_t begin = 0; begin < samples.size();) {
    const std::string_view line = std::string_view(samples).substr(begin, samples.find('\n', begin) - begin);
    if (line.starts_with(heading)) {
      const std::string_view number =
          line.substr(heading.size(), line.find(' ', heading.size()) - heading.size());
      if (number_from<std::int64_t>(number).value_or(0) >= static_cast<std::int64_t>(updates)) {
        samples.resize(begin);
        break;
      }
    }
    begin += line.size() + 1;
  }
  return samples;
}

std::string indented(std::string_view text) {
  std::string lines = "    ";
  for (const char c : text) lines += c == '\n' ? "\n    " : std::string(1, c);
  return lines + '\n';
}

}  // namespace

Preset preset_of(std::string_view name) {
  if (name == "paper") return {};
  if (name != "small") fail("transformer: no preset '", name, "'; there are paper and small");
  return {.width = 64,
          .layers = 2,
          .heads = 4,
          .length = 64,
          .batch = 4,
          .learning_rate = 3e-3,
          .epochs = 1,
          .validate_every = 250,
          .stories = 2000};
}

ModelOptions with_vocabulary(ModelOptions options, const Alphabet& alphabet) {
  options.vocabulary = alphabet.size();
  return options;
}

/// A text of `length` needs one token more, to be guessed; the first one begins up to length - 1 tokens late.
size_t texts_in(const Data& data, size_t length) {
  if (data.train.size() < 2 * length)
    fail<UsageError>("--length ", length, ": the text to train on has ", data.train.size(), ' ',
                     name_of(data.alphabet.unit()), "s; choose at most ", data.train.size() / 2,
                     data.train.size() < 4 ? ", of a longer text" : "");
  return (data.train.size() - length) / length;
}

TransformerExperiment::TransformerExperiment(const Data& data, const TransformerOptions& options,
                                             RunFolder folder)
    : data_(data),
      options_(options),
      folder_(std::move(folder)),
      order_(options.seed, texts_in(data, options.model.length), options.batch),
      tokens_(options.batch * options.model.length),
      next_tokens_(tokens_.size()),
      parameters(options.seed),
      model(parameters, with_vocabulary(options.model, data.alphabet)),
      adam(parameters, {.learning_rate = static_cast<real>(options.learning_rate),
                        .weight_decay = static_cast<real>(options.weight_decay)}) {
  if (options.batch == 0 || steps_per_epoch() == 0)
    fail("transformer: a batch of ", options.batch, " from ", texts_in(data, options.model.length),
         " texts to train on");
  best_ = number_kept(folder_, best_model, "valid_nll", std::numeric_limits<double>::infinity());
  if (folder_.is_ours()) data.alphabet.save(folder_.path());
}

Tensor TransformerExperiment::loss(std::uint64_t step) {
  const size_t length = options_.model.length;
  const std::uint64_t epoch = step / steps_per_epoch();
  const size_t begin =
      Random(options_.seed, begin_stream).split(epoch).below(static_cast<std::uint32_t>(length));
  const BatchPart part = part_of_batch(options_.batch);
  const std::span<const int> chosen = order_.batch_of(step).subspan(part.begin, part.size());
  for (size_t row = 0; row < chosen.size(); ++row) {
    const auto first =
        data_.train.begin() + static_cast<std::ptrdiff_t>(begin + static_cast<size_t>(chosen[row]) * length);
    const auto to = static_cast<std::ptrdiff_t>(row * length);
    std::copy_n(first, length, tokens_.begin() + to);
    std::copy_n(first + 1, length, next_tokens_.begin() + to);
  }
  const size_t count = part.size() * length;
  return part_of_mean(model.loss(std::span(tokens_).first(count), std::span(next_tokens_).first(count),
                                 part.size(), Mode::train, Random(options_.seed, noise_stream).split(step)),
                      part);
}

double TransformerExperiment::learning_rate_at(std::uint64_t step) const {
  const auto highest = static_cast<real>(options_.learning_rate);
  const bool falls = options_.decay == Decay::cosine;
  return static_cast<double>(
      CosineSchedule{.initial = highest,
                     .final = falls ? highest * static_cast<real>(lowest_rate) : highest,
                     .warmup = options_.warmup,
                     .steps = std::max(options_.updates, options_.warmup)}
          .at(step));
}

void TransformerExperiment::adjust_gradients() {
  clip_gradient_norm(parameters, gradient_limit);
  adam.options.learning_rate = static_cast<real>(learning_rate_at(adam.steps));
}

double TransformerExperiment::score(std::span<const int> part) {
  if (part.size() < 2) fail("transformer: a text of ", part.size(), " tokens to score; it needs two");
  const Tape::Pause pause;
  const size_t guesses = part.size() - 1, length = std::min(options_.model.length, guesses);
  // Whole texts, a batch at a time; a last one with the rest.
  std::vector<size_t> begins;
  const auto texts_from = [&](size_t begin) {
    return std::clamp<size_t>((guesses - begin) / length, 1, options_.batch);
  };
  for (size_t begin = 0; begin < guesses; begin += texts_from(begin) * length) begins.push_back(begin);
  const auto [total] = distributed::sum_of_pieces<1>(begins.size(), [&](size_t i) {
    const size_t begin = begins[i], texts = texts_from(begin);
    const size_t count = std::min(texts * length, guesses - begin);
    const Tensor nats = model.loss(part.subspan(begin, count), part.subspan(begin + 1, count), texts,
                                   Mode::evaluate, Random(0));
    return std::array{static_cast<double>(nats.item()) * static_cast<double>(count)};
  });
  return total / static_cast<double>(guesses);
}

Metrics TransformerExperiment::evaluate(double mean_training_loss) {
  const double nats = score(data_.valid), bits = nats / std::numbers::ln2;
  const bool trained = adam.steps > 0;
  if (trained && nats < best_) {
    best_ = nats;
    save_model(folder_, parameters, best_model, {{"valid_nll", exact(best_)}});
  }
  if (trained && options_.sample > 0 && folder_.is_ours()) write_sample(bits);
  return {{"epoch", epochs_done()},
          {"train_nll", mean_training_loss},
          {"valid_nll", nats},
          {"valid_bits", bits},
          {"learning_rate", learning_rate_at(trained ? adam.steps - 1 : 0)}};
}

std::vector<std::string> TransformerExperiment::metric_names() const {
  return {"epoch", "train_nll", "valid_nll", "valid_bits", "learning_rate"};
}

/// What the model makes of the beginning of the validation text.
void TransformerExperiment::write_sample(double bits) {
  const size_t most = std::min<size_t>(32, options_.model.length);
  const std::span<const int> prompt = std::span(data_.valid).first(std::min(most, data_.valid.size()));
  const std::vector<int> written = write(model, prompt, {.length = options_.sample, .seed = options_.seed});
  char heading[96];
  std::snprintf(heading, sizeof heading, "after %llu updates, %.3f bits per %s; begins with ",
                static_cast<unsigned long long>(adam.steps), bits, name_of(data_.alphabet.unit()));
  std::string prompt_text = data_.alphabet.text_of(prompt);
  std::ranges::replace(prompt_text, '\n', ' ');
  const std::string path = folder_.file(samples_file);
  write_file(path, earlier_samples(path, adam.steps) + heading + "'" + prompt_text + "':\n" +
                       indented(data_.alphabet.text_of(written)) + '\n');
}

void TransformerExperiment::write_test() {
  const double nats = score(data_.test);
  if (!folder_.is_ours()) return;
  MetricsFile file(folder_.file("test.csv"), {"epoch", "test_nll", "test_bits"});
  file.append({{"epoch", epochs_done()}, {"test_nll", nats}, {"test_bits", nats / std::numbers::ln2}});
}

}  // namespace lamina::transformer
