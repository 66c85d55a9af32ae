// The flat buffers of a model.

#include "core/parameters.h"

#include "layers/initializers.h"
#include "layers/linear.h"
#include "optim/adam.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr size_t line = 64 / sizeof(real);

/// Every value that belongs to no parameter.
bool padding_is_zero(Parameters& parameters, std::span<const real> flat) {
  std::vector<bool> used(flat.size());
  for (size_t i = 0; i < parameters.learned().size(); ++i)
    for (size_t k = 0; k < parameters.learned()[i].value.size(); ++k) used[parameters.offset(i) + k] = true;
  for (size_t i = 0; i < flat.size(); ++i)
    if (!used[i] && flat[i] != 0) return false;
  return true;
}

}  // namespace

TEST_CASE("parameters: one flat buffer, aligned, and handles that follow") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3, 5}, 1)), b = parameters.add("b", sample({1}, 2));
  Tensor c = parameters.add("c", sample({2 * line}, 3));
  const Tensor before = a.copy(), view = a.step(1);
  CHECK(parameters.count() == 15 + 1 + 2 * line);
  CHECK(parameters.offset(2) == (15 + line - 1) / line * line + line);  // known before anything moves

  const std::span<real> values = parameters.values();
  CHECK(identical(a, before));
  CHECK(view.data() == a.data() + 5);
  for (size_t i = 0; i < 3; ++i) {
    const Tensor& value = parameters.learned()[i].value;
    CHECK(value.data() == values.data() + parameters.offset(i));
    CHECK(reinterpret_cast<std::uintptr_t>(value.data()) % 64 == 0);
  }
  CHECK(values.size() == parameters.offset(2) + 2 * line);
  CHECK(parameters.values().data() == values.data());
  values[parameters.offset(1)] = 42;
  CHECK(b.item() == 42);
  CHECK(padding_is_zero(parameters, values));
}

TEST_CASE("parameters: gradients that exist before come along") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3}, 1)), b = parameters.add("b", sample({5}, 2));
  {
    Tape tape;
    tape.backward(sum(a * real(2)));
  }
  Tensor early = sample({2}, 3).require_gradient();
  {
    Tape tape;
    tape.backward(sum(early * real(5)));
  }
  parameters.add("early", early);
  CHECK(difference(early.gradient(), {5, 5}) == 0);
  const std::span<real> gradients = parameters.gradients();
  CHECK(a.gradient_data() == gradients.data());
  CHECK(difference(a.gradient(), {2, 2, 2}) == 0);
  CHECK(identical(b.gradient(), Tensor::zeros({5})));
  CHECK(padding_is_zero(parameters, gradients));
  Tape tape;
  tape.backward(sum(a) + sum(b));
  CHECK(gradients[0] == 3);
  CHECK(gradients[parameters.offset(1)] == 1);
}

TEST_CASE("parameters: clearing costs nothing and makes every gradient zero, unused ones too") {
  Parameters parameters(1);
  Tensor used = parameters.add("used", sample({3}, 1)), unused = parameters.add("unused", sample({3}, 2));
  parameters.values();
  for (int step = 0; step < 3; ++step) {
    parameters.clear_gradients();
    CHECK(used.gradient_data() == nullptr);
    {
      Tape tape;
      tape.backward(step == 0 ? sum(used) + sum(unused) : sum(used));
    }
    const std::span<const real> gradients = parameters.gradients();
    CHECK(gradients[0] == 1);
    CHECK(gradients[parameters.offset(1)] == (step == 0 ? 1 : 0));
  }
  parameters.clear_gradients();
  CHECK(std::ranges::all_of(parameters.gradients(), [](real v) { return v == 0; }));
}

TEST_CASE("parameters: may grow after the first use") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3}, 1));
  parameters.values()[0] = 42;
  Tensor b = parameters.add("b", sample({40}, 2));
  CHECK(parameters.values().size() == line + (40 + line - 1) / line * line);
  CHECK(a[0] == 42);
  CHECK(parameters.values().data() == a.data());
  CHECK(identical(b, sample({40}, 2)));
}

TEST_CASE("parameters: what grows is trained in one range, but for what is frozen") {
  constexpr size_t many = 50;
  Parameters parameters(1);
  for (size_t i = 0; i < many; ++i) parameters.add(text("p", i), Tensor::ones({1}));
  CHECK(parameters.trained() == std::vector<Range>{{0, parameters.values().size()}});
  parameters.freeze("p49");
  parameters.add("last", Tensor::ones({1}));
  CHECK(parameters.trained() == std::vector<Range>{{0, parameters.offset(many - 1)},
                                                   {parameters.offset(many), parameters.values().size()}});
  CHECK_ERROR(parameters.add("p7", Tensor::ones({1})),
              "parameters: the name 'p7' is used twice; give each layer a name of its own");
}

TEST_CASE("parameters: handles outlive them") {
  Tensor kept;
  {
    Parameters parameters(1);
    kept = parameters.add("a", sample({100}, 1));
    parameters.add("b", sample({100}, 2));
    parameters.gradients();
  }
  CHECK(identical(kept, sample({100}, 1)));
  Tape tape;
  tape.backward(sum(kept));
  CHECK(kept.gradient()[99] == 1);
}

TEST_CASE("parameters: none at all") {
  Parameters parameters(1);
  CHECK(parameters.count() == 0);
  CHECK(parameters.values().empty());
  CHECK(parameters.gradients().empty());
  Adam adam(parameters, {});
  adam.step();
}

TEST_CASE("parameters: initial values depend on seed and name alone") {
  const auto weight_of = [](std::uint64_t seed, const std::string& name, bool with_others) {
    Parameters parameters(seed);
    if (with_others) Linear(parameters, "other", {.input = 5, .output = 2});
    return Linear(parameters, name, {.input = 3, .output = 4}).weight.copy();
  };
  const Tensor first = weight_of(1, "layer", false);
  CHECK(identical(first, weight_of(1, "layer", true)));
  CHECK(!identical(first, weight_of(2, "layer", false)));
  CHECK(!identical(first, weight_of(1, "layer2", false)));
}

TEST_CASE("parameters: padding stays zero when the optimizer runs over it") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3, 5}, 1)), b = parameters.add("b", sample({1}, 2));
  Adam adam(parameters, {.learning_rate = real(0.1), .weight_decay = real(0.1)});
  for (int step = 0; step < 5; ++step) {
    Tape tape;
    tape.backward(sum(square(a)) + sum(square(b)));
    adam.step();
  }
  CHECK(padding_is_zero(parameters, parameters.values()));
  CHECK(padding_is_zero(parameters, parameters.gradients()));
  CHECK(padding_is_zero(parameters, adam.first_moment.values()));
}

TEST_CASE("parameters: what cannot be a parameter is refused") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3, 2}, 1));
  parameters.add_state("average", Tensor::zeros({2}));
  CHECK(parameters.state().size() == 1);
  CHECK(parameters.count() == 6);
  const std::string twice = "' is used twice; give each layer a name of its own";
  CHECK_ERROR(parameters.add("a", Tensor({1})), "parameters: the name 'a" + twice);
  CHECK_ERROR(parameters.add("average", Tensor({1})), "parameters: the name 'average" + twice);
  CHECK_ERROR(parameters.add_state("a", Tensor({1})), "parameters: the name 'a" + twice);
  CHECK_ERROR(parameters.add("part", Tensor({4, 2}).slice(1, 3)),
              "parameters: 'part' [2 x 2] is a part of a larger tensor; add its copy()");
  CHECK_ERROR(parameters.add("tied", a.reshape({6})),
              "parameters: 'tied' is the same tensor as 'a'; add it once and share the handle");
  CHECK_ERROR(parameters.add("nothing", Tensor({2, 0})),
              "parameters: 'nothing' [2 x 0] has no numbers to learn; give it sizes above 0");
  CHECK_ERROR(parameters.add("none", Tensor()),
              "parameters: 'none' is an empty handle; give it initial values");
  CHECK_ERROR(parameters.add_state("none", Tensor()),
              "parameters: 'none' is an empty handle; give it initial values");
}

TEST_CASE("parameters: the result of an op on a tape is refused, which no later tape could train") {
  Parameters parameters(1);
  const Tensor a = leaf({3, 2}, 1);
  Tape tape;
  const Tensor twice = a * real(2);
  const std::string why =
      "parameters: 'twice' [3 x 2] is the result of an op on a tape, which cannot be trained itself; add its "
      "copy()";
  CHECK_ERROR(parameters.add("twice", twice), why);
  tape.backward(sum(twice));
  CHECK_ERROR(parameters.add("twice", twice), why);
  CHECK_NOTHROW(parameters.add("twice", twice.copy()));
}

TEST_CASE("parameters: a parameter of another model is refused, which would then no longer train it") {
  Parameters first(1), second(2);
  const Tensor w = first.add("w", Tensor::ones({1, 2}));
  const std::string error =
      "parameters: 'shared' [1 x 2] is a parameter of another model, which could then no longer train it; "
      "share the handle, or add its copy()";
  CHECK_ERROR(second.add("shared", w), error);
  const Tensor cut = w.detach();
  CHECK_ERROR(second.add("shared", w), error);
  CHECK_ERROR(second.add("shared", cut), error);
  second.add("shared", w.copy());
  Adam adam(first, {});
  Tape tape;
  tape.backward(sum(w));
  adam.step();
  CHECK(w[0] < 1);
}

TEST_CASE("parameters: what detach() and data() give is the parameter, whenever an optimizer is made") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3}, 1));
  Tensor alias = a.detach();
  real* const raw = a.data();
  for (int i = 0; i < 100; ++i) parameters.add(std::to_string(i), sample({1000}, 2));  // the buffer grows
  Adam adam(parameters, {});
  CHECK(a.data() == raw);
  CHECK(parameters.values().data() == raw);
  Tape tape;
  tape.backward(sum(a));
  adam.step();
  CHECK(identical(alias, a));
  CHECK(identical(a.detach(), a));
  alias[1] = 42;
  CHECK(a[1] == 42);
  Tensor before = sample({3}, 3);
  const Tensor cut = before.detach();
  CHECK_ERROR(
      parameters.add("cut", before),
      "parameters: 'cut' [3] shares its values with a tensor that was detached before; add it first, or add "
      "its copy()");
}

TEST_CASE("parameters: an optimizer's step between forward and backward is found") {
  Parameters parameters(1);
  Tensor a = parameters.add("a", sample({3}, 1)), b = parameters.add("b", sample({3}, 2));
  Adam adam(parameters, {});
  Tape first;
  first.backward(sum(a) + sum(b));
  const Tensor loss = sum(square(a));
  adam.step();
  CHECK(contains(error_of([&] { first.backward(loss); }),
                 "of the op 'square' was written after it was recorded"));
}
