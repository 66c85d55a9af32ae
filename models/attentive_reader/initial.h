#pragma once
// Initial weights of the attentive reader, as in the authors' public code (Cooijmans et al. 2016), which the
// paper trains.

#include "layers/initializers.h"

namespace lamina::attentive_reader {

/// U(-bound, bound) with bound = sqrt(6 / (inputs + outputs + 1)).
Initializer uniform_by_size();

/// Blocks of `outputs` columns side by side (the gates of an LSTM), each drawn independently: 0.05 times an
/// orthogonal matrix where the block is square, else uniform_by_size().
Initializer square_or_uniform(size_t outputs);

}  // namespace lamina::attentive_reader
