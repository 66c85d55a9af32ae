#pragma once
// Softmax and the losses of classification.

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "core/memory/cached_vector.h"
#include "core/tensor.h"

namespace lamina {

Tensor softmax(const Tensor& x);  ///< over the last axis

/// log(softmax(x)) over the last axis, within a few units of the last place of its result however far from
/// zero x is. A row of nothing but -infinity gives NaN.
Tensor log_softmax(const Tensor& x);

struct CrossEntropyOptions {
  /// Rows of this label, which may lie outside the classes, do not count.
  std::optional<int> ignored_label = {};
  /// [C], how much each class counts: finite, not negative, not all zero. Empty: all alike. Gets no gradient.
  Tensor class_weights = {};
  /// In [0, 1): this share of the target is spread evenly over all classes, that of the label included.
  real label_smoothing = 0;
};

/// Mean over the rows of -log softmax(logits)[label], in nats, as accurate as log_softmax; logits [... x C],
/// one label per row. Throws Error for a wrong number of labels or a label outside 0..C-1.
///
/// With options, as PyTorch's CrossEntropyLoss: for class weights w, smoothing s and rows that are not ignored
///
///   L = sum_r [(1 - s) w_label (-log p_r,label) + s / C sum_k w_k (-log p_rk)] / sum_r w_label
///
/// The mean is thus weighted by the labels' weights. Throws Error when they sum to 0 (all rows ignored or of
/// weight 0), where PyTorch gives NaN.
Tensor cross_entropy(const Tensor& logits, std::span<const int> labels,
                     const CrossEntropyOptions& options = {});

/// The same for a list: cross_entropy(logits, {0, 2, 1}).
inline Tensor cross_entropy(const Tensor& logits, std::initializer_list<int> labels,
                            const CrossEntropyOptions& options = {}) {
  return cross_entropy(logits, std::span<const int>(labels.begin(), labels.size()), options);
}

namespace detail {

/// A range of integers.
template <class Labels>
concept Integers = requires(const Labels& labels) {
  requires std::integral<std::iter_value_t<decltype(std::ranges::begin(labels))>>;
  std::ranges::end(labels);
};

/// Labels of any integral type as int. Throws Error for one that an int cannot hold.
template <Integers Labels>
CachedVector<int> int_labels(const char* op, const Labels& labels) {
  CachedVector<int> narrow;
  if constexpr (requires { std::ranges::size(labels); }) narrow.reserve(std::ranges::size(labels));
  for (const auto label : labels) {
    // Unary plus promotes characters and bools, so that they compare and print as numbers.
    const auto number = +label;
    if (!std::in_range<int>(number)) fail(op, ": label ", number, " is outside the classes");
    narrow.push_back(static_cast<int>(number));
  }
  return narrow;
}

}  // namespace detail

/// The same for labels of any integral type, such as std::vector<std::int64_t>, in any range.
template <detail::Integers Labels>
requires(!std::convertible_to<const Labels&, std::span<const int>>) Tensor
    cross_entropy(const Tensor& logits, const Labels& labels, const CrossEntropyOptions& options = {}) {
  const CachedVector<int> narrow = detail::int_labels("cross_entropy", labels);
  return cross_entropy(logits, std::span<const int>(narrow), options);
}

/// Element by element -t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)), in nats; targets in [0, 1] of the same
/// shape, which get no gradient; backward() throws Error where they were written since. Finite for any finite logit, and
/// a sum of two terms that are not negative, so no digits cancel.
Tensor bernoulli_cross_entropy(const Tensor& logits, const Tensor& targets);

}  // namespace lamina
