#include "layers/recurrent/fused/recurrence.h"

#include <algorithm>
#include <utility>

#include "core/ops/map.h"
#include "core/tape.h"

namespace lamina {

RecurrencePass::RecurrencePass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                               const RecurrentState& initial, const Tensor& mask, const Tensor& hidden)
    : options_(options),
      recording_(Tape::current() != nullptr),
      steps_(x_part.shape()[0]),
      rows_(x_part.shape()[1]),
      step_(options.step, weight.rows(), steps_, rows_),
      x_part_(x_part),
      gates_(step_.gates_apart() ? Tensor(x_part.shape()) : x_part),
      weight_(weight),
      mask_(mask),
      hidden_(hidden),
      initial_(initial),
      kept_part_({recording_ ? steps_ : 1, rows_, step_.kept()}),
      zeros_(Tensor::zeros({rows_, step_.hidden()})) {
  if (!initial_.h.defined()) initial_.h = zeros_;
  if (!initial_.c.defined()) initial_.c = zeros_;
  if (step_.has_memory()) memory_ = Tensor({recording_ ? steps_ : 2, rows_, step_.hidden()});
}

RowStep::Step RecurrencePass::at(size_t step) {
  const size_t t = time(step), size = step_.hidden();
  const auto before = [&](const Tensor& initial, Tensor& states, size_t slot) -> Rows<const real> {
    return step == 0 ? Rows<const real>{initial.data(), size} : rows_of(states, slot);
  };
  RowStep::Step at{.t = t,
                   .mask = mask_at(t),
                   .x = rows_of(x_part_, t),
                   .gates = rows_of(gates_, t),
                   .kept = rows_of(kept_part_, recording_ ? t : 0),
                   .before_h = before(initial_.h, hidden_, time(step - 1)),
                   .before_c = {},
                   .h = rows_of(hidden_, t),
                   .c = {}};
  if (step_.has_memory()) {
    at.before_c = before(initial_.c, memory_, memory_slot(time(step - 1)));
    at.c = rows_of(memory_, memory_slot(t));
  }
  return at;
}

RecurrencePass::PackedWeight RecurrencePass::pack(Transpose op) const {
  PackedWeight packed;
  const size_t size = step_.hidden();
  const auto pack_columns = [&](PackedMatrix& into, size_t first, size_t count) {
    const bool transposed = op == Transpose::yes;
    if (count > 0)
      into.pack(op, transposed ? count : size, transposed ? size : count, weight_.data() + first,
                step_.width());
  };
  pack_columns(packed.direct, 0, step_.direct());
  pack_columns(packed.kept, step_.direct(), step_.kept());
  return packed;
}

// ---------------------------------------------------------------- forward

RecurrentState RecurrencePass::forward(Feedback* feedback) {
  const ThreadSchedule work = schedule();
  RowStep::Workspace workspace = step_.workspace(work.threads());
  const PackedWeight weight = pack(Transpose::no);
  work.run([&](const Share& share) {
    const RowStep::Desk own = step_.desk(workspace, share.thread);
    for (size_t step = 0; step < steps_; ++step) {
      const RowStep::Step here = at(step);
      if (feedback != nullptr) feedback->enter(here.t, share, here.x.first);
      product_forward(step, share, weight);
      step_.forward(here, share, own);
      if (feedback != nullptr) feedback->look(here.t, share.rows, here.h.first);
      share.wait();
    }
  });
  for (size_t t = 0; t < steps_; ++t) step_.finish_forward(t, mask_at(t));
  const RowStep::Step last = at(steps_ - 1);
  RecurrentState after{.h = hidden_.step(last.t), .c = {}};
  if (step_.has_memory())
    after.c = Tensor::from({rows_, step_.hidden()}, std::span(last.c.first, rows_ * step_.hidden()));
  return after;
}

/// W_h h_{t-1}: added to the x part for the direct columns, separate for the kept ones. Zeros need no
/// product.
void RecurrencePass::product_forward(size_t step, const Share& share, const PackedWeight& weight) {
  const size_t first = share.rows_of_product.begin, count = share.rows_of_product.size();
  const RowStep::Step to = at(step);
  const size_t size = step_.hidden(), width = step_.width(), kept = step_.kept();
  if (step == 0 && initial_.h.storage() == zeros_.storage()) {
    share.for_columns(kept, [&](size_t begin, size_t end) {
      for (size_t r = first; r < first + count; ++r) std::fill(to.kept[r] + begin, to.kept[r] + end, real{0});
    });
    return;
  }
  const real* const h = to.before_h[first];
  share.for_columns(step_.direct(), [&](size_t begin, size_t end) {
    gemm_packed(count, h, size, weight.direct, to.gates[first], width, true, begin, end);
  });
  Upcoming upcoming;
  if (options_.step.input_norm.norm != Norm::none)
    upcoming[0] = {to.x[share.rows.begin], share.rows.size() * width};
  share.for_columns(kept, [&](size_t begin, size_t end) {
    gemm_packed(count, h, size, weight.kept, to.kept[first], kept, false, begin, end, upcoming);
  });
}

// ---------------------------------------------------------------- backward

/// The buffers of the backward pass. Rows of dh and dc hold dL/dh_t and dL/dc_t of the current step.
struct RecurrencePass::Back {
  PackedWeight weight;  ///< transposed
  real* dgates;         ///< [T x B x gates H], the gradient of the x part, before normalization
  Tensor dkept;         ///< [T x B x kept], before normalization
  Tensor dh, dc;        ///< [B x H]
  Tensor dcondition;    ///< [B x gates H], where there is a condition
  RowStep::Workspace workspace;
};

RowStep::Gradients RecurrencePass::gradients_at(size_t t, Back& back) const {
  const size_t width = step_.width(), kept = step_.kept(), size = step_.hidden();
  RowStep::Gradients d{.x = {back.dgates + t * rows_ * width, width},
                       .kept = {back.dkept.data() + t * rows_ * kept, kept},
                       .outside = outside_at(t),
                       .h = {back.dh.data(), size},
                       .c = {back.dc.data(), size}};
  if (back.dcondition.defined()) d.condition = {back.dcondition.data(), width};
  return d;
}

/// Done before the row-step would do it, for a Feedback that adds to dL/dh_t as well.
void RecurrencePass::add_outside(RowStep::Gradients& d, const Range& rows) const {
  for (size_t r = rows.begin; d.outside.first != nullptr && r < rows.end; ++r)
#pragma omp simd
    for (size_t j = 0; j < step_.hidden(); ++j) d.h[r][j] += d.outside[r][j];
  d.outside = {};
}

void RecurrencePass::backward(const real* dlast_c, Feedback* feedback) {
  if (x_part_.gradient_data() != nullptr)
    fail("recurrence: the projected inputs ", x_part_.shape(),
         " were used again after the layer had consumed them; project x once more for the other use");
  const ThreadSchedule work = schedule();
  // The x part is private to the layer, so this is the first and only contribution to its gradient. It cannot
  // overwrite the summed inputs when another pass will need them, nor after such a pass, when it already has
  // a buffer.
  const bool in_place = step_.by_rows() && !Tape::retaining() && x_part_.storage()->gradient == nullptr,
             wanted = x_part_.needs_gradient();
  Tensor apart = in_place || wanted ? Tensor() : Tensor(gates_.shape());
  const Shape state{rows_, step_.hidden()};
  const Tensor& condition = options_.step.condition;
  // A layer that feeds back accumulates each gain's and bias's gradient in one running sum.
  const size_t levels = feedback != nullptr ? 1 : RowSums::levels(steps_ * rows_);
  Back back{.weight = pack(Transpose::yes),
            .dgates = in_place ? x_part_.data_unwatched()
                      : wanted ? x_part_.gradient_sink().values
                               : apart.data(),
            .dkept = in_place ? kept_part_ : Tensor({steps_, rows_, step_.kept()}),
            .dh = Tensor::zeros(state),
            .dc = Tensor::zeros(state),
            .dcondition = condition.defined() ? Tensor::zeros(condition.shape()) : Tensor(),
            .workspace = step_.workspace(work.threads(), levels)};
  if (dlast_c != nullptr) std::copy_n(dlast_c, state.size(), back.dc.data());

  work.run([&](const Share& share) {
    RowStep::Desk own = step_.desk(back.workspace, share.thread);
    for (size_t step = steps_; step-- > 0;) {
      RowStep::Gradients d = gradients_at(time(step), back);
      if (feedback != nullptr) {
        add_outside(d, share.rows);
        feedback->look_backward(time(step), share.rows, d.h.first);
      }
      step_.backward(at(step), d, share, own);
      share.wait();
      product_backward(step, share, back);
      if (feedback != nullptr) feedback->enter_backward(time(step), share.rows, d.x.first);
      share.wait();
    }
  });

  if (in_place && wanted) x_part_.gradient_in_place();
  contribute_weight(back);
  contribute(initial_.h, [d = back.dh.data()](size_t i) { return d[i]; });
  contribute(initial_.c, [d = back.dc.data()](size_t i) { return d[i]; });
  if (condition.defined()) contribute(condition, [d = back.dcondition.data()](size_t i) { return d[i]; });
  step_.contribute(back.workspace);
  for (size_t t = 0; t < steps_; ++t) step_.finish_backward(t, mask_at(t));
}

/// dL/dh_{t-1} += d W_h^T
void RecurrencePass::product_backward(size_t step, const Share& share, Back& back) {
  if (step == 0 && !initial_.h.needs_gradient()) return;
  const size_t first = share.rows_of_product.begin, count = share.rows_of_product.size();
  const size_t size = step_.hidden(), width = step_.width(), kept = step_.kept();
  const RowStep::Gradients d = gradients_at(time(step), back);
  Upcoming upcoming;
  if (step > 0)
    step_.read_by_backward(
        at(step - 1), outside_at(time(step - 1)), share.rows,
        [&, i = size_t{0}](std::span<const real> numbers) mutable { upcoming[i++] = numbers; });
  share.for_columns(size, [&](size_t begin, size_t end) {
    if (kept < width)
      gemm_packed(count, d.x[first], width, back.weight.direct, d.h[first], size, true, begin, end,
                  kept == 0 ? upcoming : Upcoming{});
    if (kept > 0)
      gemm_packed(count, d.kept[first], kept, back.weight.kept, d.h[first], size, true, begin, end, upcoming);
  });
}

/// dL/dW_h = sum over steps of h_{t-1}^T d_t: one product over all steps but the first, and one for the
/// first.
void RecurrencePass::contribute_weight(const Back& back) {
  if (!weight_.needs_gradient()) return;
  const size_t size = step_.hidden(), width = step_.width(), kept = step_.kept(), direct = step_.direct();
  const GradientSink sink = weight_.gradient_sink();
  bool add = sink.add;
  const auto accumulate = [&](const real* h, size_t t, size_t steps) {
    const size_t count = steps * rows_, before = t * rows_;
    if (direct > 0)
      gemm(size, direct, count, h, size, back.dgates + before * width, width, sink.values, width,
           {.a = Transpose::yes, .accumulate = add});
    if (kept > 0)
      gemm(size, kept, count, h, size, back.dkept.data() + before * kept, kept, sink.values + direct, width,
           {.a = Transpose::yes, .accumulate = add});
    add = true;
  };
  // In memory, the states that steps start from lie one step before their gradients, or after them when
  // reversed.
  const size_t from = options_.reverse ? 1 : 0, to = options_.reverse ? 0 : 1;
  accumulate(rows_of(hidden_, from).first, to, steps_ - 1);
  if (initial_.h.storage() != zeros_.storage()) accumulate(std::as_const(initial_.h).data(), time(0), 1);
}

RecurrentState recurrence(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                          const RecurrentState& initial, const Tensor& mask, const Tensor& hidden) {
  RecurrencePass pass(options, x_part, weight, initial, mask, hidden);
  RecurrentState last = pass.forward();
  const RowStepOptions& step = options.step;
  record("recurrence", {hidden, last.c},
         {x_part, weight, initial.h, initial.c, step.input_norm.gain, step.hidden_norm.gain,
          step.memory_norm.gain, step.condition, step.input_norm.bias, step.hidden_norm.bias,
          step.memory_norm.bias, mask},
         [pass = std::move(pass), c = last.c]() mutable { pass.backward(c.gradient_data()); });
  return last;
}

}  // namespace lamina
