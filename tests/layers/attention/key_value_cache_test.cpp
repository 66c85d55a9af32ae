// The cache of keys and values.

#include "layers/attention/key_value_cache.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr size_t heads = 2, d = 3, width = heads * d;

/// The keys (part 1) or values (part 2) of one case among all of qkv, [1 x T x heads x d].
Tensor part_of_case(const Tensor& qkv, size_t index, size_t part) {
  return slice(qkv.slice(index, index + 1), -1, part * width, (part + 1) * width)
      .reshape({1, qkv.shape()[1], heads, d});
}

void check_holds(const KeyValueCache& cache, const Tensor& qkv) {
  CHECK(cache.length() == qkv.shape()[1]);
  for (size_t i = 0; i < qkv.shape()[0]; ++i) {
    CHECK(identical(cache.keys(i), part_of_case(qkv, i, 1)));
    CHECK(identical(cache.values(i), part_of_case(qkv, i, 2)));
  }
}

}  // namespace

TEST_CASE("key-value cache: holds what was entered, in pieces, growing or not, and again after reset") {
  for (const size_t capacity : {0U, 9U, 20U})
    for (const size_t cases : {1U, 3U}) {
      KeyValueCache cache({.capacity = capacity});
      for (const std::uint64_t seed : {1U, 2U}) {
        CAPTURE(capacity);
        const Tensor all = sample({cases, 9, 3 * width}, seed);
        size_t begin = 0;
        for (const size_t count : {2U, 1U, 0U, 5U, 1U}) {
          cache.append(slice(all, 1, begin, begin + count), heads);
          begin += count;
          check_holds(cache, slice(all, 1, 0, begin));
        }
        cache.reset();
        CHECK(cache.length() == 0);
      }
      cache.append(sample({5, 1, 3 * width}, 1), heads);  // another batch after the reset
    }
}

TEST_CASE("key-value cache: with a capacity nothing moves, and a moved cache goes on") {
  KeyValueCache cache({.capacity = 6});
  const Tensor all = sample({1, 6, 3 * width}, 1);
  cache.append(slice(all, 1, 0, 1), heads);
  const Tensor first = cache.keys(0);
  KeyValueCache moved = std::move(cache);
  moved.append(slice(all, 1, 1, 6), heads);
  CHECK(moved.keys(0).data() == first.data());
  check_holds(moved, all);
}

TEST_CASE("key-value cache: errors") {
  KeyValueCache cache({.capacity = 2});
  cache.append(Tensor::zeros({1, 2, 3 * width}), heads);
  CHECK_ERROR(cache.append(Tensor::zeros({1, 1, 3 * width}), heads),
              "key-value cache: 3 positions do not fit its capacity of 2; reset() it for another text");
  KeyValueCache grown;
  grown.append(Tensor::zeros({1, 2, 3 * width}), heads);
  CHECK_ERROR(
      grown.append(Tensor::zeros({4, 1, 3 * width}), heads),
      "key-value cache: [4 x 1 x 2 x 3] after [1 x 2 x 2 x 3]; reset() it for another batch, and have one "
      "for each layer");
  CHECK_ERROR(
      grown.append(Tensor::zeros({1, 1, 3 * width}), 1),
      "key-value cache: [1 x 1 x 1 x 6] after [1 x 2 x 2 x 3]; reset() it for another batch, and have one "
      "for each layer");
  CHECK(grown.length() == 2);
}

TEST_CASE("key-value cache: a moved one is left empty, with its capacity") {
  KeyValueCache cache({.capacity = 2}), other;
  cache.append(sample({1, 2, 3 * width}, 1), heads);
  other.append(sample({3, 1, 3 * width}, 2), heads);
  other = std::move(cache);
  CHECK(other.length() == 2);
  CHECK(cache.length() == 0);  // NOLINT(bugprone-use-after-move): that is what is tested
  const Tensor next = sample({4, 2, 3 * width}, 3);
  cache.append(next, heads);
  check_holds(cache, next);
  CHECK(contains(error_of([&] { cache.append(next, heads); }), "do not fit its capacity of 2"));
}

TEST_CASE("key-value cache: it belongs to one layer until it is reset") {
  KeyValueCache cache;
  const Tensor qkv = sample({1, 2, 3 * width}, 1);
  cache.append(qkv, heads, 1);
  CHECK_ERROR(cache.append(qkv, heads, 2),
              "key-value cache: it holds the positions of another layer; have one for each layer");
  CHECK(cache.length() == 2);
  cache.reset();
  cache.append(qkv, heads, 2);
  check_holds(cache, qkv);
}
