#include "layers/embedding.h"

#include <algorithm>
#include <numeric>

#include "core/memory/cached_vector.h"
#include "core/ops.h"
#include "core/tape.h"
#include "core/threads/parallel.h"
#include "layers/named.h"

namespace lamina {

/// The rows of the gradient's buffer that may differ from zero, valid while the storage's gradient_in_rows is
/// set and its gradient_exposed is not.
struct Embedding::Used {
  std::vector<int> rows;        ///< each once
  std::vector<bool> listed;     ///< whether a row is in `rows`
  std::uint32_t clearings = 0;  ///< the storage's count of clearings when `rows` was made
  std::vector<int> all;         ///< every row, once it was requested
  std::vector<int> written;     ///< `rows` and what others have written, once it was requested

  /// Makes the buffer zero; `in_rows`: no other rows differ from zero.
  void clear(real* gradient, size_t size, size_t width, bool in_rows) {
    if (in_rows)
      for (const int row : rows) std::fill_n(gradient + static_cast<size_t>(row) * width, width, real{0});
    else
      std::fill_n(gradient, size, real{0});
    forget();
  }

  void forget() {
    for (const int row : rows) listed[static_cast<size_t>(row)] = false;
    rows.clear();
  }

  /// Those in `rows`, and others that differ from zero.
  std::span<const int> find_written(const real* gradient, size_t width) {
    written = rows;
    for (size_t row = 0; row < listed.size(); ++row) {
      const std::span<const real> values(gradient + row * width, width);
      if (!listed[row] && std::ranges::any_of(values, [](real v) { return v != 0; }))
        written.push_back(static_cast<int>(row));
    }
    return written;
  }

  void add(int row) {
    if (listed[static_cast<size_t>(row)]) return;
    listed[static_cast<size_t>(row)] = true;
    rows.push_back(row);
  }
};

Embedding::Embedding(Parameters& parameters, const std::string& name, const EmbeddingOptions& options)
    : name_(name), used_(std::make_shared<Used>()) {
  if (options.entries == 0 || options.width == 0)
    fail("embedding '", name, "': ", options.entries, " entries of width ", options.width,
         "; both must be positive");
  table_ = parameters.add(
      name, initial_values(options.initial, name, {options.entries, options.width}, parameters.random(name)));
  used_->rows.reserve(options.entries);
  used_->listed.resize(options.entries);
}

Tensor Embedding::operator()(std::span<const int> indices) const {
  Tensor y;
  {
    const Tape::Pause pause;
    y = in_layer(name_, [&] { return gather(table_, indices); });
  }
  if (Tape::recording({&table_, 1}) == nullptr) return y;
  return record("embedding", y, {table_},
                [=, table = table_, used = used_, kept = CachedVector<int>(indices.begin(), indices.end())] {
                  detail::Storage& storage = *table.storage();
                  const bool in_rows = storage.gradient_in_rows;
                  const GradientSink sink = table.gradient_sink();
                  const size_t width = table.columns();
                  if (!sink.add)
                    used->clear(sink.values, table.size(), width, in_rows && !storage.gradient_exposed);
                  else if (used->clearings != storage.clearings)
                    used->forget();
                  storage.gradient_in_rows = !sink.add || in_rows;
                  used->clearings = storage.clearings;
                  for (const int row : kept) used->add(row);
                  const auto add_columns = [&, dy = y.gradient_data()](size_t begin, size_t end) {
                    for (size_t i = 0; i < kept.size(); ++i) {
                      real* const target = sink.values + static_cast<size_t>(kept[i]) * width;
#pragma omp simd
                      for (size_t d = begin; d < end; ++d) target[d] += dy[i * width + d];
                    }
                  };
                  parallel_for(width, grain_of(kept.size()), add_columns, 16);
                });
}

std::function<std::span<const int>()> Embedding::used_rows() const {
  return [used = used_, table = table_]() -> std::span<const int> {
    const real* const gradient = table.gradient_data();
    if (gradient == nullptr) return {};
    const detail::Storage& storage = *table.storage();
    const bool current = used->clearings == storage.clearings;
    if (storage.gradient_in_rows && storage.gradient_exposed) {
      if (!current) used->forget();
      return used->find_written(gradient, table.columns());
    }
    if (storage.gradient_in_rows) return current ? std::span<const int>(used->rows) : std::span<const int>();
    if (used->all.empty()) {
      used->all.resize(table.rows());
      std::iota(used->all.begin(), used->all.end(), 0);
    }
    return used->all;
  };
}

}  // namespace lamina
