// Positions: the table of sines, and the rotation of queries and keys.

#include "layers/attention/positions.h"

#include <thread>

#include "core/memory/allocator.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// The scores of all pairs of tokens, with queries and keys that are the same at every position: [T x T].
Tensor scores_of_equal_tokens(size_t length, size_t first) {
  constexpr size_t d = 6;
  const auto at_all = [&](std::uint64_t seed) {
    const Tensor one = sample({1, 1, 1, d}, seed);
    return rotate(one + Tensor::zeros({1, length, 1, d}), {.first = first}).reshape({length, d});
  };
  return matmul(at_all(1), at_all(2), {.b = Transpose::yes});
}

/// Computes when its thread ends, after the table of the thread has gone if this is older.
struct Late {
  Tensor x;
  Tensor& y;
  ~Late() { y = rotate(x); }
};

}  // namespace

TEST_CASE("positions: names") {
  for (const PositionsEntry& entry : positions_table) {
    CHECK(name_of(entry.positions) == std::string(entry.name));
    CHECK(positions_named(entry.name) == entry.positions);
  }
  CHECK(!positions_named("absolute"));
}

TEST_CASE("sinusoidal positions: the formula") {
  for (const size_t width : {4U, 5U}) {
    const Tensor y = sinusoidal_positions(300, width);
    CHECK(y.shape() == Shape{300, width});
    for (size_t t = 0; t < 300; ++t)
      for (size_t i = 0; i < width; ++i) {
        const auto pair = static_cast<double>(i - i % 2);
        const double wave = std::pow(10000.0, pair / static_cast<double>(width));
        const double at = static_cast<double>(t) / wave, expected = i % 2 == 0 ? std::sin(at) : std::cos(at);
        CHECK(std::fabs(static_cast<double>(y.at(t, i)) - expected) < ulp + 1e-13);
      }
  }
}

TEST_CASE("rotate: agrees with its twin, and its gradient with differences") {
  struct Case {
    Shape shape;
    RotateOptions options;
  };
  for (const Case& each : std::vector<Case>{{{1, 1, 1, 2}, {}},
                                            {{2, 5, 3, 4}, {}},
                                            {{3, 7, 2, 6}, {.first = 11}},
                                            {{2, 3, 6, 8}, {.first = 1, .heads = 4}},
                                            {{1, 40, 1, 34}, {.first = 1000}}}) {
    const RotateOptions& options = each.options;
    const auto fused = [&](const std::vector<Tensor>& in) { return rotate(in[0], options); };
    const auto twin = [&](const std::vector<Tensor>& in) { return composed::rotate(in[0], options); };
    check_twins(fused, twin, {sample(each.shape, 1)}, twin_tolerance(4));
    const Tensor x = leaf(each.shape, 2);
    if (x.size() < 500) check_gradients({x}, [&] { return weighted(rotate(x, options)); });
  }
}

TEST_CASE("rotate: one and two threads, and a gradient that is added to another") {
  check_threads([](const std::vector<Tensor>& in) { return rotate(in[0], {.heads = 3}) * in[0]; },
                {sample({4, 33, 5, 66}, 1)}, 0);
}

TEST_CASE("rotate: empty, and position 0 stays") {
  CHECK(rotate(Tensor({0, 4, 2, 6})).shape() == Shape{0, 4, 2, 6});
  CHECK(rotate(Tensor({2, 0, 2, 6})).size() == 0);
  const Tensor x = sample({3, 1, 2, 4}, 1);
  CHECK(identical(rotate(x), x));
  CHECK(!identical(rotate(x, {.first = 1}), x));
}

TEST_CASE("rotate: a score depends on the distance alone") {
  const Tensor near = scores_of_equal_tokens(9, 0), far = scores_of_equal_tokens(9, 500);
  CHECK(difference(near, far) < 1000 * ulp);  // an angle of 500 has an error of 500 / 2 ulp
  for (size_t i = 0; i + 1 < 9; ++i)
    for (size_t j = 0; j + 1 < 9; ++j)
      CHECK(near.at(i, j) == doctest::Approx(near.at(i + 1, j + 1)).epsilon(1e-4));
  CHECK(std::fabs(near.at(0, 0) - near.at(3, 0)) > real(0.01));
}

#if !defined(__SANITIZE_ADDRESS__)  // to which what a thread reserves so late is a leak
TEST_CASE("rotate: in a destructor that runs after the table of the thread was released") {
  const Tensor x = sample({1, 20, 2, 10}, 1);
  Tensor late;
  memory::trim();  // no block holds numbers of the tests before
  std::thread([&] {
    static thread_local const Late at_end{x, late};
    rotate(x);
  }).join();
  CHECK(identical(late, rotate(x)));
}
#endif

TEST_CASE("rotate: errors") {
  CHECK_ERROR(rotate(Tensor::zeros({2, 3, 4})), "rotate: [2 x 3 x 4] must be [cases x length x heads x d]");
  CHECK_ERROR(rotate(Tensor::zeros({2, 3, 1, 5})),
              "rotate: [2 x 3 x 1 x 5]: d is 5; it must be even, because pairs are turned");
  CHECK_ERROR(rotate(Tensor::zeros({2, 3, 2, 4}), {.heads = 3}), "rotate: 3 of the heads of [2 x 3 x 2 x 4]");
  for (const auto& turn : {rotate, composed::rotate})
    CHECK_ERROR(turn(Tensor::zeros({2, 3, 2, 4}), {.first = size_t{0} - 1}),
                "rotate: the first position is 18446744073709551615, most likely a negative number; they "
                "count from 0");
}
