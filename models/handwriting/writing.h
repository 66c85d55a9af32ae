#pragma once
// The trained network writes a text (Graves 2013, Sections 5.4 to 5.6): each point is drawn from what the
// network says about it, and fed back as its next input.

#include <optional>

#include "models/handwriting/data.h"

namespace lamina::handwriting {

struct WritingOptions {
  real bias = 0;  ///< of the draws: the larger the neater, see draw_point
  std::uint64_t seed = 1;
  size_t most_points = 0;  ///< where to stop at the latest; 0: 60 points a character
  /// A line to go on from, normalized as the training lines were: its hand is imitated.
  std::optional<Line> prime = {};
};

struct Writing {
  std::vector<PenPoint> points;  ///< of the text alone, in the training data's units
  std::vector<real> window;      ///< phi(t, u) [points x characters] of the text alone
  bool finished = false;         ///< the window left the text; else most_points came first
};

/// Throws Error for an empty text; characters outside the alphabet are written as unknown ones.
Writing write(const Model& model, const std::string& text, const WritingOptions& options);

}  // namespace lamina::handwriting
