#include "layers/recurrent/step.h"

#include <algorithm>

#include "core/listener.h"
#include "core/ops/map.h"
#include "core/pool_vector.h"

namespace lamina {

struct RecurrentSession::Shared {
  PoolString name;  ///< of the layer
  const Cell* cell;
  size_t steps, rows, hidden, width;
  real clip;
  StepNorm input_norm, hidden_norm, memory_norm;
  CaseRecord record;

  bool memory() const { return cell->has_memory(); }
  /// Eq. 4: the simple cell normalizes the sum of both parts.
  bool joint() const { return hidden_norm.active() && cell->gates() == 1; }
  size_t scratch_size() const { return width + hidden; }
};

namespace {

/// One step: what it keeps for the backward pass, and both passes. The row kernels are those of recurrence.cpp; the
/// products are StepLinear's, so the hidden part always arrives apart ("kept").
class Step {
 public:
  Step(std::shared_ptr<RecurrentSession::Shared> shared, size_t t, const Tensor& x_part,
       const Tensor& hidden_part, const RecurrentState& before, const Tensor& mask)
      : shared_(std::move(shared)),
        t_(t),
        x_part_(x_part),
        hidden_part_(hidden_part),
        mask_(mask),
        before_(before),
        gates_({shared_->rows, shared_->width}) {
    after_.h = Tensor({shared_->rows, shared_->hidden});
    if (shared_->memory()) after_.c = Tensor({shared_->rows, shared_->hidden});
  }

  RecurrentState forward();
  void backward() const;

 private:
  /// What the backward pass works with, rows of all cases unless said otherwise.
  struct Back {
    real *dx, *dhidden;    ///< [B x gates], of both parts
    Tensor dh, dc;         ///< [B x H] in: of the state after; out: what goes to the state before
    Tensor dnormalized;    ///< [B x H], of the normalized c
    Tensor scratch, sums;  ///< a row a share
    real* own_sums(size_t share) { return sums.data() + share * sums.columns(); }
    real* own_scratch(size_t share) { return scratch.data() + share * scratch.columns(); }
  };

  const real* mask() const { return mask_.defined() ? mask_.data() : nullptr; }
  bool padded(size_t r) const { return mask_.defined() && mask_[r] == 0; }
  const real* row(const Tensor& states, size_t r) const { return states.data() + r * shared_->hidden; }

  /// body(share, r) for every row.
  template <class Body>
  void for_rows(const Body& body) const {
    const size_t shares = shares_of(shared_->rows, elementwise_grain / (8 * shared_->width) + 1);
    for_each_share(shares, [&](size_t share) {
      const Range range = part_of(shared_->rows, share, shares);
      for (size_t r = range.begin; r < range.end; ++r) body(share, r);
    });
  }
  /// body(share, begin, end) for columns that each share has to itself.
  template <class Body>
  void for_columns(size_t width, const Body& body) const {
    const size_t shares = shares_of(width, elementwise_grain / (4 * shared_->rows) + 1);
    for_each_share(shares, [&](size_t share) {
      const Range range = part_of(width, share, shares, 16);
      if (range.size() > 0) body(share, range.begin, range.end);
    });
  }

  void prepare_row(size_t r);
  void update_row(size_t r, real* scratch);
  void emit_row(size_t r, real* scratch);
  void record_rows();
  void open_row(size_t share, size_t r, Back& back) const;
  void close_row(size_t share, size_t r, Back& back) const;
  void contribute_norms(const Tensor& sums) const;

  std::shared_ptr<RecurrentSession::Shared> shared_;
  size_t t_;
  Tensor x_part_, hidden_part_, mask_;
  RecurrentState before_, after_;
  Tensor gates_;  ///< [B x gates], as the cell leaves them; for joint normalization the raw sums
};

// ---------------------------------------------------------------- forward

RecurrentState Step::forward() {
  RecurrentSession::Shared& shared = *shared_;
  Tensor scratch({static_cast<size_t>(threads()), shared.scratch_size()});
  const auto measure = [&](StepNorm& norm, const real* raw) {
    if (!norm.by_rows())
      for_columns(norm.width(), [&](size_t, size_t begin, size_t end) {
        norm.measure_columns(t_, begin, end, raw, mask());
      });
  };
  const auto own = [&](size_t share) { return scratch.data() + share * shared.scratch_size(); };
  measure(shared.input_norm, x_part_.data_unwatched());
  for_rows([&](size_t, size_t r) { prepare_row(r); });
  measure(shared.hidden_norm, shared.joint() ? gates_.data_unwatched() : hidden_part_.data_unwatched());
  for_rows([&](size_t share, size_t r) { update_row(r, own(share)); });
  if (shared.memory()) {
    measure(shared.memory_norm, after_.c.data());
    for_rows([&](size_t share, size_t r) { emit_row(r, own(share)); });
  }
  if (shared.record.wanted()) record_rows();
  return after_;
}

/// The x part, normalized, becomes the gates; for joint normalization the sum of both parts.
void Step::prepare_row(size_t r) {
  const size_t width = shared_->width;
  const real *const x = x_part_.data_unwatched() + r * width, *const h =
                                                                  hidden_part_.data_unwatched() + r * width;
  real* const gates = gates_.data_unwatched() + r * width;
  StepNorm& norm = shared_->input_norm;
  if (norm.active()) {
    norm.measure_row(t_, r, x);
    norm.normalize_row(t_, r, x, gates);
    return;
  }
  std::copy_n(x, width, gates);
  if (!shared_->joint()) return;
#pragma omp simd
  for (size_t k = 0; k < width; ++k) gates[k] += h[k];
}

void Step::update_row(size_t r, real* scratch) {
  RecurrentSession::Shared& shared = *shared_;
  if (padded(r)) {
    std::copy_n(row(before_.h, r), shared.hidden, after_.h.data() + r * shared.hidden);
    if (shared.memory()) std::copy_n(row(before_.c, r), shared.hidden, after_.c.data() + r * shared.hidden);
    return;
  }
  real* gates = gates_.data_unwatched() + r * shared.width;
  const real* kept = hidden_part_.data_unwatched() + r * shared.width;
  if (shared.hidden_norm.active()) {
    const real* const raw = shared.joint() ? gates : kept;
    shared.hidden_norm.measure_row(t_, r, raw);
    shared.hidden_norm.normalize_row(t_, r, raw, scratch);
    if (shared.joint())
      gates = scratch;
    else
      kept = scratch;
  }
  const RecurrentState& before = before_;
  Tensor& next = shared.memory() ? after_.c : after_.h;
  shared.cell->forward({.hidden = shared.hidden,
                        .gates = gates,
                        .kept = kept,
                        .all_kept = !shared.joint(),
                        .previous = row(shared.memory() ? before.c : before.h, r),
                        .next = next.data() + r * shared.hidden});
}

/// h = o tanh(normalize(c))
void Step::emit_row(size_t r, real* scratch) {
  if (padded(r)) return;
  const real* c = row(after_.c, r);
  StepNorm& norm = shared_->memory_norm;
  if (norm.active()) {
    norm.measure_row(t_, r, c);
    norm.normalize_row(t_, r, c, scratch);
    c = scratch;
  }
  lstm_output(shared_->hidden, gates_.data_unwatched() + r * shared_->width, c,
              after_.h.data() + r * shared_->hidden);
}

void Step::record_rows() {
  const size_t width = shared_->width;
  CaseRecord& record = shared_->record;
  for (size_t r = 0; r < shared_->rows; ++r) {
    record.summed_inputs(t_, r, x_part_.data_unwatched() + r * width, width,
                         hidden_part_.data_unwatched() + r * width, width);
    record.hidden(t_, r, row(after_.h, r), shared_->hidden);
  }
  record.finish_forward(t_, mask());
}

// ---------------------------------------------------------------- backward

void Step::backward() const {
  const RecurrentSession::Shared& shared = *shared_;
  const Shape state{shared.rows, shared.hidden};
  // Both parts are private to the session, so this is the first and only contribution to their gradients.
  const auto sink_of = [](const Tensor& part) {
    return part.needs_gradient() ? part.gradient_sink().values : nullptr;
  };
  Tensor unwanted({2, shared.rows, shared.width});
  Back back{.dx = sink_of(x_part_),
            .dhidden = sink_of(hidden_part_),
            .dh = after_.h.gradient(),
            .dc = shared.memory() ? after_.c.gradient() : Tensor(),
            .dnormalized = Tensor(state),
            .scratch = Tensor({static_cast<size_t>(threads()), shared.scratch_size()}),
            .sums = Tensor::zeros({static_cast<size_t>(threads()), 2 * (2 * shared.width + shared.hidden)})};
  if (shared_->record.wanted()) {
    for (size_t r = 0; r < shared.rows; ++r)
      shared_->record.hidden_gradient(t_, r, row(back.dh, r), shared.hidden);
    shared_->record.finish_backward(t_, mask());
  }
  if (back.dx == nullptr) back.dx = unwanted.data();
  if (back.dhidden == nullptr) back.dhidden = unwanted.step(1).data();

  const auto columns = [&](const StepNorm& norm, size_t at, const real* raw, real* d) {
    if (norm.by_rows()) return;
    for_columns(norm.width(), [&](size_t share, size_t begin, size_t end) {
      real* const sums = back.own_sums(share) + at;
      norm.backward_columns(t_, begin, end, raw, d, mask(), sums, sums + norm.width());
    });
  };
  if (shared.memory()) {
    for_rows([&](size_t share, size_t r) { open_row(share, r, back); });
    columns(shared.memory_norm, 4 * shared.width, after_.c.data(), back.dnormalized.data());
  }
  for_rows([&](size_t share, size_t r) { close_row(share, r, back); });
  columns(shared.hidden_norm, 2 * shared.width,
          shared.joint() ? gates_.data_unwatched() : hidden_part_.data_unwatched(),
          shared.joint() ? back.dx : back.dhidden);
  if (shared.joint()) std::copy_n(back.dx, shared.rows * shared.width, back.dhidden);
  columns(shared.input_norm, 0, x_part_.data_unwatched(), back.dx);

  contribute(before_.h, [d = back.dh.data()](size_t i) { return d[i]; });
  if (shared.memory()) contribute(before_.c, [d = back.dc.data()](size_t i) { return d[i]; });
  contribute_norms(back.sums);
}

/// From h to o and the c it was made of.
void Step::open_row(size_t share, size_t r, Back& back) const {
  const size_t hidden = shared_->hidden, width = shared_->width;
  real *const dh = back.dh.data() + r * hidden, *const dnormalized = back.dnormalized.data() + r * hidden;
  if (padded(r)) {
    std::fill_n(dnormalized, hidden, real{0});
    return;
  }
  const StepNorm& norm = shared_->memory_norm;
  const real *const c = row(after_.c, r), *used = c;
  if (norm.active()) {
    norm.normalize_row(t_, r, c, back.own_scratch(share));
    used = back.own_scratch(share);
  }
  lstm_output_backward(hidden, gates_.data_unwatched() + r * width, used, dh, back.dx + r * width,
                       dnormalized);
  std::fill_n(dh, hidden, real{0});  // all of it has gone to o and c
  if (!norm.active() || !norm.by_rows()) return;
  real* const sums = back.own_sums(share) + 4 * width;
  norm.backward_row(t_, r, c, dnormalized, dnormalized, sums, sums + hidden);
}

/// Through the cell and the normalizations of both parts. For a padded case the state just passes.
void Step::close_row(size_t share, size_t r, Back& back) const {
  const RecurrentSession::Shared& shared = *shared_;
  const size_t hidden = shared.hidden, width = shared.width;
  real *const dx = back.dx + r * width, *const dhidden = back.dhidden + r * width;
  if (padded(r)) {
    std::fill_n(dx, width, real{0});
    std::fill_n(dhidden, width, real{0});
    return;
  }
  real* const dstate = (shared.memory() ? back.dc : back.dh).data() + r * hidden;
  if (shared.memory()) {
    const real* const dnormalized = back.dnormalized.data() + r * hidden;
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) dstate[j] += dnormalized[j];
  }
  const real *const gates = gates_.data_unwatched() + r * width, *const raw = hidden_part_.data_unwatched() +
                                                                              r * width;
  const real* kept = raw;
  if (shared.hidden_norm.active() && shared.cell->kept_gates() > 0) {
    shared.hidden_norm.normalize_row(t_, r, raw, back.own_scratch(share));
    kept = back.own_scratch(share);
  }
  shared.cell->backward({.hidden = hidden,
                         .gates = gates,
                         .kept = kept,
                         .all_kept = !shared.joint(),
                         .previous = row(shared.memory() ? before_.c : before_.h, r),
                         .next = row(shared.memory() ? after_.c : after_.h, r),
                         .dnext = dstate,
                         .dgates = dx,
                         .dkept = dhidden,
                         .dprevious = dstate});
  clip_row(dx, width, shared.clip);
  if (!shared.joint()) clip_row(dhidden, width, shared.clip);
  real* const sums = back.own_sums(share);
  const auto backward = [&](const StepNorm& norm, size_t at, const real* from, real* d) {
    if (norm.active() && norm.by_rows())
      norm.backward_row(t_, r, from, d, d, sums + at, sums + at + norm.width());
  };
  backward(shared.hidden_norm, 2 * width, shared.joint() ? gates : raw, shared.joint() ? dx : dhidden);
  backward(shared.input_norm, 0, x_part_.data_unwatched() + r * width, dx);
}

void Step::contribute_norms(const Tensor& sums) const {
  const size_t team = sums.rows(), stride = sums.columns(), width = shared_->width;
  shared_->input_norm.contribute(sums.data(), team, stride);
  shared_->hidden_norm.contribute(sums.data() + 2 * width, team, stride);
  shared_->memory_norm.contribute(sums.data() + 4 * width, team, stride);
}

}  // namespace

RecurrentSession::RecurrentSession(const Recurrent& layer, const SessionOptions& options)
    : initial_(layer.initial_state({}, options.rows)),
      input_(layer.effective_input_weight(), layer.bias, options.steps, options.rows),
      hidden_(layer.effective_hidden_weight(), {}, options.steps, options.rows) {
  if (layer.options().reverse)
    fail(
        "recurrent session: the layer runs in reverse; call a session's steps in the order you want instead");
  if (layer.options().condition > 0)
    fail("recurrent session: the layer has a condition, which only whole sequences take");
  const auto norm = [&](const StepNormParameters& parameters) {
    return StepNorm(parameters, options.steps, options.rows, options.mode);
  };
  shared_ = std::allocate_shared<Shared>(
      PoolAllocator<Shared>(), Shared{.name = {layer.name().begin(), layer.name().end()},
                                      .cell = &layer.cell(),
                                      .steps = options.steps,
                                      .rows = options.rows,
                                      .hidden = layer.options().hidden,
                                      .width = layer.cell().gates() * layer.options().hidden,
                                      .clip = layer.options().clip,
                                      .input_norm = norm(layer.input_norm),
                                      .hidden_norm = norm(layer.hidden_norm),
                                      .memory_norm = norm(layer.memory_norm),
                                      .record = CaseRecord(record_for(nullptr, layer.name(), options.steps),
                                                           0, options.steps, options.rows)});
  if (!initial_.h.defined()) initial_.h = Tensor::zeros({options.rows, shared_->hidden});
  if (shared_->memory() && !initial_.c.defined()) initial_.c = Tensor::zeros({options.rows, shared_->hidden});
}

namespace {
std::string shape_of(const Tensor& state) { return state.defined() ? text(state.shape()) : "missing"; }
}  // namespace

void RecurrentSession::require_shapes(const Tensor& x, const RecurrentState& before,
                                      const Tensor& mask) const {
  const Shape state{shared_->rows, shared_->hidden};
  if (x.shape().rank() != 2 || x.shape()[0] != shared_->rows)
    fail("recurrent session: the input is ", x.shape(), " in a session of ", shared_->rows, " rows");
  if (!before.h.defined() || before.h.shape() != state ||
      (shared_->memory() ? !before.c.defined() || before.c.shape() != state : before.c.defined()))
    fail("recurrent session: the state is h ", shape_of(before.h), ", c ", shape_of(before.c), "; h ", state,
         shared_->memory() ? " and c of the same shape are needed" : " and no c is needed");
  if (mask.defined() && mask.shape() != Shape{shared_->rows})
    fail("recurrent session: the mask is ", mask.shape(), "; [", shared_->rows, "] is needed");
}

RecurrentState RecurrentSession::operator()(const Tensor& x, const RecurrentState& before,
                                            const Tensor& mask) {
  require_shapes(x, before, mask);
  const Scope scope(shared_->name);
  const Tensor x_part = input_(x), hidden_part = hidden_(before.h);
  Step step(shared_, next_++, x_part, hidden_part, before, mask);
  RecurrentState after = step.forward();
  record("recurrent_step", {after.h, after.c},
         {x_part, hidden_part, before.h, before.c, shared_->input_norm.parameters().gain,
          shared_->hidden_norm.parameters().gain, shared_->memory_norm.parameters().gain,
          shared_->input_norm.parameters().bias, shared_->hidden_norm.parameters().bias,
          shared_->memory_norm.parameters().bias},
         [step = std::move(step)] { step.backward(); });
  return after;
}

}  // namespace lamina
