// What every optimizer refuses in step().

#include "optim/optimizer.h"

#include <array>
#include <memory>
#include <vector>

#include "core/memory/allocator.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

void back(const Tensor& w) {
  Tape tape;
  tape.backward(sum(square(w)));
}

template <class Kind, class Options>
void check_refusals(const std::string& name, const Options& options) {
  CAPTURE(name);
  auto parameters = std::make_unique<Parameters>(1);
  const Tensor w = parameters->add("w", sample({3}, 1));
  Kind optimizer(*parameters, options);
  const Tensor before = w.copy();

  const std::string no_gradient =
      name + ": no gradient has arrived since the last step; call backward() before step()";
  CHECK_ERROR(optimizer.step(), no_gradient);
  clip_gradient_norm(*parameters, 1);
  CHECK_ERROR(optimizer.step(), no_gradient);

  for (const real rate :
       {std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::infinity(), real(-1)}) {
    back(w);
    optimizer.options.learning_rate = rate;
    CHECK_ERROR(optimizer.step(), text(name, ": the learning rate is ", rate,
                                       " after 0 steps; it must be a number of at least 0"));
    parameters->clear_gradients();
  }
  optimizer.options.learning_rate = 1;
  for (const real decay : {std::numeric_limits<real>::quiet_NaN(), real(-5)}) {
    back(w);
    optimizer.options.weight_decay = decay;
    CHECK_ERROR(optimizer.step(),
                text(name, ": the weight decay is ", decay, "; it must be a number of at least 0"));
    parameters->clear_gradients();
  }
  optimizer.options.weight_decay = 0;
  CHECK(identical(w, before));
  CHECK(optimizer.steps == 0);
  optimizer.options.learning_rate = 0;  // a schedule may end there
  back(w);
  optimizer.step();
  CHECK_ERROR(optimizer.step(), no_gradient);
  parameters->gradients()[0] = 1;  // a gradient set directly
  optimizer.step();

  back(w);
  parameters.reset();
  const std::string gone =
      name + ": the parameters are gone; keep them as long as their optimizer, and declare them before it";
  CHECK_ERROR(optimizer.step(), gone);
  CHECK_ERROR(optimizer.update_only(w, nullptr), gone);
}

}  // namespace

TEST_CASE(
    "optimizers: a step without gradients, with a bad learning rate or without its parameters is an error") {
  check_refusals<Adam>("adam", AdamOptions{});
  check_refusals<Sgd>("sgd", SgdOptions{});
}

TEST_CASE("update_only: each row once, of the table alone, and each table once") {
  const auto run = [](const std::vector<int>& rows) {
    Parameters parameters(1);
    const Tensor table = parameters.add("table", Tensor::zeros({4, 2}));
    parameters.add("next", Tensor::zeros({16}));
    Adam adam(parameters, {.learning_rate = 1});
    adam.update_only(table, [&] { return std::span<const int>(rows); });
    for (int step = 0; step < 2; ++step) {
      Tape tape;
      tape.backward(sum(gather(table, std::vector<int>{1, 2, 1, 1})));
      adam.step();
    }
    return table.copy();
  };
  CHECK(identical(run({1, 2, 1, 1}), run({1, 2})));
  CHECK(run({1, 2, 1})[2] != 0);

  Parameters parameters(1);
  const Tensor w = parameters.add("w", Tensor::zeros({4, 1})),
               next = parameters.add("next", Tensor::ones({16}));
  std::vector<int> rows;
  Sgd sgd(parameters, {});
  sgd.update_only(w, [&] { return std::span<const int>(rows); });
  for (const int row : {4, 20, -1}) {
    parameters.clear_gradients();
    back(w);
    back(next);
    rows = {1, row};
    CHECK_ERROR(sgd.step(),
                text("sgd: row ", row, " is to be updated of a table that has 4; list rows that it has"));
  }
  CHECK(sgd.steps == 0);
  CHECK(identical(next, Tensor::ones({16})));
  rows = {1};
  sgd.step();
  CHECK_ERROR(sgd.update_only(w, [] { return std::span<const int>(); }),
              "sgd: the table 'w' has its rows listed already; name it once");
  CHECK_ERROR(sgd.update_only(w.slice(1, 3), [] { return std::span<const int>(); }),
              "sgd: the table [2 x 1] is not a parameter of this model");
}

TEST_CASE("update_only: tables may be named in any order") {
  for (const bool later_first : {false, true}) {
    Parameters parameters(1);
    const std::array tables{parameters.add("a", Tensor::ones({3, 2})),
                            parameters.add("b", Tensor::ones({2, 2}))};
    Sgd sgd(parameters, {.learning_rate = 1, .weight_decay = real(0.5)});
    const std::array<std::vector<int>, 2> rows{{{2}, {0}}};
    for (const size_t i : later_first ? std::array<size_t, 2>{1, 0} : std::array<size_t, 2>{0, 1})
      sgd.update_only(tables[i], [&rows, i] { return std::span<const int>(rows[i]); });
    Tape tape;
    tape.backward(sum(tables[0]) + sum(tables[1]));
    sgd.step();
    CHECK(difference(tables[0], {1, 1, 1, 1, -0.5, -0.5}) == 0);
    CHECK(difference(tables[1], {-0.5, -0.5, 1, 1}) == 0);
  }
}

TEST_CASE("optimizer: what the parameters were drawn in goes back to the system when an optimizer is made") {
  Parameters parameters(1);
  parameters.add("w", sample({300, 400}, 1));
  const Sgd first(parameters, {});
  CHECK(memory::statistics().bytes_cached == 0);
  memory::release(memory::allocate(100000), 100000);
  const Adam second(parameters, {});
  CHECK(memory::statistics().bytes_cached < 100000);  // names and the like may come and go after it
}
