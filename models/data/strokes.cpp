#include "models/data/strokes.h"

namespace lamina {

CurvePoint curve_at(const Stroke& stroke, std::size_t span, float t) {
  const StrokePoint &from = stroke[span], &to = stroke[span + 1];
  const StrokePoint& before = span == 0 || from.corner ? from : stroke[span - 1];
  const StrokePoint& after = span + 2 == stroke.size() || to.corner ? to : stroke[span + 2];
  const auto cubic = [t](float a, float p, float q, float b) {
    const float leaving = (q - a) / 2, arriving = (b - p) / 2;
    return p + t * (leaving +
                    t * (3 * (q - p) - 2 * leaving - arriving + t * (2 * (p - q) + leaving + arriving)));
  };
  return {cubic(before.x, from.x, to.x, after.x), cubic(before.y, from.y, to.y, after.y)};
}

}  // namespace lamina
