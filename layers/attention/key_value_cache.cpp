#include "layers/attention/key_value_cache.h"

#include <algorithm>

namespace lamina {

void KeyValueCache::swap(KeyValueCache& other) noexcept {
  std::swap(capacity_, other.capacity_);
  std::swap(length_, other.length_);
  std::swap(layer_, other.layer_);
  std::swap(keys_, other.keys_);
  std::swap(values_, other.values_);
}

void KeyValueCache::append(const Tensor& qkv, size_t heads, std::uint64_t layer) {
  if (length_ > 0 && layer != layer_)
    fail("key-value cache: it holds the positions of another layer; have one for each layer");
  const size_t cases = qkv.shape()[0], count = qkv.shape()[1], width = qkv.columns() / 3;
  make_room(length_ + count, cases, heads, width / heads);
  const size_t room = keys_.shape()[1];
  for (size_t i = 0; i < cases; ++i)
    for (size_t t = 0; t < count; ++t) {
      const real* const key = qkv.data() + (i * count + t) * 3 * width + width;
      const size_t place = (i * room + length_ + t) * width;
      std::copy_n(key, width, keys_.data() + place);
      std::copy_n(key + width, width, values_.data() + place);
    }
  length_ += count;
  layer_ = layer;
}

void KeyValueCache::make_room(size_t length, size_t cases, size_t heads, size_t d) {
  if (capacity_ != 0 && length > capacity_)
    fail("key-value cache: ", length, " positions do not fit its capacity of ", capacity_,
         "; reset() it for another text");
  const Shape wanted{cases, std::max(length, capacity_), heads, d};
  const bool fits = keys_.defined() && keys_.shape() == wanted.with(1, keys_.shape()[1]);
  if (length_ > 0 && !fits)
    fail("key-value cache: ", wanted.with(1, length - length_), " after ", keys_.shape().with(1, length_),
         "; reset() it for another batch, and have one for each layer");
  if (fits && length <= keys_.shape()[1]) return;
  const size_t room = fits ? std::max(length, 2 * keys_.shape()[1]) : wanted[1];
  const auto grown = [&](const Tensor& old) {
    Tensor all(wanted.with(1, room));
    for (size_t i = 0; length_ > 0 && i < cases; ++i)
      std::ranges::copy(of_case(old, i).values(), all.data() + i * room * heads * d);
    return all;
  };
  keys_ = grown(keys_);
  values_ = grown(values_);
}

Tensor KeyValueCache::of_case(const Tensor& all, size_t index) const {
  const size_t heads = all.shape()[2], d = all.shape()[3];
  return all.step(index).slice(0, length_).reshape({1, length_, heads, d});
}

}  // namespace lamina
