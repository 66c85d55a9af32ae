#include "layers/recurrent/recurrence.h"

#include <algorithm>
#include <cmath>

#include "core/gemm.h"
#include "core/ops/map.h"
#include "core/sum.h"
#include "layers/recurrent/schedule.h"

namespace lamina {

namespace {

/// For each step the mean of value(t, r) over the cases that are not padded.
template <class Value>
std::vector<double> mean_over_cases(size_t steps, size_t rows, const Tensor& mask, const Value& value) {
  std::vector<double> means(steps, 0);
  for (size_t t = 0; t < steps; ++t) {
    double total = 0, cases = 0;
    for (size_t r = 0; r < rows; ++r) {
      if (mask.defined() && mask[t * rows + r] == 0) continue;
      total += static_cast<double>(value(t, r));
      cases += 1;
    }
    if (cases > 0) means[t] = total / cases;
  }
  return means;
}

/// One pass through a sequence: sizes, what is kept for the way back, and both ways.
///
/// The gates' columns are split in two: the first `direct` receive the hidden part on top of the x part, for
/// the last `kept` it stays apart, because a normalization or the cell asks for it.
class Pass {
 public:
  Pass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
       const RecurrentState& initial, const Tensor& mask, const Tensor& hidden, bool recording);

  RecurrentState forward();
  void backward(const Tensor& last_c);

 private:
  // Where the numbers of step t are. Without a tape only one step of `kept_` and two of `memory_` exist.
  const real* mask_at(size_t t) const { return mask_.defined() ? mask_.data() + t * rows_ : nullptr; }
  size_t gates_at(size_t t, size_t r) const { return (t * rows_ + r) * gates_width_; }
  size_t kept_at(size_t t, size_t r) const { return ((recording_ ? t : 0) * rows_ + r) * kept_; }
  size_t state_at(size_t t, size_t r) const { return (t * rows_ + r) * size_; }
  size_t memory_at(size_t t, size_t r) const { return ((recording_ ? t : t % 2) * rows_ + r) * size_; }
  size_t time(size_t step) const { return options_.reverse ? steps_ - 1 - step : step; }
  const real* previous_h(size_t step) const {
    return step == 0 ? initial_.h.data() : hidden_.data() + state_at(time(step - 1), 0);
  }
  const real* previous_c(size_t step) const {
    return step == 0 ? initial_.c.data() : memory_.data() + memory_at(time(step - 1), 0);
  }
  bool joint() const { return hidden_norm_.active() && kept_ == 0; }

  /// Both column ranges of W_h (or of its transpose) in the layout of the product kernel.
  struct PackedWeight {
    PackedMatrix direct, kept;
  };
  PackedWeight pack(Transpose op) const;

  void product_forward(size_t step, const Share& share, const PackedWeight& weight);
  void rows_forward(size_t step, const Share& share, real* scratch);
  void emit_rows(size_t t, const Share& share, real* scratch);
  void record_row(size_t t, size_t r, const real* gates, const real* hidden_part);
  void record_forward() const;

  struct Back;
  void open_row(size_t t, size_t r, const Share& share, Back& back) const;
  void close_row(size_t step, size_t r, const Share& share, Back& back) const;
  void rows_backward(size_t step, const Share& share, Back& back) const;
  void product_backward(size_t step, const Share& share, Back& back) const;
  void contribute_weight(const Back& back) const;

  RecurrenceOptions options_;
  const Cell* cell_;
  bool recording_;
  size_t steps_, rows_, size_, gates_width_, direct_, kept_;
  Tensor gates_, weight_, mask_, hidden_;
  RecurrentState initial_;
  StepNorm hidden_norm_, memory_norm_;
  Tensor kept_part_;  ///< [T x B x kept], before normalization
  Tensor memory_;     ///< c_t [T x B x H]
  Tensor summed_;     ///< for the record: [T x B x (mean, deviation)]
  Tensor zeros_;      ///< [B x H], where no initial state was given
};

Pass::Pass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
           const RecurrentState& initial, const Tensor& mask, const Tensor& hidden, bool recording)
    : options_(options),
      cell_(options.cell),
      recording_(recording),
      steps_(x_part.shape()[0]),
      rows_(x_part.shape()[1]),
      size_(weight.rows()),
      gates_width_(weight.columns()),
      gates_(x_part),
      weight_(weight),
      mask_(mask),
      hidden_(hidden),
      initial_(initial),
      hidden_norm_(options.hidden_norm, steps_, rows_, options.mode),
      memory_norm_(options.memory_norm, steps_, rows_, options.mode) {
  // The simple cell normalizes the sum of both parts, which is formed in place; the others the hidden part
  // alone.
  const bool apart = hidden_norm_.active() && cell_->gates() > 1;
  kept_ = apart ? gates_width_ : cell_->kept_gates() * size_;
  direct_ = gates_width_ - kept_;
  zeros_ = Tensor::zeros({rows_, size_});
  if (!initial_.h.defined()) initial_.h = zeros_;
  if (!initial_.c.defined()) initial_.c = zeros_;
  kept_part_ = Tensor({recording ? steps_ : 1, rows_, kept_});
  if (cell_->has_memory()) memory_ = Tensor({recording ? steps_ : 2, rows_, size_});
  if (options.record != nullptr) summed_ = Tensor::zeros({steps_, rows_, 2});
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

// ---------------------------------------------------------------- forward

RecurrentState Pass::forward() {
  const bool by_rows = hidden_norm_.by_rows() && memory_norm_.by_rows();
  const Schedule schedule(rows_, size_, gates_width_, steps_, by_rows);
  const size_t scratch_size = gates_width_ + size_;
  Tensor scratch({schedule.threads(), scratch_size});
  const PackedWeight weight = pack(Transpose::no);
  schedule.run([&](const Share& share) {
    real* const own = scratch.data() + share.thread * scratch_size;
    for (size_t step = 0; step < steps_; ++step) {
      const size_t t = time(step);
      product_forward(step, share, weight);
      if (!hidden_norm_.by_rows()) {
        const real* const raw = joint() ? gates_.data() + gates_at(t, 0) : kept_part_.data() + kept_at(t, 0);
        share.for_columns(hidden_norm_.width(), [&](size_t begin, size_t end) {
          hidden_norm_.measure_columns(t, begin, end, raw, mask_at(t));
        });
      }
      share.wait();
      rows_forward(step, share, own);
      if (!memory_norm_.by_rows()) {
        share.wait();
        share.for_columns(size_, [&](size_t begin, size_t end) {
          memory_norm_.measure_columns(t, begin, end, memory_.data() + memory_at(t, 0), mask_at(t));
        });
        share.wait();
        emit_rows(t, share, own);
      }
      share.wait();
    }
  });
  if (options_.record != nullptr) record_forward();
  const size_t last = time(steps_ - 1);
  if (!cell_->has_memory()) return {.h = hidden_.step(last), .c = {}};
  const auto* const c = memory_.data() + memory_at(last, 0);
  return {.h = hidden_.step(last), .c = Tensor::from({rows_, size_}, std::span(c, rows_ * size_))};
}

/// W_h h_{t-1}: onto the x part for the direct columns, apart for the kept ones. Zeros need no product.
void Pass::product_forward(size_t step, const Share& share, const PackedWeight& weight) {
  const size_t t = time(step), first = share.rows_of_product.begin, count = share.rows_of_product.size();
  real *const gates = gates_.data() + gates_at(t, first), *const kept = kept_part_.data() + kept_at(t, first);
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
  share.for_columns(kept_, [&](size_t begin, size_t end) {
    gemm_packed(count, h, size_, weight.kept, kept, kept_, false, begin, end);
  });
}

/// Normalizes, updates and emits, row by row while the row is in cache.
void Pass::rows_forward(size_t step, const Share& share, real* scratch) {
  const size_t t = time(step);
  const bool memory = cell_->has_memory();
  const real *const h_before = previous_h(step), *const c_before = memory ? previous_c(step) : nullptr;
  for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
    real *gates = gates_.data() + gates_at(t, r), *const h = hidden_.data() + state_at(t, r);
    real* const c = memory ? memory_.data() + memory_at(t, r) : nullptr;
    if (mask_.defined() && mask_at(t)[r] == 0) {
      std::copy_n(h_before + r * size_, size_, h);
      if (memory) std::copy_n(c_before + r * size_, size_, c);
      continue;
    }
    const real* kept = kept_part_.data() + kept_at(t, r);
    if (hidden_norm_.active()) {
      const real* const raw = joint() ? gates : kept;
      if (joint() && summed_.defined()) record_row(t, r, gates, nullptr);
      hidden_norm_.measure_row(t, r, raw);
      hidden_norm_.normalize_row(t, r, raw, scratch);
      if (joint())
        gates = scratch;
      else
        kept = scratch;
    }
    if (!joint() && summed_.defined()) record_row(t, r, gates, kept_ == gates_width_ ? kept : nullptr);
    cell_->forward({.hidden = size_,
                    .gates = gates,
                    .kept = kept,
                    .all_kept = kept_ == gates_width_,
                    .previous = (memory ? c_before : h_before) + r * size_,
                    .next = memory ? c : h});
  }
  if (memory && memory_norm_.by_rows()) emit_rows(t, share, scratch);
}

/// h = o tanh(normalize(c))
void Pass::emit_rows(size_t t, const Share& share, real* scratch) {
  for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
    if (mask_.defined() && mask_at(t)[r] == 0) continue;
    const real* c = memory_.data() + memory_at(t, r);
    if (memory_norm_.active()) {
      memory_norm_.measure_row(t, r, c);
      memory_norm_.normalize_row(t, r, c, scratch);
      c = scratch;
    }
    lstm_output(size_, gates_.data() + gates_at(t, r), c, hidden_.data() + state_at(t, r));
  }
}

/// Mean and deviation of one row of summed inputs.
void Pass::record_row(size_t t, size_t r, const real* gates, const real* hidden_part) {
  const auto input = [=](size_t k) { return gates[k] + (hidden_part != nullptr ? hidden_part[k] : 0); };
  const auto count = static_cast<real>(gates_width_);
  const real mean = sum_over(gates_width_, input) / count;
  const real variance =
      sum_over(gates_width_, [=](size_t k) { return (input(k) - mean) * (input(k) - mean); }) / count;
  summed_[2 * (t * rows_ + r)] = mean;
  summed_[2 * (t * rows_ + r) + 1] = std::sqrt(variance);
}

void Pass::record_forward() const {
  SequenceRecord& record = *options_.record;
  record.hidden_norm = mean_over_cases(steps_, rows_, mask_, [&](size_t t, size_t r) {
    const real* const h = hidden_.data() + state_at(t, r);
    return std::sqrt(sum_over(size_, [=](size_t j) { return h[j] * h[j]; }));
  });
  const auto summed = [&](size_t which) {
    return mean_over_cases(steps_, rows_, mask_,
                           [&](size_t t, size_t r) { return summed_[2 * (t * rows_ + r) + which]; });
  };
  record.summed_input_mean = summed(0);
  record.summed_input_deviation = summed(1);
}

// ---------------------------------------------------------------- backward

/// What the way back works with. Rows of dh and dc hold dL/dh_t and dL/dc_t of the step at hand.
struct Pass::Back {
  PackedWeight weight;  ///< transposed
  real* dgates;         ///< [T x B x gates], the gradient of the x part
  Tensor dkept;         ///< [T x B x kept], before normalization
  Tensor dh, dc;        ///< [B x H]
  Tensor dnormalized;   ///< [B x H], of the normalized c
  Tensor scratch;       ///< [threads x gates]
  Tensor sums;          ///< of gains and biases, a row a thread: hidden gain, bias, memory gain, bias
  Tensor dh_norm;       ///< for the record: norm2(dL/dh_t) [T x B]
};

void Pass::backward(const Tensor& last_c) {
  const bool by_rows = hidden_norm_.by_rows() && memory_norm_.by_rows();
  const Schedule schedule(rows_, size_, gates_width_, steps_, by_rows);
  // The x part is private to the layer, so this is the first and only contribution to its gradient.
  Tensor unwanted = gates_.needs_gradient() ? Tensor() : Tensor(gates_.shape());
  Back back{.weight = pack(Transpose::yes),
            .dgates = gates_.needs_gradient() ? gates_.gradient_sink().values : unwanted.data(),
            .dkept = Tensor({steps_, rows_, kept_}),
            .dh = Tensor::zeros({rows_, size_}),
            .dc = Tensor::zeros({rows_, size_}),
            .dnormalized = Tensor({rows_, size_}),
            .scratch = Tensor({schedule.threads(), gates_width_ + size_}),
            .sums = Tensor::zeros({schedule.threads(), 2 * (gates_width_ + size_)}),
            .dh_norm = options_.record != nullptr ? Tensor({steps_, rows_}) : Tensor()};
  if (const real* const dlast = last_c.gradient_data()) std::copy_n(dlast, rows_ * size_, back.dc.data());

  schedule.run([&](const Share& share) {
    for (size_t step = steps_; step-- > 0;) {
      rows_backward(step, share, back);
      share.wait();
      product_backward(step, share, back);
      share.wait();
    }
  });

  contribute_weight(back);
  contribute(initial_.h, [d = back.dh.data()](size_t i) { return d[i]; });
  contribute(initial_.c, [d = back.dc.data()](size_t i) { return d[i]; });
  hidden_norm_.contribute(back.sums.data(), schedule.threads(), back.sums.columns());
  memory_norm_.contribute(back.sums.data() + 2 * gates_width_, schedule.threads(), back.sums.columns());
  if (options_.record != nullptr)
    options_.record->hidden_gradient_norm = mean_over_cases(
        steps_, rows_, mask_, [&](size_t t, size_t r) { return back.dh_norm[t * rows_ + r]; });
}

/// Everything of a step but the product. Batch norm needs all rows at once, twice.
void Pass::rows_backward(size_t step, const Share& share, Back& back) const {
  const size_t t = time(step);
  real* const sums = back.sums.data() + share.thread * back.sums.columns();
  real* const memory_sums = sums + 2 * gates_width_;
  if (memory_norm_.by_rows()) {
    for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
      open_row(t, r, share, back);
      close_row(step, r, share, back);
    }
  } else {
    for (size_t r = share.rows.begin; r < share.rows.end; ++r) open_row(t, r, share, back);
    share.wait();
    share.for_columns(size_, [&](size_t begin, size_t end) {
      memory_norm_.backward_columns(t, begin, end, memory_.data() + memory_at(t, 0), back.dnormalized.data(),
                                    mask_at(t), memory_sums, memory_sums + size_);
    });
    share.wait();
    for (size_t r = share.rows.begin; r < share.rows.end; ++r) close_row(step, r, share, back);
  }
  if (hidden_norm_.by_rows()) return;
  share.wait();
  const real* const raw = joint() ? gates_.data() + gates_at(t, 0) : kept_part_.data() + kept_at(t, 0);
  real* const d = joint() ? back.dgates + gates_at(t, 0) : back.dkept.data() + kept_at(t, 0);
  share.for_columns(gates_width_, [&](size_t begin, size_t end) {
    hidden_norm_.backward_columns(t, begin, end, raw, d, mask_at(t), sums, sums + gates_width_);
  });
}

/// Adds what the outside wants of h_t to what later steps want; with memory, goes on from h_t to c.
void Pass::open_row(size_t t, size_t r, const Share& share, Back& back) const {
  real* const dh = back.dh.data() + r * size_;
  if (const real* const outside = hidden_.gradient_data()) {
    const real* const wanted = outside + state_at(t, r);
#pragma omp simd
    for (size_t j = 0; j < size_; ++j) dh[j] += wanted[j];
  }
  if (back.dh_norm.defined())
    back.dh_norm[t * rows_ + r] = std::sqrt(sum_over(size_, [=](size_t j) { return dh[j] * dh[j]; }));
  if (!cell_->has_memory()) return;

  real* const dnormalized = back.dnormalized.data() + r * size_;
  if (mask_.defined() && mask_at(t)[r] == 0) {
    std::fill_n(dnormalized, size_, real{0});
    return;
  }
  const real *const c = memory_.data() + memory_at(t, r), *used = c;
  if (memory_norm_.active()) {
    real* const normalized = back.scratch.data() + share.thread * back.scratch.columns();
    memory_norm_.normalize_row(t, r, c, normalized);
    used = normalized;
  }
  lstm_output_backward(size_, gates_.data() + gates_at(t, r), used, dh, back.dgates + gates_at(t, r),
                       dnormalized);
  std::fill_n(dh, size_, real{0});  // all of it has gone to o and c; the product below brings h_{t-1}'s
  if (!memory_norm_.active() || !memory_norm_.by_rows()) return;
  real* const sums = back.sums.data() + share.thread * back.sums.columns() + 2 * gates_width_;
  memory_norm_.backward_row(t, r, c, dnormalized, sums, sums + size_);
}

/// Through the cell and the normalization of the hidden part. At a padded step the state just passes.
void Pass::close_row(size_t step, size_t r, const Share& share, Back& back) const {
  const size_t t = time(step);
  real *const dgates = back.dgates + gates_at(t, r), *const dkept = back.dkept.data() + kept_at(t, r);
  if (mask_.defined() && mask_at(t)[r] == 0) {
    std::fill_n(dgates, gates_width_, real{0});
    std::fill_n(dkept, kept_, real{0});
    return;
  }
  const bool memory = cell_->has_memory();
  real* const dstate = (memory ? back.dc.data() : back.dh.data()) + r * size_;
  if (memory) {
    const real* const dnormalized = back.dnormalized.data() + r * size_;
#pragma omp simd
    for (size_t j = 0; j < size_; ++j) dstate[j] += dnormalized[j];
  }
  const real *const raw = kept_part_.data() + kept_at(t, r), *kept = raw;
  if (hidden_norm_.active() && cell_->kept_gates() > 0) {
    real* const normalized = back.scratch.data() + share.thread * back.scratch.columns();
    hidden_norm_.normalize_row(t, r, raw, normalized);
    kept = normalized;
  }
  const real* const gates = gates_.data() + gates_at(t, r);
  cell_->backward({.hidden = size_,
                   .gates = gates,
                   .kept = kept,
                   .all_kept = kept_ == gates_width_,
                   .previous = (memory ? previous_c(step) : previous_h(step)) + r * size_,
                   .next = memory ? memory_.data() + memory_at(t, r) : hidden_.data() + state_at(t, r),
                   .dnext = dstate,
                   .dgates = dgates,
                   .dkept = dkept,
                   .dprevious = dstate});
  if (!hidden_norm_.active() || !hidden_norm_.by_rows()) return;
  real* const sums = back.sums.data() + share.thread * back.sums.columns();
  hidden_norm_.backward_row(t, r, joint() ? gates : raw, joint() ? dgates : dkept, sums, sums + gates_width_);
}

/// dL/dh_{t-1} += d W_h^T
void Pass::product_backward(size_t step, const Share& share, Back& back) const {
  if (step == 0 && !initial_.h.needs_gradient()) return;
  const size_t t = time(step), first = share.rows_of_product.begin, count = share.rows_of_product.size();
  real* const dh = back.dh.data() + first * size_;
  share.for_columns(size_, [&](size_t begin, size_t end) {
    if (direct_ > 0)
      gemm_packed(count, back.dgates + gates_at(t, first), gates_width_, back.weight.direct, dh, size_, true,
                  begin, end);
    if (kept_ > 0)
      gemm_packed(count, back.dkept.data() + kept_at(t, first), kept_, back.weight.kept, dh, size_, true,
                  begin, end);
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
  accumulate(hidden_.data() + state_at(from, 0), to, steps_ - 1);
  if (initial_.h.storage() != zeros_.storage()) accumulate(initial_.h.data(), time(0), 1);
}

}  // namespace

RecurrentState recurrence(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                          const RecurrentState& initial, const Tensor& mask, const Tensor& hidden) {
  const bool recording = Tape::current() != nullptr;
  Pass pass(options, x_part, weight, initial, mask, hidden, recording);
  const RecurrentState last = pass.forward();
  record("recurrence", {hidden, last.c},
         {x_part, weight, initial.h, initial.c, options.hidden_norm.gain, options.hidden_norm.bias,
          options.memory_norm.gain, options.memory_norm.bias},
         [pass = std::move(pass), c = last.c]() mutable { pass.backward(c); });
  return last;
}

}  // namespace lamina
