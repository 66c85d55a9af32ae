// Packing: b [depth x columns] becomes panels of `width` columns. The last panel is filled up with zeros.
#include "exercises.h"

std::vector<double> pack(const std::vector<double>& b, size_t depth, size_t columns, size_t width) {
  const size_t panels = (columns + width - 1) / width;
  std::vector<double> packed(panels * depth * width);  // zeros
  // [ your code: for every k and j, where b[k * columns + j] goes
  for (size_t k = 0; k < depth; ++k)
    for (size_t j = 0; j < columns; ++j)
      packed[j / width * depth * width + k * width + j % width] = b[k * columns + j];
  // |
  // ]
  // mistake: your panels are stored column by column: a tile reads a row of the panel at once
  // ~ for (size_t k = 0; k < depth; ++k)
  // ~   for (size_t j = 0; j < columns; ++j) packed[j * depth + k] = b[k * columns + j];
  // mistake: your result is b as it was: rows of all columns, no panels
  // ~ for (size_t i = 0; i < b.size(); ++i) packed[i] = b[i];
  // mistake: your panels overlap: each takes depth * width numbers
  // ~ for (size_t k = 0; k < depth; ++k)
  // ~   for (size_t j = 0; j < columns; ++j)
  // ~     packed[j / width * depth + k * width + j % width] = b[k * columns + j];
  return packed;
}
