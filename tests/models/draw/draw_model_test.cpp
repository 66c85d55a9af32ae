// The whole of DRAW: the fused recurrence against its composed twin, gradients, threads, overfitting.

#include <tuple>

#include "core/memory/allocator.h"
#include "layers/recurrent/composed.h"
#include "layers/recurrent/step.h"
#include "models/draw/experiment.h"
#include "models/draw/model.h"
#include "models/draw/sample.h"
#include "optim/adam.h"
#include "tests/layers/observed.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
namespace d = lamina::draw;

namespace {

constexpr d::GlimpseSizes tiny{.side = 6, .glimpses = 3, .hidden = 5, .latent = 4, .read = 2, .write = 3};
const std::vector<Norm> norms{Norm::none, Norm::weight, Norm::layer};

Tensor binary(size_t rows, size_t pixels, std::uint64_t seed) {
  Tensor x = sample({rows, pixels}, seed, 0, 1);
  for (real& value : x.values()) value = value < real(0.4) ? real(1) : real(0);
  return x;
}

Tensor noise_for(const d::GlimpseSizes& sizes, size_t rows) {
  Tensor noise({sizes.glimpses, rows, sizes.latent});
  Random(7).fill_normal(noise.data(), noise.size(), 0, 1);
  return noise;
}

/// Reconstruction and KL of every case weighted differently, so that no two derivatives are alike.
Tensor loss_of(const d::Bound& bound) {
  return weighted(bound.reconstruction) + weighted(bound.kl) * real(0.7);
}

std::vector<Tensor> gradients_of(const Parameters& parameters, const std::function<Tensor()>& loss) {
  for (const auto& entry : parameters.learned()) Tensor(entry.value).clear_gradient();
  Tape tape;
  const Tensor value = loss();
  tape.backward(value);
  std::vector<Tensor> all{value};
  for (const auto& entry : parameters.learned()) all.push_back(entry.value.gradient());
  return all;
}

/// The bound computed with sessions, which report to an observer; the composed twin does not.
d::Bound bound_by_sessions(const d::Model& model, const Tensor& images, const Tensor& noise) {
  const d::GlimpseSizes& sizes = model.sizes();
  const SessionOptions options{.steps = sizes.glimpses, .rows = images.rows()};
  RecurrentSession encoder(model.encoder, options), decoder(model.decoder, options);
  RecurrentState encoded = encoder.initial(), decoded = decoder.initial();
  Tensor canvas = Tensor::zeros(images.shape()), kl = Tensor::zeros({images.rows(), 1});
  for (size_t t = 0; t < sizes.glimpses; ++t) {
    const Tensor seen = d::composed::read(sizes.reading(), model.read(decoded.h), images, canvas);
    encoded = encoder(concatenate({decoded.h, seen}, 1), encoded);
    const Tensor q = model.latent(encoded.h), mu = slice(q, 1, 0, sizes.latent);
    const Tensor log_sigma = slice(q, 1, sizes.latent, 2 * sizes.latent), sigma = exp(log_sigma);
    kl = kl + sum_columns((square(mu) + square(sigma) - 1) / 2 - log_sigma);
    decoded = decoder(mu + sigma * noise.step(t), decoded);
    const Tensor written = model.write(decoded.h);
    canvas = canvas + d::composed::write(sizes.writing(), slice(written, 1, 0, d::focus_size),
                                         slice(written, 1, d::focus_size, written.columns()));
  }
  return {.reconstruction = d::reconstruction(canvas, images), .kl = kl.reshape({images.rows()})};
}

}  // namespace

TEST_CASE("draw: the recurrence tells an observer what sessions do") {
  for (const Norm norm : norms) {
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(1);
    const d::Model model(parameters, {.norm = norm, .sizes = tiny});
    const Tensor images = binary(3, tiny.pixels(), 2), noise = noise_for(tiny, 3);
    const Records fused =
        records_of([&] { gradients_of(parameters, [&] { return loss_of(model(images, noise)); }); });
    const Records stepped = records_of(
        [&] { gradients_of(parameters, [&] { return loss_of(bound_by_sessions(model, images, noise)); }); });
    check_same_records(fused, stepped, 2, tiny.glimpses);
  }
}

TEST_CASE("draw: the recurrence equals its composed twin") {
  for (const Norm norm : norms)
    for (const size_t rows : {size_t{1}, size_t{3}, size_t{17}}) {
      CAPTURE(text(name_of(norm), " ", rows));
      Parameters parameters(1);
      const d::Model model(parameters, {.norm = norm, .sizes = tiny});
      const Tensor images = binary(rows, tiny.pixels(), 2), noise = noise_for(tiny, rows);
      const auto fused = gradients_of(parameters, [&] { return loss_of(model(images, noise)); });
      const auto composed =
          gradients_of(parameters, [&] { return loss_of(d::composed::bound(model, images, noise)); });
      for (size_t i = 0; i < fused.size(); ++i) {
        CAPTURE(i);
        CHECK(difference(fused[i], composed[i]) < (sizeof(real) == 8 ? 1e-11 : 2e-4));
      }
    }
}

TEST_CASE("draw: gradients of the whole model") {
  for (const Norm norm : norms) {
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(3);
    const d::Model model(parameters, {.norm = norm, .sizes = tiny});
    const Tensor images = binary(2, tiny.pixels(), 2), noise = noise_for(tiny, 2);
    std::vector<Tensor> inputs;
    for (const auto& entry : parameters.learned()) {
      // Biases start at 0: move them, and with them the foci, away from the symmetric point.
      if (entry.name.ends_with("bias"))
        Random(entry.name.size())
            .fill_uniform(Tensor(entry.value).data(), entry.value.size(), real(-0.3), real(0.3));
      inputs.push_back(entry.value);
    }
    check_gradients(inputs, [&] { return loss_of(model(images, noise)); });
  }
}

TEST_CASE("draw: without a tape the same numbers, and only as much memory as a glimpse needs") {
  const d::GlimpseSizes sizes{.side = 28, .glimpses = 20, .hidden = 32, .latent = 10};
  Parameters parameters(1);
  const d::Model model(parameters, {.norm = Norm::layer, .sizes = sizes});
  const Tensor images = binary(9, 784, 1), noise = noise_for(sizes, 9);
  const d::Bound evaluated = model(images, noise);
  Tape tape;
  const d::Bound recorded = model(images, noise);
  CHECK(identical(evaluated.kl, recorded.kl));
  CHECK(identical(evaluated.reconstruction, recorded.reconstruction));
}

TEST_CASE("draw: every parameter is an input") {
  for (const Norm norm : norms) {
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(1);
    const d::Model model(parameters, {.norm = norm, .sizes = tiny});
    const Tensor images = binary(2, tiny.pixels(), 2), noise = noise_for(tiny, 2);
    check_parameters_are_inputs(parameters, [&] { return loss_of(model(images, noise)); });
  }
}

TEST_CASE("draw: a write into the noise is found") {
  Parameters parameters(1);
  const d::Model model(parameters, {.norm = Norm::layer, .sizes = tiny});
  Tensor noise = noise_for(tiny, 2);
  Tape tape;
  const Tensor loss = loss_of(model(binary(2, 36, 1), noise));
  noise[0] += 1;
  CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
}

TEST_CASE("draw: one and two threads agree, and repeat bit for bit") {
  const d::GlimpseSizes sizes{.side = 9, .glimpses = 4, .hidden = 40, .latent = 6, .read = 2, .write = 3};
  const Tensor images = binary(24, 81, 1), noise = noise_for(sizes, 24);
  for (const Norm norm : norms) {
    Parameters parameters(1);
    const d::Model model(parameters, {.norm = norm, .sizes = sizes});
    const auto run = [&](int count) {
      set_threads(count);
      return gradients_of(parameters, [&] { return loss_of(model(images, noise)); });
    };
    const auto one = run(1), two = run(2), again = run(2);
    set_threads(0);
    for (size_t i = 0; i < one.size(); ++i) {
      CHECK(identical(two[i], again[i]));
      CHECK(difference(one[i], two[i]) < 100 * ulp);
    }
  }
}

TEST_CASE("draw: a training step allocates nothing after the first") {
  Parameters parameters(1);
  const d::Model model(parameters, {.norm = Norm::weight, .sizes = tiny});
  Adam adam(parameters, {});
  const Tensor images = binary(8, tiny.pixels(), 2), noise = noise_for(tiny, 8);
  const auto step = [&] {
    Tape tape;
    tape.backward(loss_of(model(images, noise)));
    adam.step();
  };
  step();
  step();
  const auto before = memory::statistics();
  for (int i = 0; i < 3; ++i) step();
  CHECK(memory::statistics().system_allocations == before.system_allocations);
}

TEST_CASE("draw: generation paints what the decoder of the trained model would") {
  for (const Norm norm : norms) {
    Parameters parameters(5);
    const d::Model model(parameters, {.norm = norm, .sizes = tiny});
    const Tensor noise = noise_for(tiny, 3), zeros = Tensor::zeros({3, tiny.hidden});
    RecurrentState state{.h = zeros, .c = zeros};
    Tensor painted = Tensor::zeros({3, tiny.pixels()});
    size_t glimpses = 0;
    model.generate(noise, [&](size_t t, const Tensor& canvas, const Tensor& focus) {
      CHECK(t == glimpses++);
      state = composed::step(model.decoder, noise.step(t), state);
      const Tensor written = composed::affine(model.write, state.h),
                   wanted = slice(written, 1, 0, d::focus_size);
      CHECK(difference(focus, wanted) < 1e-5);
      painted = painted + d::composed::write(tiny.writing(), wanted,
                                             slice(written, 1, d::focus_size, written.columns()));
      CHECK(difference(canvas, painted) < 1e-5);
    });
    CHECK(glimpses == tiny.glimpses);
    CHECK(difference(painted, Tensor::zeros(painted.shape())) > 1e-4);
  }
}

TEST_CASE("draw: each step has noise of its own") {
  const d::DrawData data = d::synthetic_binary_digits(1, 1, 1, 1);  // one image, so that nothing else differs
  d::DrawExperiment experiment(data, {.sizes = {.glimpses = 3, .hidden = 6, .latent = 4}, .batch = 1});
  CHECK(experiment.loss(0).item() == experiment.loss(0).item());
  CHECK(std::fabs(experiment.loss(0).item() - experiment.loss(1).item()) > 1e-3);
}

TEST_CASE("draw: a strip has the glimpses at even distances to the last, each with the frame of its own") {
  const d::Attention attention{8, 2};
  d::Painting painting{.attention = attention, .canvas = {}, .focus = {}};
  for (size_t t = 0; t < 4; ++t) {
    painting.canvas.push_back(Tensor::full({1, 64}, static_cast<real>(t) / 5));
    // The filters are 4 pixels apart, 2 from the centre: 3.5 in the last glimpse, 2.6 in the second one.
    const real x = t == 3 ? 0 : t == 1 ? real(-0.2) : real(5);
    painting.focus.push_back(Tensor::from({1, 5}, {x, 0, 2 * std::log(real(0.6)), std::log(real(4) / 7), 0}));
  }
  const Image strip = d::strip_of(painting, 5, 2);
  CHECK(strip.width == 2 * 28 + 4);  // 3 screen pixels each, and 4 between pictures
  CHECK(strip.height == 28 + 4);
  const Color red{220, 30, 30}, second{204, 204, 204}, last{102, 102, 102};
  CHECK(strip.at(4 + 1, 4 + 1) == second);
  CHECK(strip.at(32 + 1, 4 + 1) == last);
  for (const auto& [left, edge, grey] : {std::tuple{4, 3, second}, {32, 5, last}}) {
    const auto at = [&, begin = left](int x) { return strip.at(static_cast<size_t>(begin + x), 4 + 12); };
    CHECK(at(edge) == red);
    CHECK(at(edge - 2) == grey);
    CHECK(at(edge + 3) == grey);
  }
}

TEST_CASE("draw: wrong shapes and sizes are named") {
  Parameters parameters(1);
  const d::Model model(parameters, {.sizes = tiny});
  CHECK_ERROR(model(Tensor::zeros({2, 35}), noise_for(tiny, 2)),
              "glimpses: the batch of images is [2 x 35]; [2 x 36] is needed");
  CHECK_ERROR(model(Tensor::zeros({2, 36}), noise_for(tiny, 3)),
              "glimpses: the noise is [3 x 3 x 4]; [3 x 2 x 4] is needed");
  CHECK_ERROR(d::Model(parameters, {.sizes = {.side = 4, .write = 5}}),
              "draw: 5 filters along 4 pixels; take fewer");
  CHECK_ERROR(d::Model(parameters, {.norm = Norm::batch}),
              "draw: norm is batch; choose none, weight or layer");
  CHECK_ERROR(d::Model(parameters, {.sizes = {.glimpses = 0}}), "draw: a size is 0; all must be positive");
}

TEST_SUITE_BEGIN("slow");

TEST_CASE("draw: ten images are learned by heart") {
  const d::GlimpseSizes sizes{.side = 6, .glimpses = 6, .hidden = 64, .latent = 8, .read = 3, .write = 6};
  Parameters parameters(1);
  const d::Model model(parameters, {.norm = Norm::layer, .sizes = sizes});
  constexpr int steps = 4000, looked_at = 100;
  constexpr real rate = real(0.01);
  Adam adam(parameters, {.learning_rate = rate});
  const Tensor images = binary(10, sizes.pixels(), 2);
  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    Tensor noise({sizes.glimpses, 10, sizes.latent});
    Random(1).split(static_cast<std::uint64_t>(step)).fill_normal(noise.data(), noise.size(), 0, 1);
    adam.options.learning_rate = rate * static_cast<real>(steps - step) / steps;
    Tape tape;
    const d::Bound bound = model(images, noise);
    tape.backward(mean(bound.reconstruction + bound.kl));
    adam.step();
    const double reconstruction = static_cast<double>(mean(bound.reconstruction.detach()).item());
    if (step == 0) first = reconstruction;
    if (step >= steps - looked_at) last += reconstruction / looked_at;
  }
  CHECK(first > 20);  // 36 pixels, 0.69 nats each before training
  CAPTURE(last);
  CHECK(last < 1);
}

TEST_SUITE_END();
