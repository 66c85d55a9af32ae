#include "models/skip_thoughts/expansion.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

// LAPACK, which OpenBLAS contains: min |A X - B|, and among its solutions min |X|, by an orthogonal factorization.
// Matrices are stored by columns.
// NOLINTNEXTLINE(readability-identifier-naming): LAPACK's own name
extern "C" void dgelsy_(const int* rows, const int* columns, const int* right_sides, double* a,
                        const int* stride_a, double* b, const int* stride_b, int* pivots,
                        const double* condition, int* rank, double* work, const int* work_size, int* info);

namespace lamina::skip_thoughts {

namespace {

using Numbers = std::vector<double>;

/// Numbers of the rows that are chosen, by columns, each column with its mean subtracted.
struct Centred {
  Numbers values, means;
};

Centred centred(const real* from, size_t width, const std::vector<size_t>& rows, size_t stride) {
  Centred result{.values = Numbers(stride * width), .means = Numbers(width)};
  for (size_t column = 0; column < width; ++column) {
    double* const to = result.values.data() + column * stride;
    for (size_t i = 0; i < rows.size(); ++i) {
      to[i] = static_cast<double>(from[rows[i] * width + column]);
      result.means[column] += to[i] / static_cast<double>(rows.size());
    }
    for (size_t i = 0; i < rows.size(); ++i) to[i] -= result.means[column];
  }
  return result;
}

/// The minimum of |a x - b| over x: a [rows x columns], b [stride x sides] with x in the first `columns` rows after.
void least_squares(Numbers& a, size_t rows, size_t columns, Numbers& b, size_t stride, size_t sides) {
  const auto whole = [](size_t n) { return static_cast<int>(n); };
  const int m = whole(rows), n = whole(columns), s = whole(sides), stride_a = whole(stride),
            stride_b = stride_a;
  const double condition = 1e-10;
  std::vector<int> pivots(columns);
  int rank = 0, info = 0, work_size = -1;
  double wanted = 0;
  dgelsy_(&m, &n, &s, a.data(), &stride_a, b.data(), &stride_b, pivots.data(), &condition, &rank, &wanted,
          &work_size, &info);
  work_size = static_cast<int>(wanted);
  Numbers work(static_cast<size_t>(work_size));
  dgelsy_(&m, &n, &s, a.data(), &stride_a, b.data(), &stride_b, pivots.data(), &condition, &rank, work.data(),
          &work_size, &info);
  if (info != 0) fail("expansion: LAPACK's dgelsy says ", info);
}

}  // namespace

Expansion expand(const WordTable& known, const WordVectors& vectors) {
  const size_t width = known.vectors.columns();
  std::vector<size_t> ours, theirs, fresh;  // rows: of a shared word in both tables; of a new one
  for (size_t i = 0; i < vectors.words.size(); ++i) {
    const int number = known.vocabulary.number(vectors.words[i]);
    const bool is_unknown = number == Vocabulary::unknown;
    // Of <eos> and <unk> the vocabulary has its own.
    if (number == Vocabulary::end || (is_unknown && vectors.words[i] == known.vocabulary.word(number)))
      continue;
    if (is_unknown) {
      fresh.push_back(i);
    } else {
      ours.push_back(static_cast<size_t>(number));
      theirs.push_back(i);
    }
  }
  if (ours.empty())
    fail(
        "expansion: the word vectors share no word with the vocabulary; take vectors of words in lower case");

  const size_t stride = std::max(ours.size(), vectors.width);
  Centred x = centred(vectors.values.data(), vectors.width, theirs, stride);
  Centred y = centred(known.vectors.data(), width, ours, stride);
  least_squares(x.values, ours.size(), vectors.width, y.values, stride, width);

  std::vector<std::string> words;
  for (size_t i = 2; i < known.vocabulary.size(); ++i)
    words.push_back(known.vocabulary.word(static_cast<int>(i)));
  Tensor table({known.vectors.rows() + fresh.size(), width});
  std::ranges::copy(known.vectors.values(), table.data());
  real* to = table.data() + known.vectors.size();
  for (const size_t row : fresh) {
    words.push_back(vectors.words[row]);
    const real* const from = vectors.values.data() + row * vectors.width;
    for (size_t column = 0; column < width; ++column) {
      double sum = y.means[column];
      for (size_t i = 0; i < vectors.width; ++i)
        sum += (static_cast<double>(from[i]) - x.means[i]) * y.values[column * stride + i];
      *to++ = static_cast<real>(sum);
    }
  }
  return {.words = {.vocabulary = Vocabulary(words), .vectors = table},
          .shared = ours.size(),
          .added = fresh.size()};
}

}  // namespace lamina::skip_thoughts
