#pragma once
// The parts of `lamina handwriting` that write: `write` with a trained network, `pen` with the synthetic pen.

#include "models/handwriting/model.h"
#include "tools/commands.h"
#include "tools/common_flags.h"

namespace lamina {

/// The model of a preset; lines longer than 1000 points are trained with checkpoints, in a fraction of the
/// memory.
handwriting::ModelOptions handwriting_model(const CommonFlags& flags, const std::string& norm);

void add_handwriting_write(Command& command);
void add_handwriting_pen(Command& command);

}  // namespace lamina
