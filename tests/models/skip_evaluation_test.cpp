// The evaluation of sentence vectors: scores, regression, the data sets, and the protocol.

#include <cmath>
#include <filesystem>

#include "core/file.h"
#include "core/parallel.h"
#include "models/common/npy.h"
#include "models/skip_thoughts/evaluation.h"
#include "models/skip_thoughts/lbfgs.h"
#include "models/skip_thoughts/regression.h"
#include "models/skip_thoughts/scores.h"
#include "tests/check.h"
#include "tests/models/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

/// Two clouds of points around -1 and 1 in every coordinate.
DenseFeatures clouds(size_t rows, size_t columns, std::vector<int>& labels) {
  Tensor x({rows, columns});
  Random(5).fill_normal(x.data(), x.size(), 0, 1);
  labels.resize(rows);
  for (size_t r = 0; r < rows; ++r) {
    labels[r] = static_cast<int>(r % 2);
    for (size_t c = 0; c < columns; ++c) x[r * columns + c] += r % 2 == 0 ? real(-1) : real(1);
  }
  return DenseFeatures(x);
}

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
      write_file(folder / ("sentiment/" + std::string(name)), "good\n\nvery caf\xE9 \n");
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
  CHECK(std::isnan(pearson(a, std::vector<double>{1, 1, 1, 1})));
  CHECK_ERROR(pearson(a, std::vector<double>{1}),
              "score: of 4 numbers and 1; as many as there are pairs are needed");
}

TEST_CASE("L-BFGS finds the minimum of a narrow valley") {
  const auto f = [](std::span<const real> w, std::span<real> g) {
    g[0] = 2 * (w[0] - 3) + 2 * (w[0] - w[1]);
    g[1] = 200 * (w[1] + 1) - 2 * (w[0] - w[1]);
    const double x = static_cast<double>(w[0]), y = static_cast<double>(w[1]);
    return (x - 3) * (x - 3) + 100 * (y + 1) * (y + 1) + (x - y) * (x - y);
  };
  std::vector<real> w{-10, 10};
  minimize(f, w, {.tolerance = 1e-4});
  // 2 x - y = 3 and 101 y - x = -100
  CHECK(static_cast<double>(w[0]) == doctest::Approx(203.0 / 201).epsilon(1e-3));
  CHECK(static_cast<double>(w[1]) == doctest::Approx(-197.0 / 201).epsilon(1e-3));
}

TEST_CASE("regression: where the gradient of its loss is zero, dense and sparse alike") {
  // One feature, x = 1 for all, half of the cases in each class but one: the bias alone decides, w stays 0.
  const DenseFeatures ones(Tensor::ones({4, 1}));
  const std::vector<int> rows{0, 1, 2, 3}, classes{1, 1, 1, 0};
  const Regression even = fit(ones, hard_labels(classes, 2), rows, 1e-6);
  CHECK(even.probabilities(ones, 0)[1] == doctest::Approx(0.75).epsilon(1e-3));
  CHECK(even.predict(ones, 0) == 1);

  // Two points at -1 and 1, without a pull to zero on b: w solves w / (2 C) = 1 / (1 + e^w).
  const DenseFeatures two(Tensor::from({2, 1}, {-1, 1}));
  const std::vector<int> both{0, 1};
  const Regression pair = fit(two, hard_labels(both, 2), both, 2);
  const double w = static_cast<double>(pair.weights[0]);
  CHECK(w / 4 == doctest::Approx(1 / (1 + std::exp(w))).epsilon(1e-3));
  CHECK(std::fabs(pair.weights[1]) < real(1e-3));
  const SparseFeatures sparse({{{0, real(-1)}}, {{0, real(1)}}}, 1);
  CHECK(difference(fit(sparse, hard_labels(both, 2), both, 2).weights, pair.weights) < 1e-4);

  // Soft labels over three classes: with features that tell nothing, the mean label comes back.
  Labels soft{.classes = 3, .shares = {real(0.5), real(0.5), 0, 0, real(0.2), real(0.8)}};
  const DenseFeatures nothing(Tensor::zeros({2, 1}));
  const auto p = fit(nothing, soft, both, 1).probabilities(nothing, 0);
  CHECK(p[0] == doctest::Approx(0.25).epsilon(1e-3));
  CHECK(p[1] == doctest::Approx(0.35).epsilon(1e-3));
  CHECK(p[2] == doctest::Approx(0.4).epsilon(1e-3));
}

TEST_CASE("cross-validation: clouds apart are told apart, noise is not; threads change nothing") {
  std::vector<int> labels;
  const DenseFeatures apart = clouds(200, 4, labels);
  size_t folds = 0;
  const double accuracy = cross_validate(apart, labels, {}, [&] { ++folds; });
  CHECK(folds == 10);
  CHECK(accuracy > 95);
  set_threads(1);
  CHECK(cross_validate(apart, labels, {}) == accuracy);
  set_threads(0);
  CHECK(cross_validate(apart, labels, {.folds = 4, .inner_folds = 3}) > 95);
  const DenseFeatures noise(sample({200, 4}, 9));
  const double chance = cross_validate(noise, labels, {});
  CHECK(chance > 30);
  CHECK(chance < 70);
  CHECK_ERROR(cross_validate(noise, {0, 1}, {}), "evaluation: 2 cases for 10 folds; at least 30 are needed");
}

TEST_CASE("relatedness: soft labels, and words in common are seen") {
  CHECK(difference(soft_label(3.6), std::vector<real>{0, 0, real(0.4), real(0.6), 0}) < 1e-6);
  CHECK(soft_label(5) == std::vector<real>{0, 0, 0, 0, 1});
  CHECK(soft_label(1) == std::vector<real>{1, 0, 0, 0, 0});
  // Grades, so that the penalty's strength makes a difference that no rounding decides.
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
  const RelatednessScores scores = predict_relatedness(*bag_of_words(), data);
  CHECK(scores.r > 0.98);
  CHECK(scores.rho > 0.7);
  CHECK(scores.mse < 0.25);  // the mean alone leaves 1.2
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
        std::vector<std::string>{"good", "very caf\xC3\xA9 ", "good", "very caf\xC3\xA9 "});
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

TEST_CASE("vectors: equal sentences have equal ones, and .npy files hold them") {
  Parameters parameters(1);
  const Vocabulary vocabulary({"a", "dog", "runs"});
  const Encoder encoder(parameters, Norm::layer, {.vocabulary = 5, .embedding = 4, .hidden = 6});
  const Tensor vectors = encode(encoder, vocabulary, {"A dog runs", "", "a dog runs", "A Dog", "zebra"});
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

  const auto representation = skip_thought_vectors(encoder, vocabulary);
  const auto pairs = representation->of_pairs({"a dog"}, {"a dog runs"});
  std::vector<real> ones(12, real(1));
  real expected = 0;
  for (size_t i = 0; i < 6; ++i)
    expected += std::fabs(vectors[18 + i] - vectors[i]) + vectors[18 + i] * vectors[i];
  CHECK(std::fabs(pairs->dot(0, ones.data()) - expected) < real(1e-5));
}
