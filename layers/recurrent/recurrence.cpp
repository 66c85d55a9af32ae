#include "layers/recurrent/recurrence.h"

#include <algorithm>
#include <cmath>

#include "core/tape.h"
#include "layers/recurrent/recurrence_pass.h"

namespace lamina {

namespace detail {

Pass::Pass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
           const RecurrentState& initial, const Tensor& mask, const Tensor& hidden, bool recording)
    : options_(options),
      cell_(options.cell),
      recording_(recording),
      steps_(x_part.shape()[0]),
      rows_(x_part.shape()[1]),
      size_(weight.rows()),
      gates_width_(weight.columns()),
      x_part_(x_part),
      gates_(x_part),
      weight_(weight),
      mask_(mask),
      hidden_(hidden),
      initial_(initial),
      input_norm_(options.input_norm, steps_, rows_, options.mode),
      hidden_norm_(options.hidden_norm, steps_, rows_, options.mode),
      memory_norm_(options.memory_norm, steps_, rows_, options.mode),
      record_(options.record, options.record_from, steps_, rows_) {
  // The simple cell normalizes the sum of both parts, which is formed in place; the others the hidden part
  // alone.
  const bool apart = hidden_norm_.active() && cell_->gates() > 1;
  kept_ = apart ? gates_width_ : cell_->kept_gates() * size_;
  direct_ = gates_width_ - kept_;
  if (input_norm_.active() && !by_rows()) gates_ = Tensor(x_part.shape());
  zeros_ = Tensor::zeros({rows_, size_});
  if (!initial_.h.defined()) initial_.h = zeros_;
  if (!initial_.c.defined()) initial_.c = zeros_;
  kept_part_ = Tensor({recording ? steps_ : 1, rows_, kept_});
  if (cell_->has_memory()) memory_ = Tensor({recording ? steps_ : 2, rows_, size_});
}

Pass::PackedWeight Pass::pack(Transpose op) const {
  PackedWeight packed;
  const auto pack_columns = [&](PackedMatrix& into, size_t first, size_t count) {
    const bool transposed = op == Transpose::yes;
    if (count > 0)
      into.pack(op, transposed ? count : size_, transposed ? size_ : count, weight_.data() + first,
                gates_width_);
  };
  pack_columns(packed.direct, 0, direct_);
  pack_columns(packed.kept, direct_, kept_);
  return packed;
}

RecurrentState Pass::forward() {
  const Schedule schedule(rows_, size_, gates_width_, steps_, by_rows());
  Tensor scratch({schedule.threads(), scratch_size()});
  const PackedWeight weight = pack(Transpose::no);
  schedule.run([&](const Share& share) {
    const RowScratch own = scratch_of(scratch, share);
    for (size_t step = 0; step < steps_; ++step) {
      const size_t t = time(step);
      product_forward(step, share, weight);
      if (!input_norm_.by_rows())
        share.for_columns(gates_width_, [&](size_t begin, size_t end) {
          input_norm_.measure_columns(t, begin, end, x_part_.data_unwatched() + gates_at(t, 0),
                                      counted_at(t));
        });
      if (!hidden_norm_.by_rows()) {
        const real* const raw =
            joint() ? gates_.data_unwatched() + gates_at(t, 0) : kept_part_.data() + kept_at(t, 0);
        share.for_columns(hidden_norm_.width(), [&](size_t begin, size_t end) {
          hidden_norm_.measure_columns(t, begin, end, raw, counted_at(t));
        });
      }
      share.wait();
      rows_forward(step, share, own);
      if (!memory_norm_.by_rows()) {
        share.wait();
        share.for_columns(size_, [&](size_t begin, size_t end) {
          memory_norm_.measure_columns(t, begin, end, memory_.data() + memory_at(t, 0), counted_at(t));
        });
        share.wait();
        for (size_t r = share.rows.begin; r < share.rows.end; ++r)
          if (!mask_.defined() || mask_at(t)[r] != 0) emit_row(t, r, own);
      }
      share.wait();
    }
  });
  if (record_.wanted()) record_states();
  const size_t last = time(steps_ - 1);
  if (!cell_->has_memory()) return {.h = hidden_.step(last), .c = {}};
  const auto* const c = memory_.data() + memory_at(last, 0);
  return {.h = hidden_.step(last), .c = Tensor::from({rows_, size_}, std::span(c, rows_ * size_))};
}

/// W_h h_{t-1}: onto the x part for the direct columns, apart for the kept ones. Zeros need no product.
void Pass::product_forward(size_t step, const Share& share, const PackedWeight& weight) {
  const size_t t = time(step), first = share.rows_of_product.begin, count = share.rows_of_product.size();
  real *const gates = gates_.data_unwatched() + gates_at(t, first), *const kept =
                                                                        kept_part_.data() + kept_at(t, first);
  if (step == 0 && initial_.h.storage() == zeros_.storage()) {
    share.for_columns(kept_, [&](size_t begin, size_t end) {
      for (size_t r = 0; r < count; ++r) std::fill(kept + r * kept_ + begin, kept + r * kept_ + end, real{0});
    });
    return;
  }
  const real* const h = previous_h(step) + first * size_;
  share.for_columns(direct_, [&](size_t begin, size_t end) {
    gemm_packed(count, h, size_, weight.direct, gates, gates_width_, true, begin, end);
  });
  Upcoming upcoming;
  if (input_norm_.active())
    upcoming[0] = {x_part_.data_unwatched() + gates_at(t, share.rows.begin),
                   share.rows.size() * gates_width_};
  share.for_columns(kept_, [&](size_t begin, size_t end) {
    gemm_packed(count, h, size_, weight.kept, kept, kept_, false, begin, end, upcoming);
  });
}

/// Normalizes, updates and emits, row by row while the row is in cache. A row is measured one ahead of its
/// turn: the long chain of a sum, a square root and a division passes while the row before is worked on.
void Pass::rows_forward(size_t step, const Share& share, const RowScratch& scratch) {
  const size_t t = time(step);
  const bool memory = cell_->has_memory();
  if (share.rows.size() > 0) measure_row(t, share.rows.begin);
  for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
    real* const h = hidden_.data_unwatched() + state_at(t, r);
    real* const c = memory ? memory_.data() + memory_at(t, r) : nullptr;
    if (r + 2 < share.rows.end) fetch_row(t, r + 2);
    if (r + 1 < share.rows.end) measure_row(t, r + 1);
    if (mask_.defined() && mask_at(t)[r] == 0) {
      std::copy_n(previous_h(step) + r * size_, size_, h);
      if (memory) std::copy_n(previous_c(step) + r * size_, size_, c);
      continue;
    }
    if (record_.wanted())
      record_.summed_inputs(t, r, x_part_.data_unwatched() + gates_at(t, r), gates_width_,
                            kept_part_.data() + kept_at(t, r), kept_);
    update_row(step, r, scratch, memory ? c : h);
    if (memory && memory_norm_.by_rows()) emit_row(t, r, scratch);
  }
}

real* Pass::gates_row(size_t t, size_t r, const RowScratch& scratch) {
  return computes_gates_again() ? scratch.gates : gates_.data_unwatched() + gates_at(t, r);
}

/// Lets the summed inputs of a row come from memory while the row before it is worked on.
void Pass::fetch_row(size_t t, size_t r) const {
  prefetch({x_part_.data_unwatched() + gates_at(t, r), gates_width_});
  prefetch({kept_part_.data() + kept_at(t, r), kept_});
}

/// The statistics of layer norm.
void Pass::measure_row(size_t t, size_t r) {
  if (input_norm_.active()) input_norm_.measure_row(t, r, x_part_.data_unwatched() + gates_at(t, r));
  if (hidden_norm_.active())
    hidden_norm_.measure_row(
        t, r, joint() ? gates_.data_unwatched() + gates_at(t, r) : kept_part_.data() + kept_at(t, r));
}

/// From summed inputs to gates_row and the next state. Also called in the backward pass, to have the gates again.
void Pass::update_row(size_t step, size_t r, const RowScratch& scratch, real* next) {
  const size_t t = time(step);
  real* gates = gates_row(t, r, scratch);
  const real* kept = kept_part_.data() + kept_at(t, r);
  if (input_norm_.active()) input_norm_.normalize_row(t, r, x_part_.data_unwatched() + gates_at(t, r), gates);
  if (options_.condition.defined()) add_condition(r, gates);
  if (joint()) {
    hidden_norm_.normalize_row(t, r, gates, scratch.gates);
    gates = scratch.gates;
  } else if (hidden_norm_.active()) {
    hidden_norm_.normalize_row(t, r, kept, scratch.kept);
    kept = scratch.kept;
  }
  cell_->forward({.hidden = size_,
                  .gates = gates,
                  .kept = kept,
                  .all_kept = kept_ == gates_width_,
                  .previous = (cell_->has_memory() ? previous_c(step) : previous_h(step)) + r * size_,
                  .next = next});
}

/// What stays the same over all steps, onto the x part.
void Pass::add_condition(size_t r, real* gates) const {
  const real* const condition = options_.condition.data() + r * gates_width_;
#pragma omp simd
  for (size_t k = 0; k < gates_width_; ++k) gates[k] += condition[k];
}

/// h = o tanh(normalize(c))
void Pass::emit_row(size_t t, size_t r, const RowScratch& scratch) {
  const real* c = memory_.data() + memory_at(t, r);
  if (memory_norm_.active()) {
    memory_norm_.measure_row(t, r, c);
    memory_norm_.normalize_row(t, r, c, scratch.state);
    c = scratch.state;
  }
  lstm_output(size_, gates_row(t, r, scratch), c, hidden_.data_unwatched() + state_at(t, r));
}

void Pass::record_states() {
  for (size_t t = 0; t < steps_; ++t) {
    for (size_t r = 0; r < rows_; ++r) record_.hidden(t, r, hidden_.data_unwatched() + state_at(t, r), size_);
    record_.finish_forward(t, mask_at(t));
  }
}

}  // namespace detail

RecurrentState recurrence(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                          const RecurrentState& initial, const Tensor& mask, const Tensor& hidden) {
  const bool recording = Tape::current() != nullptr;
  detail::Pass pass(options, x_part, weight, initial, mask, hidden, recording);
  RecurrentState last = pass.forward();
  record("recurrence", {hidden, last.c},
         {x_part, weight, initial.h, initial.c, options.input_norm.gain, options.hidden_norm.gain,
          options.memory_norm.gain, options.condition, options.input_norm.bias, options.hidden_norm.bias,
          options.memory_norm.bias},
         [pass = std::move(pass), c = last.c]() mutable { pass.backward(c); });
  return last;
}

}  // namespace lamina
