#pragma once
// One copy of a model's values and of its optimizer's state for all ranks of a machine.
//
// While a SharedModel lives, the ranks have these in common memory, at the addresses where each has had its own: a step of
// the optimizer updates this rank's part of them, and after updated() every rank sees all. Gradients stay each rank's
// own, but the others can read them, so that their sums need no messages.
//
//   SharedModel model(parameters, optimizer.state());     // all ranks together, with equal models
//   optimizer.update_part(model.own_part());
//   ... gradients summed (gradient_sum.h), optimizer.step() ...
//   model.updated();
//
// Does nothing in a process alone, and where ranks cannot read each other's memory: on several machines, in containers of
// their own, or with LAMINA_SHARED_MEMORY=0. Then each rank updates a model of its own.

#include <optional>
#include <vector>

#include "core/distributed/machine/memory_file.h"
#include "core/distributed/machine/neighbour_sum.h"
#include "core/parameters.h"

namespace lamina::distributed {

/// Whether this rank holds these parameters in common with others: what each of them writes there, all have. A change that
/// every rank makes of a model of its own would be made several times.
bool is_common(Parameters& parameters);

/// Of the flat buffers.
inline constexpr Range all_parameters{0, static_cast<size_t>(-1)};

class SharedModel {
 public:
  /// `parameters` must outlive this, and may not grow. `state` are tensors in the layout of parameters.values(); Error
  /// where ranks would share one of another size.
  explicit SharedModel(Parameters& parameters, const std::vector<Parameters::Entry>& state = {});
  /// Every rank has a copy of its own again.
  ~SharedModel();
  SharedModel(const SharedModel&) = delete;
  SharedModel& operator=(const SharedModel&) = delete;

  /// Sums over the ranks' gradients; null where nothing is shared.
  NeighbourSum* sum() { return sum_ ? &*sum_ : nullptr; }

  /// Of the flat buffers, where the optimizer is to update them (Optimizer::update_part()): all where nothing is shared.
  Range own_part() const { return own_part_; }

  /// After the optimizer's step: waits for those of the other ranks.
  void updated() { meet(); }

  /// Waits for the other ranks where the model is shared: what one of them has read of it before, all may change after.
  void meet();

 private:
  struct Block {
    std::byte* place;
    size_t bytes;  ///< whole pages
  };
  void find_blocks(const std::vector<Parameters::Entry>& state);
  std::vector<Descriptor> open_files(const Descriptor& own) const;
  void share(const std::vector<Descriptor>& files);

  Parameters& parameters_;
  Range own_part_ = all_parameters;
  std::vector<Block> blocks_;  ///< gradients, values, and state of the optimizer
  std::vector<Block> views_;   ///< of each rank: a page of signals, then its gradients
  std::optional<NeighbourSum> sum_;
};

}  // namespace lamina::distributed
