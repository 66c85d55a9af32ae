#include "core/ops/matmul.h"

#include "core/ops/batched_matmul.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

/// dL/dx += op(a)[m x n] * op(b), with row strides as stored, where x is stored as [m x n].
void contribute_product(const Tensor& x, size_t m, size_t n, size_t inner, const real* a, size_t a_stride,
                        Transpose a_op, const real* b, size_t b_stride, Transpose b_op) {
  if (!x.needs_gradient()) return;
  const GradientSink sink = x.gradient_sink();
  gemm(m, n, inner, a, a_stride, b, b_stride, sink.values, n, {.a = a_op, .b = b_op, .accumulate = sink.add});
}

}  // namespace

/// C = A B;  dA = dC B^T,  dB = A^T dC. With transposed storage the gradient is transposed as well:
/// dA^T = B dC^T,  dB^T = dC^T A.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  require_values("matmul", a, b);
  const Transpose a_op = options.a, b_op = options.b;
  const bool a_transposed = a_op == Transpose::yes, b_transposed = b_op == Transpose::yes;
  if (b.shape().rank() < 2 || a.shape().rank() < (a_transposed || b.shape().rank() > 2 ? 2 : 1))
    fail("matmul: ", a.shape(), " * ", b.shape(),
         ": the second must be a matrix or several, and so must a first that is transposed or meets several");
  const bool batched = b.shape().rank() > 2 || (a_transposed && a.shape().rank() > 2);
  const size_t m = a_transposed ? a.columns() : a.rows(), k = a.shape()[a_transposed ? -2 : -1];
  const size_t n = b.shape()[b_transposed ? -2 : -1], k_of_b = b.shape()[b_transposed ? -1 : -2];
  if (k != k_of_b)
    fail("matmul: ", a.shape(), a_transposed ? "^T" : "", " * ", b.shape(), b_transposed ? "^T" : "",
         ": inner sizes ", k, " and ", k_of_b, " differ");
  if (batched) return detail::batched_matmul(a, b, options);

  Tensor c(a_transposed ? Shape{m, n} : a.shape().with(-1, n));
  gemm(m, n, k, a.data(), a.columns(), b.data(), b.columns(), c.data(), n, {.a = a_op, .b = b_op});

  return record({"matmul", OpKind::product}, c, {a, b}, [=] {
    const real* const dc = c.gradient_data();
    if (a_transposed)
      contribute_product(a, k, m, n, b.data(), b.columns(), b_op, dc, n, Transpose::yes);
    else
      contribute_product(a, m, k, n, dc, n, Transpose::no, b.data(), b.columns(), flipped(b_op));
    if (b_transposed)
      contribute_product(b, n, k, m, dc, n, Transpose::yes, a.data(), a.columns(), a_op);
    else
      contribute_product(b, k, n, m, a.data(), a.columns(), flipped(a_op), dc, n, Transpose::no);
  });
}

/// y = x W + b;  dx = dy W^T,  dW = x^T dy,  db = the sum of dy's rows
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_values("linear", x, weight);
  if (weight.shape().rank() != 2 || x.shape().rank() < 1 || x.columns() != weight.rows())
    fail("linear: ", x.shape(), " * ", weight.shape(), ": the input's last size must be the weight's first");
  const size_t rows = x.rows(), inputs = weight.rows(), outputs = weight.columns();
  if (bias.defined() && bias.shape() != Shape{outputs})
    fail("linear: the bias is ", bias.shape(), ", the layer has ", outputs, " outputs");

  Tensor y(x.shape().with(-1, outputs));
  gemm(rows, outputs, inputs, x.data(), inputs, weight.data(), outputs, y.data(), outputs,
       {.bias = bias.defined() ? bias.data() : nullptr});

  return record({"linear", OpKind::product}, y, {x, weight, bias}, [=] {
    const real* const dy = y.gradient_data();
    contribute_outer_products(weight, rows, x.data(), inputs, dy);
    contribute_summed_rows(bias, rows, [=](size_t r, size_t c) { return dy[r * outputs + c]; });
    contribute_product(x, rows, inputs, outputs, dy, outputs, Transpose::no, weight.data(), outputs,
                       Transpose::yes);
  });
}

void contribute_outer_products(const Tensor& weight, size_t rows, const real* x, size_t x_stride,
                               const real* dy) {
  contribute_product(weight, weight.rows(), weight.columns(), rows, x, x_stride, Transpose::yes, dy,
                     weight.columns(), Transpose::no);
}

}  // namespace lamina
