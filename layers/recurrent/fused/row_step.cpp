#include "layers/recurrent/fused/row_step.h"

#include <algorithm>

namespace lamina {

namespace {

/// Prefetches numbers into L1 while the caller works on something else.
void prefetch(std::span<const real> numbers) {
  constexpr size_t line = 64 / sizeof(real);
  const real* const end = numbers.data() + numbers.size();
  for (const real* at = numbers.data(); at < end; at += line) __builtin_prefetch(at);
}

/// to += from
void add_row(const real* from, real* to, size_t size) {
#pragma omp simd
  for (size_t j = 0; j < size; ++j) to[j] += from[j];
}

/// Keeps every element of dL/d(summed inputs) within [-bound, bound]; a bound of 0 means no limit.
void clip_row(real* d, size_t size, real bound) {
  if (bound == 0) return;
#pragma omp simd
  for (size_t j = 0; j < size; ++j) {  // NaN stays
    const real low = d[j] < -bound ? -bound : d[j];
    d[j] = low > bound ? bound : low;
  }
}

}  // namespace

RowStep::RowStep(const RowStepOptions& options, size_t hidden, size_t steps, size_t rows)
    : options_(options),
      cell_(options.cell),
      rows_(rows),
      size_(hidden),
      width_(form().gates * hidden),
      input_norm_(options.input_norm, steps, rows, options.mode),
      hidden_norm_(options.hidden_norm, steps, rows, options.mode),
      memory_norm_(options.memory_norm, steps, rows, options.mode),
      record_(options.record, options.record_from, steps, rows) {
  // A sum that is normalized jointly is formed in place; a hidden part that is normalized separately has its
  // own buffer.
  kept_ = hidden_norm_.active() && !form().joint ? width_ : seen_apart();
}

RowStep::Workspace RowStep::workspace(size_t threads, size_t levels) const {
  return {.scratch = Tensor({threads, 2 * width_ + size_}),
          .sums = Tensor::zeros({threads, levels, sums_size()}),
          .dnormalized = Tensor({levels > 0 ? rows_ : 0, size_})};
}

RowStep::Desk RowStep::desk(Workspace& all, size_t thread) const {
  real* const own = all.scratch.data() + thread * all.scratch.columns();
  const size_t levels = all.sums.shape()[1];
  return {.gates = own,
          .kept = own + width_,
          .state = own + 2 * width_,
          .dnormalized = all.dnormalized.data(),
          .sums = {all.sums.data() + thread * levels * sums_size(), sums_size(), levels}};
}

// ---------------------------------------------------------------- forward

void RowStep::open(size_t t) {
  for (StepNorm* const norm : {&input_norm_, &hidden_norm_, &memory_norm_}) norm->open(t);
}

/// Normalizes, updates and emits, row by row while the row is in cache. Batch norm needs all rows at once, twice.
void RowStep::forward(const Step& at, const Share& share, const Desk& own) {
  const auto measure = [&](StepNorm& norm, const Rows<real>& raw) {
    if (!norm.by_rows())
      share.for_columns(norm.width(), [&](size_t begin, size_t end) {
        norm.measure_columns(at.t, begin, end, raw.first, counted(at));
      });
  };
  const auto [begin, end] = share.rows;
  const bool memory = has_memory();
  measure(input_norm_, at.x);
  measure(hidden_norm_, hidden_sums(at));
  share.wait();
  input_norm_.merge_ranks(at.t, share, counted(at));
  hidden_norm_.merge_ranks(at.t, share, counted(at));
  if (begin < end) measure_row(at, begin);
  for (size_t r = begin; r < end; ++r) {
    if (r + 2 < end) {
      prefetch({at.x[r + 2], width_});
      prefetch({at.kept[r + 2], kept_});
    }
    if (r + 1 < end) measure_row(at, r + 1);
    if (padded(at, r)) {
      std::copy_n(at.before_h[r], size_, at.h[r]);
      if (memory) std::copy_n(at.before_c[r], size_, at.c[r]);
      continue;
    }
    if (record_.wanted()) record_.summed_inputs(at.t, r, at.x[r], width_, at.kept[r], kept_);
    update_row(at, r, own, memory ? at.c[r] : at.h[r]);
    if (memory && memory_norm_.by_rows()) emit_row(at, r, own);
  }
  if (!memory_norm_.by_rows()) {
    share.wait();
    measure(memory_norm_, at.c);
    share.wait();
    memory_norm_.merge_ranks(at.t, share, counted(at));
    for (size_t r = begin; r < end; ++r)
      if (!padded(at, r)) emit_row(at, r, own);
  }
  for (size_t r = begin; record_.wanted() && r < end; ++r) record_.hidden(at.t, r, at.h[r], size_);
}

/// Computes the statistics of layer norm.
void RowStep::measure_row(const Step& at, size_t r) {
  if (input_norm_.active()) input_norm_.measure_row(at.t, r, at.x[r]);
  if (hidden_norm_.active()) hidden_norm_.measure_row(at.t, r, hidden_sums(at)[r]);
}

/// From summed inputs to gates_row and the next state. Also called in the backward pass, to recompute the
/// gates.
void RowStep::update_row(const Step& at, size_t r, const Desk& own, real* next) const {
  real* gates = gates_row(at, r, own);
  const real* kept = at.kept[r];
  if (input_norm_.active()) input_norm_.normalize_row(at.t, r, at.x[r], gates);
  if (options_.condition.defined()) add_row(options_.condition.data() + r * width_, gates, width_);
  if (joint()) {
    hidden_norm_.normalize_row(at.t, r, gates, own.gates);
    gates = own.gates;
  } else if (hidden_norm_.active()) {
    hidden_norm_.normalize_row(at.t, r, kept, own.kept);
    kept = own.kept;
  }
  cell_->forward({.hidden = size_,
                  .gates = gates,
                  .added = to_be_added() > 0 ? kept : nullptr,
                  .kept = kept + to_be_added(),
                  .previous = previous(at)[r],
                  .next = next});
}

/// h = output(normalize(c))
void RowStep::emit_row(const Step& at, size_t r, const Desk& own) {
  const real* c = at.c[r];
  if (memory_norm_.active()) {
    memory_norm_.measure_row(at.t, r, c);
    memory_norm_.normalize_row(at.t, r, c, own.state);
    c = own.state;
  }
  form().output.forward(size_, gates_row(at, r, own), c, at.h[r]);
}

// ---------------------------------------------------------------- backward

/// The backward pass of a step except the product.
void RowStep::backward(const Step& at, const Gradients& d, const Share& share, Desk& own) {
  const auto columns = [&](StepNorm& norm, size_t sums, const real* raw, real* dnormalized) {
    if (norm.by_rows()) return;
    share.wait();
    norm.backward_columns(at.t, share, raw, dnormalized, counted(at), own.sums.running() + sums);
  };
  const auto [begin, end] = share.rows;
  if (memory_norm_.by_rows()) {
    for (size_t r = begin; r < end; ++r) {
      if (r + 1 < end) read_by_backward(at, d.outside, {r + 1, r + 2}, prefetch);
      const BackRow row = back_row(at, d, r, own);
      open_row(at, d, r, row, own);
      close_row(at, d, r, row, own);
      own.sums.end_row();
    }
  } else {
    for (size_t r = begin; r < end; ++r) open_row(at, d, r, back_row(at, d, r, own), own);
    columns(memory_norm_, sums_of_memory(), at.c.first, own.dnormalized);
    share.wait();
    for (size_t r = begin; r < end; ++r) {
      close_row(at, d, r, back_row(at, d, r, own), own);
      own.sums.end_row();
    }
  }
  columns(hidden_norm_, sums_of_hidden(), hidden_sums(at).first, (joint() ? d.x : d.kept).first);
  columns(input_norm_, 0, at.x.first, d.x.first);
}

/// Gates and kept part as the cell saw them, and where their gradients are written: to their final place, or
/// to scratch memory first where rows are normalized separately.
RowStep::BackRow RowStep::back_row(const Step& at, const Gradients& d, size_t r, const Desk& own) const {
  BackRow row{.gates = at.gates[r], .kept = at.kept[r], .dgates = d.x[r], .dkept = d.kept[r]};
  if (padded(at, r)) return row;
  if (computes_gates_again()) {
    update_row(at, r, own, own.state);
    row.gates = row.dgates = own.gates;
    row.kept = row.dkept = own.kept;
  } else if (joint() && by_rows()) {
    row.dgates = own.gates;
  } else if (hidden_norm_.active() && seen_apart() > 0) {
    hidden_norm_.normalize_row(at.t, r, row.kept, own.kept);
    row.kept = own.kept;
  }
  return row;
}

/// Adds the gradient of h_t from outside to the one from later steps; with memory, continues from h_t to c.
void RowStep::open_row(const Step& at, const Gradients& d, size_t r, const BackRow& row, const Desk& own) {
  real* const dh = d.h[r];
  if (d.outside.first != nullptr) add_row(d.outside[r], dh, size_);
  if (record_.wanted()) record_.hidden_gradient(at.t, r, dh, size_);
  if (!has_memory()) return;

  real* const dnormalized = own.dnormalized + r * size_;
  if (padded(at, r)) {
    std::fill_n(dnormalized, size_, real{0});
    return;
  }
  const real *const c = at.c[r], *used = c;
  if (memory_norm_.active()) {
    memory_norm_.normalize_row(at.t, r, c, own.state);
    used = own.state;
  }
  form().output.backward(size_, row.gates, used, dh, row.dgates, dnormalized);
  std::fill_n(dh, size_, real{0});  // all of it has passed to o and c; the product adds that of h_{t-1}
  if (!memory_norm_.active() || !memory_norm_.by_rows()) return;
  memory_norm_.backward_row(at.t, r, c, dnormalized, dnormalized, own.sums.running() + sums_of_memory());
}

/// Through the cell and the normalizations of both parts. At a padded step the gradient of the state passes
/// unchanged, plus the gradient through the statistics of c where batch norm counts padded cases.
void RowStep::close_row(const Step& at, const Gradients& d, size_t r, const BackRow& row,
                        const Desk& own) const {
  const bool memory = has_memory();
  real* const dstate = (memory ? d.c : d.h)[r];
  if (memory) add_row(own.dnormalized + r * size_, dstate, size_);
  if (padded(at, r)) {
    std::fill_n(d.x[r], width_, real{0});
    std::fill_n(d.kept[r], kept_, real{0});
    return;
  }
  cell_->backward({.hidden = size_,
                   .gates = row.gates,
                   .kept = row.kept + to_be_added(),
                   .previous = previous(at)[r],
                   .next = (memory ? at.c : at.h)[r],
                   .dnext = dstate,
                   .dgates = row.dgates,
                   .dkept = row.dkept + to_be_added(),
                   .dprevious = dstate});
  std::copy_n(row.dgates, to_be_added(), row.dkept);
  clip_row(row.dgates, width_, options_.clip);
  clip_row(row.dkept, kept_, options_.clip);
  if (d.condition.first != nullptr) add_row(row.dgates, d.condition[r], width_);
  const auto through = [&](const StepNorm& norm, size_t sums, const real* raw, const real* dnormalized,
                           real* draw) {
    if (norm.active() && norm.by_rows())
      norm.backward_row(at.t, r, raw, dnormalized, draw, own.sums.running() + sums);
  };
  if (joint())
    through(hidden_norm_, sums_of_hidden(), at.gates[r], row.dgates, d.x[r]);
  else
    through(hidden_norm_, sums_of_hidden(), at.kept[r], row.dkept, d.kept[r]);
  through(input_norm_, 0, at.x[r], row.dgates, d.x[r]);
}

void RowStep::contribute(const Workspace& all) const {
  const auto contribute_norm = [&](const StepNorm& norm, size_t sums) {
    norm.contribute(all.sums.data() + sums, all.sums.rows(), all.sums.columns());
  };
  contribute_norm(input_norm_, 0);
  contribute_norm(hidden_norm_, sums_of_hidden());
  contribute_norm(memory_norm_, sums_of_memory());
}

}  // namespace lamina
