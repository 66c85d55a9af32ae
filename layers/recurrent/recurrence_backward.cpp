// The backward pass through time; forward is in recurrence.cpp.

#include <algorithm>
#include <cmath>

#include "core/ops/map.h"
#include "core/sum.h"
#include "core/tape.h"
#include "layers/recurrent/recurrence_pass.h"

namespace lamina::detail {

/// What the backward pass works with. Rows of dh and dc hold dL/dh_t and dL/dc_t of the step at hand.
struct Pass::Back {
  PackedWeight weight;  ///< transposed
  real* dgates;         ///< [T x B x gates], the gradient of the x part, before normalization
  Tensor dkept;         ///< [T x B x kept], before normalization
  Tensor dh, dc;        ///< [B x H]
  Tensor dnormalized;   ///< [B x H], of the normalized c
  Tensor scratch;       ///< a RowScratch for each thread
  Tensor dcondition;    ///< [B x gates], where there is a condition
  Tensor sums;          ///< of gains and biases, [threads x levels of RowSums x all]
};

/// Where the numbers of one row are between the cell and the normalizations.
struct Pass::BackRow {
  const real *gates, *kept;
  real *dgates, *dkept;  ///< after normalization
  real* state;           ///< [H], free
  real* sums;            ///< the thread's, of gains and biases
};

void Pass::backward(const Tensor& last_c) {
  const Schedule schedule(rows_, size_, gates_width_, steps_, by_rows());
  // The x part is private to the layer, so this is the first and only contribution to its gradient. It cannot take
  // the place of the summed inputs when another pass will need them, nor after such a pass, when it has a place.
  const bool in_place = by_rows() && !Tape::retaining() && x_part_.storage()->gradient == nullptr,
             wanted = x_part_.needs_gradient();
  Tensor apart = in_place || wanted ? Tensor() : Tensor(gates_.shape());
  Back back{.weight = pack(Transpose::yes),
            .dgates = in_place ? x_part_.data_unwatched()
                      : wanted ? x_part_.gradient_sink().values
                               : apart.data(),
            .dkept = in_place ? kept_part_ : Tensor({steps_, rows_, kept_}),
            .dh = Tensor::zeros({rows_, size_}),
            .dc = Tensor::zeros({rows_, size_}),
            .dnormalized = Tensor({rows_, size_}),
            .scratch = Tensor({schedule.threads(), scratch_size()}),
            .dcondition = options_.condition.defined() ? Tensor::zeros({rows_, gates_width_}) : Tensor(),
            .sums = Tensor::zeros(
                {schedule.threads(), RowSums::levels(steps_ * rows_), 2 * (2 * gates_width_ + size_)})};
  if (const real* const dlast = last_c.gradient_data()) std::copy_n(dlast, rows_ * size_, back.dc.data());

  schedule.run([&](const Share& share) {
    RowSums sums(back.sums.step(share.thread).data(), back.sums.columns());
    for (size_t step = steps_; step-- > 0;) {
      rows_backward(step, share, sums, back);
      share.wait();
      product_backward(step, share, back);
      share.wait();
    }
  });

  if (in_place && wanted) x_part_.gradient_in_place();
  contribute_weight(back);
  contribute(initial_.h, [d = back.dh.data()](size_t i) { return d[i]; });
  contribute(initial_.c, [d = back.dc.data()](size_t i) { return d[i]; });
  if (back.dcondition.defined())
    contribute(options_.condition, [d = back.dcondition.data()](size_t i) { return d[i]; });
  const auto contribute_norm = [&](const StepNorm& norm, size_t at) {
    norm.contribute(back.sums.data() + at, back.sums.rows(), back.sums.columns());
  };
  contribute_norm(input_norm_, 0);
  contribute_norm(hidden_norm_, hidden_sums());
  contribute_norm(memory_norm_, memory_sums());
  for (size_t t = 0; record_.wanted() && t < steps_; ++t) record_.finish_backward(t, mask_at(t));
}

/// Visits what of these rows the backward pass of a step reads and no later step has read, matrix by matrix.
template <class Visit>
void Pass::read_by_backward(size_t step, const Range& rows, Visit&& visit) const {
  const size_t t = time(step);
  const auto piece = [&](const real* all_rows, size_t width) {
    visit(std::span<const real>(all_rows + rows.begin * width, rows.size() * width));
  };
  piece(x_part_.data_unwatched() + gates_at(t, 0), gates_width_);
  piece(kept_part_.data() + kept_at(t, 0), kept_);
  piece(previous_h(step), size_);
  if (cell_->has_memory()) piece(previous_c(step), size_);
  if (const real* const outside = hidden_.gradient_data()) piece(outside + state_at(t, 0), size_);
  if (gates_.storage() != x_part_.storage()) piece(gates_.data_unwatched() + gates_at(t, 0), gates_width_);
}

/// Everything of a step but the product. Batch norm needs all rows at once, twice.
void Pass::rows_backward(size_t step, const Share& share, RowSums& sums, Back& back) {
  const size_t t = time(step);
  const auto columns = [&](const StepNorm& norm, size_t at, const real* raw, real* d) {
    if (norm.by_rows()) return;
    share.wait();
    share.for_columns(norm.width(), [&](size_t begin, size_t end) {
      real* const running = sums.running() + at;
      norm.backward_columns(t, begin, end, raw, d, counted_at(t), running, running + norm.width());
    });
  };
  if (memory_norm_.by_rows()) {
    for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
      if (r + 1 < share.rows.end) read_by_backward(step, {r + 1, r + 2}, prefetch);
      const BackRow row = back_row(step, r, share, sums, back);
      open_row(t, r, row, back);
      close_row(step, r, row, back);
      sums.end_row();
    }
  } else {
    for (size_t r = share.rows.begin; r < share.rows.end; ++r)
      open_row(t, r, back_row(step, r, share, sums, back), back);
    columns(memory_norm_, memory_sums(), memory_.data() + memory_at(t, 0), back.dnormalized.data());
    share.wait();
    for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
      close_row(step, r, back_row(step, r, share, sums, back), back);
      sums.end_row();
    }
  }
  real *const dgates = back.dgates + gates_at(t, 0), *const dkept = back.dkept.data() + kept_at(t, 0);
  if (joint())
    columns(hidden_norm_, hidden_sums(), gates_.data_unwatched() + gates_at(t, 0), dgates);
  else
    columns(hidden_norm_, hidden_sums(), kept_part_.data() + kept_at(t, 0), dkept);
  columns(input_norm_, 0, x_part_.data_unwatched() + gates_at(t, 0), dgates);
}

/// Gates and kept part as the cell saw them, and where their gradients go: to their final place, or where a
/// row is normalized by itself, into scratch first.
Pass::BackRow Pass::back_row(size_t step, size_t r, const Share& share, const RowSums& sums, Back& back) {
  const size_t t = time(step);
  const RowScratch scratch = scratch_of(back.scratch, share);
  BackRow row{.gates = gates_.data_unwatched() + gates_at(t, r),
              .kept = kept_part_.data() + kept_at(t, r),
              .dgates = back.dgates + gates_at(t, r),
              .dkept = back.dkept.data() + kept_at(t, r),
              .state = scratch.state,
              .sums = sums.running()};
  if (mask_.defined() && mask_at(t)[r] == 0) return row;
  if (computes_gates_again()) {
    update_row(step, r, scratch, scratch.state);
    row.gates = row.dgates = scratch.gates;
    row.kept = row.dkept = scratch.kept;
  } else if (joint() && by_rows()) {
    row.dgates = scratch.gates;
  } else if (hidden_norm_.active() && cell_->kept_gates() > 0) {
    hidden_norm_.normalize_row(t, r, row.kept, scratch.kept);
    row.kept = scratch.kept;
  }
  return row;
}

/// Adds what the outside wants of h_t to what later steps want; with memory, goes on from h_t to c.
void Pass::open_row(size_t t, size_t r, const BackRow& row, Back& back) {
  real* const dh = back.dh.data() + r * size_;
  if (const real* const outside = hidden_.gradient_data()) {
    const real* const wanted = outside + state_at(t, r);
#pragma omp simd
    for (size_t j = 0; j < size_; ++j) dh[j] += wanted[j];
  }
  if (record_.wanted()) record_.hidden_gradient(t, r, dh, size_);
  if (!cell_->has_memory()) return;

  real* const dnormalized = back.dnormalized.data() + r * size_;
  if (mask_.defined() && mask_at(t)[r] == 0) {
    std::fill_n(dnormalized, size_, real{0});
    return;
  }
  const real *const c = memory_.data() + memory_at(t, r), *used = c;
  if (memory_norm_.active()) {
    memory_norm_.normalize_row(t, r, c, row.state);
    used = row.state;
  }
  lstm_output_backward(size_, row.gates, used, dh, row.dgates, dnormalized);
  std::fill_n(dh, size_, real{0});  // all of it has gone to o and c; the product below brings h_{t-1}'s
  if (!memory_norm_.active() || !memory_norm_.by_rows()) return;
  real* const sums = row.sums + memory_sums();
  memory_norm_.backward_row(t, r, c, dnormalized, dnormalized, sums, sums + size_);
}

/// Through the cell and the normalizations of both parts. At a padded step the state just passes, with what the
/// statistics of c want of it where batch norm counts padded cases.
void Pass::close_row(size_t step, size_t r, const BackRow& row, Back& back) const {
  const size_t t = time(step);
  real *const dgates = back.dgates + gates_at(t, r), *const dkept = back.dkept.data() + kept_at(t, r);
  const bool memory = cell_->has_memory();
  real* const dstate = (memory ? back.dc.data() : back.dh.data()) + r * size_;
  if (memory) {
    const real* const dnormalized = back.dnormalized.data() + r * size_;
#pragma omp simd
    for (size_t j = 0; j < size_; ++j) dstate[j] += dnormalized[j];
  }
  if (mask_.defined() && mask_at(t)[r] == 0) {
    std::fill_n(dgates, gates_width_, real{0});
    std::fill_n(dkept, kept_, real{0});
    return;
  }
  cell_->backward(
      {.hidden = size_,
       .gates = row.gates,
       .kept = row.kept,
       .all_kept = kept_ == gates_width_,
       .previous = (memory ? previous_c(step) : previous_h(step)) + r * size_,
       .next = memory ? memory_.data() + memory_at(t, r) : hidden_.data_unwatched() + state_at(t, r),
       .dnext = dstate,
       .dgates = row.dgates,
       .dkept = row.dkept,
       .dprevious = dstate});
  clip_row(row.dgates, gates_width_, options_.clip);
  clip_row(row.dkept, kept_, options_.clip);
  if (back.dcondition.defined()) {
    real* const dcondition = back.dcondition.data() + r * gates_width_;
#pragma omp simd
    for (size_t k = 0; k < gates_width_; ++k) dcondition[k] += row.dgates[k];
  }
  const auto through = [&](const StepNorm& norm, size_t at, const real* raw, const real* d, real* draw) {
    if (norm.active() && norm.by_rows())
      norm.backward_row(t, r, raw, d, draw, row.sums + at, row.sums + at + norm.width());
  };
  if (joint())
    through(hidden_norm_, hidden_sums(), row.gates, row.dgates, dgates);
  else
    through(hidden_norm_, hidden_sums(), kept_part_.data() + kept_at(t, r), row.dkept, dkept);
  through(input_norm_, 0, x_part_.data_unwatched() + gates_at(t, r), row.dgates, dgates);
}

/// dL/dh_{t-1} += d W_h^T
void Pass::product_backward(size_t step, const Share& share, Back& back) const {
  if (step == 0 && !initial_.h.needs_gradient()) return;
  const size_t t = time(step), first = share.rows_of_product.begin, count = share.rows_of_product.size();
  real* const dh = back.dh.data() + first * size_;
  Upcoming upcoming;
  if (step > 0)
    read_by_backward(step - 1, share.rows,
                     [&, i = size_t{0}](std::span<const real> numbers) mutable { upcoming[i++] = numbers; });
  share.for_columns(size_, [&](size_t begin, size_t end) {
    if (direct_ > 0)
      gemm_packed(count, back.dgates + gates_at(t, first), gates_width_, back.weight.direct, dh, size_, true,
                  begin, end, kept_ == 0 ? upcoming : Upcoming{});
    if (kept_ > 0)
      gemm_packed(count, back.dkept.data() + kept_at(t, first), kept_, back.weight.kept, dh, size_, true,
                  begin, end, upcoming);
  });
}

/// dL/dW_h = sum over steps of h_{t-1}^T d_t: one product over all steps that follow another, one for the
/// first.
void Pass::contribute_weight(const Back& back) const {
  if (!weight_.needs_gradient()) return;
  const GradientSink sink = weight_.gradient_sink();
  bool add = sink.add;
  const auto accumulate = [&](const real* h, size_t t, size_t steps) {
    const size_t count = steps * rows_;
    if (direct_ > 0)
      gemm(size_, direct_, count, h, size_, back.dgates + gates_at(t, 0), gates_width_, sink.values,
           gates_width_, {.a = Transpose::yes, .accumulate = add});
    if (kept_ > 0)
      gemm(size_, kept_, count, h, size_, back.dkept.data() + kept_at(t, 0), kept_, sink.values + direct_,
           gates_width_, {.a = Transpose::yes, .accumulate = add});
    add = true;
  };
  // In memory, the states that steps start from lie one step before their gradients, or behind when reversed.
  const size_t from = options_.reverse ? 1 : 0, to = options_.reverse ? 0 : 1;
  accumulate(hidden_.data_unwatched() + state_at(from, 0), to, steps_ - 1);
  if (initial_.h.storage() != zeros_.storage()) accumulate(initial_.h.data(), time(0), 1);
}

}  // namespace lamina::detail
