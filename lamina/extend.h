#pragma once
// What you need for your own ops and recurrent cells, in addition to <lamina.h>; core/OWN_OP.md shows two complete ops.
//
//   record                     puts an op on the tape, with its backward pass          core/tape.h
//   generate                   values, element by element                              core/ops/map.h
//   contribute                 a gradient, element by element
//   contribute_summed_rows     the gradient of a row vector that every row has read
//   Tensor::gradient_sink      where a gradient goes that is computed in another way   core/tensor.h
//   GradientTarget             the same for a pass that computes several gradients at once
//   scalar::exp, tanh, sigmoid of one number; loops over them become vector code       core/math/math.h
//   sum_over, column_sums      pairwise sums in a fixed order                          core/math/sum.h
//   exponential_sum            what softmax divides by, without overflow               core/math/exponential_sum.h
//   parallel_for               a loop shared among the threads                         core/threads/parallel.h
//   for_each_index             the same of single elements, vectorized
//   gemm, PackedMatrix         products of matrices in memory                          core/gemm/gemm.h
//   require_values, fail       errors                                                  core/error.h
//   check_gradient             is it right?                                            core/debug/gradient_check.h
//   Cell                       a recurrent cell: its form, and the arithmetic of a row layers/recurrent/cell.h
//
// Everything that these headers declare outside of a namespace `detail` is stable within a version.

#include "core/debug/gradient_check.h"
#include "core/error.h"
#include "core/gemm/gemm.h"
#include "core/math/exponential_sum.h"
#include "core/math/math.h"
#include "core/math/sum.h"
#include "core/ops/map.h"
#include "core/tape.h"
#include "core/tensor.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/cell.h"
