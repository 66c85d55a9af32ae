#pragma once
// The gradients of an RNN's hidden states before, during and after it learns to remember.

#include "models/lab/lab.h"

namespace lamina::lab {

Lab trained_rnn();

}  // namespace lamina::lab
