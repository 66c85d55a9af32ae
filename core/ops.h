#pragma once
// All differentiable primitives.

#include "core/ops/attention/attention.h"
#include "core/ops/clip_gradient.h"
#include "core/ops/dropout.h"
#include "core/ops/elementwise.h"
#include "core/ops/images/conv2d.h"
#include "core/ops/images/pool2d.h"
#include "core/ops/loss/loss.h"
#include "core/ops/loss/regression_loss.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce/reduce.h"
#include "core/ops/reduce/reduce_axis.h"
#include "core/ops/reduce/softmax_axis.h"
#include "core/ops/reduce/unit_rows.h"
#include "core/ops/shape/layout.h"
#include "core/ops/shape/structure.h"
