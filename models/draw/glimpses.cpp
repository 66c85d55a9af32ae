#include "models/draw/glimpses.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/math/math.h"
#include "core/tape.h"
#include "models/draw/glimpse_pass.h"

namespace lamina::draw {

GlimpsePass::GlimpsePass(const GlimpseSizes& sizes, const GlimpseWeights& weights, const Tensor& images,
                         const Tensor& noise, bool recording)
    : sizes_(sizes),
      reading_(sizes.reading()),
      writing_(sizes.writing()),
      rows_(images.rows()),
      slots_(recording ? sizes.glimpses + 1 : 2),
      columns_(sizes),
      noise_(noise),
      images_(padded(reading_, images)),
      trace_(for_all_slots(columns_.end)),
      encoder_(unit("encoder", weights.encoder, columns_.h_dec, columns_.h_enc, weights.encoder_norm)),
      decoder_(unit("decoder", weights.decoder, columns_.z, columns_.h_dec, weights.decoder_norm)),
      latent_(product(weights.latent, columns_.h_enc, 1)),
      write_(product(weights.write, columns_.h_dec, 1)),
      read_(product(weights.read, columns_.h_dec, 0)),
      read_filters_(for_all_slots(reading_.filters_size())),
      write_filters_(for_all_slots(writing_.filters_size())),
      errors_(for_all_slots(reading_.image_size())),
      canvas_(Tensor::zeros({rows_, reading_.image_size()})),
      kl_(Tensor::zeros({rows_})) {}

GlimpsePass::Product GlimpsePass::product(const Tensor& weight, size_t from, size_t later) const {
  return {.weight = weight, .from = from, .later = later, .out = for_all_slots(weight.columns())};
}

GlimpsePass::Unit GlimpsePass::unit(const std::string& name, const Tensor& weight, size_t from, size_t h,
                                    const StepNormParameters& norm) const {
  return {.gates = product(weight, from, 0),
          .h = h,
          .step = {{.cell = &lstm_cell(),
                    .memory_norm = norm,
                    .record = record_for(nullptr, name, sizes_.glimpses)},
                   sizes_.hidden,
                   sizes_.glimpses,
                   rows_},
          .c = for_all_slots(sizes_.hidden)};
}

void GlimpsePass::pack(Transpose op) {
  for_each_share(products().size(), [&](size_t which) {
    Product& product = *products()[which];
    const size_t in = product.weight.rows(), out = product.weight.columns();
    const bool transposed = op == Transpose::yes;
    product.packed.pack(op, transposed ? out : in, transposed ? in : out,
                        std::as_const(product.weight).data(), out);
  });
}

ReadCase GlimpsePass::read_case(size_t t, size_t r) {
  return {.focus = at(read_.out, t, r),
          .filters = at(read_filters_, t, r),
          .image = row(images_, r),
          .error = at(errors_, t, r),
          .patch = trace(t, r, columns_.glimpse)};
}

WriteCase GlimpsePass::write_case(size_t t, size_t r) {
  const real* const out = at(write_.out, t, r);
  return {.focus = out, .filters = at(write_filters_, t, r), .patch = out + focus_size};
}

Glimpses GlimpsePass::forward() {
  pack(Transpose::no);
  const size_t count = shares();
  Tensor scratch({count, scratch_size()});
  for (Unit* const unit : units()) unit->workspace = unit->step.workspace(count);
  for_each_share(count, [&](size_t number) {
    const Range rows = part_of(rows_, number, count);
    const Share share{.thread = number, .rows = rows, .rows_of_product = rows};
    real* const own = row(scratch, number);
    const auto for_rows = [&](const auto& body) {
      for (size_t r = rows.begin; r < rows.end; ++r) body(r);
    };
    for_rows([&](size_t r) { start(r); });
    for (size_t t = 0; t < sizes_.glimpses; ++t) {
      multiply(read_, t, rows);
      for_rows([&](size_t r) { look(t, r, own); });
      multiply(encoder_.gates, t, rows);
      step(encoder_, t, share);
      multiply(latent_, t, rows);
      for_rows([&](size_t r) { sample(t, r); });
      multiply(decoder_.gates, t, rows);
      step(decoder_, t, share);
      multiply(write_, t, rows);
      for_rows([&](size_t r) { draw(t, r, own); });
    }
  });
  for (const Unit* const unit : units())
    for (size_t t = 0; t < sizes_.glimpses; ++t) unit->step.finish_forward(t);
  return {.canvas = unpadded(reading_, canvas_), .kl = kl_};
}

/// Both states and memories are zeros before the first glimpse.
void GlimpsePass::start(size_t r) {
  for (Unit* const unit : units()) {
    real* const h = trace(0, r, unit->h);
    std::fill_n(h, sizes_.hidden, real{0});
    h[sizes_.hidden] = 1;
    std::fill_n(at(unit->c, 0, r), sizes_.hidden, real{0});
  }
}

void GlimpsePass::multiply(Product& product, size_t t, const Range& rows) {
  gemm_packed(rows.size(), trace(t + product.later, rows.begin, product.from), columns_.end, product.packed,
              at(product.out, t, rows.begin), product.out.columns(), false);
}

void GlimpsePass::look(size_t t, size_t r, real* scratch) {
  const ReadCase read = read_case(t, r);
  make_filters(reading_, read.focus, at(read_filters_, t, r));
  read_forward(reading_, read, row(canvas_, r), scratch);
}

RowStep::Step GlimpsePass::step_at(Unit& unit, size_t t) {
  const auto rows_of = [&](Tensor& all, size_t slot) { return Rows<real>{at(all, slot, 0), all.columns()}; };
  const auto state = [&](size_t slot) { return Rows<real>{trace(slot, 0, unit.h), columns_.end}; };
  return {.t = t,
          .x = rows_of(unit.gates.out, t),
          .gates = rows_of(unit.gates.out, t),
          .kept = {},
          .before_h = state(t),
          .before_c = rows_of(unit.c, t),
          .h = state(t + 1),
          .c = rows_of(unit.c, t + 1)};
}

/// Eq. 17-19; under layer norm h = o tanh(LN(c)) (Eq. 31).
void GlimpsePass::step(Unit& unit, size_t t, const Share& share) {
  unit.step.forward(step_at(unit, t), share, unit.step.desk(unit.workspace, share.thread));
  for (size_t r = share.rows.begin; r < share.rows.end; ++r) *trace(t + 1, r, unit.h + sizes_.hidden) = 1;
}

/// z = mu + sigma noise,   KL(N(mu, sigma) || N(0, 1)) = sum (mu^2 + sigma^2 - 1)/2 - log sigma
void GlimpsePass::sample(size_t t, size_t r) {
  const size_t latent = sizes_.latent;
  const real *const mu = at(latent_.out, t, r), *const log_sigma = mu + latent;
  const real* const noise = noise_.data() + (t * rows_ + r) * latent;
  real* const z = trace(t, r, columns_.z);
  real kl = 0;
#pragma omp simd reduction(+ : kl)
  for (size_t k = 0; k < latent; ++k) {
    const real sigma = scalar::exp(log_sigma[k]);
    z[k] = mu[k] + sigma * noise[k];
    kl += (mu[k] * mu[k] + sigma * sigma - 1) / 2 - log_sigma[k];
  }
  kl_[r] += kl;
}

void GlimpsePass::draw(size_t t, size_t r, real* scratch) {
  const WriteCase write = write_case(t, r);
  make_filters(writing_, write.focus, at(write_filters_, t, r));
  write_forward(writing_, write, row(canvas_, r), scratch);
}

namespace {

void require(const Tensor& tensor, const Shape& shape, const char* name) {
  if (tensor.shape() != shape) fail("glimpses: ", name, " is ", tensor.shape(), "; ", shape, " is needed");
}

}  // namespace

Glimpses glimpses(const GlimpseSizes& sizes, const GlimpseWeights& weights, const Tensor& images,
                  const Tensor& noise) {
  const size_t rows = images.rows(), hidden = sizes.hidden;
  require(images, {rows, sizes.pixels()}, "the batch of images");
  require(noise, {sizes.glimpses, rows, sizes.latent}, "the noise");
  require(weights.read, {hidden + 1, focus_size}, "the read weight");
  require(weights.encoder, {2 * hidden + 1 + sizes.read_inputs(), 4 * hidden}, "the encoder's weight");
  require(weights.latent, {hidden + 1, 2 * sizes.latent}, "the latent weight");
  require(weights.decoder, {sizes.latent + hidden + 1, 4 * hidden}, "the decoder's weight");
  require(weights.write, {hidden + 1, sizes.write_outputs()}, "the write weight");
  for (const auto& [norm, name] : {std::pair{&weights.encoder_norm, "a parameter of the encoder's norm"},
                                   {&weights.decoder_norm, "a parameter of the decoder's norm"}})
    for (const Tensor& parameter : {norm->gain, norm->bias})
      if (parameter.defined()) require(parameter, {hidden}, name);
  GlimpsePass pass(sizes, weights, images, noise, Tape::current() != nullptr);
  Glimpses result = pass.forward();
  // The noise is a constant, and an input all the same: backward() looks for writes into it. The images were copied.
  record("glimpses", {result.canvas, result.kl},
         {weights.encoder, weights.decoder, weights.latent, weights.write, weights.read,
          weights.encoder_norm.gain, weights.encoder_norm.bias, weights.decoder_norm.gain,
          weights.decoder_norm.bias, noise.detach()},
         [pass = std::move(pass), result]() mutable { pass.backward(result); });
  return result;
}

}  // namespace lamina::draw
