#include <algorithm>
#include <utility>

#include "core/memory/cached_vector.h"
#include "core/ops/map.h"
#include "core/ops/matmul.h"
#include "layers/recurrent/fused/thread_schedule.h"
#include "layers/recurrent/step.h"

namespace lamina {

namespace {

/// c [rows x n] (+)= a [rows x k] b, on as many threads as pay off.
void multiply(size_t rows, const real* a, const PackedMatrix& b, real* c, bool accumulate) {
  const size_t inner = b.rows(), width = b.columns();
  ThreadSchedule(rows, inner, width, 1, true).run([&](const Share& share) {
    const size_t first = share.rows_of_product.begin;
    share.for_columns(width, [&](size_t begin, size_t end) {
      gemm_packed(share.rows_of_product.size(), a + first * inner, inner, b, c + first * width, width,
                  accumulate, begin, end);
    });
  });
}

}  // namespace

/// What the steps share. Without a tape nothing is gathered, nor of a step in a pause of the tape: were its result a part
/// of `outputs`, what reads it would add to the gradient of the weight.
struct StepLinear::Gathered {
  Tensor weight, bias;
  PackedMatrix forward, backward;
  Tensor inputs;   ///< x_t of all steps [T x B x in]
  Tensor outputs;  ///< y_t of all steps [T x B x out]; its gradient's buffer collects theirs
  Tensor opening;  ///< output of the first node: never read, but each step sends it a gradient of 0,
                   ///< which makes the tape run the node
  Tape* tape = nullptr;
  size_t steps = 0, rows = 0, done = 0, kept = 0;  ///< kept: of those done, the ones that were gathered
  bool finished = false;

  void contribute_parameters();
  Tensor step(const Tensor& x);
  void step_backward(const Tensor& x, const Tensor& y);
};

/// dW += [x_0; x_1; ...]^T [dy_0; dy_1; ...],  db += the sum of all rows of dy
void StepLinear::Gathered::contribute_parameters() {
  finished = !Tape::retaining();
  const real* const dy = outputs.gradient_data();
  if (dy == nullptr) return;
  const size_t out = weight.columns(), count = kept * rows;
  if (weight.needs_gradient()) contribute_outer_products(weight, count, inputs.data(), weight.rows(), dy);
  contribute_summed_rows(bias, count, [=](size_t r, size_t c) { return dy[r * out + c]; });
}

Tensor StepLinear::Gathered::step(const Tensor& x) {
  ++done;
  const bool gathers = tape != nullptr && Tape::current() == tape;
  Tensor y = gathers ? outputs.step(kept) : Tensor({rows, weight.columns()});
  if (gathers && inputs.defined()) std::ranges::copy(x.values(), inputs.step(kept).data());
  if (gathers) ++kept;
  if (bias.defined())
    for (size_t r = 0; r < rows; ++r)
      std::ranges::copy(std::as_const(bias).values(), y.data_unwatched() + r * bias.size());
  multiply(rows, x.data(), forward, y.data_unwatched(), bias.defined());
  return y;
}

/// dx_t = dy_t W^T
void StepLinear::Gathered::step_backward(const Tensor& x, const Tensor& y) {
  if (opening.needs_gradient()) opening.gradient_sink().values[0] = 0;
  if (!x.needs_gradient()) return;
  if (backward.rows() == 0)
    backward.pack(Transpose::yes, weight.columns(), weight.rows(), weight.data(), weight.columns());
  const GradientSink sink = x.gradient_sink();
  multiply(rows, y.gradient_data(), backward, sink.values, sink.add);
}

StepLinear::StepLinear(const Tensor& weight, const Tensor& bias, size_t steps, size_t rows)
    : gathered_(std::allocate_shared<Gathered>(CachingAllocator<Gathered>())) {
  if (weight.shape().rank() != 2 || steps == 0 || rows == 0)
    fail("step_linear: a weight of ", weight.shape(), ", ", steps, " steps and ", rows,
         " rows; a matrix and positive numbers are needed");
  const size_t in = weight.rows(), out = weight.columns();
  if (bias.defined() && bias.shape() != Shape{out})
    fail("step_linear: the bias is ", bias.shape(), ", the layer has ", out, " outputs");
  Gathered& gathered = *gathered_;
  gathered.weight = weight;
  gathered.bias = bias;
  gathered.steps = steps;
  gathered.rows = rows;
  gathered.tape = Tape::current();
  gathered.forward.pack(Transpose::no, in, out, weight.data(), out);
  if (gathered.tape == nullptr) return;
  if (weight.needs_gradient()) gathered.inputs = Tensor({steps, rows, in});
  gathered.outputs = Tensor({steps, rows, out});
  gathered.opening = Tensor::zeros({1});
  record("step_linear", gathered.opening, {weight, bias},
         [shared = gathered_] { shared->contribute_parameters(); });
}

StepLinear::StepLinear(const Linear& layer, size_t steps, size_t rows)
    : StepLinear(layer.effective_weight(), layer.bias, steps, rows) {}

Tensor StepLinear::operator()(const Tensor& x) {
  const Gathered& gathered = *gathered_;
  const Shape expected{gathered.rows, gathered.weight.rows()};
  if (x.shape() != expected) fail("step_linear: the input is ", x.shape(), "; ", expected, " is needed");
  if (gathered.done == gathered.steps)
    fail("step_linear: the session was opened for ", gathered.steps, " steps and this is one more");
  if (gathered.finished || (Tape::current() != nullptr && Tape::current() != gathered.tape))
    fail("step_linear: the session was opened for another recording; open one after each backward()");
  const Tensor y = gathered_->step(x);
  // A weight that is not trained has no opening node that would hold it, and each step does: a write into it is found.
  const Tensor& held = gathered.opening.needs_gradient() ? gathered.opening : gathered.weight;
  return record({"step_linear", OpKind::product}, y, {x, held},
                [x, y, shared = gathered_] { shared->step_backward(x, y); });
}

}  // namespace lamina
