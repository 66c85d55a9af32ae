#pragma once
// How threads share the steps of a sequence.
//
//   by rows      each thread takes its own cases of the batch through all steps and never waits for another:
//                possible when nothing but the weights is shared between cases, as without normalization or
//                with layer norm
//   by columns   each thread computes its own columns of every product and its own rows of everything else, with
//                barriers between: necessary for batch norm, and better when the weights are too large to be
//                read by every thread or the rows too few to share out

#include "core/gemm/gemm.h"
#include "core/threads/parallel.h"

namespace lamina {

/// What one thread does.
struct Share {
  size_t thread = 0, team = 1;
  bool by_rows = true;
  Range rows;             ///< for all row-wise work
  Range rows_of_product;  ///< of products

  /// body(begin, end) for this thread's columns out of `width`, if any.
  template <class Body>
  void for_columns(size_t width, const Body& body) const {
    const Range columns = by_rows ? Range{0, width} : part_of(width, thread, team, packed_column_step());
    if (columns.size() > 0) body(columns.begin, columns.end);
  }

  /// Waits for the others, where they work on the same rows.
  void wait() const {
    if (!by_rows && team > 1) barrier();
  }
};

class ThreadSchedule {
 public:
  /// For `steps` products of [rows x inner] by [inner x width]. The limits were measured with 2 threads.
  ThreadSchedule(size_t rows, size_t inner, size_t width, size_t steps, bool rows_are_independent)
      : rows_(rows) {
    constexpr double least_work = 1e6;  // multiplications that are worth a parallel region or a barrier
    constexpr size_t least_rows = 12;   // per thread, for the product kernel to use the weights it reads
    constexpr size_t most_weights = size_t{8} << 20;  // bytes that may be read by every thread
    const auto team = static_cast<size_t>(lamina::threads());
    const double step_work =
        static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(width);
    by_rows_ =
        rows_are_independent && rows >= least_rows * team && inner * width * sizeof(real) <= most_weights;
    const bool worth_it =
        by_rows_ ? step_work * static_cast<double>(steps) > least_work : step_work > least_work;
    threads_ = worth_it && !inside_share() ? team : 1;
  }

  size_t threads() const { return threads_; }

  /// body(share) once on every thread of the team.
  template <class Body>
  void run(const Body& body) const {
    if (threads_ == 1) {
      body(Share{.rows = {0, rows_}, .rows_of_product = {0, rows_}});
      return;
    }
    const auto member = [&](size_t thread) {
      const Range own = part_of(rows_, thread, threads_);
      body(Share{.thread = thread,
                 .team = threads_,
                 .by_rows = by_rows_,
                 .rows = own,
                 .rows_of_product = by_rows_ ? own : Range{0, rows_}});
    };
    if (by_rows_)
      for_each_share(threads_, member);
    else
      for_each_member(threads_, member);
  }

 private:
  size_t rows_, threads_ = 1;
  bool by_rows_ = true;
};

}  // namespace lamina
