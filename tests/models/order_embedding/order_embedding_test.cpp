// Order embeddings: the synthetic world, the files, the model's gradients, and the experiment.

#include <cmath>
#include <filesystem>
#include <set>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/order_embedding/experiment.h"
#include "models/run/metrics.h"
#include "models/text/tokenizer.h"
#include "tests/check.h"
#include "tests/models/data/npy_files.h"
#include "tests/models/training/presets.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::order_embedding;

namespace {

constexpr WorldSizes tiny{.train = 64, .valid = 20, .test = 30, .features = 50};

RunFolder folder_in(const TemporaryFolder& scratch, const std::string& name) {
  return RunFolder::create(scratch / name, {.experiment = "order-embedding"});
}

/// The files of Vendrov et al. with the given numbers of images and captions.
struct Files {
  TemporaryFolder folder;
  size_t features = 3;

  void write(const std::string& name, size_t images, size_t captions, size_t width) const {
    std::string lines;
    for (size_t i = 0; i < captions; ++i) lines += text("a ", name, " dog number ", i, "\n");
    std::filesystem::create_directories(folder / "images/10crop");
    write_file(folder / (name + ".txt"), lines);
    write_file(folder / ("images/10crop/" + name + ".npy"),
               npy_matrix(images, width, std::vector<double>(images * width, 0.5), false, 1));
  }
  Files() {
    write("train", 4, 20, features);
    write("val", 2, 10, features);
    write("test", 3, 15, features);
  }
  std::string complaint() const {
    std::string message = message_of<DataError>([&] { load_coco(folder.path()); });
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
};

}  // namespace

TEST_CASE("world: images of length 1, five captions each, from the most to the least detailed") {
  const WorldPart part = draw_world(200, 64, 7);
  REQUIRE(part.images.size() == 200 * 64);
  REQUIRE(part.captions.size() == 1000);
  std::set<std::string> words;
  std::array<size_t, captions_per_image> lengths{};
  for (size_t i = 0; i < 200; ++i) {
    double square = 0;
    for (size_t d = 0; d < 64; ++d) {
      const double value = static_cast<double>(part.images[i * 64 + d]);
      CHECK(value >= 0);
      square += value * value;
    }
    CHECK(square == doctest::Approx(1));
    for (size_t k = 0; k < captions_per_image; ++k) {
      const auto parts = split_words(part.captions[i * captions_per_image + k]);
      REQUIRE(parts.size() >= 2);
      lengths[k] += parts.size();
      words.insert(parts.begin(), parts.end());
    }
  }
  CHECK(std::ranges::is_sorted(lengths, std::greater<>()));
  CHECK(words.size() > 120);
}

TEST_CASE("world: a scene depends on the seed and its index alone") {
  const WorldPart all = draw_world(20, 33, 7), later = draw_world(5, 33, 7, 15),
                  other = draw_world(20, 33, 8);
  CHECK(std::equal(later.captions.begin(), later.captions.end(), all.captions.begin() + 75));
  CHECK(std::equal(later.images.begin(), later.images.end(), all.images.begin() + 15 * 33));
  CHECK(other.captions != all.captions);
  set_threads(1);
  CHECK(draw_world(20, 33, 7).images == all.images);
  set_threads(0);
}

TEST_CASE("order data: built-in splits are separate and say what they are") {
  const Data data = synthetic_coco(3, tiny);
  CHECK(
      data.source.starts_with("built-in synthetic scenes, not COCO (seed 3): 64 training, 20 validation and "
                              "30 test images of 50 features, "));
  CHECK(data.train.sentences.size() == 320);
  CHECK(data.valid.captions !=
        std::vector<std::string>(data.train.captions.begin(), data.train.captions.begin() + 100));
  for (const Sentence& sentence : data.train.sentences) {
    CHECK(sentence.back() == Vocabulary::end);
    CHECK(std::ranges::count(sentence, Vocabulary::unknown) == 0);
  }
}

TEST_CASE("order data: the original files") {
  const Files files;
  write_file(files.folder / "val.txt",
             "\xEF\xBB\xBF"
             "a dog\r\ncaf\xE9 zebra\r\nc\r\nd\r\ne\r\na\r\nb\r\nc\r\nd\r\ne");
  const Data data = load_coco(files.folder.path());
  CHECK(data.source == text("captions and image features in ", files.folder.path(),
                            ": 4 training, 2 validation and 3 test images of 3 features, ",
                            data.vocabulary.size(), " words"));
  CHECK(data.valid.captions[1] == "caf\xC3\xA9 zebra");
  const auto number = [&](const char* word) { return data.vocabulary.number(word); };
  CHECK(data.valid.sentences[0] == Sentence{number("a"), number("dog"), 0});
  // The vocabulary is that of the training captions and of those searched in validation: nothing in these is unknown.
  CHECK(data.valid.sentences[1] == Sentence{number("caf\xC3\xA9"), number("zebra"), 0});
  CHECK(number("zebra") > Vocabulary::unknown);
  CHECK(data.test.sentences[0][1] == Vocabulary::unknown);  // "test"
  std::vector<real> features(3);
  data.test.copy_features(2, features.data());
  CHECK(features == std::vector<real>(3, real(0.5)));
}

TEST_CASE("order data: validation captions that are not searched give the vocabulary no words") {
  const Files files;
  files.write("val", searched_images + 1, 0, 3);
  std::string captions;
  for (size_t i = 0; i < captions_per_image * searched_images; ++i) captions += "a searched dog\n";
  write_file(files.folder / "val.txt", captions + "a cat\nb\nc\nd\ne\n");
  const Data data = load_coco(files.folder.path());
  CHECK(data.vocabulary.number("searched") > Vocabulary::unknown);
  CHECK(data.vocabulary.number("cat") == Vocabulary::unknown);
}

TEST_CASE("order data: bad files are named with the line and the remedy") {
  const std::string remedy =
      "; take the files of Vendrov et al. (COCO captions and 10-crop features), or leave --data out for the "
      "built-in world";
  const Files files;
  const std::string path = files.folder.path();
  CHECK(message_of<DataError>([&] { load_coco(path + "/none"); }) ==
        path + "/none: is not a folder" + remedy);
  files.write("val", 2, 9, 3);
  CHECK(files.complaint() == path + "/val.txt:9: ends after 9 captions, and the 2 images of " + path +
                                 "/images/10crop/val.npy have 10, five each" + remedy);
  files.write("val", 2, 10, 4);
  CHECK(files.complaint() == path +
                                 "/images/10crop/val.npy: has 4 features an image, and those of the training "
                                 "images 3; take all from the same network");
  files.write("val", 2, 10, 3);
  write_file(files.folder / "test.txt", "a\nb\n \t\nc\n");
  CHECK(files.complaint() ==
        path + "/test.txt:3: is an empty line; every line is a caption, five for each image");
  std::filesystem::remove(files.folder / "test.txt");
  CHECK(files.complaint() == path + "/test.txt: not found" + remedy);
  files.write("test", 3, 15, 3);
  std::filesystem::resize_file(files.folder / "images/10crop/test.npy", 130);
  CHECK(files.complaint().starts_with(path + "/images/10crop/test.npy: ends after"));
}

TEST_CASE("order model: as many parameters as the peer's model") {
  const auto count = [](Norm norm) {
    Parameters parameters(1);
    const Model model(parameters, {.norm = norm, .vocabulary = 10000});
    return parameters.count();
  };
  CHECK(count(Norm::none) == 11262656 + 3072);  // the peer's plain GRU has no bias
  CHECK(count(Norm::layer) == 11274944);
}

TEST_CASE("order model: where the weights start") {
  Parameters parameters(3);
  const Model model(parameters, {.norm = Norm::layer, .vocabulary = 200, .features = 400, .hidden = 64});
  for (const Parameters::Entry& entry : parameters.learned()) {
    const auto& [name, value] = entry;
    INFO(entry.name);
    if (name == "words" || name == "gru.input_weight")
      CHECK(mismatch(value, uniform_within(0.1)) == "");
    else if (name == "gru.hidden_weight")
      CHECK(mismatch(value, orthogonal_blocks(3)) == "");
    else if (name == "image.weight")
      CHECK(mismatch(value, uniform_within(std::sqrt(6.0 / (400 + 64)))) == "");
    else
      CHECK(mismatch(value, constant_at(name.ends_with(".gain") ? 1 : 0)) == "");
  }
}

TEST_CASE("order model: gradients of all parameters, padded sentences included") {
  const std::vector<Sentence> sentences{{3, 2, 5, 0}, {4, 0}, {2, 2, 0}, {6, 0}};
  const TokenBatch batch = make_batch(sentences, std::vector<int>{0, 1, 2, 3});
  for (const Score score : {Score::order, Score::cosine})
    for (const Norm norm : {Norm::none, Norm::layer}) {
      CAPTURE(static_cast<int>(score));
      CAPTURE(std::string(name_of(norm)));
      Parameters parameters(5);
      const Model model(
          parameters,
          {.score = score, .norm = norm, .vocabulary = 7, .features = 6, .embedding = 4, .hidden = 5});
      for (const auto& [name, value] : parameters.learned())  // away from the small initial values
        Random(11, value.size()).fill_uniform(value.storage()->values, value.size(), real(-0.8), real(0.8));
      const Tensor features = sample({4, 6}, 1, 0, 1);
      std::vector<Tensor> inputs;
      for (const auto& [name, value] : parameters.learned()) inputs.push_back(value);
      check_gradients(
          inputs, [&] { return model.loss(features, batch); }, 1e-5);
    }
}

TEST_CASE("order model: padding changes nothing") {
  Parameters parameters(1);
  const Model model(parameters,
                    {.norm = Norm::layer, .vocabulary = 9, .features = 6, .embedding = 8, .hidden = 32});
  const std::vector<Sentence> sentences{{3, 2, 0}, {4, 5, 6, 7, 8, 0}};
  const Tensor together = model.captions(make_batch(sentences, std::vector<int>{0, 1}));
  const Tensor alone = model.captions(make_batch(sentences, std::vector<int>{0}));
  CHECK(difference(together.slice(0, 1), alone) < 16 * ulp);
}

TEST_CASE("order experiment: an epoch shows every image once, with one of its own captions") {
  const TemporaryFolder scratch;
  const Data data = synthetic_coco(3, tiny);
  OrderExperiment experiment(data, {.embedding = 8, .hidden = 16, .batch = 20}, folder_in(scratch, "run"));
  CHECK(experiment.steps_per_epoch() == 3);
  const auto losses = [&] {
    std::vector<real> values;
    for (std::uint64_t step = 0; step < 4; ++step) values.push_back(experiment.loss(step).item());
    return values;
  };
  const auto first = losses();
  CHECK(first == losses());  // a function of the step, as resuming requires
  CHECK(first[0] != first[3]);
  CHECK_ERROR(OrderExperiment(data, {.batch = 65}, folder_in(scratch, "large")),
              "order embedding: a batch of 65 from 64 training images");
}

TEST_CASE("order experiment: a part of a split is embedded as what it is, and no untrained model is kept") {
  const TemporaryFolder scratch;
  const Data data = synthetic_coco(3, tiny);
  const RunFolder folder = folder_in(scratch, "run");
  OrderExperiment experiment(data, {.embedding = 8, .hidden = 16, .batch = 20}, folder);
  const Points points = experiment.embed(data.train, 5, 8);
  Tensor features({1, data.features});
  data.train.copy_features(6, features.data());
  CHECK(difference(points.images.slice(1, 2), experiment.model.images(features)) < 1e-5);
  CHECK(difference(points.captions.slice(7, 8), experiment.embed(data.train.sentences[5 * 5 + 7])) < 1e-5);
  experiment.evaluate(0);
  CHECK_FALSE(exists(folder.file(best_model)));
  experiment.optimizer->steps = 1;
  experiment.evaluate(0);
  CHECK(exists(folder.file(best_model)));
}

TEST_CASE("order experiment: learns, keeps its best model, and clips every gradient") {
  const TemporaryFolder scratch;
  const Data data = synthetic_coco(3, {.train = 256, .valid = 40, .test = 40, .features = 200});
  const RunFolder folder = folder_in(scratch, "run");
  OrderExperiment experiment(data, {.norm = Norm::layer, .embedding = 16, .hidden = 64, .batch = 32}, folder);
  const double before = experiment.score(data.train, 0, 40).sum();
  const TrainingPlan plan{.label = "test", .steps_per_epoch = 40, .epochs = 3, .epoch = "validation"};
  CHECK(train(folder, experiment.parameters, *experiment.optimizer, experiment, plan) == Outcome::finished);
  const double after = experiment.score(data.train, 0, 40).sum();
  CHECK(after > before + 200);  // of the last model: the best may be an earlier one
  const auto sums = read_table(folder.file("metrics.csv")).column("valid_sum");
  load_model(folder, experiment.parameters, best_model);
  CHECK(experiment.score(data.valid, 0, 40).sum() == doctest::Approx(*std::ranges::max_element(sums)));

  // Gates and candidate apart, as the public code's tensors: each comes to the limit.
  Tape tape;
  tape.backward(experiment.loss(0) * 1000);
  experiment.adjust_gradients();
  for (const Parameters::Entry& entry : experiment.parameters.learned()) {
    const std::string& name = entry.name;
    const Tensor gradient = entry.value.gradient();
    const size_t columns = gradient.shape()[-1], seam = name.starts_with("gru.") ? 2 * size_t{64} : columns;
    double gates = 0, candidate = 0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const auto g = static_cast<double>(gradient[i]);
      (i % columns < seam ? gates : candidate) += g * g;
    }
    CAPTURE(name);
    CHECK(std::sqrt(gates) == doctest::Approx(2).epsilon(1e-4));
    if (seam < columns) CHECK(std::sqrt(candidate) == doctest::Approx(2).epsilon(1e-4));
  }
}

TEST_CASE("order experiment: captions find images that were not learned better than by chance") {
  const TemporaryFolder scratch;
  const Data data = synthetic_coco(3, {.train = 2048, .valid = 40, .test = 100, .features = 1000});
  const RunFolder folder = folder_in(scratch, "run");
  OrderExperiment experiment(
      data, {.norm = Norm::layer, .embedding = 16, .hidden = 64, .batch = 64, .learning_rate = 0.005},
      folder);
  const auto mean_rank = [&] { return experiment.test().image.mean_rank; };
  CHECK(mean_rank() > 45);  // of 100: 50.5 by chance
  const TrainingPlan plan{.label = "test", .steps_per_epoch = 200, .epochs = 1, .epoch = "validation"};
  train(folder, experiment.parameters, *experiment.optimizer, experiment, plan);
  CHECK(mean_rank() < 42);
}

TEST_CASE("order experiment: the kept model is the best by the rule that was chosen") {
  const Data data = synthetic_coco(3, {.train = 128, .valid = 40, .test = 40, .features = 60});
  for (const BestBy rule : {BestBy::both, BestBy::image}) {
    const TemporaryFolder scratch;
    const RunFolder folder = folder_in(scratch, "run");
    OrderExperiment experiment(
        data, {.embedding = 8, .hidden = 32, .batch = 32, .learning_rate = 0.02, .best_by = rule}, folder);
    const TrainingPlan plan{.label = "test", .steps_per_epoch = 4, .epochs = 12, .epoch = "validation"};
    CHECK(train(folder, experiment.parameters, *experiment.optimizer, experiment, plan) == Outcome::finished);
    const Table curves = read_table(folder.file("metrics.csv"));
    std::vector<double> both = curves.column("valid_sum"), image(both.size());
    for (const char* const name : {"valid_image_r1", "valid_image_r5", "valid_image_r10"})
      for (size_t i = 0; i < image.size(); ++i) image[i] += curves.column(name)[i];
    load_model(folder, experiment.parameters, best_model);
    const Retrieval kept = experiment.score(data.valid, 0, 40);
    const auto best_of = [](const std::vector<double>& sums) { return *std::ranges::max_element(sums); };
    if (rule == BestBy::both) CHECK(kept.sum() == doctest::Approx(best_of(both)));
    if (rule == BestBy::image) CHECK(kept.image.sum() == doctest::Approx(best_of(image)));
    // The two rules choose different models here: otherwise this test could not distinguish them.
    CHECK(std::ranges::max_element(both) - both.begin() != std::ranges::max_element(image) - image.begin());
  }
}

TEST_CASE("order presets: the paper's settings (6.1), and a quarter of its sizes") {
  const Preset paper = preset_of("paper");
  CHECK(paper.options.embedding == 300);
  CHECK(paper.options.hidden == 1024);
  CHECK(paper.options.batch == 128);
  CHECK(paper.options.learning_rate == 1e-3);
  CHECK(paper.options.optimizer == OptimizerKind::adam);
  CHECK(paper.options.best_by == BestBy::both);
  CHECK(paper.epochs == 100);
  CHECK(paper.validate_every == 300);
  CHECK(gradient_limit == 2);
  CHECK(searched_images == 1000);
  CHECK(margin_of(Score::order) == real(0.05));
  CHECK(margin_of(Score::cosine) == real(0.2));
  CHECK(preset_of("small").options.hidden == 256);
  CHECK_ERROR(preset_of("large"), "order embedding: no preset 'large'; there are paper and small");
}
