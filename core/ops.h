#pragma once
// All differentiable primitives.

#include "core/ops/dropout.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/structure.h"
