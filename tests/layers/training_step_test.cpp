// After the first steps of a loop with fixed shapes, a training step takes no memory from the system: neither
// from the heap nor through the pool.

#include <cstdlib>

#include "core/gemm/kernel.h"
#include "core/memory/allocator.h"
#include "core/threads/parallel.h"
#include "layers/attention/transformer_block.h"
#include "layers/linear.h"
#include "layers/norms/normalization.h"
#include "layers/recurrent/recurrent.h"
#include "layers/recurrent/step.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/moving_average.h"
#include "optim/sgd.h"
#include "tests/check.h"
#include "tools/peers/heap_allocations.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Two layers with any normalization, dropout between them.
struct Perceptron {
  Parameters parameters{1};
  Linear first, second;
  Normalization normalize;
  Random random{2};

  Perceptron(Norm chosen, size_t inputs, size_t hidden, size_t classes)
      : first(parameters, "first", {.input = inputs, .output = hidden, .weights = weights_of(chosen)}),
        second(parameters, "second", {.input = hidden, .output = classes}),
        normalize(parameters, "norm", {.norm = chosen, .features = hidden, .groups = 1}) {}

  Tensor operator()(const Tensor& x, Mode mode = Mode::train) {
    Tensor h = relu(normalize(first(x), mode));
    if (mode == Mode::train) h = dropout(h, real(0.3), random);
    return second(h);
  }
};

/// Every scheme that acts on vectors.
std::vector<Norm> schemes() {
  std::vector<Norm> all;
  for (const NormEntry& entry : norm_table)
    if (entry.vectors) all.push_back(entry.norm);
  return all;
}

struct Counts {
  std::optional<size_t> heap = heap_allocations();
  size_t system = memory::statistics().system_allocations;
  size_t in_use = memory::statistics().bytes_in_use;
  bool operator==(const Counts&) const = default;
};

/// OpenBLAS, which serves most products of builds with 128-bit vectors, takes memory from the heap at each call.
bool counts_heap() { return !product_kernels::blas_is_faster(128, 400, 100); }

template <class Step>
void check_steady(const Step& step) {
  for (int i = 0; i < 2; ++i) step();
  const Counts before;
  for (int i = 0; i < 5; ++i) step();
  const Counts after;
  if (counts_heap()) CHECK(after.heap == before.heap);
  CHECK(after.system == before.system);
  CHECK(after.in_use == before.in_use);
}

}  // namespace

TEST_CASE("a training step allocates nothing after two steps") {
  const std::optional<size_t> before = heap_allocations();
  void* volatile block = ::operator new(1);  // volatile: a compiler may remove an unused allocation
  ::operator delete(block);
  block = std::aligned_alloc(64, 64);
  std::free(block);
  if (before)
    CHECK(heap_allocations() == *before + 2);
  else
    MESSAGE("sanitizer build: heap allocations are not counted, only those of the pool");
  for (const int team : {1, 2})
    for (const Norm norm : schemes())
      for (const size_t hidden : {33U, 400U}) {
        CAPTURE(std::string(name_of(norm)));
        CAPTURE(hidden);
        CAPTURE(team);
        set_threads(team);
        memory::trim();
        Perceptron model(norm, 100, hidden, 10);
        Adam adam(model.parameters, {});
        const Tensor x = sample({128, 100}, 1);
        std::vector<int> labels(128);
        for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 10);
        bool finite = true;
        check_steady([&] {
          Tape tape;
          const Tensor loss = cross_entropy(model(x), labels);
          finite = finite && first_non_finite(tape) == nullptr;
          tape.backward(loss);
          clip_gradient_norm(model.parameters, 1);
          adam.step();
        });
        check_steady([&] { model(x, Mode::evaluate); });
        CHECK(finite);
      }
  set_threads(0);
}

namespace {

/// A training step over a sequence, at once or step by step.
template <class Layer>
void check_recurrent(Norm norm, bool step_by_step) {
  constexpr size_t steps = 4, rows = 32, hidden = 48;
  Parameters parameters(1);
  const Layer layer(parameters, "layer",
                    {.input = 20, .hidden = hidden, .norm = norm, .learn_initial = true});
  Adam adam(parameters, {});
  const Tensor x = sample({steps, rows, 20}, 1), mask = Tensor::ones({steps, rows});
  const auto loss = [&] {
    if (!step_by_step) return mean(square(layer(x, {.mask = mask}).hidden));
    RecurrentSession session(layer, {.steps = steps, .rows = rows});
    RecurrentState state = session.initial();
    for (size_t t = 0; t < steps; ++t) state = session(x.step(t), state, mask.step(t));
    return mean(square(state.h));
  };
  check_steady([&] {
    Tape tape;
    tape.backward(loss());
    adam.step();
  });
}

}  // namespace

TEST_CASE("a training step of a recurrent layer allocates nothing after two steps") {
  for (const int team : {1, 2})
    for (const Norm norm : {Norm::none, Norm::layer, Norm::batch, Norm::weight})
      for (const bool step_by_step : {false, true}) {
        CAPTURE(std::string(name_of(norm)));
        CAPTURE(step_by_step);
        CAPTURE(team);
        set_threads(team);
        check_recurrent<Lstm>(norm, step_by_step);
        check_recurrent<Gru>(norm, step_by_step);
      }
  set_threads(0);
}

TEST_CASE("a training step of a Transformer, and writing with one, allocate nothing after two steps") {
  constexpr size_t cases = 3, length = 20, width = 48;
  for (const int team : {1, 2})
    for (const Placement placement : {Placement::post, Placement::sandwich, Placement::scaled_pre}) {
      CAPTURE(std::string(name_of(placement)));
      CAPTURE(team);
      set_threads(team);
      Parameters parameters(1);
      TransformerBlock block(parameters, "block",
                             {.width = width,
                              .heads = 4,
                              .placement = placement,
                              .causal = true,
                              .rotary = true,
                              .dropout = real(0.1)});
      Adam adam(parameters, {});
      const Tensor x = sample({cases, length, width}, 1);
      const AttentionOptions options = {.lengths = {20, 7, 1}};
      check_steady([&] {
        Tape tape;
        Random random(2);
        tape.backward(mean(square(block(x, Mode::train, random, options))));
        adam.step();
      });
      KeyValueCache cache({.capacity = length});
      check_steady([&] {
        cache.reset();
        for (size_t t = 0; t < length; ++t) block.next(slice(x, 1, t, t + 1), cache);
      });
    }
  set_threads(0);
}

TEST_CASE("groups, frozen parameters, averages and a retained tape allocate nothing after two steps") {
  Perceptron model(Norm::layer, 20, 33, 10);
  AdamW adam(model.parameters, {.groups = {{.names = {"second"}, .learning_rate_factor = real(0.5)}}});
  MovingAverage average(model.parameters, {});
  model.parameters.freeze("first");
  const Tensor x = sample({16, 20}, 1), weights = sample({10}, 2, 0.5, 1);
  const std::vector<std::int64_t> labels(16, 3);
  check_steady([&] {
    {
      Tape tape;
      const Tensor y = model(x);
      tape.backward(cross_entropy(y, labels, {.class_weights = weights, .label_smoothing = real(0.1)}),
                    {.retain = true});
      tape.backward(huber(y, y.detach()) + mean_squared_error(y, Tensor::zeros(y.shape())));
    }
    clip_gradient_norm({model.parameters}, 1);
    adam.step();
    average.update();
  });
}

TEST_CASE("every primitive op allocates nothing after two steps") {
  Parameters parameters(1);
  Tensor table = parameters.add("table", sample({20, 8}, 1, 0.5, 1)),
         weight = parameters.add("weight", sample({8, 8}, 2));
  Sgd sgd(parameters, {.learning_rate = real(1e-6)});
  const std::vector<int> indices = {1, 5, 5, 7};
  const Tensor targets = sample({4, 16}, 3, 0, 1);
  check_steady([&] {
    Tape tape;
    const Tensor words = gather(table, indices);
    Tensor h = tanh(matmul(words, weight)) / (real(1) + exp(words)) - sigmoid(transpose(transpose(words)));
    h = h + log(words) * sqrt(words) + abs(h) - square(h.detach());
    const Tensor both = concatenate({slice(h, 1, 0, 8), words.slice(0, 4)}, 1);
    tape.backward(mean(bernoulli_cross_entropy(both, targets)) + sum(mean_rows(softmax(both))) +
                  sum(mean_columns(log_softmax(both))));
    sgd.step();
  });
}

TEST_CASE("attention allocates nothing after two steps") {
  const Tensor mask = sample({2, 40, 40}, 2), query = sample({2, 1, 2, 8}, 3),
               cache = sample({2, 40, 2, 8}, 4);
  const AttentionOptions options = {.causal = true, .lengths = {40, 31}, .mask = mask};
  Tensor qkv = leaf({2, 40, 3 * 2 * 8}, 1);
  for (const int team : {1, 2}) {
    set_threads(team);
    check_steady([&] {
      qkv.clear_gradient();
      Tape tape;
      tape.backward(weighted(self_attention(qkv, 2, options)));
    });
    check_steady([&] { attention(query, cache, cache, {.lengths = {40, 31}}); });
  }
  set_threads(0);
}

TEST_CASE("the same seed and thread count give bit-identical training") {
  for (const Norm norm : schemes()) {
    const auto train = [&] {
      Perceptron model(norm, 50, 301, 10);
      Adam adam(model.parameters, {});
      const Tensor x = sample({64, 50}, 1);
      const std::vector<int> labels(64, 3);
      for (int step = 0; step < 4; ++step) {
        Tape tape;
        tape.backward(cross_entropy(model(x), labels));
        adam.step();
      }
      return Tensor::from({model.parameters.values().size()}, model.parameters.values());
    };
    CHECK(identical(train(), train()));
  }
}
