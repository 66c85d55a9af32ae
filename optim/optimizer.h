#pragma once
// What all optimizers share: what a training loop asks of one, what a checkpoint keeps of it, and the rows of
// a table that a step may leave alone.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ops/map.h"
#include "core/parameters.h"

namespace lamina {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates every parameter from its gradient and sets the gradients to zero. Throws Error when parameters
  /// were added after this optimizer was made or are gone, when no gradient has arrived since the last step, and
  /// for a learning rate that is negative or no number.
  virtual void step() = 0;

  /// For checkpoints: what the next step depends on besides parameters, options and `steps`, each [n] in the
  /// layout of parameters.values(). The tensors share their buffers with the optimizer's: values written into
  /// them are restored.
  virtual std::vector<Parameters::Entry> state() const = 0;

  /// From here on a step updates only these rows of `table`, weights and state, and leaves the others as they
  /// are, where Adam would let them drift on along their old moments and decay these (lazy Adam). A step that
  /// does not use the table leaves all of it. `rows` is asked at each step and must list all rows whose
  /// gradient is not zero. Throws Error when `table` is no parameter.
  void update_only(const Tensor& table, std::function<std::span<const int>()> rows);

  const std::string& name() const { return name_; }  ///< "adam", "sgd"

  std::uint64_t steps = 0;  ///< taken so far

 protected:
  /// Make it after the layers have added their parameters.
  Optimizer(Parameters& parameters, std::string name)
      : parameters_(parameters),
        lifetime_(parameters.lifetime()),
        name_(std::move(name)),
        size_(parameters.values().size()) {}

  /// Zeros in the layout of parameters.values().
  Tensor zeros() const { return Tensor::zeros({size_}); }

  /// Counts the step, calls update(i) for every number that it is to update, and clears the gradients.
  /// Iterations must not depend on each other.
  template <class Update>
  void update_each(const Update& update);

  /// Throws the Errors of step().
  void require_step(real learning_rate) const;

  Parameters& parameters_;

 private:
  void require_parameters() const;

  /// A table in the flat buffers, and those of its rows that are updated.
  struct Lazy {
    size_t begin, end, width;
    std::function<std::span<const int>()> rows;
  };

  std::weak_ptr<const void> lifetime_;  ///< of the parameters
  std::string name_;
  size_t size_;
  std::vector<Lazy> lazy_;  // in the order of the flat buffers
};

template <class Update>
void Optimizer::update_each(const Update& update) {
  const auto update_range = [&](size_t begin, size_t end) {
    for_each_index(end - begin, [=](size_t i) { update(begin + i); });
  };
  size_t done = 0;
  for (const Lazy& lazy : lazy_) {
    update_range(done, lazy.begin);
    for (const int row : lazy.rows()) {
      const size_t begin = lazy.begin + static_cast<size_t>(row) * lazy.width;
      update_range(begin, begin + lazy.width);
    }
    done = lazy.end;
  }
  update_range(done, size_);
  parameters_.clear_gradients();
}

}  // namespace lamina
