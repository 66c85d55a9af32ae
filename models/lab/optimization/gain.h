#pragma once
// Initial gains from 0.1 to 1 under recurrent batch norm and layer norm.

#include "models/lab/lab.h"

namespace lamina::lab {

Lab gain();

}  // namespace lamina::lab
