// The evaluation of sentence vectors: scores, the data sets, the vectors, and words that are added.

#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/files/file.h"
#include "models/data/npy.h"
#include "models/skip_thoughts/evaluation/evaluation.h"
#include "models/skip_thoughts/evaluation/scores.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

struct TaskFiles {
  TemporaryFolder folder;
  std::string header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n";

  TaskFiles() {
    std::filesystem::create_directories(folder / "sentiment");
    for (const char* name : {"SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"})
      write_file(folder / name,
                 header + "1\tA dog runs\tA dog is running\t4.9\tYES\r\n2\tNo\tA cat\t1\tNO\r\n");
    for (const char* name : {"rt-polarity.pos", "rt-polarity.neg", "custrev.pos", "custrev.neg",
                             "subj.subjective", "subj.objective", "mpqa.pos", "mpqa.neg"})
      write_file(folder / ("sentiment/" + std::string(name)), "good\n\nvery caf\xE9\x85 \n");
  }
};

}  // namespace

TEST_CASE("scores: by hand") {
  const std::vector<double> a{1, 2, 3, 4}, b{2, 4, 6, 8}, c{4, 3, 2, 1}, d{1, 2, 2, 10};
  CHECK(pearson(a, b) == doctest::Approx(1));
  CHECK(pearson(a, c) == doctest::Approx(-1));
  // mean 3.75; (-1.5, -0.5, 0.5, 1.5) . (-2.75, -1.75, -1.75, 6.25) = 13.5; 5 and 52.75 squared
  CHECK(pearson(a, d) == doctest::Approx(13.5 / std::sqrt(5 * 52.75)));
  CHECK(ranks_of(d) == std::vector<double>{1, 2.5, 2.5, 4});
  CHECK(ranks_of(std::vector<double>{7, 7, 7}) == std::vector<double>{2, 2, 2});
  // ranks 1 2 3 4 and 1 2.5 2.5 4: 4.5 / sqrt(5 * 4.5)
  CHECK(spearman(a, d) == doctest::Approx(4.5 / std::sqrt(22.5)));
  CHECK(spearman(a, c) == doctest::Approx(-1));
  CHECK(mean_squared_error(a, c) == doctest::Approx(5));
  for (size_t count = 2; count < 40; ++count) {  // whose mean may be another number
    const std::vector<double> constant(count, 3.6);
    std::vector<double> rising(count);
    std::iota(rising.begin(), rising.end(), 0);
    CHECK(std::isnan(pearson(constant, rising)));
    CHECK(std::isnan(pearson(rising, constant)));
  }
  const double nan = pearson(a, std::vector<double>{1, 1, 1, 1});
  CHECK(std::isnan(nan));
  const std::vector<double> holes{3, nan, 1, nan, 2}, ranks = ranks_of(holes);
  CHECK((ranks[0] == 3 && ranks[2] == 1 && ranks[4] == 2 && std::isnan(ranks[1]) && std::isnan(ranks[3])));
  CHECK(std::isnan(spearman(holes, std::vector<double>{1, 2, 3, 4, 5})));
  CHECK(place_of_largest(std::vector<double>{nan, -1, 2, nan, 2}) == 2);
  CHECK(place_of_largest(std::vector<double>{nan, nan}) == 0);
  CHECK_ERROR(pearson(a, std::vector<double>{1}),
              "score: of 4 numbers and 1; as many as there are pairs are needed");
}

TEST_CASE("bag of words: each word of a sentence counts once") {
  const auto words = bag_of_words()->of({"a dog a dog", "dog runs"});  // a, dog, runs
  const std::vector<real> weights{1, 10, 100};
  CHECK(words->dot(0, weights.data()) == 11);
  CHECK(words->dot(1, weights.data()) == 110);
  const auto pairs = bag_of_words()->of_pairs({"a a"}, {"dog"});
  const std::vector<real> alone_or_both{1, 10, 100, 1000};  // of a, and of dog
  CHECK(pairs->dot(0, alone_or_both.data()) == 101);
}

TEST_CASE("relatedness: soft labels, and words in common are seen") {
  CHECK(difference(soft_label(3.6), std::vector<real>{0, 0, real(0.4), real(0.6), 0}) < 1e-6);
  CHECK(soft_label(5) == std::vector<real>{0, 0, 0, 0, 1});
  CHECK(soft_label(1) == std::vector<real>{1, 0, 0, 0, 0});
  // Graded labels, so that the penalty's strength makes a difference well above rounding.
  Relatedness data;
  const std::vector<std::string> nouns{"dog", "cat", "man", "girl"};
  for (Pairs* const part : {&data.train, &data.trial, &data.test})
    for (size_t a = 0; a < nouns.size(); ++a)
      for (size_t b = 0; b < nouns.size(); ++b) {
        part->first.push_back("a " + nouns[a]);
        part->second.push_back("a " + nouns[b]);
        part->relatedness.push_back(a == b ? 4.8 - 0.2 * static_cast<double>(a)
                                           : 1.2 + 0.3 * static_cast<double>(a + b));
      }
  const RelatednessScores early =
      predict_relatedness(*bag_of_words(), data, {.sick = SickFit::early_stopping});
  CHECK(early.r > 0.9);
  const RelatednessScores scores = predict_relatedness(*bag_of_words(), data);
  CHECK(scores.r > 0.98);
  CHECK(scores.rho > 0.7);
  CHECK(scores.mse < 0.25);  // predicting the mean leaves 1.2
  std::ranges::fill(data.trial.relatedness, 3);
  for (const SickFit sick : {SickFit::penalty, SickFit::early_stopping})
    CHECK(message_of<NotFinite>([&] { predict_relatedness(*bag_of_words(), data, {.sick = sick}); }) ==
          "evaluation: r of SICK's trial pairs, which chooses the regression, is not a number; they need "
          "relatednesses, and vectors, that are not all the same");
}

TEST_CASE("tasks: the original files, and what is wrong with others") {
  const TaskFiles files;
  const std::string path = files.folder.path();
  const Relatedness sick = read_sick(path);
  CHECK(sick.test.second == std::vector<std::string>{"A dog is running", "A cat"});
  CHECK(sick.train.relatedness == std::vector<double>{4.9, 1});
  const auto tasks = read_classifications(path);
  REQUIRE(tasks.size() == 4);
  CHECK(tasks[2].name == "SUBJ");
  CHECK(tasks[2].sentences ==
        std::vector<std::string>{"good", "very caf\xC3\xA9\xC2\x85 ", "good", "very caf\xC3\xA9\xC2\x85 "});
  CHECK(tasks[2].labels == std::vector<int>{1, 1, 0, 0});

  const auto complaint = [&](const std::string& line) {
    write_file(files.folder / "SICK_trial.txt", files.header + "1\ta\tb\t3\tNO\n" + line + "\n");
    return message_of<DataError>([&] { read_sick(path); });
  };
  CHECK(complaint("2\ta\tb") ==
        path +
            "/SICK_trial.txt:3: has 3 columns, and pair_ID, sentence_A, sentence_B and relatedness_score "
            "are needed, separated by tabs; download it again");
  for (const char* const score : {"", "x", "5.5", "3,5", "nan"})
    CHECK(complaint(text("2\ta\tb\t", score, "\tNO")) ==
          text(path, "/SICK_trial.txt:3: the relatedness_score is '", score,
               "', and a number from 1 to 5 is needed; download it again"));
  write_file(files.folder / "SICK_trial.txt", "1\ta\tb\t3\tNO\n2\ta\tb\t4\tNO\n");
  CHECK(message_of<DataError>([&] { read_sick(path); }) ==
        path +
            "/SICK_trial.txt:1: is a pair of sentences, where the names of the columns are needed; download "
            "it again");
  write_file(files.folder / "SICK_trial.txt", files.header);
  CHECK(message_of<DataError>([&] { read_sick(path); }) ==
        path + "/SICK_trial.txt: holds no pairs of sentences; download it again");
  std::filesystem::remove(files.folder / "sentiment/mpqa.neg");
  CHECK(message_of<DataError>([&] { read_classifications(path); }) ==
        path +
            "/mpqa.neg: not found, nor in sentiment/; put the original files of SICK, MR, CR, SUBJ and MPQA "
            "there");
}

TEST_CASE("tasks: damaged SICK files are refused in one line or read") {
  const TaskFiles files;
  const std::string path = files.folder / "SICK_train.txt", whole = read_file(path);
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    put(path, mutated(whole, 80, random));
    const std::string message = message_of<DataError>([&] { read_sick(files.folder.path()); });
    CHECK(message.find('\n') == std::string::npos);
  }
}

namespace {

const std::vector<std::string> known_words{"a", "dog", "runs"};

double length_of(const Tensor& vector) {
  double square = 0;
  for (const real x : vector.values()) square += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(square);
}

}  // namespace

TEST_CASE("vectors: equal sentences have equal ones, and .npy files hold them") {
  Parameters parameters(1);
  const Encoder encoder(parameters, Norm::layer, {.vocabulary = 5, .embedding = 4, .hidden = 6});
  const WordTable words{.vocabulary = Vocabulary(known_words), .vectors = encoder.words().table()};
  const Tensor vectors = encode(encoder, words, {"A dog runs", "", "a dog runs", "A Dog", "zebra"});
  CHECK(vectors.shape() == Shape{5, 6});
  CHECK(identical(vectors.step(0), vectors.step(2)));
  CHECK_FALSE(identical(vectors.step(0), vectors.step(3)));
  CHECK_FALSE(identical(vectors.step(1), vectors.step(4)));

  const TemporaryFolder scratch;
  write_file(scratch / "v.npy", npy_bytes(vectors));
  const NpyMatrix matrix(scratch / "v.npy");
  REQUIRE(matrix.rows() == 5);
  REQUIRE(matrix.columns() == 6);
  std::vector<real> row(6);
  matrix.copy_row(3, row.data());
  CHECK(difference(row, vectors.step(3).values()) == 0);

  const auto pairs = skip_thought_vectors(encoder, words)->of_pairs({"a dog"}, {"a dog runs"});
  const Tensor ended = encode(encoder, words, {"a dog", "a dog runs"}, SentenceEnd::eos);
  std::vector<real> ones(12, real(1));
  real expected = 0;
  for (size_t i = 0; i < 6; ++i) expected += std::fabs(ended[6 + i] - ended[i]) + ended[6 + i] * ended[i];
  CHECK(std::fabs(pairs->dot(0, ones.data()) - expected) < real(1e-5));
}

TEST_CASE("vectors: words that recur give each sentence the vector that the encoder gives it alone") {
  const Vocabulary vocabulary({"a", "b", "c", "d"});
  const std::vector<std::string> sentences{"d", "b b a", "c", "d c b a a", "b a"};
  const std::vector<Sentence> numbers{{5}, {3, 3, 2}, {4}, {5, 4, 3, 2, 2}, {3, 2}};
  for (const Norm norm : {Norm::none, Norm::layer}) {
    Parameters parameters(1);
    const Encoder encoder(parameters, norm, {.vocabulary = 6, .embedding = 5, .hidden = 40});
    const Tensor vectors =
        encode(encoder, {.vocabulary = vocabulary, .vectors = encoder.words().table()}, sentences);
    for (int row = 0; row < 5; ++row) {
      const Tensor h = encoder(make_batch(numbers, std::vector<int>{row}));
      const auto place = static_cast<size_t>(row);
      CHECK(difference(vectors.slice(place, place + 1), h * static_cast<real>(1 / length_of(h))) < 16 * ulp);
    }
  }
}

TEST_CASE("vectors: length 1, <eos> for pairs alone, nothing cut") {
  Parameters parameters(1);
  const Encoder encoder(parameters, Norm::layer, {.vocabulary = 5, .embedding = 4, .hidden = 6});
  const WordTable words{.vocabulary = Vocabulary(known_words), .vectors = encoder.words().table()};
  const auto by_hand = [&](const Sentence& sentence) {
    const Tensor h = encoder(make_batch({&sentence, 1}, std::vector<int>{0}));
    return h * static_cast<real>(1 / length_of(h));
  };
  const std::vector<std::string> dog{"a dog"};
  const Tensor without = encode(encoder, words, dog), with = encode(encoder, words, dog, SentenceEnd::eos);
  CHECK(length_of(without) == doctest::Approx(1).epsilon(16 * ulp));
  CHECK(difference(without, by_hand({2, 3})) < 16 * ulp);
  CHECK(difference(with, by_hand({2, 3, Vocabulary::end})) < 16 * ulp);
  CHECK(difference(with, without) > 1e-3);
  // A task's sentences are encoded without <eos>, SICK's with it; a sentence without words is <eos> in both.
  const auto representation = skip_thought_vectors(encoder, words);
  const std::vector<real> first{1, 0, 0, 0, 0, 0};
  CHECK(representation->of(dog)->dot(0, first.data()) == without[0]);
  CHECK(identical(encode(encoder, words, {""}), encode(encoder, words, {""}, SentenceEnd::eos)));
  // A word after 3,000 others has an effect, and batches of long sentences give the same as each sentence
  // alone.
  std::string lengthy;
  Sentence numbers;
  for (int i = 0; i < 3000; ++i) lengthy += "a ", numbers.push_back(2);
  numbers.push_back(3);
  std::vector<std::string> several{lengthy + "dog", lengthy + "runs", lengthy + "a", lengthy + "zebra",
                                   "dog"};
  const Tensor long_ones = encode(encoder, words, several);
  CHECK(difference(long_ones.slice(0, 1), by_hand(numbers)) < 64 * ulp);
  CHECK(difference(long_ones.slice(0, 1), long_ones.slice(1, 2)) > 1e-3);
}

TEST_CASE("expansion: a linear map is found again, known words stay as they are") {
  const Vocabulary vocabulary({"a", "b", "c", "d", "e"});
  Tensor table = sample({7, 3}, 1);
  WordVectors vectors{.width = 2, .words = {"b", "new", "d", "e", "a", "other"}, .values = {}};
  const Tensor coordinates = sample({6, 2}, 2);
  vectors.values.assign(coordinates.values().begin(), coordinates.values().end());
  const auto mapped = [&](size_t row, size_t column) {  // y = M x + c
    const auto k = static_cast<real>(column);
    return (1 + k) * coordinates[2 * row] - (2 - k) * coordinates[2 * row + 1] + k / 4;
  };
  for (const auto& [row, word] : {std::pair<size_t, const char*>(0, "b"), {2, "d"}, {3, "e"}, {4, "a"}})
    for (size_t k = 0; k < 3; ++k)
      table.data()[static_cast<size_t>(vocabulary.number(word)) * 3 + k] = mapped(row, k);
  const Expansion expansion = expand({.vocabulary = vocabulary, .vectors = table}, vectors);
  CHECK(expansion.shared == 4);
  CHECK(expansion.added == 2);
  const auto& [words, all] = expansion.words;
  CHECK(words.size() == 9);
  CHECK(words.number("c") == vocabulary.number("c"));
  CHECK(identical(all.slice(0, 7).copy(), table));
  for (const auto& [row, word] : {std::pair<size_t, const char*>(1, "new"), {5, "other"}})
    for (size_t k = 0; k < 3; ++k)
      CHECK(std::fabs(all[static_cast<size_t>(words.number(word)) * 3 + k] - mapped(row, k)) < 64 * ulp);
  WordVectors marked = vectors;
  marked.words[1] = "<unk>";
  marked.words[5] = "<eos>";
  CHECK(expand({.vocabulary = vocabulary, .vectors = table}, marked).added ==
        0);  // the vocabulary has its own
  // Fewer words than dimensions: no unique map, but one that fits, and finite numbers.
  const Expansion few = expand({.vocabulary = Vocabulary({"b"}), .vectors = sample({3, 3}, 3)}, vectors);
  for (const real x : few.words.vectors.values()) CHECK(std::isfinite(x));
  CHECK_ERROR(
      expand({.vocabulary = Vocabulary({"z"}), .vectors = sample({3, 3}, 3)}, vectors),
      "expansion: the word vectors share no word with the vocabulary; take vectors of words in lower case");
}
