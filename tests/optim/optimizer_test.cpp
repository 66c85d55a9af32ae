// What every optimizer refuses in step().

#include "optim/optimizer.h"

#include <memory>

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
