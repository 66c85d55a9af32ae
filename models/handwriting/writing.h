#pragma once
// The trained network writes a text (Graves 2013, Sections 5.3 to 5.5): each point is drawn from the
// network's distribution and fed back as its next input.

#include <optional>

#include "models/handwriting/data/data.h"

namespace lamina::handwriting {

struct WritingOptions {
  real bias = 0;  ///< of the draws: larger is neater, see draw_point
  std::uint64_t seed = 1;
  size_t most_points = 0;  ///< the maximum number of points; 0: 60 per character
  /// A line to continue from, normalized like the training lines: its hand is imitated.
  std::optional<Line> prime = {};
};

struct Writing {
  std::vector<PenPoint> points;  ///< of the text only, in the training data's units
  std::vector<real> window;      ///< phi(t, u) [points x characters] of the text only
  bool finished = false;         ///< the window left the text; else most_points was reached first
};

/// Throws Error for an empty text; characters outside the alphabet are written as unknown ones.
Writing write(const Model& model, const std::string& text, const WritingOptions& options);

}  // namespace lamina::handwriting
