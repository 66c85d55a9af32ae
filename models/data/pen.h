#pragma once
// The synthetic pen: writes any printable ASCII text in one of many hands, as a tablet would record it.
//
// A hand writes each character in one of the ways of letter_strokes.h, with its own slant, proportions,
// spacing, speed and steadiness, joined up or letter by letter. The control points are shaken, joined by
// smooth curves and bent. The pen then travels along them, slower where the path is curved (speed falls with
// the cube root of the radius, the two-thirds power law of hand movements) and near the ends of a stroke, and
// its position is sampled at equal time intervals.

#include <string>
#include <vector>

#include "core/math/random.h"

namespace lamina {

/// How someone writes. Lengths are in heights of a small letter.
struct Hand {
  float slant;  ///< how far the top of a small letter leans to the right
  float width;  ///< of letters, relative to the alphabet
  float size;   ///< everything
  float letter_space, word_space;
  float speed;         ///< between two samples, where the path is straight
  float bow;           ///< how far straight downstrokes bend
  float shake;         ///< deviation of control points
  float tremor;        ///< deviation of what the tablet records
  float slope, wave;   ///< of the baseline
  bool joins;          ///< letters of a word are joined up where the alphabet allows it
  bool rounds;         ///< corners become curves
  std::uint64_t ways;  ///< a seed that selects the variant of each character
};

/// Hand number `number` of the endless sequence `seed`.
Hand draw_hand(std::uint64_t seed, std::uint64_t number);

struct PenPoint {
  float x, y;  ///< x to the right and y down
  bool up;     ///< the pen leaves the paper after this point
};

/// The pen's positions from the first stroke to the last. Characters outside printable ASCII are left out.
/// The result depends only on the arguments.
std::vector<PenPoint> write_text(const std::string& text, const Hand& hand, Random random);

}  // namespace lamina
