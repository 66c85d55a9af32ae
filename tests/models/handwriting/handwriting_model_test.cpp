// The window, and the whole network: the fused first layer against its composed twin, gradients, checkpoints,
// threads, overfitting.

#include "core/memory/allocator.h"
#include "layers/recurrent/step.h"
#include "models/handwriting/model.h"
#include "optim/adam.h"
#include "tests/layers/observed.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
namespace hw = lamina::handwriting;

namespace {

constexpr hw::ModelOptions tiny{.hidden = 6, .gaussians = 2, .components = 2};
const std::vector<Norm> norms{Norm::none, Norm::layer};

/// Texts of different lengths, one of a single character.
hw::TextBatch some_texts(size_t rows) {
  std::vector<std::vector<int>> texts;
  for (size_t r = 0; r < rows; ++r) {
    texts.emplace_back();
    for (size_t u = 0; u < 1 + r % 4 * 2; ++u) texts.back().push_back(static_cast<int>((7 * r + 3 * u) % 57));
  }
  return hw::TextBatch(texts);
}

hw::Batch some_batch(size_t steps, size_t rows) {
  hw::Batch batch{.points = sample({steps + 1, rows, 3}, 3),
                  .mask = Tensor::ones({steps, rows}),
                  .texts = some_texts(rows)};
  for (size_t i = 2; i < batch.points.size(); i += 3) batch.points[i] = i % 5 == 0 ? real{1} : real{0};
  batch.mask[steps * rows - 1] = 0;
  return batch;
}

/// The loss and all gradients. The loss is small, so that no derivative reaches its bound.
std::vector<Tensor> gradients_of(const Parameters& parameters, const std::function<Tensor()>& loss,
                                 real scale = real(0.01)) {
  for (const auto& entry : parameters.learned()) Tensor(entry.value).clear_gradient();
  Tape tape;
  const Tensor value = loss() * scale;
  tape.backward(value);
  std::vector<Tensor> all{value};
  for (const auto& entry : parameters.learned()) all.push_back(entry.value.gradient());
  return all;
}

void check_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);  // 0: the loss
    CHECK(difference(a[i], b[i]) <= tolerance);
  }
}

/// The loss computed with sessions, which report to an observer; the composed twin does not.
Tensor loss_by_sessions(const hw::Model& model, const hw::Batch& batch) {
  const size_t steps = batch.mask.shape()[0], rows = batch.mask.shape()[1];
  const SessionOptions options{.steps = steps, .rows = rows};
  RecurrentSession lower(model.lower, options), middle(model.middle, options), upper(model.upper, options);
  RecurrentState first = lower.initial(), second = middle.initial(), third = upper.initial();
  hw::composed::Window seen{.kappa = Tensor::zeros({rows, model.options().gaussians}),
                            .phi = {},
                            .w = Tensor::zeros({rows, hw::symbol_count})};
  Tensor total = Tensor::zeros({rows});
  for (size_t t = 0; t < steps; ++t) {
    const Tensor x = batch.points.step(t);
    first = lower(concatenate({x, seen.w}, 1), first);
    seen = hw::composed::window(model.window(first.h), seen.kappa, batch.texts, hw::symbol_count);
    second = middle(concatenate({x, first.h, seen.w}, 1), second);
    third = upper(concatenate({x, second.h, seen.w}, 1), third);
    const Tensor output = model.mixture(concatenate({first.h, second.h, third.h}, 1));
    total = total + hw::mixture_nll(output, batch.points.step(t + 1), batch.mask.step(t));
  }
  return sum(total);
}

}  // namespace

TEST_CASE("window: forward and backward of a step equal the composed twin") {
  constexpr size_t gaussians = 3, symbols = 57, rows = 4;
  const hw::TextBatch texts = some_texts(rows);
  const Tensor parameters = leaf({rows, 3 * gaussians}, 1), before = leaf({rows, gaussians}, 2, 0, 3);
  const Tensor to_w = sample({rows, symbols}, 3), to_kappa = sample({rows, gaussians}, 4);
  Tape tape;
  const auto twin = hw::composed::window(parameters, before, texts, symbols);
  tape.backward(sum(twin.w * to_w) + sum(twin.kappa * to_kappa));
  Tensor work = parameters.copy(), kappa({rows, gaussians}), w({rows, symbols}), dkappa = to_kappa.copy(),
         dparameters({rows, 3 * gaussians});
  for (size_t r = 0; r < rows; ++r) {
    const hw::WindowStep step{gaussians, symbols, texts.row(r)};
    std::vector<real> phi(texts.row(r).size());
    real *const own = work.data() + r * 3 * gaussians, *const k = kappa.data() + r * gaussians;
    step.forward(own, before.data() + r * gaussians, k, w.data() + r * symbols, phi.data());
    step.backward(own, k, to_w.data() + r * symbols, dkappa.data() + r * gaussians,
                  dparameters.data() + r * 3 * gaussians);
    for (size_t u = 0; u < phi.size(); ++u)
      CHECK(double(phi[u]) == doctest::Approx(double(twin.phi[r * twin.phi.columns() + u])).epsilon(1e-5));
  }
  CHECK(difference(w, twin.w) < twin_tolerance(50));
  CHECK(difference(kappa, twin.kappa) < twin_tolerance(50));
  CHECK(difference(dparameters, parameters.gradient()) < twin_tolerance(100));
  CHECK(difference(dkappa, before.gradient()) < twin_tolerance(100));
}

TEST_CASE("window: by hand, one Gaussian over two characters") {
  // alpha 2, beta 0.5, kappa from 0.25 to 0.25 + 0.5: phi = 2 exp(-0.5 (0.75 - u)^2)
  const hw::TextBatch texts({{4, 9}});
  std::vector<real> parameters{std::log(real(2)), std::log(real(0.5)), std::log(real(0.5))}, w(57), phi(2);
  const real before = real(0.25);
  real kappa = 0;
  hw::WindowStep{1, 57, texts.row(0)}.forward(parameters.data(), &before, &kappa, w.data(), phi.data());
  CHECK(double(kappa) == doctest::Approx(0.75));
  CHECK(double(w[4]) == doctest::Approx(1.509680));
  CHECK(double(w[9]) == doctest::Approx(1.938466));
  CHECK(w[0] == 0);
}

TEST_CASE("handwriting: the network equals its composed twin") {
  for (const Norm norm : norms)
    for (const size_t rows : {size_t{1}, size_t{3}, size_t{26}}) {
      CAPTURE(text(name_of(norm), " ", rows));
      hw::ModelOptions options = tiny;
      options.norm = norm;
      Parameters parameters(1);
      const hw::Model model(parameters, options);
      const hw::Batch batch = some_batch(5, rows);
      const auto twin = gradients_of(parameters, [&] { return hw::composed::loss(model, batch); });
      const double tolerance = sizeof(real) == 8 ? 1e-11 : 2e-4;
      check_same(gradients_of(parameters, [&] { return model.loss(batch); }), twin, tolerance);
    }
}

TEST_CASE("handwriting: the network tells an observer what sessions do") {
  for (const Norm norm : norms) {
    hw::ModelOptions options = tiny;
    options.norm = norm;
    Parameters parameters(1);
    const hw::Model model(parameters, options);
    const hw::Batch batch = some_batch(4, 3);
    check_same_records(
        records_of([&] { gradients_of(parameters, [&] { return model.loss(batch); }); }),
        records_of([&] { gradients_of(parameters, [&] { return loss_by_sessions(model, batch); }); }), 3, 4);
  }
}

TEST_CASE("handwriting: derivatives that reach their bounds are those of the composed twin") {
  for (const Norm norm : norms) {
    hw::ModelOptions options = tiny;
    options.norm = norm;
    Parameters parameters(1);
    const hw::Model model(parameters, options);
    const hw::Batch batch = some_batch(4, 2);
    const real huge = 300;
    const auto ours = gradients_of(
        parameters, [&] { return model.loss(batch); }, huge);
    const auto twin = gradients_of(
        parameters, [&] { return hw::composed::loss(model, batch); }, huge);
    check_same(ours, twin, sizeof(real) == 8 ? 1e-11 : 5e-4);
    const auto free = gradients_of(parameters, [&] { return model.loss(batch); });
    CHECK(difference(ours[1], free[1] * (huge / real(0.01))) > 0.01);
  }
}

TEST_CASE("handwriting: gradients of the whole network") {
  for (const Norm norm : norms) {
    CAPTURE(std::string(name_of(norm)));
    hw::ModelOptions options = tiny;
    options.norm = norm;
    options.hidden = 4;
    Parameters parameters(3);
    const hw::Model model(parameters, options);
    const hw::Batch batch = some_batch(3, 2);
    std::vector<Tensor> inputs;
    for (const auto& entry : parameters.learned()) inputs.push_back(entry.value);
    check_gradients(
        inputs, [&] { return model.loss(batch) * real(0.01); }, 3e-4);
  }
}

TEST_CASE("handwriting: checkpoints change neither the loss nor a gradient") {
  for (const Norm norm : norms) {
    hw::ModelOptions options = tiny;
    options.norm = norm;
    const hw::Batch batch = some_batch(11, 3);
    const auto run = [&](bool checkpoint) {
      options.checkpoint = checkpoint;
      Parameters parameters(1);
      const hw::Model model(parameters, options);
      return gradients_of(parameters, [&] { return model.loss(batch); });
    };
    check_same(run(true), run(false), sizeof(real) == 8 ? 1e-12 : 1e-4);
  }
}

TEST_CASE("handwriting: every parameter is an input, with checkpoints too") {
  for (const Norm norm : norms)
    for (const bool checkpoint : {false, true}) {
      CAPTURE(text(name_of(norm), checkpoint ? ", checkpoints" : ""));
      hw::ModelOptions options = tiny;
      options.norm = norm;
      options.checkpoint = checkpoint;
      Parameters parameters(1);
      const hw::Model model(parameters, options);
      const hw::Batch batch = some_batch(11, 3);
      check_parameters_are_inputs(parameters, [&] { return model.loss(batch); });
    }
}

TEST_CASE("handwriting: with checkpoints a write into the batch is found, and the model may be gone") {
  hw::ModelOptions options = tiny;
  options.checkpoint = true;
  const auto error = [&](Tensor hw::Batch::*part) {
    hw::Batch batch = some_batch(11, 3);
    Tape tape;
    Parameters parameters(1);
    const Tensor loss = hw::Model(parameters, options).loss(batch);
    if (part != nullptr) (batch.*part)[0] += 1;
    return error_of([&] { tape.backward(loss); });
  };
  CHECK(error(nullptr).empty());
  CHECK(contains(error(&hw::Batch::points), "was written after it was recorded"));
  CHECK(contains(error(&hw::Batch::mask), "was written after it was recorded"));
}

TEST_CASE("handwriting: with checkpoints a long line keeps a fraction of the memory") {
  const hw::Batch batch = some_batch(900, 2);
  const auto kept = [&](bool checkpoint) {
    Parameters parameters(1);
    hw::ModelOptions options = tiny;
    options.checkpoint = checkpoint;
    const hw::Model model(parameters, options);
    const size_t before = memory::statistics().bytes_in_use;
    Tape tape;
    const Tensor loss = model.loss(batch);
    return static_cast<double>(memory::statistics().bytes_in_use - before);
  };
  CHECK(kept(true) < kept(false) / 4);
}

TEST_CASE("handwriting: one and two threads agree, and repeat bit for bit") {
  for (const Norm norm : norms)
    for (const size_t rows : {size_t{8}, size_t{30}}) {  // threads share columns, and rows
      Parameters parameters(1);
      const hw::Model model(parameters, {.norm = norm, .hidden = 200, .gaussians = 3, .components = 2});
      const hw::Batch batch = some_batch(4, rows);
      const auto run = [&](int count) {
        set_threads(count);
        return gradients_of(parameters, [&] { return model.loss(batch); });
      };
      const auto one = run(1), two = run(2), again = run(2);
      set_threads(0);
      check_same(one, two, sizeof(real) == 8 ? 1e-12 : 1e-4);
      for (size_t i = 0; i < two.size(); ++i) CHECK(identical(two[i], again[i]));
    }
}

TEST_CASE("handwriting: a training step allocates nothing after the first") {
  Parameters parameters(1);
  const hw::Model model(parameters, {.norm = Norm::layer, .hidden = 8, .gaussians = 2, .components = 2});
  Adam adam(parameters, {});
  const hw::Batch batch = some_batch(6, 3);
  const auto step = [&] {
    Tape tape;
    tape.backward(model.loss(batch));
    adam.step();
  };
  step();
  step();
  const auto before = memory::statistics();
  for (int i = 0; i < 3; ++i) step();
  CHECK(memory::statistics().system_allocations == before.system_allocations);
}

TEST_CASE("handwriting: wrong shapes and sizes are named") {
  Parameters parameters(1);
  const hw::Model model(parameters, tiny);
  hw::State state;
  CHECK_ERROR(model(Tensor::zeros({2, 3, 4}), some_texts(3), state),
              "window lstm: the points are [2 x 3 x 4]; [T x B x 3] with T > 0 is needed");
  CHECK_ERROR(model(Tensor::zeros({2, 3, 3}), some_texts(2), state),
              "window lstm: 2 texts for 3 cases; each needs its own");
  hw::State other{.lower = {.h = Tensor::zeros({1, 6})}};
  CHECK_ERROR(model(Tensor::zeros({2, 3, 3}), some_texts(3), other),
              "window lstm: the initial h is [1 x 6]; [3 x 6] is needed");
  state = {};
  CHECK_ERROR(model(Tensor::zeros({2, 1, 3}), hw::TextBatch({{1, 57}}), state),
              "window lstm: text 0 has the symbol 57; there are 57");
  CHECK_ERROR(hw::Model(parameters, {.components = 65}), "handwriting: 65 components; there may be 64");
  CHECK_ERROR(hw::Model(parameters, {.norm = Norm::batch}),
              "handwriting: norm is batch; choose none or layer");
  CHECK_ERROR(hw::Model(parameters, {.hidden = 0}), "handwriting: a size is 0; all must be positive");
}

TEST_CASE("handwriting: the network of the paper has 3.65 million parameters") {
  Parameters parameters(1);
  const hw::Model model(parameters, {});
  CHECK(parameters.count() == 3650151);
  for (const Lstm* const layer : {&model.lower, &model.middle, &model.upper})
    CHECK(layer->options().clip == 10);  // derivatives, as Graves has it
}
