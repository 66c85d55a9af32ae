#include "layers/recurrent/step.h"

#include <utility>

#include "core/listener.h"
#include "core/memory/cached_vector.h"
#include "core/ops/map.h"
#include "layers/recurrent/fused/row_step.h"

namespace lamina {

struct RecurrentSession::Shared {
  CachedString name;  ///< of the layer
  size_t rows;
  RowStep step;
  size_t next = 0;  ///< steps so far, of all copies: each has a place of its own for its statistics
};

namespace {

/// What one step keeps for its backward pass. The products are StepLinear's, so the whole hidden part arrives
/// separately.
struct SessionStep {
  std::shared_ptr<RecurrentSession::Shared> shared;
  size_t t;
  Tensor x_part, hidden_part, gates, mask;
  RecurrentState before, after;

  RowStep::Step at() {
    const auto rows = [](Tensor& all) { return Rows<real>{all.data_unwatched(), all.columns()}; };
    const auto states = [](const Tensor& all) {
      return all.defined() ? Rows<const real>{all.data(), all.columns()} : Rows<const real>{};
    };
    return {.t = t,
            .mask = mask.defined() ? std::as_const(mask).data() : nullptr,
            .x = rows(x_part),
            .gates = rows(gates),
            .kept = {hidden_part.data_unwatched() + shared->step.direct(), shared->step.width()},
            .before_h = states(before.h),
            .before_c = states(before.c),
            .h = rows(after.h),
            .c = after.c.defined() ? rows(after.c) : Rows<real>{}};
  }
  ThreadSchedule schedule() const {
    return {shared->rows, shared->step.hidden(), shared->step.width(), 1, shared->step.by_rows()};
  }
  /// body(i) for the elements of the x part to which the hidden part is added.
  template <class Body>
  void for_direct(const Body& body) const {
    for (size_t r = 0; r < shared->rows; ++r)
      for (size_t k = 0; k < shared->step.direct(); ++k) body(r * shared->step.width() + k);
  }

  void forward();
  void backward();
};

void SessionStep::forward() {
  RowStep& step = shared->step;
  step.open(t);
  for_direct([x = x_part.data_unwatched(), h = hidden_part.data_unwatched()](size_t i) { x[i] += h[i]; });
  const ThreadSchedule work = schedule();
  RowStep::Workspace workspace = step.workspace(work.threads());
  work.run([&](const Share& share) { step.forward(at(), share, step.desk(workspace, share.thread)); });
  step.finish_forward(t, at().mask);
}

/// Both parts are private to the session, so this is the first and only contribution to their gradients.
void SessionStep::backward() {
  RowStep& step = shared->step;
  const size_t width = step.width(), hidden = step.hidden();
  Tensor unwanted({2, shared->rows, width}),
      dh = after.h.gradient(), dc = step.has_memory() ? after.c.gradient() : Tensor({0, hidden});
  const auto sink_of = [&](const Tensor& part, size_t which) {
    return part.needs_gradient() ? part.gradient_sink().values : unwanted.step(which).data();
  };
  real *const dx = sink_of(x_part, 0), *const dhidden = sink_of(hidden_part, 1);
  const ThreadSchedule work = schedule();
  RowStep::Workspace workspace = step.workspace(work.threads(), 1);
  work.run([&](const Share& share) {
    RowStep::Desk own = step.desk(workspace, share.thread);
    step.backward(at(),
                  {.x = {dx, width},
                   .kept = {dhidden + step.direct(), width},
                   .outside = {},
                   .h = {dh.data(), hidden},
                   .c = {dc.data(), hidden}},
                  share, own);
  });
  for_direct([=](size_t i) { dhidden[i] = dx[i]; });
  contribute(before.h, [d = dh.data()](size_t i) { return d[i]; });
  if (step.has_memory()) contribute(before.c, [d = dc.data()](size_t i) { return d[i]; });
  step.contribute(workspace);
  step.finish_backward(t, at().mask);
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
  const Shape state{options.rows, layer.options().hidden};
  shared_ = std::allocate_shared<Shared>(
      CachingAllocator<Shared>(),
      Shared{.name = {layer.name().begin(), layer.name().end()},
             .rows = options.rows,
             .step = {layer.step_options(options.mode, record_for(nullptr, layer.name(), options.steps)),
                      layer.options().hidden, options.steps, options.rows}});
  if (!initial_.h.defined()) initial_.h = Tensor::zeros(state);
  if (shared_->step.has_memory() && !initial_.c.defined()) initial_.c = Tensor::zeros(state);
}

namespace {
std::string shape_of(const Tensor& state) { return state.defined() ? text(state.shape()) : "missing"; }
}  // namespace

void RecurrentSession::require_shapes(const Tensor& x, const RecurrentState& before,
                                      const Tensor& mask) const {
  const Shape state{shared_->rows, shared_->step.hidden()};
  const bool memory = shared_->step.has_memory();
  if (x.shape().rank() != 2 || x.shape()[0] != shared_->rows)
    fail("recurrent session: the input is ", x.shape(), " in a session of ", shared_->rows, " rows");
  if (!before.h.defined() || before.h.shape() != state ||
      (memory ? !before.c.defined() || before.c.shape() != state : before.c.defined()))
    fail("recurrent session: the state is h ", shape_of(before.h), ", c ", shape_of(before.c), "; h ", state,
         memory ? " and c of the same shape are needed" : " and no c is needed");
  if (mask.defined() && mask.shape() != Shape{shared_->rows})
    fail("recurrent session: the mask is ", mask.shape(), "; [", shared_->rows, "] is needed");
}

RecurrentState RecurrentSession::operator()(const Tensor& x, const RecurrentState& before,
                                            const Tensor& mask) {
  require_shapes(x, before, mask);
  const Scope scope(shared_->name);
  const RowStep& row_step = shared_->step;
  const Shape state = before.h.shape();
  RecurrentState after{.h = Tensor(state), .c = row_step.has_memory() ? Tensor(state) : Tensor()};
  const Tensor x_part = input_(x), hidden_part = hidden_(before.h);
  SessionStep step{.shared = shared_,
                   .t = shared_->next++,
                   .x_part = x_part,
                   .hidden_part = hidden_part,
                   .gates = row_step.gates_apart() ? Tensor(x_part.shape()) : x_part,
                   .mask = mask,
                   .before = before,
                   .after = after};
  step.forward();
  const RowStepOptions& with = row_step.options();
  record("recurrent_step", {after.h, after.c},
         {x_part, hidden_part, before.h, before.c, with.input_norm.gain, with.hidden_norm.gain,
          with.memory_norm.gain, with.input_norm.bias, with.hidden_norm.bias, with.memory_norm.bias, mask},
         [step = std::move(step)]() mutable { step.backward(); });
  return after;
}

}  // namespace lamina
