// The backward pass through all glimpses; forward is in glimpses.cpp.

#include <algorithm>

#include "core/math/math.h"
#include "core/ops/matmul.h"
#include "core/tape.h"
#include "models/draw/glimpse_pass.h"

namespace lamina::draw {

void GlimpsePass::backward(const Glimpses& result) {
  Tape::require_last_pass("glimpses");
  pack(Transpose::yes);
  start_backward(result);
  const size_t count = shares();
  Tensor scratch({count, scratch_size()});
  const real* const dkl = result.kl.gradient_data();
  for_each_share(count, [&](size_t share) {
    const Range rows = part_of(rows_, share, count);
    backward_rows({.thread = share, .rows = rows, .rows_of_product = rows}, dkl, row(scratch, share));
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

/// Puts the gradient of the canvas into its buffer; from glimpse to glimpse only the gradients of reading are
/// added to it.
void GlimpsePass::start_backward(const Glimpses& result) {
  canvas_ = padded(reading_, result.canvas.gradient());
  drow_ = Tensor::zeros({rows_, columns_.end});
  for (Unit* const unit : units()) {
    unit->dc = Tensor::zeros({rows_, sizes_.hidden});
    unit->workspace = unit->step.workspace(shares(), 1);
  }
}

/// On entering glimpse t, drow holds the gradients of the states h^dec_t and h^enc_t; on leaving it, those of
/// the states before.
void GlimpsePass::backward_rows(const Share& share, const real* dkl, real* scratch) {
  const Range& rows = share.rows;
  const auto for_rows = [&](const auto& body) {
    for (size_t r = rows.begin; r < rows.end; ++r) body(r);
  };
  for (size_t t = sizes_.glimpses; t-- > 0;) {
    for_rows([&](size_t r) { draw_backward(t, r, scratch); });
    multiply_backward(write_, t, rows, true);
    step_backward(decoder_, t, share);
    multiply_backward(decoder_.gates, t, rows, false);
    for_rows([&](size_t r) { sample_backward(t, r, dkl == nullptr ? 0 : dkl[r]); });
    multiply_backward(latent_, t, rows, true);
    step_backward(encoder_, t, share);
    for_rows([&](size_t r) {
      std::fill(row(drow_, r) + columns_.glimpse, row(drow_, r) + columns_.end, real{0});
    });
    multiply_backward(encoder_.gates, t, rows, true);
    for_rows([&](size_t r) { look_backward(t, r, scratch); });
    multiply_backward(read_, t, rows, true);
  }
}

void GlimpsePass::draw_backward(size_t t, size_t r, real* scratch) {
  real* const out = at(write_.out, t, r);
  write_backward(writing_, write_case(t, r), row(canvas_, r), out, out + focus_size, scratch);
}

/// Gates are replaced by their gradients in place.
void GlimpsePass::step_backward(Unit& unit, size_t t, const Share& share) {
  const size_t hidden = sizes_.hidden;
  const RowStep::Step at = step_at(unit, t);
  RowStep::Desk own = unit.step.desk(unit.workspace, share.thread);
  unit.step.backward(at,
                     {.x = at.x,
                      .kept = {},
                      .outside = {},
                      .h = {drow_.data() + unit.h, columns_.end},
                      .c = {unit.dc.data(), hidden}},
                     share, own);
}

/// dmu = dz + dKL mu,   dlog sigma = dz sigma noise + dKL (sigma^2 - 1)
void GlimpsePass::sample_backward(size_t t, size_t r, real dkl) {
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

void GlimpsePass::look_backward(size_t t, size_t r, real* scratch) {
  read_backward(reading_, read_case(t, r), row(drow_, r) + columns_.glimpse, at(read_.out, t, r),
                row(canvas_, r), scratch);
}

/// d(window) (+)= d(out) W^T
void GlimpsePass::multiply_backward(Product& product, size_t t, const Range& rows, bool accumulate) {
  gemm_packed(rows.size(), at(product.out, t, rows.begin), product.out.columns(), product.packed,
              row(drow_, rows.begin) + product.from, columns_.end, accumulate);
}

}  // namespace lamina::draw
