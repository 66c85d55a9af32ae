#pragma once
// The embedding: a learned vector for each word, of which a batch uses a few.
//
//   y_i = table[k_i],   dtable[k] = the sum of dy_i over all i with k_i = k
//
// The gradient is the dense one, to the last bit, but costs only the rows that are used: instead of the whole
// table, those of the last step are set to zero before new contributions come. Other ops may compute with the
// table, as an output layer tied to it does; the step after one of them clears all of it.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/parameters.h"
#include "layers/initializers.h"

namespace lamina {

struct EmbeddingOptions {
  size_t entries = 0;
  size_t width = 0;
  Initializer initial = normal(real(0.01));
};

class Embedding {
 public:
  /// The table becomes the parameter `name` [entries x width]. Throws Error for sizes of 0.
  Embedding(Parameters& parameters, const std::string& name, const EmbeddingOptions& options);

  /// [indices x width]. Throws Error for an index outside the table.
  Tensor operator()(std::span<const int> indices) const;

  const Tensor& table() const { return table_; }

  /// Tells which rows of the gradient may differ from zero, each once, after backward(): for optimizers that
  /// leave all others alone. None once the gradient is cleared, until the table is used again; all of them when
  /// another op has contributed to it too.
  std::function<std::span<const int>()> used_rows() const;

 private:
  struct Used;
  std::string name_;
  Tensor table_;
  std::shared_ptr<Used> used_;
};

}  // namespace lamina
