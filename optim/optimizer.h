#pragma once
// What all optimizers share: the interface for a training loop, the state for a checkpoint, and the rows of a
// table that a step need not update.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/parameters.h"
#include "core/threads/parallel.h"

namespace lamina {

/// Parameters that an optimizer updates with separate settings. The rates may be changed between steps, the
/// names may not.
///
///   Adam adam(parameters, {.learning_rate = 1e-3,
///                          .groups = {{.names = {"encoder"}, .learning_rate_factor = 0.1},
///                                     {.names = {"output.bias"}, .weight_decay = 0}}});
struct ParameterGroup {
  std::vector<std::string> names;  ///< as core/parameters.h takes them: "encoder" means all in it
  /// Instead of the optimizer's.
  std::optional<real> learning_rate = {};
  /// A factor on that rate, or on the optimizer's, which a schedule may change.
  real learning_rate_factor = 1;
  /// Instead of the optimizer's.
  std::optional<real> weight_decay = {};
};

/// Which parameters the weight decay applies to.
enum class Decayed {
  all,
  matrices  ///< those of two and more dimensions, but no biases and gains, which are known by their names: "norm.gain"
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// A copy would have its own count of steps, and share the moments.
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that is not frozen from its gradient and sets the gradients to zero. One that no gradient has
  /// reached, where others have one, has a gradient of 0: momentum and weight decay move it on, where PyTorch skips it. Throws
  /// Error when parameters were added after this optimizer was made, no longer exist or are locked, when no
  /// gradient has arrived since the last step, and for a learning rate or weight decay that is negative or NaN.
  virtual void step() = 0;

  /// For checkpoints: everything that the next step depends on besides parameters, options, `steps` and
  /// `missed`, each [n] in the layout of parameters.values(). The tensors share their buffers with the
  /// optimizer's: values written into them are restored. step() writes them in update_each() alone, which knows what
  /// update_part() leaves to other processes.
  virtual std::vector<Parameters::Entry> state() const = 0;

  /// From here on a step updates only these rows of `table`, weights and state, and leaves the others
  /// unchanged, where Adam would keep moving them along their old moments and decay these (lazy Adam). A step
  /// that does not use the table leaves all of it unchanged. `rows` is called at each step and must list all
  /// rows whose gradient is not zero; each is updated once, and step() throws Error for one that the table does
  /// not have. Throws Error when `table` is not a parameter, and when it was named before.
  void update_only(const Tensor& table, std::function<std::span<const int>()> rows);
  bool updates_rows_only() const { return !lazy_.empty(); }  ///< of some table

  /// From here on a step updates only the numbers in this range of the flat buffers and their state: other processes hold
  /// the same ones and update the rest (core/distributed/machine/shared_model.h).
  /// `before_reading` is called with each piece of them, just before their gradients are read and while the next ones are
  /// not: one that completes the gradients there finds them in a cache, and leaves them in it. Called by several threads,
  /// and may not throw.
  void update_part(Range range, std::function<void(Range)> before_reading = {}) {
    own_part_ = range;
    before_reading_ = std::move(before_reading);
  }

  const std::string& name() const { return name_; }  ///< "adam", "adamw", "sgd"

  /// The rate of the last step, apart from those of groups and from bias corrections; 0 before the first.
  real learning_rate() const { return learning_rate_; }

  std::uint64_t steps = 0;  ///< taken so far

  /// How many of them each of parameters.learned() has missed because it was frozen; empty: none has missed
  /// any. Adam corrects each one's moments by the number of steps in which it was updated.
  std::vector<std::uint64_t> missed;

 protected:
  /// Make it after the layers have added their parameters. Throws Error for a group that names no parameter, and for
  /// a parameter in two groups.
  Optimizer(Parameters& parameters, std::string name, const std::vector<ParameterGroup>& groups = {});

  /// Zeros in the layout of parameters.values().
  Tensor zeros() const { return Tensor::zeros({size_}); }

  /// The parameters, wherever they have been moved. Throws Error when they no longer exist.
  Parameters& parameters() const;

  /// What a step does.
  struct Rule {
    real learning_rate, weight_decay;
    std::span<const ParameterGroup> groups;
    Decayed decayed = Decayed::all;
  };

  /// Numbers of the flat buffers that are updated alike.
  struct Part {
    size_t begin, end;
    real learning_rate, weight_decay;
    std::uint64_t steps;  ///< in which they were updated, this one included
  };

  /// Throws the Errors of step(), counts the step and finds its parts: a single part where nothing is frozen
  /// and there are no groups.
  void begin_step(const Rule& rule);

  /// make(part) returns a function, which is called with every i of the part that is updated; at the end the
  /// gradients are cleared. Iterations must not depend on each other. Throws Error where begin_step() was never called.
  template <class Make>
  void update_each(const Make& make);

 private:
  template <class Update>
  void update_in_pieces(Range range, const Update& update) const;
  void add_parts(const Rule& rule);
  void require_rate(real learning_rate) const;
  void list_rows();

  /// A table in the flat buffers, and the rows of it that are updated.
  struct Lazy {
    size_t begin, end, width;
    std::function<std::span<const int>()> rows;
    std::vector<bool> listed;  ///< whether a row is in `chosen`
    std::vector<int> chosen;   ///< those of the current step, each once
  };

  std::weak_ptr<Parameters* const> lifetime_;
  std::string name_;
  size_t size_;
  std::vector<size_t> group_of_;  // of each learned parameter; without groups empty
  size_t groups_;
  real learning_rate_ = 0;
  std::vector<Part> parts_;  // of the current step
  Range own_part_{0, static_cast<size_t>(-1)};
  std::function<void(Range)> before_reading_;
  std::vector<Lazy> lazy_;  // in the order of the flat buffers
};

template <class Update>
void Optimizer::update_in_pieces(Range range, const Update& update) const {
  constexpr size_t piece = 1024;  // of five buffers: half of an L1
  parallel_for(
      range.size(), elementwise_grain,
      [&](size_t begin, size_t end) {
        begin += range.begin;
        end += range.begin;
        for (size_t next = begin; begin < end; begin = next) {
          next = std::min(begin + piece, end);
          before_reading_({begin, next});
#pragma omp simd
          for (size_t i = begin; i < next; ++i) update(i);
        }
      },
      16);
}

template <class Make>
void Optimizer::update_each(const Make& make) {
  if (parts_.empty() && !parameters().trained().empty())
    fail(name_, ": update_each() without begin_step(); call that first in step()");
  for (const Part& part : parts_) {
    const auto update = make(part);
    const auto update_range = [&](size_t begin, size_t end) {
      begin = std::max(begin, own_part_.begin);
      end = std::min(end, own_part_.end);
      if (begin >= end) return;
      if (before_reading_)
        update_in_pieces({begin, end}, update);
      else
        for_each_index(end - begin, [=](size_t i) { update(begin + i); });
    };
    size_t done = part.begin;
    for (const Lazy& lazy : lazy_) {
      if (lazy.begin < part.begin || lazy.end > part.end) continue;
      update_range(done, lazy.begin);
      for (const int row : lazy.chosen) {
        const size_t begin = lazy.begin + static_cast<size_t>(row) * lazy.width;
        update_range(begin, begin + lazy.width);
      }
      done = lazy.end;
    }
    update_range(done, part.end);
  }
  parameters().clear_gradients();
}

}  // namespace lamina
