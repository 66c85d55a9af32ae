// The embedding, and optimizers that update only the rows in use.

#include "layers/embedding.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

const std::vector<std::vector<int>> steps{{0, 3, 3}, {2}, {4, 0, 1, 4}, {3}};

}  // namespace

TEST_CASE("embedding: over several steps the same gradient as gather, with other parameters beside it") {
  Parameters parameters(1), others(1);
  const Embedding words(parameters, "words", {.entries = 5, .width = 3});
  const Tensor bias = parameters.add("bias", Tensor::zeros({3}));
  const Tensor table = others.add("words", words.table().copy());
  (void)parameters.values();
  for (const bool twice : {false, true})
    for (const std::vector<int>& step : steps) {
      const auto loss = [&](const auto& embed) {
        const Tensor first = weighted(embed(step));
        return twice ? first + weighted(square(embed(std::vector<int>{1, 1}))) : first;
      };
      Tape ours;
      ours.backward(loss([&](const auto& chosen) { return words(chosen); }) + sum(bias));
      Tape theirs;
      theirs.backward(loss([&](const auto& chosen) { return gather(table, chosen); }));
      CHECK(identical(words.table().gradient(), table.gradient()));
      parameters.clear_gradients();
      others.clear_gradients();
    }
}

TEST_CASE("embedding: gradients, errors, and nothing recorded without a tape") {
  Parameters parameters(1);
  const Embedding words(parameters, "words", {.entries = 5, .width = 3, .initial = normal(1)});
  const std::vector<int> some{1, 4, 1};
  check_gradients({words.table()}, [&] { return weighted(square(words(some))); });
  CHECK_FALSE(words(some).needs_gradient());
  CHECK_ERROR(words(std::vector<int>{5}), "gather 'words': index 5 is outside the table of 5 rows");
  CHECK_ERROR(Embedding(parameters, "none", {.entries = 0, .width = 3}),
              "embedding 'none': 0 entries of width 3; both must be positive");
}

TEST_CASE("lazy Adam: a step that does not use the table leaves all of it") {
  for (const bool clipped : {false, true})
    for (const bool skipped : {false, true}) {
      CAPTURE(clipped);
      CAPTURE(skipped);
      Parameters parameters(1);
      const Embedding words(parameters, "words", {.entries = 5, .width = 3, .initial = normal(1)});
      const Tensor other = parameters.add("other", Tensor::ones({2}));
      Adam adam(parameters, {.learning_rate = real(0.1)});
      adam.update_only(words.table(), words.used_rows());
      const auto back = [](const Tensor& loss) { Tape::current()->backward(loss); };
      {
        Tape tape;
        back(weighted(square(words(std::vector<int>{1, 2}))) + sum(other));
      }
      // A step may also be skipped, such as one whose loss is NaN.
      if (skipped)
        parameters.clear_gradients();
      else
        adam.step();
      const Tensor before = words.table().copy();
      {
        Tape tape;
        back(sum(other));
      }
      if (clipped) clip_gradient_norm(parameters, 1);
      adam.step();
      CHECK(identical(words.table(), before));
    }
}

TEST_CASE("lazy Adam: rows in use go as Adam's, all others stay") {
  const auto make = [](bool lazy, const std::vector<std::vector<int>>& batches) {
    Parameters parameters(1);
    const Tensor first = parameters.add("a", Tensor::ones({2}));
    const Embedding words(parameters, "words", {.entries = 5, .width = 3, .initial = normal(1)});
    const Tensor last = parameters.add("z", Tensor::ones({2}));
    Adam adam(parameters, {.learning_rate = real(0.1)});
    if (lazy) adam.update_only(words.table(), words.used_rows());
    for (const std::vector<int>& batch : batches) {
      Tape tape;
      tape.backward(weighted(square(words(batch))) + sum(square(first)) + sum(square(last)));
      adam.step();
    }
    return std::vector<Tensor>{words.table().copy(), first.copy(), last.copy()};
  };
  const std::vector<std::vector<int>> everything{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0, 0}};
  const auto dense = make(false, everything), lazy = make(true, everything);
  for (size_t i = 0; i < dense.size(); ++i) CHECK(identical(dense[i], lazy[i]));

  const Tensor start = make(true, {})[0], after = make(true, {{1}, {3}})[0], once = make(true, {{1}})[0];
  for (const size_t row : {size_t{0}, size_t{2}, size_t{4}})
    CHECK(identical(start.step(row), after.step(row)));
  CHECK(identical(once.step(1), after.step(1)));
  CHECK_FALSE(identical(start.step(3), after.step(3)));
  Parameters parameters(1);
  parameters.add("a", Tensor::ones({2}));
  Adam adam(parameters, {});
  CHECK_ERROR(adam.update_only(Tensor::ones({2, 3}), nullptr),
              "adam: the table [2 x 3] is not a parameter of this model");
}

TEST_CASE("lazy Adam: a look at all gradients changes no step, and what is written there is used") {
  const auto table_after = [](int first_looks, int looks, real written) {
    Parameters parameters(1);
    const Embedding words(parameters, "words", {.entries = 5, .width = 3, .initial = normal(1)});
    Adam adam(parameters, {.learning_rate = real(0.1)});
    adam.update_only(words.table(), words.used_rows());
    for (int step = 0; step < 4; ++step) {
      const auto& batch = steps[static_cast<size_t>(step)];
      if (step < first_looks) parameters.gradients();
      Tape tape;
      tape.backward(weighted(square(words(batch).slice(1, batch.size()))));  // a row in use may get zeros
      if (step < looks) parameters.gradients()[3] += written;                // in row 1
      adam.step();
    }
    return words.table().copy();
  };
  const Tensor unseen = table_after(0, 0, 0);
  for (const int looks : {1, 4}) {
    CHECK(identical(table_after(0, looks, 0), unseen));
    CHECK(identical(table_after(looks, 0, 0), unseen));
    CHECK(identical(table_after(looks, looks, 0), unseen));
  }
  const Tensor written = table_after(0, 1, 1);
  for (size_t row = 0; row < 5; ++row) CHECK(identical(written.step(row), unseen.step(row)) == (row != 1));
}

TEST_CASE("embedding: what is written through gradients() does not pile up in rows that are not used") {
  Parameters parameters(1);
  const Embedding words(parameters, "words", {.entries = 5, .width = 1, .initial = normal(1)});
  Sgd sgd(parameters, {.learning_rate = real(0.1)});
  const std::span<real> kept = parameters.gradients();
  parameters.clear_gradients();
  for (int step = 0; step < 4; ++step) {
    CAPTURE(step);
    {
      Tape tape;
      tape.backward(sum(words(std::vector<int>{step % 2})));
    }
    // Requested once more, and through the earlier span.
    for (real& g : step < 2 ? parameters.gradients().first(5) : kept.first(5)) g += real(0.1);
    for (int row = 0; row < 5; ++row)
      CHECK(words.table().gradient()[static_cast<size_t>(row)] ==
            doctest::Approx(row == step % 2 ? 1.1 : 0.1));
    sgd.step();
  }
}

TEST_CASE("embedding: a table that other ops use too has the gradient of gather, in any order") {
  // Tied weights: the output layer multiplies with the table.
  for (const bool embedding_last : {false, true})
    for (const bool reads_part : {false, true}) {
      CAPTURE(embedding_last);
      Parameters parameters(1), others(1);
      const Embedding words(parameters, "words", {.entries = 5, .width = 3, .initial = normal(1)});
      const Tensor table = others.add("words", words.table().copy());
      for (size_t i = 0; i < 8; ++i) {
        const std::vector<int>& step = steps[i % steps.size()];
        const auto loss = [&](const Tensor& matrix, const auto& embed) {
          const auto other = [&] {
            if (i % 3 == 2) return Tensor::zeros({});  // in some steps no other op uses it
            if (reads_part) return weighted(square(matrix.slice(1, 3)));
            return weighted(matmul(sample({2, 3}, i), matrix, {.b = Transpose::yes}));
          };
          const auto own = [&] { return i % 4 == 3 ? Tensor::zeros({}) : weighted(square(embed(step))); };
          if (embedding_last) {  // the backward pass begins with what was recorded last
            const Tensor first = other();
            return own() + first;
          }
          const Tensor first = own();
          return other() + first;
        };
        if (i % 3 == 2 && i % 4 == 3) continue;
        Tape ours;
        ours.backward(loss(words.table(), [&](const auto& chosen) { return words(chosen); }));
        Tape theirs;
        theirs.backward(loss(table, [&](const auto& chosen) { return gather(table, chosen); }));
        CHECK(identical(words.table().gradient(), table.gradient()));
        // Every row whose gradient is not zero must be listed.
        const auto used = words.used_rows()();
        for (int row = 0; row < 5; ++row) {
          const Tensor g = words.table().gradient().step(static_cast<size_t>(row));
          if (std::ranges::any_of(g.values(), [](real v) { return v != 0; }))
            CHECK(std::ranges::count(used, row) == 1);
        }
        if (i % 3 == 2) CHECK(used.size() < 5);  // sparse where possible
        if (i % 2 == 0) clip_gradient_norm(parameters, 1);
        parameters.clear_gradients();
        others.clear_gradients();
      }
    }
}
