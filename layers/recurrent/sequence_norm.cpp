#include "layers/recurrent/sequence_norm.h"

#include <algorithm>

#include "core/ops/map.h"

namespace lamina {

namespace {

/// The rows (t, r) of a sequence, or its columns, cut into shares.
struct Cut {
  size_t steps, rows, width, shares;

  Cut(const Tensor& x, bool by_rows) : steps(x.shape()[0]), rows(x.shape()[1]), width(x.columns()) {
    const size_t count = by_rows ? steps * rows : width, length = by_rows ? width : steps * rows;
    shares = shares_of(count, elementwise_grain / 4 / (length + 1) + 1);
  }

  /// body(share, t, r) for every row.
  template <class Body>
  void for_each_row(const Body& body) const {
    for_each_share(shares, [&](size_t share) {
      const Range range = part_of(steps * rows, share, shares);
      for (size_t i = range.begin; i < range.end; ++i) body(share, i / rows, i % rows);
    });
  }

  /// body(share, t, begin, end) for every step, each share with columns of its own.
  template <class Body>
  void for_each_columns(const Body& body) const {
    for_each_share(shares, [&](size_t share) {
      const Range columns = part_of(width, share, shares, 16);
      for (size_t t = 0; t < steps && columns.size() > 0; ++t) body(share, t, columns.begin, columns.end);
    });
  }
};

}  // namespace

Tensor sequence_norm(const StepNormParameters& parameters, const Tensor& raw, const Tensor& mask, Mode mode) {
  if (parameters.norm == Norm::none) return raw;
  StepNorm norm(parameters, raw.shape()[0], raw.shape()[1], mode);
  const bool by_rows = norm.by_rows();
  const Cut cut(raw, true), columns(raw, false);
  const size_t rows = cut.rows, width = cut.width;
  const auto mask_at = [=](size_t t) { return mask.defined() ? mask.data() + t * rows : nullptr; };

  const real* const x = raw.data();
  if (!by_rows)
    columns.for_each_columns([&](size_t, size_t t, size_t begin, size_t end) {
      norm.measure_columns(t, begin, end, x + t * rows * width, mask_at(t));
    });
  Tensor y(raw.shape());
  cut.for_each_row([&, out = y.data()](size_t, size_t t, size_t r) {
    const size_t at = (t * rows + r) * width;
    norm.measure_row(t, r, x + at);
    norm.normalize_row(t, r, x + at, out + at);
  });

  return record("sequence_norm", y, {raw, parameters.gain, parameters.bias}, [=] {
    const real *const from = raw.data(), *const dy = y.gradient_data();
    Tensor d(raw.shape());
    real* const dx = d.data();
    const size_t shares = std::max(cut.shares, columns.shares);
    Tensor sums = Tensor::zeros({shares, 2 * width});
    cut.for_each_row([&](size_t share, size_t t, size_t r) {
      const size_t at = (t * rows + r) * width;
      const bool padded = mask.defined() && mask_at(t)[r] == 0;
      for (size_t c = 0; c < width; ++c) dx[at + c] = padded ? 0 : dy[at + c];
      real* const own = sums.data() + share * 2 * width;
      if (by_rows) norm.backward_row(t, r, from + at, dx + at, own, own + width);
    });
    if (!by_rows)
      columns.for_each_columns([&](size_t share, size_t t, size_t begin, size_t end) {
        real* const own = sums.data() + share * 2 * width;
        norm.backward_columns(t, begin, end, from + t * rows * width, dx + t * rows * width, mask_at(t), own,
                              own + width);
      });
    contribute(raw, [=](size_t i) { return dx[i]; });
    norm.contribute(sums.data(), shares, 2 * width);
  });
}

}  // namespace lamina
