#pragma once
// "Covariate shift": the changes that one layer's updates cause in the next, and whether they slow learning.

#include "models/lab/lab.h"

namespace lamina::lab {

Lab shift();

}  // namespace lamina::lab
