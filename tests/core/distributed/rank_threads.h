#pragma once
// Several ranks without MPI: threads of this process, whose sums are real ones. Each computes with one thread.

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/distributed/group.h"
#include "core/threads/parallel.h"

namespace lamina::test {

class ThreadGroup final : public distributed::Group {
 public:
  explicit ThreadGroup(size_t size)
      : size_(size), meeting_(static_cast<std::ptrdiff_t>(size)), given_(size) {}

  static inline thread_local size_t own_rank = 0;

  size_t rank() const override { return own_rank; }
  size_t size() const override { return size_; }
  void sum(std::span<float> values) override { add(values); }
  void sum(std::span<double> values) override { add(values); }
  void start_sum(std::span<float> values) override { add(values); }
  void start_sum(std::span<double> values) override { add(values); }
  void broadcast(std::span<std::byte> values) override {
    given_[own_rank] = values.data();
    meeting_.arrive_and_wait();
    // Not by memcpy, which must not be given the null of an empty range.
    if (own_rank > 0) std::copy_n(static_cast<const std::byte*>(given_[0]), values.size(), values.data());
    meeting_.arrive_and_wait();
  }

 private:
  template <class Number>
  void add(std::span<Number> values) {
    given_[own_rank] = values.data();
    meeting_.arrive_and_wait();
    std::vector<Number> sums(values.size());
    for (const void* const other : given_)
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<const Number*>(other)[i];
    meeting_.arrive_and_wait();
    std::ranges::copy(sums, values.begin());
    meeting_.arrive_and_wait();
  }

  size_t size_;
  std::barrier<> meeting_;
  std::vector<void*> given_;
};

/// body() on each of `ranks` ranks at the same time.
template <class Body>
void on_ranks(size_t ranks, const Body& body) {
  const int before = threads();
  set_threads(1);
  distributed::join(std::make_unique<ThreadGroup>(ranks));
  {
    std::vector<std::jthread> all;
    for (size_t rank = 0; rank < ranks; ++rank)
      all.emplace_back([&body, rank] {
        ThreadGroup::own_rank = rank;
        body();
      });
  }
  distributed::join(nullptr);
  set_threads(before);
}

}  // namespace lamina::test
