#include "core/distributed/gradient_sum.h"

#include <algorithm>

#include "core/distributed/group.h"

namespace lamina::distributed {

GradientSum::GradientSum(Parameters& parameters, size_t bucket, NeighbourSum* neighbours)
    : parameters_(parameters), bucket_(bucket), neighbours_(neighbours) {
  if (!is_shared()) return;
  const auto& learned = parameters.learned();
  for (size_t i = 0; i < learned.size(); ++i) number_of_[learned[i].value.storage()->id] = i;
  uses_.resize(learned.size());
  used_.resize(learned.size());
  // From here on no layer may rely on its own rows being the only ones that differ from zero.
  parameters.gradients();
  parameters.clear_gradients();
  cut_into_buckets();
}

/// From the last parameter to the first; a bucket ends where it is large enough, and at a frozen parameter. Nothing to do
/// where the same ones are frozen as before.
void GradientSum::cut_into_buckets() {
  const std::vector<Range>& trained = parameters_.trained();
  if (trained == trained_) return;
  trained_ = trained;
  buckets_.clear();
  const size_t count = parameters_.learned().size();
  for (auto range = trained.rbegin(); range != trained.rend(); ++range) {
    size_t end = range->end, last = count;
    while (last > 0 && parameters_.offset(last - 1) >= end) --last;
    for (size_t i = last; i > 0 && parameters_.offset(i - 1) >= range->begin; --i) {
      const size_t begin = parameters_.offset(i - 1);
      if (end - begin < bucket_ && begin > range->begin) continue;
      buckets_.push_back({.range = {begin, end}, .first = i - 1, .last = last});
      end = begin;
      last = i - 1;
    }
  }
}

void GradientSum::begin(SumsAre sums) {
  if (!is_shared()) return;
  left_ = sums == SumsAre::left_to_the_update && neighbours_ != nullptr;
  std::ranges::fill(uses_, 0);
  std::fill(used_.begin(), used_.end(), false);
  started_ = started_early_ = 0;
  if (TapeListener::current() == nullptr) listening_.emplace(*this);
}

void GradientSum::recorded(const Tape::Node& /*node*/, std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (input.defined())
      if (const auto found = number_of_.find(input.storage()->id); found != number_of_.end()) {
        ++uses_[found->second];
        used_[found->second] = true;
      }
}

void GradientSum::backward_ends(const Tape::Node& node) {
  for (const std::uint64_t id : node.inputs)
    if (const auto found = number_of_.find(id); found != number_of_.end()) --uses_[found->second];
  if (started_ == 0) cut_into_buckets();
  while (started_ < buckets_.size() && is_complete(buckets_[started_])) {
    start_next();
    ++started_early_;
  }
  if (neighbours_ != nullptr) neighbours_->progress();
  group().progress();
}

bool GradientSum::is_complete(const Bucket& bucket) const {
  for (size_t i = bucket.first; i < bucket.last; ++i)
    if (!used_[i] || uses_[i] > 0) return false;
  return true;
}

/// Parameters that no gradient has reached have zeros, since those of other ranks may have more.
void GradientSum::start_next() {
  const Bucket& bucket = buckets_[started_++];
  const auto& learned = parameters_.learned();
  for (size_t i = bucket.first; i < bucket.last; ++i) {
    detail::Storage& storage = *learned[i].value.storage();
    if (!storage.gradient_written) std::fill_n(storage.gradient, storage.size, real{0});
    storage.gradient_written = true;
  }
  if (left_) return;
  if (neighbours_ != nullptr) return neighbours_->start(bucket.range);
  real* const begin = learned[bucket.first].value.storage()->gradient;
  group().start_sum(std::span(begin, bucket.range.size()));
}

void GradientSum::finish() {
  if (!is_shared()) return;
  listening_.reset();
  if (started_ == 0) cut_into_buckets();
  while (started_ < buckets_.size()) start_next();
  if (left_)
    neighbours_->meet();
  else if (neighbours_ != nullptr)
    neighbours_->finish();
  group().finish();
}

void GradientSum::sum_here(Range range) const {
  if (left_) neighbours_->sum_here(range);
}

}  // namespace lamina::distributed
