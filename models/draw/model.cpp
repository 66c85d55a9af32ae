#include "models/draw/model.h"

#include <algorithm>

#include "core/ops.h"
#include "core/tape.h"
#include "layers/recurrent/composed.h"
#include "layers/recurrent/step.h"

namespace lamina::draw {

namespace {

Linear make_linear(Parameters& parameters, const std::string& name, Norm norm, size_t input, size_t output) {
  return {parameters, name, {.input = input, .output = output, .weights = weights_of(norm)}};
}

Lstm make_lstm(Parameters& parameters, const std::string& name, Norm norm, size_t input, size_t hidden) {
  return {
      parameters, name, {.input = input, .hidden = hidden, .norm = norm, .only_memory = norm == Norm::layer}};
}

const GlimpseSizes& checked(const ModelOptions& options) {
  const GlimpseSizes& s = options.sizes;
  if (s.side == 0 || s.glimpses == 0 || s.hidden == 0 || s.latent == 0 || s.read == 0 || s.write == 0)
    fail("draw: a size is 0; all must be positive");
  if (s.read > s.side || s.write > s.side)
    fail("draw: ", std::max(s.read, s.write), " filters along ", s.side, " pixels; take fewer");
  require_norm("draw", options.norm, {Norm::none, Norm::weight, Norm::layer});
  return s;
}

Tensor as_row(const Tensor& bias) { return bias.reshape({1, bias.size()}); }

}  // namespace

Model::Model(Parameters& parameters, const ModelOptions& options)
    : read(make_linear(parameters, "read", options.norm, checked(options).hidden, focus_size)),
      latent(make_linear(parameters, "latent", options.norm, options.sizes.hidden, 2 * options.sizes.latent)),
      write(make_linear(parameters, "write", options.norm, options.sizes.hidden,
                        options.sizes.write_outputs())),
      encoder(make_lstm(parameters, "encoder", options.norm,
                        options.sizes.hidden + options.sizes.read_inputs(), options.sizes.hidden)),
      decoder(make_lstm(parameters, "decoder", options.norm, options.sizes.latent, options.sizes.hidden)),
      sizes_(options.sizes) {}

GlimpseWeights Model::weights() const {
  const auto with_bias = [](const Linear& layer) {
    return concatenate({layer.effective_weight(), as_row(layer.bias)}, 0);
  };
  const Tensor encoder_input = encoder.effective_input_weight();
  const size_t hidden = sizes_.hidden;
  return {.read = with_bias(read),
          .encoder = concatenate(
              {encoder_input.slice(0, hidden), as_row(encoder.bias),
               encoder_input.slice(hidden, encoder_input.rows()), encoder.effective_hidden_weight()},
              0),
          .latent = with_bias(latent),
          .decoder = concatenate(
              {decoder.effective_input_weight(), decoder.effective_hidden_weight(), as_row(decoder.bias)}, 0),
          .write = with_bias(write),
          .encoder_norm = encoder.memory_norm,
          .decoder_norm = decoder.memory_norm};
}

Bound Model::operator()(const Tensor& images, const Tensor& noise) const {
  const Glimpses seen = glimpses(sizes_, weights(), images, noise);
  return {.reconstruction = reconstruction(seen.canvas, images), .kl = seen.kl};
}

void Model::generate(const Tensor& noise, const Watch& watch) const {
  const Tape::Pause pause;
  const size_t steps = noise.shape()[0], rows = noise.shape()[1];
  RecurrentSession session(decoder, {.steps = steps, .rows = rows, .mode = Mode::evaluate});
  RecurrentState state = session.initial();
  Tensor canvas = Tensor::zeros({rows, sizes_.pixels()});
  for (size_t t = 0; t < steps; ++t) {
    state = session(noise.step(t), state);
    const Tensor written = write(state.h);
    const Tensor focus = slice(written, 1, 0, focus_size);
    canvas = canvas + draw::write(sizes_.writing(), focus, slice(written, 1, focus_size, written.columns()));
    watch(t, canvas, focus);
  }
}

Tensor reconstruction(const Tensor& canvas, const Tensor& images) {
  return sum_columns(bernoulli_cross_entropy(canvas, images)).reshape({images.rows()});
}

namespace composed {

Bound bound(const Model& model, const Tensor& images, const Tensor& noise) {
  using lamina::composed::affine, lamina::composed::step;
  const GlimpseSizes& sizes = model.sizes();
  const size_t rows = images.rows();
  const Tensor zeros = Tensor::zeros({rows, sizes.hidden});
  RecurrentState encoder{.h = zeros, .c = zeros}, decoder = encoder;
  Tensor canvas = Tensor::zeros({rows, sizes.pixels()}), kl = Tensor::zeros({rows, 1});
  for (size_t t = 0; t < sizes.glimpses; ++t) {
    const Tensor r = composed::read(sizes.reading(), affine(model.read, decoder.h), images, canvas);
    encoder = step(model.encoder, concatenate({decoder.h, r}, 1), encoder);
    const Tensor q = affine(model.latent, encoder.h);
    const Tensor mu = slice(q, 1, 0, sizes.latent), log_sigma = slice(q, 1, sizes.latent, 2 * sizes.latent);
    const Tensor sigma = exp(log_sigma);
    kl = kl + sum_columns((square(mu) + square(sigma) - 1) / 2 - log_sigma);
    decoder = step(model.decoder, mu + sigma * noise.step(t), decoder);
    const Tensor written = affine(model.write, decoder.h);
    canvas = canvas + composed::write(sizes.writing(), slice(written, 1, 0, focus_size),
                                      slice(written, 1, focus_size, written.columns()));
  }
  return {.reconstruction = reconstruction(canvas, images), .kl = kl.reshape({rows})};
}

}  // namespace composed

}  // namespace lamina::draw
