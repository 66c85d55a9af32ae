#pragma once
// Samples of a trained DRAW, as pictures.

#include "models/draw/model.h"
#include "models/pictures/png.h"

namespace lamina::draw {

/// Samples from the model's prior, and where it wrote: after each glimpse the canvas as probabilities and the
/// focus of the write.
struct Painting {
  Attention attention;         ///< of the writes
  std::vector<Tensor> canvas;  ///< T times [B x A^2] in (0, 1)
  std::vector<Tensor> focus;   ///< T times [B x 5]
  size_t glimpses() const { return canvas.size(); }
  size_t count() const { return canvas.front().rows(); }
};

/// `count` samples; the same for the same seed.
Painting paint(const Model& model, size_t count, std::uint64_t seed);

/// The finished samples, `columns` per row.
Image grid_of(const Painting& painting, size_t columns);

/// One row per sample, for the first `rows`: the canvas after `columns` glimpses, evenly spaced up to the
/// last one. The red rectangle passes through the outermost filters of the write; its line is as thick as a
/// filter is wide.
Image strip_of(const Painting& painting, size_t rows, size_t columns);

/// One frame per glimpse with all samples, `columns` per row, with the rectangles; a last frame without them.
std::vector<Image> frames_of(const Painting& painting, size_t columns);

}  // namespace lamina::draw
