// A scheme of any form is called with the mode where it takes one, and relu and pooling run once.

#include "layers/norms/normalization.h"

#include "core/ops.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

Tensor by_mode(const Tensor& a, Mode mode) { return a * (mode == Mode::train ? real(2) : real(3)); }

struct WithMode {
  Tensor operator()(const Tensor& a, Mode mode) const { return by_mode(a, mode); }
};
struct WithModeByDefault {
  Tensor operator()(const Tensor& a, Mode mode = Mode::train) const { return by_mode(a, mode); }
};
struct WithBoth {
  Tensor operator()(const Tensor& a, Mode mode, const ReluPool& then = {}) const {
    return relu_pool(by_mode(a, mode), then);
  }
};
struct WithReluPool {
  Tensor operator()(const Tensor& a, const ReluPool& then = {}) const { return relu_pool(a * real(2), then); }
};
struct Alone {
  Tensor operator()(const Tensor& a) const { return a * real(2); }
};

template <class Scheme>
void check_called(real in_training, real in_use) {
  const Tensor a = sample({2, 4, 4, 3}, 1);
  const ReluPool then{.relu = true, .window = 2};
  Scheme scheme;
  for (const auto& [mode, factor] : {std::pair{Mode::train, in_training}, {Mode::evaluate, in_use}})
    CHECK(identical(detail::apply_scheme(scheme, a, mode, then), relu_pool(a * factor, then)));
}

}  // namespace

TEST_CASE("normalization: a scheme of any form gets the mode, and relu and pooling once") {
  check_called<WithMode>(2, 3);
  check_called<WithModeByDefault>(2, 3);
  check_called<WithBoth>(2, 3);
  check_called<WithReluPool>(2, 2);
  check_called<Alone>(2, 2);
  check_called<std::monostate>(1, 1);
}
