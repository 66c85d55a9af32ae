#pragma once
// All differentiable primitives.

#include "core/ops/clip_gradient.h"
#include "core/ops/conv2d.h"
#include "core/ops/dropout.h"
#include "core/ops/elementwise.h"
#include "core/ops/layout.h"
#include "core/ops/loss.h"
#include "core/ops/matmul.h"
#include "core/ops/pool2d.h"
#include "core/ops/reduce.h"
#include "core/ops/reduce_axis.h"
#include "core/ops/regression_loss.h"
#include "core/ops/softmax_axis.h"
#include "core/ops/structure.h"
#include "core/ops/unit_rows.h"
