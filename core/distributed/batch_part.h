#pragma once
// The part of a batch that a rank computes.
//
// Batches, noise and dropout are functions of the step and of the case's number in the batch, never of the rank: n ranks
// compute what one rank computes, up to the order in which numbers are added. For a loss that is a mean over cases:
//
//   const BatchPart part = part_of_batch(batch);                     // inside of a shared step: this rank's cases
//   return part_of_mean(mean_loss_of(cases[part.begin .. part.end]), part);   // the ranks' results sum to the batch's

#include <cstddef>

#include "core/tensor.h"

namespace lamina {

/// Where a model's tensors have the cases: [B x ...], or [T x B x D] and [B x D].
enum class CaseAxis { first, last_but_one };

/// The cases [begin, end) of a batch of `whole`.
struct BatchPart {
  size_t begin = 0, end = 0, whole = 0;
  CaseAxis axis = CaseAxis::first;
  size_t size() const { return end - begin; }
  bool is_all() const { return size() == whole; }
};

namespace distributed {

/// While one lives, this thread computes a training step together with the other ranks. Outside of it each rank
/// computes on its own: evaluation, for example.
class SharedStep {
 public:
  SharedStep();
  ~SharedStep();
  SharedStep(const SharedStep&) = delete;
  SharedStep& operator=(const SharedStep&) = delete;
};

/// Whether this thread is in a step that several ranks share.
bool in_shared_step();

/// From here on BatchNorm takes its statistics over the cases of all ranks in shared steps; by default, as most
/// frameworks do, over this rank's.
void synchronize_statistics(bool synchronize);
bool synchronizes_statistics();  ///< in the shared step under way

}  // namespace distributed

/// This rank's part of a batch of so many cases in a shared step, else all of it. Parts differ by at most one case;
/// Error when there are fewer cases than ranks. `axis` tells dropout where they are.
BatchPart part_of_batch(size_t cases, CaseAxis axis = CaseAxis::first);

/// What part_of_batch() answered last in the shared step under way; elsewhere nothing: `whole` is 0.
BatchPart current_batch_part();

/// The mean over the cases of a part -> its summand in the mean over the whole batch; the mean itself when the part is
/// all.
Tensor part_of_mean(const Tensor& mean, const BatchPart& part);

/// The rows of all ranks, one rank's after another's: [part.size() x D] -> [part.whole x D]. Its backward pass sums the
/// gradients of all ranks, whose losses are summands of one loss. x itself when the part is all.
Tensor gather_rows(const Tensor& x, const BatchPart& part);

}  // namespace lamina
