// The rows that a thread takes: every row is taken once, and no thread takes two more than another.
#include <algorithm>

#include "exercises.h"

std::pair<size_t, size_t> share(size_t rows, size_t thread, size_t threads) {
  // [ your code
  return {rows * thread / threads, rows * (thread + 1) / threads};
  // | return {0, 0};
  // ]
  // mistake: your shares leave out the last rows when the threads do not divide them
  // ~ return {rows / threads * thread, rows / threads * (thread + 1)};
  // mistake: your last thread takes all rows that the division leaves over: 10 rows on 4 threads as 2, 2, 2, 4
  // ~ return {rows / threads * thread, thread + 1 == threads ? rows : rows / threads * (thread + 1)};
  // mistake: your division rounds up: 10 rows on 4 threads as 3, 3, 3, 1; two threads can take 2
  // ~ const size_t each = (rows + threads - 1) / threads;
  // ~ return {each * thread, std::min(rows, each * (thread + 1))};
  // mistake: your shares overlap: a row would be added twice
  // ~ return {rows * thread / threads, rows * (thread + 1) / threads + 1};
  // mistake: your shares are right for 10 rows on 4 threads, not for 8 on 4
  // ~ return {5 * thread / 2, 5 * (thread + 1) / 2};
  // mistake: your shares are right for 10 rows on 4 threads, not for 3 on 4
  // ~ if (rows < threads) return {thread, thread + 1};
  // ~ return {rows * thread / threads, rows * (thread + 1) / threads};
}
