#include "models/draw/glimpses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/gemm/gemm.h"
#include "core/math/math.h"
#include "core/ops/matmul.h"
#include "core/tape.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/fused/row_step.h"

namespace lamina::draw {

namespace {

/// One pass through all glimpses of a batch, with what forward keeps for backward.
class GlimpsePass {
  /// The columns of a row of the trace. Each state is followed by its 1.
  struct Columns {
    explicit Columns(const GlimpseSizes& sizes)
        : h_dec(sizes.latent),
          glimpse(h_dec + sizes.hidden + 1),
          h_enc(glimpse + sizes.read_inputs()),
          end(h_enc + sizes.hidden + 1) {}
    size_t z = 0, h_dec, glimpse, h_enc, end;
  };

  /// A window of the trace times a weight.
  struct Product {
    Tensor weight;
    size_t from;   ///< first column of the window
    size_t later;  ///< 1: the window is in the row of the next glimpse, which holds this one's states
    Tensor out;    ///< results, then in place their gradients [slots x B x outputs]
    PackedMatrix packed = {};
  };

  /// An LSTM.
  struct Unit {
    Product gates;
    size_t h;  ///< column of its state in the trace
    RowStep step;
    Tensor c;        ///< c_{t-1} in slot t [slots x B x H]
    Tensor dc = {};  ///< [B x H]
    RowStep::Workspace workspace = {};
  };

 public:
  GlimpsePass(const GlimpseSizes& sizes, const GlimpseWeights& weights, const Tensor& images,
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

  Glimpses forward() {
    pack(Transpose::no);
    for (Unit* const unit : units()) unit->workspace = unit->step.workspace(shares());
    for_each_part([&](const Share& share, real* scratch) {
      const Range& rows = share.rows;
      for_each_row(rows, [&](size_t r) { start(r); });
      for (size_t t = 0; t < sizes_.glimpses; ++t) {
        multiply(read_, t, rows);
        for_each_row(rows, [&](size_t r) { look(t, r, scratch); });
        multiply(encoder_.gates, t, rows);
        step(encoder_, t, share);
        multiply(latent_, t, rows);
        for_each_row(rows, [&](size_t r) { sample(t, r); });
        multiply(decoder_.gates, t, rows);
        step(decoder_, t, share);
        multiply(write_, t, rows);
        for_each_row(rows, [&](size_t r) { draw(t, r, scratch); });
      }
    });
    for (const Unit* const unit : units())
      for (size_t t = 0; t < sizes_.glimpses; ++t) unit->step.finish_forward(t);
    return {.canvas = unpadded(reading_, canvas_), .kl = kl_};
  }

  /// On entering glimpse t, drow holds the gradients of the states h^dec_t and h^enc_t; on leaving it, those of
  /// the states before.
  void backward(const Glimpses& result) {
    Tape::require_last_pass("glimpses");
    pack(Transpose::yes);
    start_backward(result);
    const real* const dkl = result.kl.gradient_data();
    for_each_part([&](const Share& share, real* scratch) {
      const Range& rows = share.rows;
      for (size_t t = sizes_.glimpses; t-- > 0;) {
        for_each_row(rows, [&](size_t r) { draw_backward(t, r, scratch); });
        multiply_backward(write_, t, rows, true);
        step_backward(decoder_, t, share);
        multiply_backward(decoder_.gates, t, rows, false);
        for_each_row(rows, [&](size_t r) { sample_backward(t, r, dkl == nullptr ? 0 : dkl[r]); });
        multiply_backward(latent_, t, rows, true);
        step_backward(encoder_, t, share);
        for_each_row(rows, [&](size_t r) {
          std::fill(row(drow_, r) + columns_.glimpse, row(drow_, r) + columns_.end, real{0});
        });
        multiply_backward(encoder_.gates, t, rows, true);
        for_each_row(rows, [&](size_t r) { look_backward(t, r, scratch); });
        multiply_backward(read_, t, rows, true);
      }
    });
    // dW += [window_0; window_1; ...]^T [d(out)_0; d(out)_1; ...]
    for (const Product* const product : products())
      contribute_outer_products(product->weight, sizes_.glimpses * rows_,
                                trace(product->later, 0, product->from), columns_.end, product->out.data());
    for (const Unit* const unit : units()) {
      unit->step.contribute(unit->workspace);
      for (size_t t = 0; t < sizes_.glimpses; ++t) unit->step.finish_backward(t);
    }
  }

 private:
  Product product(const Tensor& weight, size_t from, size_t later) const {
    return {.weight = weight, .from = from, .later = later, .out = for_all_slots(weight.columns())};
  }
  Unit unit(const std::string& name, const Tensor& weight, size_t from, size_t h,
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
  Tensor for_all_slots(size_t columns) const { return Tensor({slots_, rows_, columns}); }
  std::array<Unit*, 2> units() { return {&encoder_, &decoder_}; }
  std::array<Product*, 5> products() { return {&encoder_.gates, &decoder_.gates, &latent_, &write_, &read_}; }

  /// Slot t holds glimpse t; without a tape there are only two, used alternately.
  real* at(Tensor& of, size_t t, size_t r) const {
    return of.data() + (t % slots_ * rows_ + r) * of.columns();
  }
  real* row(Tensor& of, size_t r) const { return of.data() + r * of.columns(); }
  real* trace(size_t t, size_t r, size_t column) { return at(trace_, t, r) + column; }

  void pack(Transpose op) {
    for_each_share(products().size(), [&](size_t which) {
      Product& product = *products()[which];
      const size_t in = product.weight.rows(), out = product.weight.columns();
      const bool transposed = op == Transpose::yes;
      product.packed.pack(op, transposed ? out : in, transposed ? in : out,
                          std::as_const(product.weight).data(), out);
    });
  }

  size_t shares() const {
    constexpr size_t least_rows = 4;  // per thread
    return shares_of(rows_, least_rows);
  }
  /// Calls body(share, its scratch memory) on several threads, which divide the rows.
  template <class Body>
  void for_each_part(const Body& body) {
    const size_t count = shares();
    Tensor scratch({count, std::max(reading_.scratch_size(), writing_.scratch_size())});
    for_each_share(count, [&](size_t number) {
      const Range rows = part_of(rows_, number, count);
      body(Share{.thread = number, .rows = rows, .rows_of_product = rows}, row(scratch, number));
    });
  }
  template <class Body>
  static void for_each_row(const Range& rows, const Body& body) {
    for (size_t r = rows.begin; r < rows.end; ++r) body(r);
  }

  // ------------------------------------------------------------ the parts of a glimpse, each forward and backward

  /// Both states and memories are zeros before the first glimpse.
  void start(size_t r) {
    for (Unit* const unit : units()) {
      real* const h = trace(0, r, unit->h);
      std::fill_n(h, sizes_.hidden, real{0});
      h[sizes_.hidden] = 1;
      std::fill_n(at(unit->c, 0, r), sizes_.hidden, real{0});
    }
  }
  /// Puts the gradient of the canvas into its buffer; from glimpse to glimpse only the gradients of reading are
  /// added to it.
  void start_backward(const Glimpses& result) {
    canvas_ = padded(reading_, result.canvas.gradient());
    drow_ = Tensor::zeros({rows_, columns_.end});
    for (Unit* const unit : units()) {
      unit->dc = Tensor::zeros({rows_, sizes_.hidden});
      unit->workspace = unit->step.workspace(shares(), 1);
    }
  }

  void multiply(Product& product, size_t t, const Range& rows) {
    gemm_packed(rows.size(), trace(t + product.later, rows.begin, product.from), columns_.end, product.packed,
                at(product.out, t, rows.begin), product.out.columns(), false);
  }
  /// d(window) (+)= d(out) W^T
  void multiply_backward(Product& product, size_t t, const Range& rows, bool accumulate) {
    gemm_packed(rows.size(), at(product.out, t, rows.begin), product.out.columns(), product.packed,
                row(drow_, rows.begin) + product.from, columns_.end, accumulate);
  }

  ReadCase read_case(size_t t, size_t r) {
    return {.focus = at(read_.out, t, r),
            .filters = at(read_filters_, t, r),
            .image = row(images_, r),
            .error = at(errors_, t, r),
            .patch = trace(t, r, columns_.glimpse)};
  }
  void look(size_t t, size_t r, real* scratch) {
    const ReadCase read = read_case(t, r);
    make_filters(reading_, read.focus, at(read_filters_, t, r));
    read_forward(reading_, read, row(canvas_, r), scratch);
  }
  void look_backward(size_t t, size_t r, real* scratch) {
    read_backward(reading_, read_case(t, r), row(drow_, r) + columns_.glimpse, at(read_.out, t, r),
                  row(canvas_, r), scratch);
  }

  RowStep::Step step_at(Unit& unit, size_t t) {
    const auto rows_of = [&](Tensor& all, size_t slot) {
      return Rows<real>{at(all, slot, 0), all.columns()};
    };
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
  void step(Unit& unit, size_t t, const Share& share) {
    unit.step.forward(step_at(unit, t), share, unit.step.desk(unit.workspace, share.thread));
    for_each_row(share.rows, [&](size_t r) { *trace(t + 1, r, unit.h + sizes_.hidden) = 1; });
  }
  /// Gates are replaced by their gradients in place.
  void step_backward(Unit& unit, size_t t, const Share& share) {
    const RowStep::Step at = step_at(unit, t);
    RowStep::Desk own = unit.step.desk(unit.workspace, share.thread);
    unit.step.backward(at,
                       {.x = at.x,
                        .kept = {},
                        .outside = {},
                        .h = {drow_.data() + unit.h, columns_.end},
                        .c = {unit.dc.data(), sizes_.hidden}},
                       share, own);
  }

  /// z = mu + sigma noise,   KL(N(mu, sigma) || N(0, 1)) = sum (mu^2 + sigma^2 - 1)/2 - log sigma
  void sample(size_t t, size_t r) {
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
  /// dmu = dz + dKL mu,   dlog sigma = dz sigma noise + dKL (sigma^2 - 1)
  void sample_backward(size_t t, size_t r, real dkl) {
    const size_t latent = sizes_.latent;
    real *const mu = at(latent_.out, t, r), *const log_sigma = mu + latent;
    const real* const noise = noise_.data() + (t * rows_ + r) * latent;
    const real* const dz = row(drow_, r) + columns_.z;
#pragma omp simd
    for (size_t k = 0; k < latent; ++k) {
      const real sigma = scalar::exp(log_sigma[k]);
      mu[k] = dz[k] + dkl * mu[k];
      log_sigma[k] = dz[k] * sigma * noise[k] + dkl * (sigma * sigma - 1);
    }
  }

  WriteCase write_case(size_t t, size_t r) {
    const real* const out = at(write_.out, t, r);
    return {.focus = out, .filters = at(write_filters_, t, r), .patch = out + focus_size};
  }
  void draw(size_t t, size_t r, real* scratch) {
    const WriteCase write = write_case(t, r);
    make_filters(writing_, write.focus, at(write_filters_, t, r));
    write_forward(writing_, write, row(canvas_, r), scratch);
  }
  void draw_backward(size_t t, size_t r, real* scratch) {
    real* const out = at(write_.out, t, r);
    write_backward(writing_, write_case(t, r), row(canvas_, r), out, out + focus_size, scratch);
  }

  GlimpseSizes sizes_;
  Attention reading_, writing_;
  size_t rows_, slots_;
  Columns columns_;
  Tensor noise_;
  Tensor images_;  ///< with padded rows [B x image_size]
  Tensor trace_;   ///< [slots x B x columns.end]
  Unit encoder_, decoder_;
  Product latent_, write_, read_;
  Tensor read_filters_, write_filters_;  ///< [slots x B x filters_size]
  Tensor errors_;                        ///< x - sigmoid(c_{t-1}), with padded rows [slots x B x image_size]
  Tensor canvas_;                        ///< c_t, then its gradient, with padded rows [B x image_size]
  Tensor kl_;                            ///< [B]
  Tensor drow_;                          ///< gradient of the current row of the trace [B x columns.end]
};

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
