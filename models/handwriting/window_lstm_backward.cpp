// The backward pass through all steps of the first layer; forward is in window_lstm.cpp.

#include <algorithm>

#include "core/ops/map.h"
#include "layers/recurrent/cell.h"
#include "models/handwriting/window_lstm_pass.h"

namespace lamina::handwriting::detail {

/// What the backward pass works with. Rows of dh, dw, dc and dkappa hold the gradients of the state that the step
/// at hand leaves behind.
struct Pass::Back {
  real* dgates;                   ///< [T x B x 4 H], the gradient of the x part
  Tensor dhidden_part;            ///< the same of the hidden part, under layer norm
  Tensor dparameters;             ///< [T x B x 3 K]
  Tensor dh, dc;                  ///< [B x H]
  Tensor dw, dkappa;              ///< [B x C], [B x K]
  Tensor scratch, sums;           ///< a row a thread
  const real *dhidden, *dwindow;  ///< from the layers above, or nullptr
};

void Pass::backward(const WindowSequence& result) {
  packed_hidden_.pack(Transpose::yes, wide(), size_, hidden_weight_.data(), wide());
  packed_window_.pack(Transpose::yes, wide(), symbols_, window_weight_.data(), wide());
  packed_readout_.pack(Transpose::yes, 3 * gaussians_, size_, readout_weight_.data(), 3 * gaussians_);
  const Schedule work = schedule();
  Tensor unwanted = x_part_.needs_gradient() ? Tensor() : Tensor(x_part_.shape());
  // The x part is private to the layer, so this is the first and only contribution to its gradient.
  Back back{.dgates = x_part_.needs_gradient() ? x_part_.gradient_sink().values : unwanted.data(),
            .dhidden_part = normalized() ? Tensor(x_part_.shape()) : Tensor(),
            .dparameters = Tensor(parameters_.shape()),
            .dh = Tensor::zeros({rows_, size_}),
            .dc = Tensor::zeros({rows_, size_}),
            .dw = Tensor::zeros({rows_, symbols_}),
            .dkappa = Tensor::zeros({rows_, gaussians_}),
            .scratch = Tensor({work.threads(), scratch_size()}),
            .sums = Tensor::zeros({work.threads(), sums_size()}),
            .dhidden = result.hidden.gradient_data(),
            .dwindow = result.window.gradient_data()};
  if (const real* const dcarry = result.last.carry.gradient_data())
    for (size_t r = 0; r < rows_; ++r) {
      const real* const from = dcarry + r * (size_ + gaussians_);
      std::copy_n(from, size_, back.dc.data() + r * size_);
      std::copy_n(from + size_, gaussians_, back.dkappa.data() + r * gaussians_);
    }
  work.run([&](const Share& share) {
    for (size_t t = steps_; t-- > 0;) {
      look_backward(t, share.rows, back);
      for (size_t r = share.rows.begin; r < share.rows.end; ++r)
        update_row_backward(t, r, back, share.thread);
      share.wait();
      multiply_backward(t, share, back);
      share.wait();
    }
  });
  for (size_t t = 0; record_.wanted() && t < steps_; ++t) record_.finish_backward(t);
  contribute(result, back);
}

/// From w_t and kappa_t to h_t.
void Pass::look_backward(size_t t, const Range& rows, Back& back) {
  if (rows.size() == 0) return;
  for (size_t r = rows.begin; r < rows.end; ++r) {
    real *const dw = back.dw.data() + r * symbols_, *const dh = back.dh.data() + r * size_;
    const auto add = [&](const real* above, real* to, size_t width) {
      if (above == nullptr) return;
      const real* const from = above + (t * rows_ + r) * width;
#pragma omp simd
      for (size_t i = 0; i < width; ++i) to[i] += from[i];
    };
    add(back.dwindow, dw, symbols_);
    add(back.dhidden, dh, size_);
    window_step(r).backward(at(parameters_, t, r), at(kappa_, t, r), dw, back.dkappa.data() + r * gaussians_,
                            at(back.dparameters, t, r));
  }
  gemm_packed(rows.size(), at(back.dparameters, t, rows.begin), 3 * gaussians_, packed_readout_,
              back.dh.data() + rows.begin * size_, size_, true);
}

/// From h_t through the cell and the normalizations.
void Pass::update_row_backward(size_t t, size_t r, Back& back, size_t thread) {
  const Scratch scratch = scratch_of(back.scratch, thread);
  real *const dused = scratch.c + size_, *const dc = back.dc.data() + r * size_;
  real *const sums = back.sums.data() + thread * sums_size(), *const memory_sums = sums + 4 * wide();
  real* const dx_part = back.dgates + (t * rows_ + r) * wide();
  const real *const c = at(memory_, t, r), *gates = at(x_part_, t, r), *used = c;
  real* dgates = dx_part;
  if (normalized()) {
    gates = dgates = update_gates(t, r, scratch, scratch.c);
    memory_norm_.normalize_row(t, r, c, scratch.c);
    used = scratch.c;
  }
  const real* const dh = back.dh.data() + r * size_;
  if (record_.wanted()) record_.hidden_gradient(t, r, dh, size_);
  lstm_output_backward(size_, gates, used, dh, dgates, dused);
  if (normalized()) memory_norm_.backward_row(t, r, c, dused, dused, memory_sums, memory_sums + size_);
#pragma omp simd
  for (size_t j = 0; j < size_; ++j) dc[j] += dused[j];
  lstm_cell().backward({.hidden = size_,
                        .gates = gates,
                        .kept = nullptr,
                        .all_kept = false,
                        .previous = c_before(t, r),
                        .next = c,
                        .dnext = dc,
                        .dgates = dgates,
                        .dkept = nullptr,
                        .dprevious = dc});
  clip_row(dgates, wide(), clip_);
  if (!normalized()) return;
  real* const hidden_sums = sums + 2 * wide();
  hidden_norm_.backward_row(t, r, at(hidden_part_, t, r), dgates, at(back.dhidden_part, t, r), hidden_sums,
                            hidden_sums + wide());
  input_norm_.backward_row(t, r, at(x_part_, t, r), dgates, dx_part, sums, sums + wide());
}

/// dh_{t-1} = d W_h^T,  dw_{t-1} = d W_w^T
void Pass::multiply_backward(size_t t, const Share& share, Back& back) {
  const size_t first = share.rows_of_product.begin, count = share.rows_of_product.size();
  if (count == 0) return;
  const real* const dgates = back.dgates + (t * rows_ + first) * wide();
  const real* const dhidden = normalized() ? at(back.dhidden_part, t, first) : dgates;
  share.for_columns(size_, [&](size_t begin, size_t end) {
    gemm_packed(count, dhidden, wide(), packed_hidden_, back.dh.data() + first * size_, size_, false, begin,
                end);
  });
  const Range& own = share.rows;  // few columns: they are shared out by rows
  gemm_packed(own.size(), back.dgates + (t * rows_ + own.begin) * wide(), wide(), packed_window_,
              back.dw.data() + own.begin * symbols_, symbols_, false);
}

/// Weights: sums over the steps of what they multiplied times the gradient of the product, one product each.
void Pass::contribute(const WindowSequence& result, Back& back) {
  const size_t cases = steps_ * rows_, later = cases - rows_, row = rows_ * wide(), width = 3 * gaussians_;
  const auto weight = [&](const Tensor& of, const real* in, size_t count, const real* d, size_t rows,
                          size_t columns) {
    if (!of.needs_gradient() || rows == 0) return;
    const GradientSink sink = of.gradient_sink();
    gemm(count, columns, rows, in, count, d, columns, sink.values, columns,
         {.a = Transpose::yes, .accumulate = sink.add});
  };
  const real* const dhidden = normalized() ? back.dhidden_part.data() : back.dgates;
  weight(hidden_weight_, initial_.h.data(), size_, dhidden, rows_, wide());
  weight(hidden_weight_, hidden_.data(), size_, dhidden + row, later, wide());
  weight(window_weight_, initial_.w.data(), symbols_, back.dgates, rows_, wide());
  weight(window_weight_, window_.data(), symbols_, back.dgates + row, later, wide());
  weight(readout_weight_, result.hidden.data(), size_, back.dparameters.data(), cases, width);
  contribute_summed_rows(readout_bias_, cases,
                         [=, d = back.dparameters.data()](size_t r, size_t c) { return d[r * width + c]; });
  const size_t team = back.sums.rows(), stride = back.sums.columns();
  input_norm_.contribute(back.sums.data(), team, stride);
  hidden_norm_.contribute(back.sums.data() + 2 * wide(), team, stride);
  memory_norm_.contribute(back.sums.data() + 4 * wide(), team, stride);
  lamina::contribute(initial_.h, [d = back.dh.data()](size_t i) { return d[i]; });
  lamina::contribute(initial_.w, [d = back.dw.data()](size_t i) { return d[i]; });
  const size_t all = size_ + gaussians_;
  lamina::contribute(initial_.carry, [=, this, dc = back.dc.data(), dkappa = back.dkappa.data()](size_t i) {
    const size_t r = i / all, j = i % all;
    return j < size_ ? dc[r * size_ + j] : dkappa[r * gaussians_ + j - size_];
  });
}

}  // namespace lamina::handwriting::detail
