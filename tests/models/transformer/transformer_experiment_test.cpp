// The language model in the training loop: its batches, learning rate, scores, samples, and that it learns.

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "core/files/file.h"
#include "core/ops.h"
#include "models/transformer/experiment.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::transformer;

namespace {

RunFolder run_in(const TemporaryFolder& scratch, const std::string& name = "run") {
  return RunFolder::create(scratch / name, {.experiment = "transformer"});
}

TransformerOptions small_options() {
  return {.model = {.width = 16, .layers = 1, .heads = 2, .length = 16},
          .batch = 8,
          .learning_rate = 1e-2,
          .warmup = 4,
          .updates = 60,
          .sample = 20};
}

void train_step(TransformerExperiment& experiment, std::uint64_t step) {
  Tape tape;
  tape.backward(experiment.loss(step));
  experiment.adjust_gradients();
  experiment.adam.step();
}

}  // namespace

TEST_CASE("transformer experiment: the loss falls within a few dozen updates") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 40);
  TransformerExperiment experiment(data, small_options(), run_in(scratch));
  const double before = experiment.score(data.valid);
  for (std::uint64_t step = 0; step < 40; ++step) train_step(experiment, step);
  const double after = experiment.score(data.valid);
  CHECK(before > 0.8 * std::log(static_cast<double>(data.alphabet.size())));
  CHECK(after < before - 0.5);
}

TEST_CASE("transformer experiment: a step is a function of its number, dropout included") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 40);
  TransformerOptions options = small_options();
  options.model.dropout = real(0.2);
  TransformerExperiment experiment(data, options, run_in(scratch));
  const real seventh = experiment.loss(7).item(),
             next_epoch = experiment.loss(experiment.steps_per_epoch()).item();
  CHECK(experiment.loss(8).item() != seventh);
  CHECK(experiment.loss(experiment.steps_per_epoch()).item() == next_epoch);
  CHECK(experiment.loss(7).item() == seventh);
}

TEST_CASE("transformer experiment: each step has dropout of its own") {
  const TemporaryFolder scratch;
  Data data = built_in_stories(Unit::character, 1, 40);
  std::ranges::fill(data.train, 5);  // one text, so that nothing else differs
  TransformerOptions options = small_options();
  options.model.dropout = real(0.2);
  TransformerExperiment experiment(data, options, run_in(scratch));
  CHECK(experiment.loss(0).item() != experiment.loss(1).item());
}

TEST_CASE("transformer experiment: an epoch takes each text once") {
  const TemporaryFolder scratch;
  // Every token is another one, so that the mean loss over an epoch tells which were there.
  const Data data = built_in_stories(Unit::character, 1, 20);
  TransformerOptions options = small_options();
  options.batch = 1;
  TransformerExperiment experiment(data, options, run_in(scratch));
  const size_t texts = texts_in(data, options.model.length);
  CHECK(experiment.steps_per_epoch() == texts);
  CHECK(texts == (data.train.size() - 16) / 16);
  double epoch = 0;
  for (std::uint64_t step = 0; step < texts; ++step)
    epoch += static_cast<double>(experiment.loss(step).item());
  // The same texts in order, wherever the first one begins.
  double closest = 1;
  for (size_t begin = 0; begin < 16; ++begin) {
    const double nats = experiment.score(std::span(data.train).subspan(begin, texts * 16 + 1));
    closest = std::min(closest, std::fabs(nats - epoch / static_cast<double>(texts)));
  }
  CHECK(closest < 1e-5);
}

TEST_CASE("transformer experiment: the first text of an epoch begins at a place of its own") {
  const TemporaryFolder scratch;
  Data data = built_in_stories(Unit::character, 1, 20);
  TransformerOptions options = small_options();
  options.batch = 1;
  data.train.resize(5 * options.model.length);
  TransformerExperiment experiment(data, options, run_in(scratch));
  const std::uint64_t texts = experiment.steps_per_epoch();
  std::set<size_t> begins;
  for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
    double nats = 0;
    for (std::uint64_t text = 0; text < texts; ++text)
      nats += static_cast<double>(experiment.loss(epoch * texts + text).item()) / static_cast<double>(texts);
    std::vector<size_t> found;
    for (size_t begin = 0; begin < 16; ++begin)
      if (std::fabs(experiment.score(std::span(data.train).subspan(begin, texts * 16 + 1)) - nats) < 1e-5)
        found.push_back(begin);
    REQUIRE(found.size() == 1);
    begins.insert(found[0]);
  }
  CHECK(begins.size() > 3);
}

TEST_CASE(
    "transformer experiment: the score is the mean over all tokens but the first, also of a short last "
    "text") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 20);
  TransformerOptions options = small_options();
  options.batch = 3;
  TransformerExperiment experiment(data, options, run_in(scratch));
  const std::span<const int> part = std::span(data.valid).first(16 * 4 + 6);
  double total = 0;
  for (size_t begin = 0; begin + 1 < part.size(); begin += 16) {
    const size_t count = std::min<size_t>(16, part.size() - 1 - begin);
    const Tensor shares = log_softmax(experiment.model(part.subspan(begin, count), 1));
    for (size_t i = 0; i < count; ++i)
      total -=
          static_cast<double>(shares[i * data.alphabet.size() + static_cast<size_t>(part[begin + i + 1])]);
  }
  CHECK(experiment.score(part) ==
        doctest::Approx(total / static_cast<double>(part.size() - 1)).epsilon(1e-5));
  CHECK_ERROR(experiment.score(part.first(1)), "transformer: a text of 1 tokens to score; it needs two");
}

TEST_CASE("transformer experiment: the learning rate rises, and stays or falls to a tenth") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 20);
  TransformerOptions options = small_options();
  const TransformerExperiment falling(data, options, run_in(scratch, "a"));
  options.decay = Decay::none;
  const TransformerExperiment constant(data, options, run_in(scratch, "b"));
  options.warmup = 0;
  const TransformerExperiment at_once(data, options, run_in(scratch, "c"));
  const auto near = [](double expected) { return doctest::Approx(expected).epsilon(1e-5); };
  CHECK(falling.learning_rate_at(0) == near(0.0025));
  CHECK(falling.learning_rate_at(3) == near(0.01));
  CHECK(falling.learning_rate_at(4 + 28) == near(0.0055));
  CHECK(falling.learning_rate_at(59) == near(0.00100708));  // of the last update
  CHECK(falling.learning_rate_at(60) == near(0.001));
  CHECK(constant.learning_rate_at(1) == near(0.005));
  CHECK(constant.learning_rate_at(59) == near(0.01));
  CHECK(at_once.learning_rate_at(0) == near(0.01));
}

TEST_CASE("transformer experiment: the gradient is clipped to 1") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 20);
  TransformerExperiment experiment(data, small_options(), run_in(scratch));
  Tape tape;
  tape.backward(experiment.loss(0) * real(1000));
  experiment.adjust_gradients();
  double total = 0;
  for (const real each : experiment.parameters.gradients())
    total += static_cast<double>(each) * static_cast<double>(each);
  CHECK(std::sqrt(total) == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE(
    "transformer experiment: metrics, best model and samples; a repeated evaluation leaves the same files") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 40);
  const RunFolder folder = run_in(scratch);
  TransformerExperiment experiment(data, small_options(), folder);
  const auto evaluate = [&] {
    const Metrics metrics = experiment.evaluate(1.5);
    CHECK(std::ranges::equal(metrics, experiment.metric_names(), {}, &Metrics::value_type::first));
    return std::map<std::string, double>(metrics.begin(), metrics.end());
  };
  train_step(experiment, 0);
  auto metrics = evaluate();
  CHECK(metrics["train_nll"] == 1.5);
  CHECK(metrics["learning_rate"] == experiment.learning_rate_at(0));  // of the last update
  CHECK(metrics["valid_nll"] == experiment.score(data.valid));
  CHECK(metrics["valid_bits"] == doctest::Approx(metrics["valid_nll"] / std::numbers::ln2));
  const std::string first = read_file(folder.file(samples_file));
  CHECK(first.starts_with("after 1 updates, "));
  std::string prompt = data.alphabet.text_of(std::span(data.valid).first(16));  // as much as the model sees
  std::ranges::replace(prompt, '\n', ' ');
  CHECK(contains(first, "bits per character; begins with '" + prompt + "':\n"));
  for (std::uint64_t step = 1; step < 20; ++step) train_step(experiment, step);
  CHECK(evaluate()["learning_rate"] == experiment.learning_rate_at(19));
  const std::string both = read_file(folder.file(samples_file));
  CHECK(both.starts_with(first));
  CHECK(contains(both, "\nafter 20 updates, "));
  evaluate();
  CHECK(read_file(folder.file(samples_file)) == both);
  const std::string best = read_file(folder.file(best_model));
  Tensor bias = experiment.parameters.learned().back().value;
  bias[Vocabulary::end] = 10;  // a worse model, which is not kept
  CHECK(evaluate()["valid_nll"] > number_kept(folder, best_model, "valid_nll", 0));
  CHECK(read_file(folder.file(best_model)) == best);
  load_model(folder, experiment.parameters, best_model);
  CHECK(number_kept(folder, best_model, "valid_nll", 0) == experiment.score(data.valid));

  experiment.write_test();
  CHECK(read_file(folder.file("test.csv")).starts_with("epoch,test_nll,test_bits\n"));
}

TEST_CASE("transformer experiment: errors") {
  const TemporaryFolder scratch;
  const Data data = built_in_stories(Unit::character, 1, 20);
  const std::string most = text(data.train.size() / 2);
  CHECK(message_of<UsageError>([&] { texts_in(data, 100000); }) ==
        text("--length 100000: the text to train on has ", data.train.size(), " characters; choose at most ",
             most));
  TransformerOptions options = small_options();
  options.batch = 100000;
  CHECK(contains(error_of([&] { TransformerExperiment(data, options, run_in(scratch)); }),
                 "transformer: a batch of 100000 from "));
  CHECK_ERROR(preset_of("large"), "transformer: no preset 'large'; there are paper and small");
}
