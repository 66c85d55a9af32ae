#pragma once
// Groups of ranks for bench_ranks: one that only notes when its sums start, and one whose sums take longer than they do.

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/distributed/group.h"
#include "tools/bench/bench.h"

namespace lamina::bench {

/// Rank 0 of two, without the other one: a step as it would run with a network that takes no time.
class Timeline final : public distributed::Group {
 public:
  struct Sum {
    size_t bytes;
    double at;  ///< seconds after begin()
  };

  size_t size() const override { return 2; }
  void start_sum(std::span<float> values) override { note(values.size_bytes()); }
  void start_sum(std::span<double> values) override { note(values.size_bytes()); }
  void finish() override { finished_ = now() - began_; }

  void begin() {
    began_ = now();
    sums_.clear();
  }
  const std::vector<Sum>& sums() const { return sums_; }
  double finished() const { return finished_; }  ///< when the step began to wait for its sums, in seconds

 private:
  void note(size_t bytes) { sums_.push_back({bytes, now() - began_}); }

  double began_ = 0, finished_ = 0;
  std::vector<Sum> sums_;
};

/// The sums of a group as if its network took `seconds_a_sum` + `seconds_a_byte` bytes for each, one after another.
class DelayedGroup final : public distributed::Group {
 public:
  struct Cost {
    double seconds_a_sum = 0, seconds_a_byte = 0;
  };

  DelayedGroup(std::unique_ptr<distributed::Group> group, Cost cost)
      : group_(std::move(group)), cost_(cost) {}

  size_t rank() const override { return group_->rank(); }
  size_t size() const override { return group_->size(); }
  size_t cores() const override { return group_->cores(); }
  size_t machines() const override { return group_->size(); }  ///< so that they send all messages
  void sum(std::span<float> values) override { group_->sum(values); }
  void sum(std::span<double> values) override { group_->sum(values); }
  void broadcast(std::span<std::byte> values) override { group_->broadcast(values); }
  void barrier() override { group_->barrier(); }
  void abort(int code) override { group_->abort(code); }
  void progress() override { group_->progress(); }

  void start_sum(std::span<float> values) override { start(values); }
  void start_sum(std::span<double> values) override { start(values); }
  void finish() override {
    group_->finish();
    if (const double left = due_ - now(); left > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }

 private:
  template <class Number>
  void start(std::span<Number> values) {
    due_ = std::max(due_, now()) + cost_.seconds_a_sum +
           cost_.seconds_a_byte * static_cast<double>(values.size_bytes());
    group_->start_sum(values);
  }

  std::unique_ptr<distributed::Group> group_;
  Cost cost_;
  double due_ = 0;  ///< when all sums that were started have ended
};

}  // namespace lamina::bench
