// Skip-thoughts: the model, the order of its data, and the experiment.

#include <filesystem>
#include <set>

#include "core/files/file.h"
#include "models/run/metrics.h"
#include "models/skip_thoughts/experiment.h"
#include "tests/check.h"
#include "tests/models/training/presets.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

const std::vector<Sentence> some_sentences{{3, 2, 5, 0}, {4, 0}, {2, 2, 6, 4, 0}, {0}, {6, 1, 0}};

Neighbours some_neighbours() {
  return {.previous = make_batch(some_sentences, std::vector<int>{0, 1, 2}),
          .current = make_batch(some_sentences, std::vector<int>{1, 2, 3}),
          .next = make_batch(some_sentences, std::vector<int>{2, 3, 4})};
}

constexpr EncoderSizes tiny{.vocabulary = 7, .embedding = 4, .hidden = 5};

}  // namespace

TEST_CASE("skip model: as many parameters as the peer's model") {
  const auto count = [](Norm norm) {
    Parameters parameters(1);
    const Model model(parameters, {.norm = norm,
                                   .condition = Condition::every_step,
                                   .sizes = {.vocabulary = 200, .embedding = 62, .hidden = 240}});
    return parameters.count();
  };
  // words, three GRUs, two conditions, the output; layer norm: 4 gains and biases per GRU, one per condition
  const size_t plain = 200 * 62 + 3 * (62 + 240) * 720 + 2 * 240 * 720 + 240 * 200 + 200;
  CHECK(count(Norm::none) == plain + 3 * 720);  // the peer's plain GRU has no bias
  CHECK(count(Norm::layer) == plain + 3 * 4 * 720 + 2 * 2 * 720);
}

TEST_CASE("skip model: gradients of all parameters, padded sentences included") {
  for (const Norm norm : {Norm::none, Norm::layer})
    for (const Condition condition : {Condition::initial, Condition::every_step}) {
      CAPTURE(std::string(name_of(norm)));
      CAPTURE(static_cast<int>(condition));
      Parameters parameters(5);
      const Model model(parameters, {.norm = norm, .condition = condition, .sizes = tiny});
      std::vector<Tensor> inputs;
      for (const auto& [name, value] : parameters.learned()) {
        Random(11, value.size()).fill_uniform(value.storage()->values, value.size(), real(-0.8), real(0.8));
        inputs.push_back(value);
      }
      check_gradients(inputs, [&] { return model.loss(some_neighbours()); });
    }
}

TEST_CASE("skip model: padding changes nothing, and a sentence of one word is one") {
  Parameters parameters(1);
  const Model model(parameters, {.norm = Norm::layer, .sizes = tiny});
  const Tensor together = model.encoder()(make_batch(some_sentences, std::vector<int>{1, 2}));
  const Tensor alone = model.encoder()(make_batch(some_sentences, std::vector<int>{1}));
  CHECK(difference(together.slice(0, 1), alone) < 16 * ulp);
  const TokenBatch empty = make_batch(some_sentences, std::vector<int>{3});
  const Tensor loss = model.loss({empty, empty, empty});
  CHECK(std::isfinite(loss.item()));
  CHECK_ERROR(model.loss({empty, some_neighbours().current, empty}),
              "skip-thoughts: 3 sentences with 1 before and 1 after them; each has one of both");
}

TEST_CASE("triples: an epoch shows every sentence with its own neighbours, at most once") {
  const Corpus corpus = synthetic_stories(3, 100);
  Triples triples(corpus, {.batch = 10, .seed = 1, .pool = 300});
  std::vector<std::vector<Sentence>> passages;
  std::set<std::vector<Sentence>> all;
  for (size_t p = 0; p < corpus.passages.size(); ++p) {
    const auto sentences = corpus.read(p);
    CHECK(sentences.size() == corpus.passages[p]);
    for (size_t i = 1; i + 1 < sentences.size(); ++i)
      all.insert({sentences[i - 1], sentences[i], sentences[i + 1]});
  }
  const auto sentence = [](const TokenBatch& batch, size_t row) {
    Sentence words;
    for (size_t t = 0; t < batch.steps && (words.empty() || words.back() != Vocabulary::end); ++t)
      words.push_back(batch.tokens[t * batch.rows + row]);
    return words;
  };
  std::multiset<std::vector<Sentence>> seen;
  REQUIRE(triples.steps_per_epoch() > 50);
  for (std::uint64_t step = 0; step < triples.steps_per_epoch(); ++step) {
    const Neighbours batch = triples.batch(step);
    for (size_t row = 0; row < 10; ++row) {
      const std::vector<Sentence> triple{sentence(batch.previous, row), sentence(batch.current, row),
                                         sentence(batch.next, row)};
      CHECK(all.contains(triple));
      seen.insert(triple);
    }
  }
  for (const Neighbours& batch : triples.held_out())
    for (size_t row = 0; row < batch.current.rows; ++row)
      CHECK(seen.count({sentence(batch.previous, row), sentence(batch.current, row),
                        sentence(batch.next, row)}) <= 1);
}

TEST_CASE("triples: a batch is a function of the step") {
  const Corpus corpus = synthetic_stories(3, 100);
  Triples triples(corpus, {.batch = 10, .seed = 1, .pool = 300});
  const std::uint64_t epoch = triples.steps_per_epoch();
  const auto tokens = [&](std::uint64_t step) { return triples.batch(step).current.tokens; };
  const auto last = tokens(epoch - 1), first = tokens(0), next_epoch = tokens(epoch);
  CHECK(tokens(epoch - 1) == last);
  CHECK(tokens(0) == first);
  CHECK(first != next_epoch);
  Triples again(corpus, {.batch = 10, .seed = 1, .pool = 300});
  CHECK(again.batch(epoch).current.tokens == next_epoch);
  CHECK(message_of<DataError>([&] { Triples(corpus, {.batch = 5000}); }) ==
        corpus.source +
            ": is too short for a batch of 5000 sentences and their neighbours; add books or "
            "choose a smaller --batch");
}

TEST_CASE("triples: every epoch reads each passage once, and the pools in an order of its own") {
  Corpus corpus = synthetic_stories(3, 200);
  std::vector<size_t> passages;
  corpus.read = [&passages, whole = corpus.read](size_t passage) {
    passages.push_back(passage);
    return whole(passage);
  };
  Triples triples(corpus, {.batch = 10, .seed = 1, .pool = 300});
  std::set<std::vector<size_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    passages.clear();
    for (std::uint64_t step = 0; step < triples.steps_per_epoch(); ++step)
      triples.batch(epoch * triples.steps_per_epoch() + step);
    CHECK(std::set(passages.begin(), passages.end()).size() == passages.size());
    CHECK(passages.size() == corpus.passages.size() - triples.passages_held_out());
    orders.insert(passages);
  }
  CHECK(orders.size() > 1);
}

TEST_CASE("triples: a twentieth of the passages is held out") {
  Corpus corpus = synthetic_stories(3, 40);
  std::set<size_t> read;
  corpus.read = [&read, some = corpus.read(0)](size_t passage) {
    read.insert(passage);
    return std::vector<Sentence>(some.begin(), some.begin() + 5);
  };
  corpus.passages.assign(60, 5);
  corpus.triples.assign(60, 3);
  const Triples triples(corpus, {.batch = 10});
  CHECK(triples.held_out().size() == 1);  // 9 triples
  CHECK(read.size() == 3);
}

TEST_CASE("triples: what is held out has triples") {
  Corpus corpus = synthetic_stories(3, 100);
  const size_t passages = corpus.passages.size();
  REQUIRE(passages < 40);  // one is held out
  // All but two are as short as the last passage of a book may be.
  corpus.read = [whole = corpus.read](size_t passage) {
    std::vector<Sentence> sentences = whole(passage);
    if (passage > 1) sentences.resize(2);
    return sentences;
  };
  for (size_t passage = 2; passage < passages; ++passage)
    corpus.passages[passage] = 2, corpus.triples[passage] = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    CHECK_FALSE(Triples(corpus, {.batch = 10, .seed = seed}).held_out().empty());
}

TEST_CASE("skip experiment: learns what follows, keeps its encoder, and clips") {
  const TemporaryFolder scratch;
  const Corpus corpus = synthetic_stories(3, 120);
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "skip-thoughts"});
  SkipExperiment experiment(
      corpus, {.norm = Norm::layer, .embedding = 12, .hidden = 24, .batch = 32, .learning_rate = real(0.01)},
      folder);
  const TrainingPlan plan{.label = "test", .steps_per_epoch = 20, .epochs = 2, .epoch = "evaluation"};
  CHECK(train(folder, experiment.parameters, *experiment.optimizer, experiment, plan) == Outcome::finished);
  const auto losses = read_table(folder.file("metrics.csv")).column("valid_nll");
  CHECK(losses[1] < losses[0] - 0.3);
  CHECK(losses[1] < 4);  // of about 250 words, whose logarithm is 5.5
  CHECK(snapshots_in(folder.path()) == std::vector<std::uint64_t>{0, 20, 40});

  Parameters parameters(0);
  const Encoder encoder(parameters, Norm::layer,
                        {.vocabulary = load_vocabulary(folder.path()).size(), .embedding = 12, .hidden = 24});
  load_model(folder, parameters, snapshot_file(40));
  const TokenBatch batch = some_neighbours().current;
  CHECK(identical(encoder(batch), experiment.model.encoder()(batch)));
}

TEST_CASE("skip experiment: gradients are those of the sum over words, and clipped together to 5") {
  const TemporaryFolder scratch;
  const Corpus corpus = synthetic_stories(3, 120);
  SkipExperiment experiment(corpus, {.embedding = 12, .hidden = 24, .batch = 32},
                            RunFolder::create(scratch / "run", {.experiment = "skip-thoughts"}));
  Triples triples(corpus, {.batch = 32});
  size_t words = 0;
  const Neighbours batch = triples.batch(0);
  for (const TokenBatch* const sentences : {&batch.previous, &batch.next})
    for (const int word : words_to_predict(*sentences)) words += word != no_word;
  const auto gradients_of = [&](double factor, bool adjust) {
    Tape tape;
    tape.backward(experiment.loss(0) * static_cast<real>(factor));
    if (adjust) experiment.adjust_gradients();
    const auto all = experiment.parameters.gradients();
    const std::vector<real> copy(all.begin(), all.end());
    experiment.parameters.clear_gradients();
    return copy;
  };
  const auto norm = [](const std::vector<real>& all) {
    double square = 0;
    for (const real g : all) square += static_cast<double>(g) * static_cast<double>(g);
    return std::sqrt(square);
  };
  const std::vector<real> mean = gradients_of(1, false), adjusted = gradients_of(1, true);
  CHECK(norm(mean) < 5);  // the mean's gradient would not be clipped, the sum's is
  CHECK(norm(adjusted) == doctest::Approx(5).epsilon(1e-4));
  // So small that the sum's gradient is within the bound: it is the mean's times the number of words.
  const double small = 1 / (norm(mean) * static_cast<double>(words));
  const std::vector<real> one = gradients_of(small, false), all = gradients_of(small, true);
  CHECK(norm(all) == doctest::Approx(1).epsilon(1e-4));
  for (size_t i = 0; i < one.size(); i += 97)
    CHECK(static_cast<double>(all[i]) ==
          doctest::Approx(static_cast<double>(one[i]) * static_cast<double>(words)).epsilon(1e-4));
}

TEST_CASE("triples: those with a sentence of 30 words or more are not learned") {
  const TemporaryFolder scratch;
  std::string book;
  for (int i = 0; i < 400; ++i) {
    const int words = i % 10 == 4 ? 30 : i % 10 == 8 ? 29 : 3;  // with the full stop
    for (int k = 0; k + 1 < words; ++k) book += k == 0 ? "Go" : " go";
    book += ".\n\n";
  }
  std::filesystem::create_directories(scratch / "books");
  write_file(scratch / "books/a.txt", book);
  const Corpus corpus = scan_books(scratch / "books", 10);
  Triples triples(corpus, {.batch = 8});
  size_t longest = 0, middles = 0;
  for (const Neighbours& batch : triples.held_out()) {
    longest = std::max({longest, batch.previous.steps, batch.current.steps, batch.next.steps});
    middles += batch.current.rows;
  }
  for (std::uint64_t step = 0; step < triples.steps_per_epoch(); ++step) {
    const Neighbours batch = triples.batch(step);
    longest = std::max({longest, batch.previous.steps, batch.current.steps, batch.next.steps});
    middles += batch.current.rows;
  }
  CHECK(longest == 30);   // 29 words and <eos>
  CHECK(middles <= 280);  // 7 of 10 sentences
  CHECK(middles > 240);
}

TEST_CASE("skip presets: the paper's settings (6.3), and a quarter of its units") {
  const Preset paper = preset_of("paper");
  CHECK(paper.options.embedding == 620);
  CHECK(paper.options.hidden == 2400);
  CHECK(paper.options.batch == 64);
  CHECK(paper.options.learning_rate == 2e-4);
  CHECK(paper.options.optimizer == OptimizerKind::adam);
  CHECK(paper.options.condition == Condition::initial);
  CHECK(paper.vocabulary == 20000);
  CHECK(paper.evaluate_every == 50000);
  CHECK(gradient_limit == 5);
  CHECK(too_many_words == 30);
  CHECK(preset_of("small").options.hidden == 600);
  CHECK_ERROR(preset_of("large"), "skip-thoughts: no preset 'large'; there are paper and small");
}

TEST_CASE("skip model: where the weights start") {
  Parameters parameters(3);
  const Model model(parameters,
                    {.norm = Norm::layer, .sizes = {.vocabulary = 300, .embedding = 40, .hidden = 64}});
  for (const Parameters::Entry& entry : parameters.learned()) {
    const auto& [name, value] = entry;
    INFO(entry.name);
    if (name == "words" || name == "output.weight" || name.ends_with(".input_weight"))
      CHECK(mismatch(value, uniform_within(0.1)) == "");
    else if (name.ends_with(".hidden_weight"))
      CHECK(mismatch(value, orthogonal_blocks(3)) == "");
    else
      CHECK(mismatch(value, constant_at(name.ends_with(".gain") ? 1 : 0)) == "");
  }
}
