// The attentive reader as a whole: gradients, padding, and what it learns.

#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/attentive_reader/experiment.h"
#include "models/attentive_reader/initial.h"
#include "models/run/metrics.h"
#include "optim/adam.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

struct Variant {
  Norm norm;
  bool everywhere;
};
constexpr Variant variants[]{
    {Norm::none, false}, {Norm::batch, false}, {Norm::batch, true}, {Norm::layer, false}};

ar::QuestionBatch batch_of(const std::vector<Sentence>& passages, const std::vector<Sentence>& questions,
                           Padding padding = Padding::zeros) {
  std::vector<int> all(passages.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return {.passages = make_batch(passages, all, padding),
          .questions = make_batch(questions, all, padding),
          .count_padded = padding == Padding::cyclic};
}

/// Three questions, all of different length.
ar::QuestionBatch small_batch(Padding padding = Padding::zeros) {
  return batch_of({{3, 2, 5, 4}, {4, 6}, {2, 2, 7}}, {{5, 3}, {4}, {6, 6, 2}}, padding);
}

constexpr ar::ModelOptions tiny{.vocabulary = 8, .answers = 4, .embedding = 3, .hidden = 4, .max_steps = 3};

RunFolder folder_in(const TemporaryFolder& scratch, const std::string& name) {
  return RunFolder::create(scratch / name, {.experiment = "attentive-reader"});
}

}  // namespace

TEST_CASE("reader model: as many parameters as the peer's model") {
  const auto count = [](Norm norm) {
    Parameters parameters(1);
    const ar::Model model(parameters, {.norm = norm,
                                       .vocabulary = 20000,
                                       .answers = 500,
                                       .bilinear = false,
                                       .mean_state = false,
                                       .learn_initial = false});
    return parameters.count();
  };
  const size_t lstm = 4 * 240 * 480 + 960, rest = 4 * 240 * 240 + 2 * 240 + 240 + 240 * 500 + 500;
  CHECK(count(Norm::none) == 20000 * 240 + 2 * lstm + rest);
  CHECK(count(Norm::layer) == 20000 * 240 + 2 * (lstm + 3 * 960 + 2 * 240) + rest);
}

TEST_CASE("reader model: the initial gain is that of every normalization") {
  for (const double gain : {0.0, 1.0}) {
    ar::ModelOptions options = tiny;
    options.norm = Norm::batch;
    options.everywhere = true;
    options.gain = static_cast<real>(gain);
    Parameters parameters(1);
    const ar::Model model(parameters, options);
    size_t gains = 0;
    for (const auto& entry : parameters.learned())
      if (entry.name.ends_with(".gain")) {
        CHECK_MESSAGE(entry.value[0] == real(gain == 0 ? 0.1 : gain), entry.name);
        ++gains;
      }
    CHECK(gains > 8);
  }
}

TEST_CASE("reader model: each part of a matrix is drawn for itself") {
  for (const size_t inputs : {size_t{3}, size_t{4}}) {  // square ones and others
    const Tensor weight = ar::square_or_uniform(3)({inputs, 12}, Random(1));
    for (size_t part = 1; part < 4; ++part)
      CHECK(difference(slice(weight, 1, 3 * part, 3 * part + 3), slice(weight, 1, 0, 3)) > 0.01);
  }
}

TEST_CASE("reader model: populations of every norm, which count padded words where the padding is cyclic") {
  for (const Padding padding : {Padding::zeros, Padding::cyclic}) {
    ar::ModelOptions options = tiny;
    options.norm = Norm::batch;
    options.everywhere = options.mean_state = true;
    Parameters parameters(1);
    const ar::Model model(parameters, options);
    model(small_batch(padding), Mode::train, Random(3));
    const auto populations = model.populations();
    REQUIRE(populations.size() == 11);  // three of each LSTM, and five projections
    CHECK(populations[6].cases[0] == (padding == Padding::cyclic ? 12 : 9));  // of the passages' words
    for (size_t i = 7; i < 11; ++i) CHECK(populations[i].cases[0] == 3);
  }
}

TEST_CASE("reader model: gradients of all parameters, padded words included") {
  const std::vector<int> answers{1, 3, 0};
  for (const Variant& variant : variants) {
    const Norm norm = variant.norm;
    const bool everywhere = variant.everywhere;
    CAPTURE(std::string(name_of(norm)));
    CAPTURE(everywhere);
    Parameters parameters(5);
    ar::ModelOptions options = tiny;
    options.norm = norm;
    options.everywhere = everywhere;
    const ar::Model model(parameters, options);
    std::vector<Tensor> inputs;
    for (const auto& [name, value] : parameters.learned()) {  // away from zeros
      Random(11, value.size()).fill_uniform(value.storage()->values, value.size(), real(-0.7), real(0.8));
      inputs.push_back(value);
    }
    for (const Padding padding : {Padding::zeros, Padding::cyclic}) {
      const ar::QuestionBatch batch = small_batch(padding);
      check_gradients(
          inputs, [&] { return cross_entropy(model(batch, Mode::train, Random(3)).logits, answers); }, 1e-4);
    }
  }
}

TEST_CASE("reader model: padding changes no answer and no statistics") {
  for (const Variant& variant : variants) {
    const Norm norm = variant.norm;
    const bool everywhere = variant.everywhere;
    CAPTURE(std::string(name_of(norm)));
    CAPTURE(everywhere);
    std::vector<std::vector<Tensor>> results;
    for (const int junk : {0, 7}) {
      Parameters parameters(1);
      ar::ModelOptions options = tiny;
      options.norm = norm;
      options.everywhere = everywhere;
      options.dropout = 0;
      const ar::Model model(parameters, options);
      ar::QuestionBatch batch = small_batch();
      for (TokenBatch* const side : {&batch.passages, &batch.questions})
        for (size_t i = 0; i < side->tokens.size(); ++i)
          if (side->mask[i] == 0) side->tokens[i] = junk;
      const ar::Answers given = model(batch, Mode::train);
      results.push_back({given.logits, given.attention});
      for (const auto& [name, value] : parameters.state()) results.back().push_back(value.copy());
      CHECK(difference(sum_rows(given.attention), {1, 1, 1}) < 8 * ulp);
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      CAPTURE(i);
      CHECK(identical(results[0][i], results[1][i]));
    }
  }
}

TEST_CASE("reader model: in use, a question's answer does not depend on its neighbours") {
  for (const Variant& variant : variants) {
    const Norm norm = variant.norm;
    const bool everywhere = variant.everywhere;
    Parameters parameters(1);
    ar::ModelOptions options = tiny;
    options.norm = norm;
    options.everywhere = everywhere;
    const ar::Model model(parameters, options);
    const Tensor together = model(small_batch(), Mode::evaluate).logits;
    const Tensor alone = model(batch_of({{4, 6}}, {{4}}), Mode::evaluate).logits;
    CHECK(difference(together.slice(1, 2), alone) < 64 * ulp);
  }
}

TEST_CASE("reader model: dropout of both embeddings and of the last hidden layer, in training only") {
  Parameters parameters(1);
  const ar::Model model(parameters, tiny);
  CHECK(model.options().dropout == real(0.5));
  const auto dropped = [&](Mode mode) {
    Tape tape;
    const Tensor logits = model(small_batch(), mode, Random(3)).logits;
    std::vector<size_t> sizes;
    for (const Tape::Node* node = tape.last(); node != nullptr; node = node->previous)
      if (std::string_view(node->op) == "dropout") sizes.push_back(node->outputs[0].size());
    std::ranges::sort(sizes);
    return sizes;
  };
  // Three cases: 4 hidden units, and embeddings of 3 numbers for 3 and for 4 words.
  CHECK(dropped(Mode::train) == std::vector<size_t>{3 * 4, 3 * 3 * 3, 3 * 4 * 3});
  for (const Mode mode : {Mode::evaluate, Mode::evaluate_by_batch, Mode::measure_population})
    CHECK(dropped(mode).empty());
}

TEST_CASE("reader model: options that do not exist are refused") {
  const auto complaint = [](ar::ModelOptions options) {
    return error_of([&] {
      Parameters parameters(1);
      const ar::Model model(parameters, options);
    });
  };
  ar::ModelOptions options = tiny;
  options.norm = Norm::weight;
  CHECK(complaint(options) == "attentive reader: norm is weight; choose none, batch or layer");
  options.norm = Norm::layer;
  options.everywhere = true;
  CHECK(complaint(options) == "attentive reader: 'everywhere' belongs to batch norm");
  options = tiny;
  options.answers = 0;
  CHECK(complaint(options) == "attentive reader: a size is 0; all must be positive");
}

TEST_CASE("reader experiment: the loss is a function of the step, and every question comes once an epoch") {
  const TemporaryFolder scratch;
  ar::Data data = ar::built_in_stories(3, {.train = 70, .valid = 10, .test = 10, .events = 3});
  std::vector<int> asked(70);
  const auto read = data.train.read;
  data.train.read = [&](size_t i) {
    ++asked[i];
    return read(i);
  };
  ar::ReaderExperiment experiment(data, {.embedding = 8, .hidden = 8, .batch = 20},
                                  folder_in(scratch, "run"));
  CHECK(experiment.steps_per_epoch() == 3);
  const auto losses = [&] {
    std::vector<real> values;
    for (std::uint64_t step = 0; step < 4; ++step) values.push_back(experiment.loss(step).item());
    return values;
  };
  const auto first = losses();
  CHECK(first == losses());  // dropout too, as resuming requires
  CHECK(first[0] != first[3]);
  std::ranges::fill(asked, 0);
  for (std::uint64_t step = 0; step < 3; ++step) experiment.loss(step);
  CHECK(std::ranges::count(asked, 1) == 60);
  CHECK_ERROR(ar::ReaderExperiment(data, {.batch = 71}, folder_in(scratch, "large")),
              "attentive reader: a batch of 71 from 70 training questions");
}

TEST_CASE("reader experiment: batches are of passages of similar length") {
  const TemporaryFolder scratch;
  ar::Data data = ar::built_in_stories(3, {.train = 80, .valid = 10, .test = 10, .events = 3});
  for (std::uint32_t i = 0; i < 80; ++i) data.train.lengths.push_back(i / 10);  // as if
  std::vector<size_t> asked;
  const auto read = data.train.read;
  data.train.read = [&](size_t i) {
    asked.push_back(i);
    return read(i);
  };
  ar::ReaderExperiment experiment(data, {.embedding = 8, .hidden = 8, .batch = 10},
                                  folder_in(scratch, "run"));
  std::vector<size_t> lengths;
  for (std::uint64_t step = 0; step < 8; ++step) {
    asked.clear();
    experiment.loss(step);
    for (const size_t i : asked) CHECK(i / 10 == asked[0] / 10);
    lengths.push_back(asked[0] / 10);
  }
  CHECK_FALSE(std::ranges::is_sorted(lengths));  // the batches themselves come in any order
}

TEST_CASE("reader experiment: each step has dropout of its own") {
  const TemporaryFolder scratch;
  ar::Data data = ar::built_in_stories(3, {.train = 8, .valid = 10, .test = 10, .events = 3});
  // One question and one entity, so that nothing else differs.
  data.train.read = [](size_t) {
    return ar::Question{.source = {},
                        .passage = {"@entity0", "went", "."},
                        .query = {ar::blank, "went", "."},
                        .answer = "@entity0",
                        .names = {}};
  };
  data.entities = 1;
  ar::ReaderExperiment experiment(
      data, {.embedding = 8, .hidden = 8, .numbering = {.answers = ar::AnswerSpace::vocabulary}, .batch = 8},
      folder_in(scratch, "run"));
  CHECK(experiment.loss(0).item() == experiment.loss(0).item());
  CHECK(experiment.loss(0).item() != experiment.loss(1).item());
}

TEST_CASE("reader experiment: the test's population is of all batches, and kept; no untrained model is") {
  const TemporaryFolder scratch;
  const ar::Data data = ar::built_in_stories(3, {.train = 70, .valid = 20, .test = 20, .events = 3});
  const RunFolder folder = folder_in(scratch, "run");
  ar::ReaderExperiment experiment(
      data, {.norm = Norm::batch, .embedding = 8, .hidden = 8, .batch = 20, .population_batches = 1}, folder);
  experiment.evaluate(0);
  CHECK_FALSE(exists(folder.file(ar::best_model)));
  experiment.adam.steps = 1;
  experiment.evaluate(0);
  const auto kept_cases = [&] {
    load_model(folder, experiment.parameters, ar::best_model);
    for (const auto& [name, cases] : experiment.parameters.state())
      if (name == "passage_lstm.input_norm.cases") return cases[0];
    return real{0};
  };
  CHECK(kept_cases() == 20);
  experiment.test();
  CHECK(kept_cases() == 60);
}

TEST_CASE("reader experiment: learns, keeps its best model, and shortens gradients") {
  const TemporaryFolder scratch;
  const ar::Data data = ar::built_in_stories(3, {.train = 64, .valid = 20, .test = 20, .events = 2});
  const RunFolder folder = folder_in(scratch, "run");
  ar::ReaderExperiment experiment(
      data, {.norm = Norm::layer, .embedding = 24, .hidden = 24, .batch = 32, .learning_rate = real(0.01)},
      folder);
  const double before = experiment.score(data.train, Mode::evaluate).error;
  const TrainingPlan plan{.label = "test", .steps_per_epoch = 30, .epochs = 8, .epoch = "validation"};
  CHECK(train(folder, experiment.parameters, experiment.adam, experiment, plan) == Outcome::finished);
  const double after = experiment.score(data.train, Mode::evaluate).error;
  CAPTURE(before);
  CAPTURE(after);
  CHECK(before > 0.6);
  CHECK(after < 0.3);
  const auto errors = read_table(folder.file("metrics.csv")).column("valid_error");
  load_model(folder, experiment.parameters, ar::best_model);
  CHECK(experiment.score(data.valid, Mode::evaluate).error ==
        doctest::Approx(*std::ranges::min_element(errors)));
  CHECK(experiment.test().by_batch.error <= 1);
  CHECK(read_table(folder.file("test.csv")).rows.size() == 1);

  Tape tape;
  tape.backward(experiment.loss(0) * 10000);
  experiment.adjust_gradients();
  double square = 0;
  for (const real g : experiment.parameters.gradients())
    square += static_cast<double>(g) * static_cast<double>(g);
  CHECK(std::sqrt(square) < 10.001);
}

TEST_CASE("reader experiment: batch norm by each batch, by a measured population and by moving averages") {
  const TemporaryFolder scratch;
  const ar::Data data = ar::built_in_stories(3, {.train = 70, .valid = 40, .test = 20, .events = 3});
  const RunFolder folder = folder_in(scratch, "run");
  ar::ReaderExperiment experiment(
      data, {.norm = Norm::batch, .everywhere = true, .embedding = 8, .hidden = 8, .batch = 20}, folder);
  for (std::uint64_t step = 0; step < 3; ++step) {
    Tape tape;
    tape.backward(experiment.loss(step));
    experiment.adam.step();
    experiment.parameters.clear_gradients();
  }
  const auto state = [&] {
    std::vector<Tensor> copies;
    for (const auto& [name, value] : experiment.parameters.state()) copies.push_back(value.copy());
    return copies;
  };
  const auto all_equal = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return identical(x, y); });
  };
  const auto before = state();
  const ar::ReaderScore moving = experiment.score(data.valid, Mode::evaluate);
  const Metrics metrics = experiment.evaluate(0);
  CHECK(all_equal(state(), before));  // training continues with the moving averages
  CHECK(std::ranges::equal(metrics, experiment.metric_names(), {}, &Metrics::value_type::first));
  const auto value = [&](std::string_view name) {
    return std::ranges::find(metrics, name, &Metrics::value_type::first)->second;
  };
  CHECK(value("moving_loss") == moving.loss);
  CHECK(value("valid_loss") == experiment.score(data.valid, Mode::evaluate_by_batch).loss);
  experiment.measure_population(100);
  CHECK_FALSE(all_equal(state(), before));
  CHECK(value("population_loss") == experiment.score(data.valid, Mode::evaluate).loss);
  const auto measured = state();
  for (const auto& [name, cases] : experiment.parameters.state())
    if (name == "passage_lstm.input_norm.cases") CHECK(cases[0] == 60);  // three batches make an epoch
  load_model(folder, experiment.parameters, ar::best_model);
  CHECK(all_equal(state(), measured));  // the population is part of the best model
  const ar::ReaderTest test = experiment.test();
  CHECK(test.population.has_value());
  CHECK(read_table(folder.file("test.csv")).columns.back() == "test_population_error");
}
