// Exercise 9.2: which keys a query may see.
#include "exercises.h"

#include <limits>
using namespace lamina;

Tensor causal_mask(size_t queries, size_t keys) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  Tensor mask = Tensor::zeros({queries, keys});
  for (size_t i = 0; i < queries; ++i)
    for (size_t j = 0; j < keys; ++j) {
      // [ your code: mask.at(i, j) = -infinity where query i must not see key j
      if (j + queries > i + keys) mask.at(i, j) = -infinity;
      // | (void)infinity;
      // ]
      // mistake: your mask hides the past and shows the future
      // ~ if (j + queries < i + keys) mask.at(i, j) = -infinity;
      // mistake: your mask hides a query's own position: every query sees itself
      // ~ if (j + queries >= i + keys) mask.at(i, j) = -infinity;
      // mistake: your mask takes the first query for the first position; the last query stands at the last key
      // ~ if (j > i) mask.at(i, j) = -infinity;
      // mistake: your mask shows the key after each query's own position
      // ~ if (j + queries > i + keys + 1) mask.at(i, j) = -infinity;
      // mistake: your mask has finite numbers where keys are hidden: a large score still gets through
      // ~ if (j + queries > i + keys) mask.at(i, j) = -1;
      // mistake: your mask says 1 where the key is seen and 0 elsewhere; it is added to the scores: 0 and -infinity
      // ~ (void)infinity;
      // ~ mask.at(i, j) = j + queries > i + keys ? 0 : 1;
      // mistake: your mask has +infinity where keys are hidden: those would get everything
      // ~ if (j + queries > i + keys) mask.at(i, j) = infinity;
    }
  return mask;
}
