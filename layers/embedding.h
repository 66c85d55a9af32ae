#pragma once
// The embedding: a learned vector for each word, of which a batch uses a few.
//
//   y_i = table[k_i],   dtable[k] = the sum of dy_i over all i with k_i = k
//
// The gradient equals the dense one bit for bit but costs only the rows that are used: instead of the whole
// table, only the rows of the last step are set to zero before new contributions arrive. Other ops may also
// use the table, as an output layer tied to it does; the step after that clears all of it.

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
  /// The table becomes the parameter `name` [entries x width]. Throws Error for sizes of 0 and for initial values of
  /// another shape.
  Embedding(Parameters& parameters, const std::string& name, const EmbeddingOptions& options);

  /// [indices x width]. Throws Error for an index outside the table.
  Tensor operator()(std::span<const int> indices) const;

  const Tensor& table() const { return table_; }

  /// A function that lists, after backward(), the rows of the gradient that may differ from zero, each once:
  /// for optimizers that do not touch the others. No rows once the gradient is cleared, until the table is
  /// used again; all rows when another op has contributed too. From the first Parameters::gradients() on, through which
  /// anyone may write, others that differ from zero are looked for.
  std::function<std::span<const int>()> used_rows() const;

 private:
  struct Used;
  std::string name_;
  Tensor table_;
  std::shared_ptr<Used> used_;
};

}  // namespace lamina
