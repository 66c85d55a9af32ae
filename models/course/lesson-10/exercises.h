#pragma once
#include <cstddef>
#include <utility>
#include <vector>

/// A matrix whose every access goes through a small cache that counts: 32 lines of 8 numbers, of which the one that
/// was unused for longest is given up. So a program can be judged without a clock.
class Matrix {
 public:
  Matrix(size_t rows, size_t columns);
  double& operator()(size_t i, size_t j);
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  static size_t& misses();  ///< of all matrices

 private:
  size_t rows_, columns_, first_line_;
  std::vector<double> values_;
};

// order.cpp: c += a b
void multiply(Matrix& c, Matrix& a, Matrix& b);

// pack.cpp: b [depth x columns], row by row, as panels of `width` columns each, one after another; in a panel row by row
std::vector<double> pack(const std::vector<double>& b, size_t depth, size_t columns, size_t width);

// share.cpp: thread number `thread` of `threads` takes the rows [first, second) of `rows`
std::pair<size_t, size_t> share(size_t rows, size_t thread, size_t threads);

// roofline.cpp: GFLOP/s that y = x W can reach, x [batch x in], W [in x out], doubles
double attainable(double batch, double in, double out, double peak_gflops, double memory_gbytes);
