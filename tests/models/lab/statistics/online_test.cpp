// The measuring of the lab on batch size 1, where the answer is known.

#include "models/lab/statistics/online.h"

#include "core/ops.h"
#include "models/lab/deep_digits.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

TEST_CASE("online: batch norm refuses the first case, and says why") {
  const OnlineRun run = learn_online(synthetic_mnist(1, 5, 1, 1), {.norm = Norm::batch});
  CHECK(run.wrong.empty());
  CHECK(run.refusal.find("single case, which has no variance") != std::string::npos);
  CHECK(run.refusal.find("hidden1.norm") != std::string::npos);
}

TEST_CASE("online: an answer counts before the case is learned from") {
  MnistData data = synthetic_mnist(1, 60, 1, 1);
  const OnlineRun run = learn_online(data, {.norm = Norm::layer});
  CHECK(run.refusal.empty());
  REQUIRE(run.wrong.size() == 60);
  data.train.labels.back() = (data.train.labels.back() + 1) % 10;
  std::vector<double> changed = learn_online(data, {.norm = Norm::layer}).wrong;
  changed.back() = run.wrong.back();
  CHECK(changed == run.wrong);
}

TEST_CASE("online: cases of one class are learned at once, and nothing is where the rate is nearly 0") {
  MnistData data = synthetic_mnist(1, 60, 1, 1);
  DeepDigits untrained(data, {.digits = {.norm = Norm::rms, .batch = 1, .seed = 4}, .depth = 2, .width = 64});
  const std::vector<int> answers =
      argmax(untrained.logits(cases_of(data.train, 0, 60).images, Mode::evaluate), -1);
  const OnlineRun still = learn_online(data, {.norm = Norm::rms, .learning_rate = real(1e-12), .seed = 4});
  for (size_t i = 0; i < 60; ++i) CHECK(still.wrong[i] == (answers[i] != data.train.labels[i] ? 1 : 0));
  std::ranges::fill(data.train.labels, 7);
  for (const Norm norm : {Norm::none, Norm::weight, Norm::rms, Norm::layer}) {
    const OnlineRun run = learn_online(data, {.norm = norm, .learning_rate = real(0.1)});
    for (size_t i = 30; i < 60; ++i) CHECK(run.wrong[i] == 0);
  }
}

TEST_CASE("online: normalized alone, a case is lost by batch norm and kept by layer norm") {
  const Tensor a = Tensor::from({2, 2}, {3, 5, 7, 1});
  CHECK(dependence_on_case(Norm::batch, a) == 0);
  CHECK(dependence_on_case(Norm::layer, a) == doctest::Approx(1).epsilon(1e-4));  // (-1, 1) and (1, -1)
  CHECK_THROWS_AS(dependence_on_case(Norm::weight, a), Error);
}
