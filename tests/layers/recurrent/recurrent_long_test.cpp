// Long sequences, extreme sizes, and threads.

#include <array>
#include <tuple>

#include "core/memory/allocator.h"
#include "core/threads/parallel.h"
#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// h_t and the gradients of everything, for T x B inputs.
std::vector<Tensor> run_long(const Case& c) {
  AnyLayer layer(c);
  const Inputs in = inputs_of(c);
  return loss_and_gradients(layer, in, layer.fused);
}

bool all_identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (!identical(a[i], b[i])) return false;
  return true;
}

/// The memory that a forward and backward pass takes beyond its input, its output and their gradients.
size_t working_memory(size_t steps, bool checkpoint) {
  constexpr size_t rows = 2, input = 8, hidden = 16;
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm",
                  {.input = input, .hidden = hidden, .norm = Norm::layer, .checkpoint = checkpoint});
  Tensor x = leaf({steps, rows, input}, 1);
  const Tensor seed = sample({steps, rows, hidden}, 2);
  memory::trim();
  const size_t before = memory::statistics().bytes_in_use;
  Tape tape;
  tape.backward(lstm(x).hidden, seed);
  const auto after = memory::statistics();
  const size_t taken = after.bytes_in_use + after.bytes_cached - before;
  return taken - steps * rows * (input + 2 * hidden) * sizeof(real);
}

}  // namespace

TEST_CASE("checkpointing changes no bit of the result") {
  for (const Kind kind : kinds_but_relu)
    for (const Norm norm : {Norm::none, Norm::layer, Norm::weight})
      for (const auto& [masked, state, reverse] :
           {std::tuple(false, 0, false), std::tuple(true, 1, true), std::tuple(true, 2, false)}) {
        Case c{.kind = kind,
               .options =
                   {.input = 3, .hidden = 5, .norm = norm, .learn_initial = state == 2, .reverse = reverse},
               .masked = masked,
               .state_given = state == 1,
               .steps = 300};
        CAPTURE(describe(c));
        const auto plain = run_long(c);
        c.options.checkpoint = true;
        CHECK(all_identical(run_long(c), plain));
      }
}

TEST_CASE("with checkpointing, memory grows like the square root of the steps") {
  const auto at = [](size_t steps) { return static_cast<double>(working_memory(steps, true)); };
  working_memory(5000, false);  // products keep their own scratch memory from the first call on
  const double at_1000 = at(1000), at_5000 = at(5000);
  MESSAGE("working memory of 1000, 2000 and 5000 steps: ", at_1000 / 1024, ", ", at(2000) / 1024, ", ",
          at_5000 / 1024, " KiB; without checkpoints ", working_memory(5000, false) / 1024, " KiB");
  CHECK(at_5000 < 1.25 * std::sqrt(5.0) * at_1000);
  CHECK(at_5000 < 0.1 * static_cast<double>(working_memory(5000, false)));
}

TEST_CASE("one step, one case, one unit, odd sizes") {
  for (const Kind kind : all_kinds)
    for (const Norm norm : {Norm::none, Norm::layer, Norm::weight})
      for (const auto& sizes : std::vector<std::array<size_t, 4>>{
               {1, 1, 1, 1}, {1, 4, 3, 5}, {4, 1, 3, 5}, {4, 3, 2, 1}, {2, 7, 17, 33}}) {
        const size_t steps = sizes[0], rows = sizes[1], input = sizes[2], hidden = sizes[3];
        const Case c{.kind = kind,
                     .options = {.input = input, .hidden = hidden, .norm = norm},
                     .state_given = true,
                     .steps = steps,
                     .rows = rows};
        CAPTURE(describe(c));
        CAPTURE(text(steps, " ", rows, " ", input, " ", hidden));
        // Layer norm over one unit divides rounding errors by sqrt(epsilon).
        if (norm == Norm::layer && hidden == 1 && kind != Kind::lstm) continue;
        AnyLayer layer(c);
        const Inputs in = inputs_of(c);
        check_same(layer, in, layer.fused, layer.composed_twin);
        check_same(layer, in, layer.step_by_step, layer.composed_twin);
      }
}

TEST_CASE("one and two threads agree, and each repeats bit for bit") {
  // Enough rows for each thread to have its own; and few rows with large weights, where threads divide the
  // columns.
  for (const auto& sizes : {std::pair<size_t, size_t>{33, 70}, {7, 300}, {40, 130}})
    for (const Kind kind : kinds_but_relu)
      for (const Norm norm : {Norm::none, Norm::layer, Norm::batch}) {
        const size_t rows = sizes.first, hidden = sizes.second;
        const Case c{.kind = kind,
                     .options = {.input = 20, .hidden = hidden, .norm = norm},
                     .masked = true,
                     .state_given = true,
                     .steps = 5,
                     .rows = rows};
        CAPTURE(describe(c));
        CAPTURE(text(rows, " rows, ", hidden, " units"));
        std::vector<std::vector<Tensor>> results;
        for (const int team : {1, 1, 2, 2}) {
          set_threads(team);
          results.push_back(run_long(c));
        }
        set_threads(0);
        CHECK(all_identical(results[0], results[1]));
        CHECK(all_identical(results[2], results[3]));
        for (size_t i = 0; i < results[0].size(); ++i)
          CHECK(difference(results[0][i], results[2][i]) < (sizeof(real) == 8 ? 1e-12 : 2e-4));
      }
}

TEST_CASE("gains and biases: a sum over 300,000 rows and steps is as accurate as over few") {
  // Without recurrent connections all steps are alike, so that sums are a multiple of one step's
  // contribution.
  for (const auto& sizes : {std::pair<size_t, size_t>{3000, 100}, {1, 300000}, {30000, 10}})
    for (const Norm norm : {Norm::layer, Norm::batch}) {
      const size_t steps = sizes.first, rows = sizes.second;
      if (norm == Norm::batch && steps == 1) continue;  // column sums are tested with layers/norms/batch_norm
      CAPTURE(steps);
      CAPTURE(static_cast<int>(norm));
      const auto gradients = [norm](size_t t, size_t b) {
        Parameters parameters(1);
        const Rnn rnn(parameters, "rnn", {.input = 3, .hidden = 5, .norm = norm});
        Tensor hidden_weight = rnn.hidden_weight;
        std::ranges::fill(hidden_weight.values(), real{0});
        const Tensor cases = sample({10, 3}, 1), seeds = sample({10, 5}, 2, 0.5, 1);
        Tensor x({t, b, 3}), dy({t, b, 5});
        for (size_t i = 0; i < x.size(); ++i) x[i] = cases[i % cases.size()];
        for (size_t i = 0; i < dy.size(); ++i) dy[i] = seeds[i % seeds.size()];
        set_threads(1);
        Tape tape;
        tape.backward(rnn(x).hidden, dy);
        set_threads(0);
        return std::array{rnn.hidden_norm.gain.gradient(), rnn.hidden_norm.bias.gradient()};
      };
      const auto few = gradients(1, 10), many = gradients(steps, rows);
      const auto times = static_cast<double>(steps * rows / 10);
      for (size_t k = 0; k < 2; ++k) {
        double worst = 0, largest = 0;
        for (size_t c = 0; c < 5; ++c) {
          const auto each = static_cast<double>(few[k][c]);
          worst = std::max(worst, std::fabs(static_cast<double>(many[k][c]) / times - each));
          largest = std::max(largest, std::fabs(each));
        }
        CHECK(worst < 40 * ulp * largest);  // equal numbers round alike for the length of a block
      }
    }
}

TEST_CASE("checkpointing: the layer may move or be gone before the backward pass") {
  const Tensor x = sample({300, 2, 2}, 1);
  const auto gradient = [&](bool gone) {
    Parameters parameters(1);
    auto layer = std::make_unique<Lstm>(parameters, "lstm",
                                        RecurrentOptions{.input = 2, .hidden = 3, .checkpoint = true});
    Tape tape;
    const Tensor loss = sum((*layer)(x).hidden);
    if (gone) layer.reset();
    tape.backward(loss);
    return parameters.learned()[0].value.gradient();
  };
  CHECK(identical(gradient(true), gradient(false)));
}

TEST_CASE("long sequences, which run in pieces: padded as alone, in reverse too, and records of all steps") {
  const Tensor x = sample({300, 2, 2}, 1);
  Tensor mask = Tensor::ones({300, 2});
  for (size_t t = 270; t < 300; ++t) mask[2 * t + 1] = 0;
  for (const bool reverse : {false, true}) {
    CAPTURE(reverse);
    Parameters parameters(1);
    const Lstm lstm(parameters, "lstm", {.input = 2, .hidden = 3, .reverse = reverse});
    SequenceRecord record;
    const Sequence both = lstm(x, {.mask = mask, .record = &record}),
                   alone = lstm(slice(x.slice(0, 270), 1, 1, 2));
    CHECK(difference(slice(both.hidden.slice(0, 270), 1, 1, 2), alone.hidden) < 1e-5);
    CHECK(difference(both.last.h.slice(1, 2), alone.last.h) < 1e-5);
    REQUIRE(record.hidden_norm.size() == 300);
    for (size_t t = 0; t < 300; ++t) {
      const Tensor lengths = sqrt(sum_columns(square(both.hidden.step(t))));
      const real own = t < 270 ? (lengths[0] + lengths[1]) / 2 : lengths[0];  // of what is not padded
      CHECK(record.hidden_norm[t] == doctest::Approx(static_cast<double>(own)).epsilon(1e-5));
    }
  }
}
