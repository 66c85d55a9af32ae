// Questions as numbers: entities are permuted anew for every batch, in the same way throughout a batch,
// answers are entities or words, and short passages may be repeated.

#include <map>

#include "models/attentive_reader/experiment.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

/// Data of five entities and four other words.
ar::Data five_entities() {
  ar::Data data;
  data.vocabulary = Vocabulary(
      {"@placeholder", "@entity0", "@entity1", "@entity2", "@entity3", "@entity4", "met", "saw", ".", "who"});
  data.entities = 5;
  return data;
}

std::vector<ar::Question> two_questions() {
  return {{.source = "",
           .passage = {"@entity3", "met", "@entity0", "."},
           .query = {"@placeholder", "met", "@entity0"},
           .answer = "@entity3",
           .names = {}},
          {.source = "",
           .passage = {"@entity1", "saw"},
           .query = {"who", "saw", "@placeholder", "@entity1", "."},
           .answer = "@entity1",
           .names = {}}};
}

std::vector<int> tokens_of(const TokenBatch& batch) { return {batch.tokens.begin(), batch.tokens.end()}; }

ar::Data stories() { return ar::built_in_stories(3, {.train = 60, .valid = 50, .test = 10, .events = 3}); }

RunFolder folder_in(const TemporaryFolder& scratch, const std::string& name) {
  return RunFolder::create(scratch / name, {.experiment = "attentive-reader"});
}

/// What each entity's number became, from questions in the same order with and without a permutation.
std::map<int, int> renamed(const ar::NumberedQuestions& before, const ar::NumberedQuestions& after,
                           int first) {
  std::map<int, int> to;
  const auto note = [&](int from, int now) {
    CHECK(to.emplace(from, now).first->second == now);  // one name for each in the whole batch
  };
  for (size_t i = 0; i < before.answers.size(); ++i)
    note(before.answers[i] + first, after.answers[i] + first);
  for (const auto side : {&ar::QuestionBatch::passages, &ar::QuestionBatch::questions}) {
    const auto old = tokens_of(before.batch.*side), now = tokens_of(after.batch.*side);
    REQUIRE(old.size() == now.size());
    for (size_t i = 0; i < old.size(); ++i) note(old[i], now[i]);
  }
  return to;
}

}  // namespace

TEST_CASE("reader numbering: a permutation of the entities, by hand") {
  const ar::Data data =
      five_entities();  // <eos> 0, <unk> 1, @placeholder 2, @entity0 3, ..., met 8, saw, ., who
  const auto plain = ar::number(data, two_questions(), {});
  CHECK(tokens_of(plain.batch.passages) == std::vector<int>{6, 4, 8, 9, 3, 0, 10, 0});
  CHECK(plain.answers == std::vector<int>{3, 1});
  CHECK_FALSE(plain.batch.count_padded);
  const auto permuted = ar::number(data, two_questions(), {}, {4, 2, 0, 1, 3});
  CHECK(tokens_of(permuted.batch.passages) == std::vector<int>{4, 5, 8, 9, 7, 0, 10, 0});
  CHECK(tokens_of(permuted.batch.questions) == std::vector<int>{2, 11, 8, 9, 7, 2, 0, 5, 0, 10});
  CHECK(permuted.answers == std::vector<int>{1, 2});
}

TEST_CASE("reader numbering: answers among all words") {
  const ar::Data data = five_entities();
  const auto numbered =
      ar::number(data, two_questions(), {.answers = ar::AnswerSpace::vocabulary}, {4, 2, 0, 1, 3});
  CHECK(numbered.answers == std::vector<int>{4, 5});
  CHECK(ar::outputs_of(data, ar::AnswerSpace::entities) == 5);
  CHECK(ar::outputs_of(data, ar::AnswerSpace::vocabulary) == 12);
  CHECK(ar::word_of_output(data, ar::AnswerSpace::entities, 2) == "@entity2");
  CHECK(ar::word_of_output(data, ar::AnswerSpace::vocabulary, 8) == "met");
}

TEST_CASE("reader numbering: cyclic padding repeats the sentence with <eos> between") {
  const ar::Data data = five_entities();
  const auto numbered = ar::number(data, two_questions(), {.padding = Padding::cyclic});
  CHECK(numbered.batch.count_padded);
  CHECK(tokens_of(numbered.batch.passages) == std::vector<int>{6, 4, 8, 9, 3, 0, 10, 4});
  CHECK(difference(numbered.batch.passages.mask, {1, 1, 1, 1, 1, 0, 1, 0}) == 0);
  const std::vector<Sentence> sentences{{5}, {1, 2, 3, 4, 5, 6, 7}};
  const TokenBatch batch = make_batch(sentences, std::vector<int>{0, 1}, Padding::cyclic);
  std::vector<int> first;
  for (size_t t = 0; t < 7; ++t) first.push_back(batch.tokens[2 * t]);
  CHECK(first == std::vector<int>{5, 0, 5, 0, 5, 0, 5});
}

TEST_CASE(
    "reader experiment: entities change their names from batch to batch, together, again when resumed") {
  const TemporaryFolder scratch;
  const ar::Data data = stories();
  const int first = data.vocabulary.number("@entity0");
  const auto start = [&](const char* name) {
    return ar::ReaderExperiment(data, {.embedding = 4, .hidden = 4, .batch = 20}, folder_in(scratch, name));
  };
  ar::ReaderExperiment experiment = start("one"), resumed = start("two");
  std::vector<std::vector<int>> permutations;
  for (std::uint64_t step = 0; step < 6; ++step) {
    const auto chosen = experiment.training_questions(step);
    const auto to = renamed(ar::number(data, chosen, {}), experiment.training_batch(step), first);
    permutations.emplace_back();
    for (const auto& [from, now] : to) {
      if (from < first || from >= first + static_cast<int>(data.entities))
        CHECK(from == now);
      else
        permutations.back().push_back(now);
    }
    CHECK(tokens_of(experiment.training_batch(step).batch.passages) ==
          tokens_of(resumed.training_batch(step).batch.passages));
  }
  for (size_t i = 1; i < permutations.size(); ++i) CHECK(permutations[i] != permutations[i - 1]);

  // In evaluation: another one for each batch, the same ones at every evaluation.
  CHECK(experiment.evaluation_batches(data.valid) == 2);
  std::vector<std::map<int, int>> names;
  for (size_t i = 0; i < 2; ++i) {
    const auto batch = experiment.evaluation_batch(data.valid, i);
    CHECK(batch.answers.size() == 25);
    CHECK(tokens_of(batch.batch.passages) ==
          tokens_of(resumed.evaluation_batch(data.valid, i).batch.passages));
    std::vector<ar::Question> chosen;
    for (size_t k = 0; k < 25; ++k) chosen.push_back(data.valid.read(25 * i + k));
    names.push_back(renamed(ar::number(data, chosen, {}), batch, first));
  }
  size_t other = 0;
  for (const auto& [from, now] : names[0]) other += names[1].contains(from) && names[1][from] != now ? 1 : 0;
  CHECK(other > 0);
}

TEST_CASE("reader experiment: every question is scored once, in batches that differ by at most one") {
  const TemporaryFolder scratch;
  ar::Data data = stories();
  for (const auto& [count, batches] :
       {std::pair<size_t, size_t>(7, 1), {20, 1}, {39, 1}, {41, 2}, {101, 5}}) {
    ar::QuestionSplit split = data.valid;
    split.count = count;
    const ar::ReaderExperiment experiment(data, {.embedding = 4, .hidden = 4, .batch = 20},
                                          folder_in(scratch, text("of-", count)));
    REQUIRE(experiment.evaluation_batches(split) == batches);
    size_t sum = 0;
    for (size_t i = 0; i < batches; ++i) {
      const size_t size = experiment.evaluation_batch(split, i).answers.size();
      CHECK(size >= count / batches);
      CHECK(size <= count / batches + 1);
      sum += size;
    }
    CHECK(sum == count);
  }
}
