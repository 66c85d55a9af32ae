#include "layers/norms/variants/parameter_free_norm.h"

#include "core/listener.h"
#include "core/ops.h"
#include "layers/named.h"
#include "layers/statistics/row_norm.h"
#include "layers/statistics/summed_rows.h"

namespace lamina {

namespace {

/// Of a with the statistics of x, which are taken from the distances from x's first unit: these are exact where the row
/// is far from zero.
Tensor normalized_by(const Tensor& a, const Tensor& x, real epsilon) {
  const Tensor first = slice(x.detach(), -1, 0, 1), distances = x - first, mean = mean_columns(distances);
  const Tensor centered = a - first - mean;
  return centered / sqrt(mean_columns(square(distances - mean)) + epsilon);
}

/// What the backward pass of a row has: its numbers, the derivatives of its outputs, and where its own belong.
struct Row {
  const real *a, *dy;
  size_t size;
  row_norm::Statistics s;
  real* da;
  bool add;

  /// da_i (+)= value(i, n_i)
  template <class Value>
  void contribute(const Value& value) const {
    const Row row = *this;
#pragma omp simd
    for (size_t i = 0; i < row.size; ++i)
      row.da[i] = (row.add ? row.da[i] : 0) + value(i, (row.a[i] - row.s.mean) * row.s.inverse_deviation);
  }
};

/// y_i = value(n_i); backward(row) is the derivative.
template <class Value, class Backward>
Tensor normalize_rows(const char* op, const Tensor& a, real epsilon, const Value& value,
                      const Backward& backward) {
  require_features(op, a);
  const size_t rows = a.rows(), columns = a.columns();
  Tensor y(a.shape()), statistics({rows, 2});
  auto* const kept = reinterpret_cast<row_norm::Statistics*>(statistics.data());
  parallel_for(rows, row_grain(columns), [=, in = a.data(), out = y.data()](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      const real* const row = in + r * columns;
      const auto s = kept[r] = row_norm::statistics<true>(row, columns, epsilon);
#pragma omp simd
      for (size_t i = 0; i < columns; ++i)
        out[r * columns + i] = value((row[i] - s.mean) * s.inverse_deviation);
    }
  });

  return record({op, OpKind::norm}, y, {a}, [=] {
    const auto* const s = reinterpret_cast<const row_norm::Statistics*>(statistics.data());
    parallel_for(
        rows, row_grain(columns),
        [=, x = a.data(), dy = y.gradient_data(), da = a.gradient_sink()](size_t begin, size_t end) {
          for (size_t r = begin; r < end; ++r)
            backward(Row{x + r * columns, dy + r * columns, columns, s[r], da.values + r * columns, da.add});
        });
  });
}

/// The derivative dn_i = factor(n_i) dy_i, through n and its statistics.
template <class Factor>
void through_statistics(const Row& row, const Factor& factor) {
  const auto n = [=](size_t i) { return (row.a[i] - row.s.mean) * row.s.inverse_deviation; };
  const row_norm::Back back = row_norm::back<true>(
      row.size, row.s, [=](size_t i) { return row.dy[i] * factor(n(i)); }, n);
  row.contribute([=, dy = row.dy](size_t i, real n_i) { return back(dy[i] * factor(n_i), n_i); });
}

}  // namespace

Tensor composed::layer_norm_simple(const Tensor& a, real epsilon) { return normalized_by(a, a, epsilon); }

Tensor composed::detach_norm(const Tensor& a, real epsilon) { return normalized_by(a, a.detach(), epsilon); }

Tensor composed::ada_norm(const Tensor& a, real scale, real slope, real epsilon) {
  const Tensor n = composed::layer_norm_simple(a, epsilon);
  return (real(1) - slope * n).detach() * n * scale;
}

/// da = (dy - mean(dy) - n mean(dy n)) / deviation
Tensor layer_norm_simple(const Tensor& a, real epsilon) {
  return normalize_rows(
      "layer_norm_simple", a, epsilon, [](real n) { return n; },
      [](const Row& row) { through_statistics(row, [](real) { return real{1}; }); });
}

/// da = dy / deviation
Tensor detach_norm(const Tensor& a, real epsilon) {
  return normalize_rows(
      "detach_norm", a, epsilon, [](real n) { return n; },
      [](const Row& row) {
        row.contribute(
            [dy = row.dy, scale = row.s.inverse_deviation](size_t i, real) { return dy[i] * scale; });
      });
}

/// With dn = C (1 - k n) dy:  da = (dn - mean(dn) - n mean(dn n)) / deviation
Tensor ada_norm(const Tensor& a, real scale, real slope, real epsilon) {
  const auto factor = [=](real n) { return scale * (1 - slope * n); };
  return normalize_rows(
      "ada_norm", a, epsilon, [=](real n) { return factor(n) * n; },
      [=](const Row& row) { through_statistics(row, factor); });
}

ParameterFreeNorm::ParameterFreeNorm(const std::string& name, const ParameterFreeNormOptions& chosen)
    : options(chosen), name_(name) {
  require_norm("normalization '" + name + "'", options.norm, {Norm::layer_simple, Norm::detached, Norm::ada});
}

Tensor ParameterFreeNorm::operator()(const Tensor& a) const {
  const Scope scope(name_);  // no parameter names the layer
  const bool ada = options.norm == Norm::ada, detached = options.norm == Norm::detached;
  return in_layer(name_, [&] {
    if (a.shape().rank() == 0 || a.columns() != options.features)
      fail(ada        ? "ada_norm"
           : detached ? "detach_norm"
                      : "layer_norm_simple",
           ": the input is ", a.shape(), "; rows of ", options.features, " are needed");
    if (ada) return ada_norm(a, options.scale, options.slope, options.epsilon);
    return detached ? detach_norm(a, options.epsilon) : layer_norm_simple(a, options.epsilon);
  });
}

}  // namespace lamina
