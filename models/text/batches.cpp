#include "models/text/batches.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/ops/shape/structure.h"

namespace lamina {

TokenBatch make_batch(std::span<const Sentence> sentences, std::span<const int> chosen, Padding padding) {
  if (chosen.empty()) fail("batch: of 0 sentences; give at least one");
  const auto at = [&](size_t row) -> const Sentence& { return sentences[static_cast<size_t>(chosen[row])]; };
  TokenBatch batch;
  batch.rows = chosen.size();
  size_t shortest = at(0).size();
  for (size_t row = 0; row < batch.rows; ++row) {
    if (at(row).empty()) fail("batch: sentence ", chosen[row], " has no words; leave it out");
    batch.steps = std::max(batch.steps, at(row).size());
    shortest = std::min(shortest, at(row).size());
  }
  batch.tokens.assign(batch.steps * batch.rows, 0);
  for (size_t row = 0; row < batch.rows; ++row) {
    const size_t length = at(row).size(), end = padding == Padding::cyclic ? batch.steps : length;
    for (size_t t = 0; t < end; ++t)
      if (t % (length + 1) < length) batch.tokens[t * batch.rows + row] = at(row)[t % (length + 1)];
  }
  if (shortest == batch.steps) return batch;
  batch.mask = Tensor({batch.steps, batch.rows});
  for (size_t t = 0; t < batch.steps; ++t)
    for (size_t row = 0; row < batch.rows; ++row)
      batch.mask[t * batch.rows + row] = t < at(row).size() ? 1 : 0;
  return batch;
}

TokenBatch sentences_of(const TokenBatch& batch, size_t begin, size_t end) {
  TokenBatch some{.steps = batch.steps, .rows = end - begin, .tokens = {}, .mask = {}};
  for (size_t t = 0; t < batch.steps; ++t) {
    const auto row = batch.tokens.begin() + static_cast<std::ptrdiff_t>(t * batch.rows);
    some.tokens.insert(some.tokens.end(), row + static_cast<std::ptrdiff_t>(begin),
                       row + static_cast<std::ptrdiff_t>(end));
  }
  if (batch.mask.defined()) some.mask = slice(batch.mask, 1, begin, end);
  return some;
}

std::vector<std::vector<int>> batches_by_length(std::span<const Sentence> sentences, size_t size) {
  if (size == 0) fail("batches: of 0 sentences; give a positive size");
  std::vector<int> order(sentences.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return sentences[static_cast<size_t>(i)].size(); });
  std::vector<std::vector<int>> batches;
  for (size_t begin = 0; begin < order.size(); begin += size) {
    const auto part = std::span(order).subspan(begin, std::min(size, order.size() - begin));
    batches.emplace_back(part.begin(), part.end());
  }
  return batches;
}

}  // namespace lamina
