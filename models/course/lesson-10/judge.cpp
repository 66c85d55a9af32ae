#include <list>
#include <stdexcept>

#include "../judge.h"
#include "exercises.h"

using course::compare;
using course::Numbers;

// --- The counting cache

size_t& Matrix::misses() {
  static size_t count = 0;
  return count;
}

Matrix::Matrix(size_t rows, size_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {
  static size_t next_line = 0;
  first_line_ = next_line;
  next_line += values_.size() / 8 + 1;
}

double& Matrix::operator()(size_t i, size_t j) {
  static std::list<size_t> lines(32, static_cast<size_t>(-1));  // last used first
  if (i >= rows_ || j >= columns_)
    throw std::out_of_range("your loops ask for element (" + std::to_string(i) + ", " + std::to_string(j) +
                            ") of a matrix [" + std::to_string(rows_) + " x " + std::to_string(columns_) +
                            "]");
  const size_t place = i * columns_ + j, line = first_line_ + place / 8;
  const auto found = std::find(lines.begin(), lines.end(), line);
  if (found == lines.end()) {
    ++misses();
    lines.pop_back();
    lines.push_front(line);
  } else {
    lines.splice(lines.begin(), lines, found);
  }
  return values_[place];
}

namespace {

std::string check_multiply() {
  const size_t n = 48;
  Matrix a(n, n), b(n, n), c(n, n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      a(i, j) = i == j       ? 2
                : j == i + 1 ? 1
                             : 0;  // as a product it is neither that of its transpose, nor from the right
      b(i, j) = static_cast<double>(i + 3 * j);
      c(i, j) = 1;
    }
  Matrix::misses() = 0;
  multiply(c, a, b);
  const size_t misses = Matrix::misses();
  Numbers yours, right, alone;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      yours.push_back(c(i, j));
      alone.push_back(2 * b(i, j) + (i + 1 < n ? b(i + 1, j) : 0));
      right.push_back(alone.back() + 1);
    }
  const std::string wrong =
      compare("c", yours, right, {{alone, "your c is the product alone: it must be added to what c was"}});
  if (!wrong.empty()) return wrong;
  Matrix wide(3, 5), high(5, 4), small(3, 4);
  for (size_t k = 0; k < 5; ++k) {
    for (size_t i = 0; i < 3; ++i) wide(i, k) = static_cast<double>(i + 1);
    for (size_t j = 0; j < 4; ++j) high(k, j) = static_cast<double>(j + 1);
  }
  multiply(small, wide, high);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j)
      if (small(i, j) != 5 * static_cast<double>((i + 1) * (j + 1)))
        return "your c is right for square matrices, not for a [3 x 5] and b [5 x 4]";
  if (misses > 150000) return "your innermost loop runs down columns of a and c: even more misses";
  if (misses > 30000)
    return "your c is right, after " + std::to_string(misses) +
           " cache misses; another order has below 20000";
  return "";
}

std::string check_pack() {
  const size_t depth = 3, columns = 5, width = 4;
  Numbers b, right = {0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 4, 0, 0, 0, 9, 0, 0, 0, 14, 0, 0, 0};
  for (size_t i = 0; i < depth * columns; ++i) b.push_back(static_cast<double>(i));
  Numbers by_columns(right.size()), as_it_was(right.size()), overlapping(right.size());
  for (size_t k = 0; k < depth; ++k)
    for (size_t j = 0; j < columns; ++j) {
      by_columns[j * depth + k] = b[k * columns + j];
      as_it_was[k * columns + j] = b[k * columns + j];
      overlapping[j / width * depth + k * width + j % width] = b[k * columns + j];
    }
  return compare(
      "packed", pack(b, depth, columns, width), right,
      {{by_columns, "your panels are stored column by column: a tile reads a row of the panel at once"},
       {as_it_was, "your result is b as it was: rows of all columns, no panels"},
       {overlapping, "your panels overlap: each takes depth * width numbers"}});
}

std::string check_share() {
  size_t taken = 0, largest = 0, smallest = 10, last = 0;
  for (size_t thread = 0, next = 0; thread < 4; ++thread) {
    const auto [first, second] = share(10, thread, 4);
    if (second <= first)
      return "your share of thread " + std::to_string(thread) + " is empty: not written yet?";
    if (first < next) return "your shares overlap: a row would be added twice";
    if (first > next) return "your shares leave out row " + std::to_string(next) + " of 10 on 4 threads";
    next = second, taken += second - first;
    last = second - first, largest = std::max(largest, last), smallest = std::min(smallest, last);
  }
  if (taken < 10) return "your shares leave out the last rows when the threads do not divide them";
  if (largest > smallest + 1 && last == largest)
    return "your last thread takes all rows that the division leaves over: 10 rows on 4 threads as 2, 2, 2, "
           "4";
  if (largest > smallest + 1)
    return "your division rounds up: 10 rows on 4 threads as 3, 3, 3, 1; two threads can take 2";
  if (taken > 10) return "your shares go beyond the last row";
  for (const auto& [rows, threads] : {std::pair<size_t, size_t>{8, 4}, {7, 3}, {3, 4}}) {
    size_t next = 0, most = 0, least = rows;
    for (size_t thread = 0; thread < threads; ++thread) {
      const auto [first, second] = share(rows, thread, threads);
      const bool follows = first == second || (first == next && second > first && second <= rows);
      const size_t own = follows ? second - first : rows;
      next += own, most = std::max(most, own), least = std::min(least, own);
    }
    if (next != rows || most > least + 1)
      return "your shares are right for 10 rows on 4 threads, not for " + std::to_string(rows) + " on " +
             std::to_string(threads);
  }
  return "";
}

std::string check_attainable() {
  return compare(
      "roof", {attainable(4, 100, 200, 128, 40), attainable(64, 100, 200, 128, 40)}, {40, 128},
      {{{128, 640}, "your roof is the higher of the two"},
       {{20, 128}, "your roof counts a multiplication and an addition as one FLOP"},
       {{40, 2.5}, "your roof divides bytes by FLOP"},
       {{40 / 1.06, 128}, "your roof counts the bytes of x and y, too; only W comes from memory"}});
}

}  // namespace

int main() {
  course::exercise("multiply", check_multiply);
  course::exercise("pack", check_pack);
  course::exercise("share", check_share);
  course::exercise("attainable", check_attainable);
  return course::verdict();
}
