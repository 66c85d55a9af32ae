// Attention in blocks against its twin of matrices, sizes around those of blocks and vectors, and what is hidden.

#include "core/ops/attention/attention.h"

#include <array>
#include <limits>

#include "core/memory/allocator.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

/// q, k and v as leaves, and weights of the result: the loss is their inner product.
struct Operands {
  Tensor q, k, v, weights;

  Operands(const Shape& of_q, size_t keys, double scale = 1)
      : q(leaf(of_q, 1, -scale, scale)),
        k(leaf(of_q.with(1, keys), 2)),
        v(leaf(of_q.with(1, keys), 3)),
        weights(sample(of_q, 4, 0.5, 1.5)) {}

  /// The result and the gradients of q, k and v.
  template <class Function>
  std::array<Tensor, 4> run(const Function& function, const AttentionOptions& options) {
    for (Tensor* x : {&q, &k, &v}) x->clear_gradient();
    Tape tape;
    const Tensor y = function(q, k, v, options);
    tape.backward(sum(y * weights));
    return {y.copy(), q.gradient(), k.gradient(), v.gradient()};
  }
  std::array<Tensor, 4> fused(const AttentionOptions& options) { return run(attention, options); }
  std::array<Tensor, 4> twin(const AttentionOptions& options) { return run(composed::attention, options); }
};

/// Numbers from -2 to 2, and a share of them -infinity.
Tensor random_mask(const Shape& shape, std::uint64_t seed) {
  Tensor mask = sample(shape, seed, -2, 2);
  Random random(seed + 1);
  for (real& x : mask.values())
    if (random.uniform() < 0.3) x = -infinity;
  return mask;
}

size_t below(Random& random, size_t limit) {
  return std::min(limit - 1, static_cast<size_t>(random.uniform() * static_cast<real>(limit)));
}

template <class Values>
auto pick(Random& random, const Values& values) {
  return values[below(random, std::size(values))];
}

/// A random combination of the options.
AttentionOptions random_options(Random& random, size_t cases, size_t heads, size_t queries, size_t keys) {
  AttentionOptions options{.causal = random.uniform() < 0.5};
  if (random.uniform() < 0.5)
    for (size_t b = 0; b < cases; ++b) options.lengths.push_back(static_cast<int>(below(random, keys + 1)));
  if (random.uniform() < 0.5) {
    const Shape shapes[] = {{queries, keys}, {cases, queries, keys}, {cases, heads, queries, keys}};
    options.mask = random_mask(pick(random, shapes), 5);
  }
  if (random.uniform() < 0.3) options.scale = real(0.7);
  return options;
}

}  // namespace

TEST_CASE("attention: gradients of queries, keys and values") {
  const Tensor q = leaf({2, 3, 2, 4}, 1), k = leaf({2, 5, 2, 4}, 2), v = leaf({2, 5, 2, 4}, 3);
  for (const bool causal : {false, true})
    for (const CachedVector<int>& lengths : {CachedVector<int>{}, CachedVector<int>{5, 2}})
      for (const Tensor& mask :
           {Tensor(), random_mask({3, 5}, 7), random_mask({2, 3, 5}, 8), sample({2, 2, 3, 5}, 9)}) {
        const AttentionOptions options{.causal = causal, .lengths = lengths, .mask = mask};
        check_gradients({q, k, v}, [&] { return weighted(attention(q, k, v, options)); });
      }
}

TEST_CASE("attention: gradients of queries, keys and values in one tensor") {
  const Tensor qkv = leaf({2, 5, 3 * 2 * 3}, 1);
  for (const bool causal : {false, true})
    check_gradients({qkv}, [&] {
      return weighted(self_attention(qkv, 2, {.causal = causal, .lengths = {3, 5}}));
    });
}

TEST_CASE("attention: one tensor as queries, keys and values collects all gradients") {
  const Tensor x = leaf({2, 4, 2, 3}, 1), y = leaf({2, 4, 2, 3}, 2);
  check_gradients({x}, [&] { return weighted(attention(x, x, x, {.causal = true})); });
  check_gradients({x, y}, [&] { return weighted(attention(x, y, y)) + weighted(attention(y, x, y)); });
}

TEST_CASE("attention: random sizes and options equal the twin, values and gradients") {
  Random random(11);
  const size_t lengths[] = {1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 160, 257};
  const size_t widths[] = {1, 2, 3, 4, 8, 15, 16, 17, 24, 32, 33, 40, 64, 70};
  for (int round = 0; round < 120; ++round) {
    const size_t cases = 1 + below(random, 3), heads = 1 + below(random, 3), queries = pick(random, lengths),
                 keys = random.uniform() < 0.3 ? queries : pick(random, lengths),
                 width = pick(random, widths);
    const AttentionOptions options = random_options(random, cases, heads, queries, keys);
    set_threads(1 + round % 3);
    Operands x({cases, queries, heads, width}, keys);
    CAPTURE(x.q.shape());
    CAPTURE(keys);
    CAPTURE(options.causal);
    CAPTURE(options.mask.shape());
    const auto fused = x.fused(options), twin = x.twin(options);
    for (size_t i = 0; i < fused.size(); ++i) {
      CAPTURE(i);
      CHECK(difference(fused[i], twin[i]) < 200 * ulp);
    }
    // Without a tape few queries take another way.
    CHECK(difference(attention(x.q, x.k, x.v, options), twin[0]) < 100 * ulp);
  }
  set_threads(0);
}

TEST_CASE("self_attention: equals its twin, values and gradients") {
  for (const size_t steps : {1U, 3U, 33U, 130U})
    for (const size_t width : {1U, 5U, 16U, 33U})
      for (const bool causal : {false, true}) {
        constexpr size_t heads = 3, cases = 2;
        const AttentionOptions options{.causal = causal,
                                       .lengths = {static_cast<int>(steps), static_cast<int>(steps / 2)}};
        Tensor qkv = leaf({cases, steps, 3 * heads * width}, 1);
        const auto run = [&](const auto& function) {
          qkv.clear_gradient();
          Tape tape;
          const Tensor y = function(qkv, heads, options);
          tape.backward(weighted(y));
          return std::array{y.copy(), qkv.gradient()};
        };
        const auto fused = run(self_attention), twin = run(composed::self_attention);
        CHECK(fused[0].shape() == Shape{cases, steps, heads * width});
        for (size_t i = 0; i < fused.size(); ++i) CHECK(difference(fused[i], twin[i]) < 200 * ulp);
        CHECK(difference(self_attention(qkv, heads, options), twin[0]) < 100 * ulp);
      }
}

TEST_CASE("attention: gradients add to what is there") {
  Operands x({1, 40, 2, 8}, 35);
  const auto once = x.fused({.lengths = {30}});
  {
    Tape tape;
    tape.backward(sum(attention(x.q, x.k, x.v, {.lengths = {30}}) * x.weights));
  }
  CHECK(difference(x.q.gradient(), once[1] * 2) < 4 * ulp);
  CHECK(difference(x.k.gradient(), once[2] * 2) < 4 * ulp);
  CHECK(difference(x.v.gradient(), once[3] * 2) < 4 * ulp);
}

TEST_CASE("attention: a query that sees nothing gets zeros, and so do its gradients") {
  for (const size_t queries : {2U, 40U}) {
    // The first case has no key, and no query of it sees any; in the other one, query 1 does not.
    Tensor mask = Tensor::zeros({queries, 20});
    for (size_t j = 0; j < 20; ++j) mask.at(1, j) = -infinity;
    const AttentionOptions options{.lengths = {0, 20}, .mask = mask};
    Operands x({2, queries, 1, 5}, 20);
    const auto results = x.fused(options);
    const Tensor alone = attention(x.q, x.k, x.v, options);
    for (const Tensor& of_queries : {results[0], results[1], alone}) {
      CHECK(identical(of_queries.step(0), Tensor::zeros({queries, 1, 5})));
      CHECK(identical(of_queries.step(1).step(1), Tensor::zeros({1, 5})));
      CHECK(std::ranges::all_of(of_queries.step(1).step(0).values(), [](real value) { return value != 0; }));
    }
    for (const size_t of_keys : {2U, 3U})
      CHECK(identical(results[of_keys].step(0), Tensor::zeros({20, 1, 5})));
  }
  // Causal, with fewer keys than queries: the first queries come before all keys.
  const auto early = Operands({1, 70, 1, 4}, 3).fused({.causal = true});
  for (size_t i : {0U, 1U}) {
    CHECK(identical(early[i].step(0).slice(0, 67), Tensor::zeros({67, 1, 4})));
    CHECK(early[i].step(0).step(69)[0] != 0);
  }
}

TEST_CASE("attention: keys and values beyond a length are not read") {
  const auto run = [](real rest, size_t queries) {
    Operands x({2, queries, 2, 6}, 40);
    for (Tensor* of_keys : {&x.k, &x.v})
      for (size_t j = 33; j < 40; ++j)
        for (size_t p = 0; p < 12; ++p) (*of_keys)[(40 + j) * 12 + p] = rest;
    const AttentionOptions options{.lengths = {40, 33}};
    auto results = x.fused(options);
    return std::array{results[0], results[1], results[2], results[3], attention(x.q, x.k, x.v, options)};
  };
  for (const size_t queries : {1U, 50U}) {
    const auto first = run(0, queries), second = run(std::numeric_limits<real>::quiet_NaN(), queries);
    for (size_t i = 0; i < first.size(); ++i) CHECK(identical(first[i], second[i]));
    CHECK(identical(first[2].step(1).slice(33, 40), Tensor::zeros({7, 2, 6})));
  }
}

TEST_CASE("attention: NaN and infinity reach what depends on them, and nothing in other heads") {
  for (const size_t queries : {2U, 50U})
    for (const real bad : {std::numeric_limits<real>::quiet_NaN(), infinity}) {
      const auto check = [&](const Operands& x) {
        Tensor y = attention(x.q, x.k, x.v);
        for (size_t i = 0; i < queries; ++i) {
          CHECK(std::isfinite(y.at(0, i, 0, 0)));
          CHECK(!std::isfinite(y.at(0, i, 1, 0)));
        }
      };
      Operands in_keys({1, queries, 2, 3}, 40), in_values({1, queries, 2, 3}, 40),
          in_queries({1, queries, 2, 3}, 40);
      in_keys.q = abs(in_keys.q) + 1;  // all see an infinite score
      in_keys.k.at(0, 37, 1, 0) = bad;
      check(in_keys);
      in_values.v.at(0, 37, 1, 0) = bad;
      check(in_values);
      in_queries.q.at(0, 1, 1, 0) = bad;
      const Tensor y = attention(in_queries.q, in_queries.k, in_queries.v);
      CHECK(std::isnan(y.at(0, 1, 1, 0)));
      CHECK(std::isfinite(y.at(0, 0, 1, 0)));
    }
}

TEST_CASE("attention: sizes of zero") {
  const auto no_cases = Operands({0, 3, 2, 4}, 5).fused({});
  CHECK(no_cases[0].shape() == Shape{0, 3, 2, 4});
  const auto no_keys = Operands({2, 3, 2, 4}, 0).fused({.causal = true});
  CHECK(identical(no_keys[0], Tensor::zeros({2, 3, 2, 4})));
  CHECK(identical(no_keys[1], Tensor::zeros({2, 3, 2, 4})));
  const auto no_queries = Operands({2, 0, 2, 4}, 3).fused({});
  CHECK(identical(no_queries[2], Tensor::zeros({2, 3, 2, 4})));
  CHECK(identical(no_queries[3], Tensor::zeros({2, 3, 2, 4})));
  CHECK(composed::attention(Tensor({2, 3, 2, 4}), Tensor({2, 0, 2, 4}), Tensor({2, 0, 2, 4})).shape() ==
        Shape{2, 3, 2, 4});
}

TEST_CASE("attention: scores of 10000 are exact where products are, in each block") {
  // Every score is a multiple of 1/4: whole numbers times 10000, and small ones that decide.
  constexpr size_t keys = 300, queries = 40, width = 4;
  Tensor q = Tensor::zeros({1, queries, 1, width}), k = Tensor::zeros({1, keys, 1, width}),
         v = sample({1, keys, 1, width}, 3);
  for (size_t i = 0; i < queries; ++i) {
    q.at(0, i, 0, 0) = i % 2 == 0 ? 100 : -100;
    q.at(0, i, 0, 1) = static_cast<real>(i % 5);
  }
  for (size_t j = 0; j < keys; ++j) {
    k.at(0, j, 0, 0) = 100;
    k.at(0, j, 0, 1) = static_cast<real>(j * 7 % 12) / 4;
  }
  const Tensor whole = attention(q, k, v, {.scale = 1});
  Tensor one_q({1, 1, 1, width});
  for (size_t i = 0; i < queries; ++i) {
    std::copy_n(q.data() + i * width, width, one_q.data());
    const Tensor one = attention(one_q, k, v, {.scale = 1});
    for (size_t p = 0; p < width; ++p) {
      double total = 0, sum = 0;
      for (size_t j = 0; j < keys; ++j) {
        const double e = std::exp(static_cast<double>(i % 5) * (static_cast<double>(j * 7 % 12) / 4 - 2.75));
        total += e;
        sum += e * static_cast<double>(v.at(0, j, 0, p));
      }
      CHECK(std::fabs(static_cast<double>(whole.at(0, i, 0, p)) - sum / total) < 10 * ulp);
      CHECK(std::fabs(static_cast<double>(one.at(0, 0, 0, p)) - sum / total) < 10 * ulp);
    }
  }
}

TEST_CASE("attention: with scores of 10000 the backward pass finds the forward pass's shares") {
  // The probabilities of a query sum to 1, so with equal derivatives the values' gradients do as well.
  Operands x({1, 50, 1, 32}, 200, 3000);
  x.weights = Tensor::ones(x.weights.shape());
  const Tensor dv = x.fused({})[3];
  CHECK(difference(sum_rows(dv.reshape({200, 32})), Tensor::full({32}, 50)) < 20 * ulp);
}

TEST_CASE("attention: bits repeat, and do not depend on the number of threads where heads stay whole") {
  const auto run = [](int count, const Shape& shape) {
    set_threads(count);
    return Operands(shape, 150).fused({.causal = true});
  };
  const Shape many = {4, 64, 8, 16}, one = {1, 300, 1, 24};
  for (const Shape& shape : {many, one}) {
    const auto single = run(1, shape), twice = run(2, shape), again = run(2, shape);
    for (size_t i = 0; i < single.size(); ++i) {
      CHECK(identical(twice[i], again[i]));
      if (shape == many) CHECK(identical(single[i], twice[i]));
    }
  }
  set_threads(0);
}

TEST_CASE("attention: a retained tape gives the same gradients again") {
  Operands x({1, 40, 2, 8}, 40);
  Tape tape;
  const Tensor loss = sum(attention(x.q, x.k, x.v) * x.weights);
  tape.backward(loss, {.retain = true});
  const Tensor once = x.k.gradient();
  x.k.clear_gradient();
  tape.backward(loss);
  CHECK(identical(x.k.gradient(), once));
}

TEST_CASE("attention: memory grows linearly with the number of positions") {
  const auto taken = [](size_t steps) {
    Tensor qkv = leaf({1, steps, 3 * 2 * 16}, 1);
    const Tensor seed = sample({1, steps, 2 * 16}, 2);
    memory::trim();
    const size_t before = memory::statistics().bytes_in_use;
    {
      Tape tape;
      tape.backward(self_attention(qkv, 2, {.causal = true}), seed);
    }
    const auto after = memory::statistics();
    return after.bytes_in_use + after.bytes_cached - before;
  };
  taken(16);
  // 4096 positions squared would take 64 MB a head in float. (What threads keep as scratch counts once.)
  const size_t shorter = taken(1024), longer = taken(4096);
  CHECK(longer < 6 * shorter);
  CHECK(longer < 4096 * 32 * 16 * sizeof(real));
}

TEST_CASE("attention: a mask is a constant") {
  const Tensor x = leaf({1, 2, 1, 2}, 1);
  Tensor mask = leaf({2, 2}, 2);
  CHECK(attention(x, x, x, {.mask = mask}).shape() == x.shape());
  Tape tape;
  CHECK_ERROR(attention(x, x, x, {.mask = mask}),
              "attention: the mask is a constant and gets no gradient; pass its detach()");
  CHECK(attention(x, x, x, {.mask = mask.detach()}).shape() == x.shape());
}

TEST_CASE("attention names what does not fit") {
  const Tensor q({2, 3, 4, 8}), k({2, 5, 4, 8});
  CHECK_ERROR(attention(Tensor({2, 3, 8}), k, k),
              "attention: queries [2 x 3 x 8] and keys [2 x 5 x 4 x 8]; [cases x positions x heads x width "
              "of a head] is "
              "needed");
  CHECK_ERROR(
      attention(q, Tensor({2, 5, 4, 7}), k),
      "attention: queries [2 x 3 x 4 x 8] and keys [2 x 5 x 4 x 7] may differ in their second size alone");
  CHECK_ERROR(attention(q, k, Tensor({2, 4, 4, 8})),
              "attention: values [2 x 4 x 4 x 8] for keys [2 x 5 x 4 x 8]; they need the same shape");
  CHECK_ERROR(
      attention(q, k, Tensor()),
      "attention: a tensor is an empty handle; give it values first, as Tensor::zeros({2, 3}) has them");
  CHECK_ERROR(attention(q, k, k, {.lengths = {5}}),
              "attention: 1 lengths for 2 cases; give one for each, or none");
  CHECK_ERROR(attention(q, k, k, {.lengths = {5, 6}}),
              "attention: length 6 is outside 0 to 5, the number of keys");
  CHECK_ERROR(composed::attention(q, k, k, {.lengths = {5, -1}}),
              "attention: length -1 is outside 0 to 5, the number of keys");
  CHECK_ERROR(attention(q, k, k, {.mask = Tensor({5, 3})}),
              "attention: the mask [5 x 3] must be [3 x 5], [2 x 3 x 5] or [2 x 4 x 3 x 5]");
  CHECK_ERROR(attention(q, k, k, {.scale = infinity}), "attention: the scale inf is not finite");
  CHECK_ERROR(self_attention(Tensor({2, 3, 20}), 4),
              "self_attention: the last size of [2 x 3 x 20] must be a multiple of 3 * 4: queries, keys and "
              "values of 4 "
              "heads");
  CHECK_ERROR(self_attention(Tensor({3, 24}), 4),
              "self_attention: [3 x 24]; [cases x positions x 3 heads d] is needed");
  CHECK_ERROR(self_attention(Tensor({2, 3, 24}), 0),
              "self_attention: the last size of [2 x 3 x 24] must be a multiple of 3 * 0: queries, keys and "
              "values of 0 "
              "heads");
}

TEST_CASE("attention: a mask that was written before the backward pass is refused") {
  const auto refused = [](const std::function<Tensor(const AttentionOptions&)>& run) {
    Tensor mask = Tensor::zeros({3, 3});
    Tape tape;
    const Tensor loss = sum(square(run({.mask = mask})));
    mask.at(0, 1) = -5;
    return contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded");
  };
  const Tensor q = leaf({1, 3, 1, 2}, 1), qkv = leaf({1, 3, 6}, 2);
  CHECK(refused([&](const AttentionOptions& options) { return attention(q, q, q, options); }));
  CHECK(refused([&](const AttentionOptions& options) { return self_attention(qkv, 1, options); }));
}
