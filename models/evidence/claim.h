#pragma once
// A claim: what is measured of two variants' runs, which way they should differ, and at least by how much.
//
//   {"metric": "test_error", "take": "best", "lower": {"norm": "layer"}, "than": {"norm": "none"}, "by": 0.002}

#include <string>
#include <string_view>

#include "models/run/metrics.h"
#include "models/run/run_folder.h"

namespace lamina {

/// Which number of a run's curve counts.
struct Take {
  enum class Kind { last, best, mean_of_last, where_best };
  Kind kind = Kind::last;
  size_t count = 1;        ///< of mean_of_last
  std::string other = {};  ///< of where_best: the metric that is at its best there

  /// "last", "best", "mean of last 5", "where valid_error is best". Error for any other text.
  static Take from(const std::string& words);
  std::string words() const;
  bool operator==(const Take&) const = default;
};

struct Claim {
  enum Direction { lower, higher, faster };
  std::string words = {};  ///< as the reader knows it; empty: made from the rest
  std::string metric = {};
  Take take = {};  ///< not of `faster`, which counts updates until the metric is as good as both runs get
  Direction direction = lower;
  Settings subject = {}, other = {};      ///< the two variants
  bool for_the_better = true;             ///< that the first has better values, in so far as the metric says
  bool ratio = false;                     ///< `least` is a ratio, else a difference
  double least = 0;                       ///< the least difference, or ratio, in the claimed direction
  std::string_view without = "diverged";  ///< what a run without a number did; a literal
};

}  // namespace lamina
