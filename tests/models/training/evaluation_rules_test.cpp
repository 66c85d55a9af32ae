// What each experiment evaluates, and by which rule: evaluate() and test() against the same numbers computed
// here from the models alone, case by case. Section numbers are the paper's; models/FIDELITY.md says which
// are ours.

#include <cmath>
#include <map>
#include <utility>

#include "core/files/file.h"
#include "core/ops.h"
#include "models/attentive_reader/experiment.h"
#include "models/convnet/experiment.h"
#include "models/draw/experiment.h"
#include "models/handwriting/experiment.h"
#include "models/mnist/experiment.h"
#include "models/order_embedding/experiment.h"
#include "models/skip_thoughts/experiment.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// evaluate()'s metrics by name; checks that the names are those of metric_names().
std::map<std::string, double> evaluated(Experiment& experiment, double mean_training_loss = 0) {
  const Metrics metrics = experiment.evaluate(mean_training_loss);
  CHECK(std::ranges::equal(metrics, experiment.metric_names(), {}, &Metrics::value_type::first));
  return {metrics.begin(), metrics.end()};
}

/// The same number up to the rounding of sums.
void check_same(double value, double expected) { CHECK(value == doctest::Approx(expected).epsilon(1e-4)); }

RunFolder run_in(const TemporaryFolder& scratch, const std::string& experiment) {
  return RunFolder::create(scratch / "run", {.experiment = experiment});
}

/// Each case evaluated separately, which batch norm cannot do with the statistics of a batch.
Score one_by_one(DigitExperiment& experiment, const DigitSplit& split) {
  Score total;
  const auto cases = static_cast<double>(split.count());
  for (size_t i = 0; i < split.count(); ++i) {
    const Tensor image = Tensor::from({1, 784}, std::span(split.pixels).subspan(i * 784, 784));
    const Tensor logits = experiment.logits(image, Mode::evaluate);
    const std::span<const real> values = logits.values();
    const auto answer = std::ranges::max_element(values) - values.begin();
    total.error += answer == split.labels[i] ? 0 : 1 / cases;
    total.nll -= static_cast<double>(log_softmax(logits)[static_cast<size_t>(split.labels[i])]) / cases;
  }
  return total;
}

}  // namespace

TEST_CASE("evaluation of digits (6.6, 6.7): all validation and test cases, batch norm by running averages") {
  const MnistData data = synthetic_mnist(1, 100, 255, 20);  // more than the 250 that are evaluated at a time
  const auto check = [&]<class SomeExperiment>(Norm norm) {
    SomeExperiment experiment(data, {.norm = norm, .batch = 50});
    for (std::uint64_t step = 0; step < 2; ++step) {
      Tape tape;
      tape.backward(experiment.loss(step));
      experiment.optimizer().step();
    }
    const Score valid = one_by_one(experiment, data.valid), test = one_by_one(experiment, data.test);
    auto metrics = evaluated(experiment);
    check_same(metrics["valid_nll"], valid.nll);
    check_same(metrics["valid_error"], valid.error);
    check_same(metrics["test_nll"], test.nll);
    check_same(metrics["test_error"], test.error);
  };
  for (const Norm norm : {Norm::none, Norm::layer, Norm::batch})
    check.operator()<mnist::MnistExperiment>(norm);
  check.operator()<convnet::ConvnetExperiment>(Norm::batch);
}

TEST_CASE(
    "evaluation of DRAW (6.4): all test and validation images, one z each, the same after every epoch") {
  const draw::DrawData data = draw::synthetic_binary_digits(1, 24, 20, 10);
  draw::DrawExperiment experiment(data, {.sizes = {.glimpses = 3, .hidden = 6, .latent = 4}, .batch = 8});
  auto metrics = evaluated(experiment);
  experiment.adam.steps += 100;
  CHECK(evaluated(experiment) == metrics);
  // Of the training images the first, as many as there are test images.
  const auto pixels = data.train.pixels.begin();
  const draw::BinaryImages first{{pixels, pixels + std::ssize(data.test.pixels)}};
  for (const auto& [name, images] :
       {std::pair("train", &first), {"valid", &data.valid}, {"test", &data.test}})
    check_same(metrics[name + std::string("_bound")], experiment.score(*images, images->count()).bound());
  // In training each update has noise of its own.
  const draw::DrawData single = draw::synthetic_binary_digits(1, 1, 1, 1);
  draw::DrawExperiment learning(single, {.sizes = {.glimpses = 3, .hidden = 6, .latent = 4}, .batch = 1});
  CHECK(learning.loss(0).item() == learning.loss(0).item());
  CHECK(learning.loss(0).item() != learning.loss(1).item());
}

TEST_CASE("evaluation of DRAW (6.4): each image has noise of its own, whatever the batch of the training") {
  draw::DrawData data = draw::synthetic_binary_digits(1, 24, 20, 256);
  const auto half = data.test.pixels.begin() + std::ssize(data.test.pixels) / 2;
  std::copy(data.test.pixels.begin(), half, half);  // the same images again
  const auto score_of = [&](size_t batch, size_t count) {
    const draw::DrawExperiment experiment(
        data, {.sizes = {.glimpses = 3, .hidden = 6, .latent = 4}, .batch = batch});
    return experiment.score(data.test, count).bound();
  };
  CHECK(score_of(8, 256) == score_of(24, 256));
  CHECK(std::fabs(score_of(8, 256) - score_of(8, 128)) > 1e-3);
}

TEST_CASE(
    "evaluation of handwriting (6.5): 128 test lines and 64 training lines, in nats per line, cut alike") {
  const TemporaryFolder scratch;
  const handwriting::Data data = handwriting::synthetic_lines(1, 70, 130);
  handwriting::HandwritingExperiment experiment(data, {.model = {.hidden = 8}, .length = 20},
                                                run_in(scratch, "handwriting"));
  const auto line_by_line = [&](const std::vector<handwriting::Line>& lines, int count) {
    double total = 0;
    for (int i = 0; i < count; ++i) {
      const std::vector<int> only{i};
      total += static_cast<double>(experiment.model.loss(handwriting::make_batch(lines, only, 20)).item());
    }
    return total / count;
  };
  experiment.adam.steps = 12;                // of 8 in an epoch
  auto metrics = evaluated(experiment, 40);  // of batches of 8 lines, whose losses are sums
  check_same(metrics["epoch"], 1.5);
  check_same(metrics["running_nll"], 5);
  check_same(metrics["train_nll"], line_by_line(data.train, 64));
  check_same(metrics["test_nll"], line_by_line(data.test, 128));
  check_same(experiment.score(data.train, 20), line_by_line(data.train, 20));  // 16 are scored at a time
}

TEST_CASE("evaluation of order embeddings (6.1): 1000 validation images; the test in parts of 1000") {
  const TemporaryFolder scratch;
  const order_embedding::Data data =
      order_embedding::synthetic_coco(1, {.train = 64, .valid = 1100, .test = 2000, .features = 20});
  order_embedding::OrderExperiment experiment(data, {.embedding = 4, .hidden = 8, .batch = 32},
                                              run_in(scratch, "order-embedding"));
  const auto search = [&](const order_embedding::CaptionSplit& split, size_t begin) {
    const order_embedding::Points points = experiment.embed(split, begin, begin + 1000);
    return order_embedding::retrieval_of(experiment.model.scores(points.images, points.captions), 5);
  };
  auto metrics = evaluated(experiment);
  const order_embedding::Retrieval valid = search(data.valid, 0);
  check_same(metrics["valid_image_mean_rank"], valid.image.mean_rank);
  check_same(metrics["valid_caption_mean_rank"], valid.caption.mean_rank);
  check_same(metrics["valid_sum"], valid.sum());
  const order_embedding::Retrieval first = search(data.test, 0), second = search(data.test, 1000),
                                   test = experiment.test();
  check_same(test.image.mean_rank, (first.image.mean_rank + second.image.mean_rank) / 2);
  check_same(test.caption.at10, (first.caption.at10 + second.caption.at10) / 2);
}

TEST_CASE(
    "evaluation of the reader (6.2): curves by each batch's statistics, error over all validation "
    "questions") {
  const TemporaryFolder scratch;
  const attentive_reader::Data data =
      attentive_reader::built_in_stories(1, {.train = 40, .valid = 21, .test = 8});
  attentive_reader::ReaderExperiment experiment(
      data, {.norm = Norm::batch, .gain = real(0.1), .embedding = 6, .hidden = 6, .batch = 8},
      run_in(scratch, "attentive-reader"));
  experiment.adam.steps = 1;  // an untrained model is not kept
  auto metrics = evaluated(experiment);
  double wrong = 0, nats = 0, questions = 0;
  for (size_t batch = 0; batch < experiment.evaluation_batches(data.valid); ++batch) {
    const attentive_reader::NumberedQuestions some = experiment.evaluation_batch(data.valid, batch);
    const Tensor logits = experiment.model(some.batch, Mode::evaluate_by_batch).logits,
                 shares = log_softmax(logits);
    for (size_t row = 0; row < some.answers.size(); ++row) {
      const auto values = logits.values().subspan(row * logits.columns(), logits.columns());
      wrong += std::ranges::max_element(values) - values.begin() == some.answers[row] ? 0 : 1;
      nats -= static_cast<double>(shares[row * logits.columns() + static_cast<size_t>(some.answers[row])]);
      ++questions;
    }
  }
  CHECK(questions == 21);
  check_same(metrics["valid_error"], wrong / 21);
  check_same(metrics["valid_loss"], nats / 21);
  check_same(number_kept(RunFolder::open(scratch / "run"), attentive_reader::best_model, "error", -1),
             wrong / 21);
  // Logits ten times as large have the same error: among equals the first model is kept.
  const std::string first = read_file(scratch / "run/best.safetensors");
  for (const auto& [name, value] : experiment.parameters.learned())
    if (name.starts_with("output."))
      for (real& each : Tensor(value).values()) each *= 10;
  experiment.adam.steps = 2;
  metrics = evaluated(experiment);
  check_same(metrics["valid_error"], wrong / 21);
  CHECK(std::fabs(metrics["valid_loss"] - nats / 21) > 1e-5);
  CHECK(read_file(scratch / "run/best.safetensors") == first);
}

TEST_CASE(
    "evaluation of skip-thoughts (6.3): nats per word of the passages held out; an untrained snapshot") {
  const TemporaryFolder scratch;
  const skip_thoughts::Corpus corpus = skip_thoughts::synthetic_stories(3, 200);
  skip_thoughts::SkipExperiment experiment(corpus, {.embedding = 6, .hidden = 8, .batch = 8},
                                           run_in(scratch, "skip-thoughts"));
  CHECK(skip_thoughts::snapshots_in(scratch / "run") == std::vector<std::uint64_t>{0});
  // <eos> is likely: batches of short sentences, which have fewer words, have less to guess.
  for (const auto& [name, value] : experiment.parameters.learned())
    if (name == "output.bias") Tensor(value).data()[Vocabulary::end] = 8;
  double nats = 0, words = 0;
  for (const skip_thoughts::Neighbours& batch : experiment.triples().held_out()) {
    double count = 0;
    for (const TokenBatch* const some : {&batch.previous, &batch.next})
      count += some->mask.size() > 0 ? static_cast<double>(sum(some->mask).item())
                                     : static_cast<double>(some->steps * some->rows);
    nats += count * static_cast<double>(experiment.model.loss(batch).item());
    words += count;
  }
  check_same(evaluated(experiment)["valid_nll"], nats / words);
}
