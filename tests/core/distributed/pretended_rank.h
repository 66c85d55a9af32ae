#pragma once
// This process as one of several ranks, without the others: sums add nothing, and what rank 0 broadcasts is given.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/distributed/group.h"
#include "core/real.h"

namespace lamina::test {

class PretendedRank {
 public:
  /// `first_says`: the text that rank 0 broadcasts; empty: what the caller has.
  PretendedRank(size_t rank, size_t size, std::string first_says = {}) {
    auto pretended = std::make_unique<Pretended>(rank, size, std::move(first_says));
    started_ = &pretended->started;
    distributed::join(std::move(pretended));
  }
  ~PretendedRank() { distributed::join(nullptr); }
  PretendedRank(const PretendedRank&) = delete;
  PretendedRank& operator=(const PretendedRank&) = delete;

  /// What sums were started of, in order.
  const std::vector<std::span<real>>& started() const { return *started_; }

 private:
  class Pretended final : public distributed::Group {
   public:
    Pretended(size_t rank, size_t size, std::string first_says)
        : rank_(rank), size_(size), first_says_(std::move(first_says)) {}
    size_t rank() const override { return rank_; }
    size_t size() const override { return size_; }
    void start_sum(std::span<real> values) override { started.push_back(values); }
    void broadcast(std::span<std::byte> values) override {
      if (first_says_.empty()) return;
      const std::uint64_t length = first_says_.size();
      if (values.size() == sizeof length && !length_said_)
        std::memcpy(values.data(), &length, sizeof length);
      else
        std::memcpy(values.data(), first_says_.data(), std::min(values.size(), first_says_.size()));
      length_said_ = !length_said_;
    }

    std::vector<std::span<real>> started;

   private:
    size_t rank_, size_;
    std::string first_says_;
    bool length_said_ = false;
  };

  std::vector<std::span<real>>* started_;
};

}  // namespace lamina::test
