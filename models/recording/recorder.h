#pragma once
// What --record every=N records in a training step: the summed inputs, gains and biases, weight vectors and
// their rotation, gradients, units that never fire, and a recurrent layer's states over time. It only reads:
// a run is the same, bit for bit, with and without it.
//
//   summed_inputs.mean                  of a = W h + b, before normalization, over cases and units
//   summed_inputs.deviation_over_units  Eq. 3's sigma: for each case over the units; mean over cases
//   summed_inputs.deviation_over_cases  Eq. 2's sigma: for each unit over the batch; mean over units
//   outputs.dead                        fraction of a relu's units (maps: channels) at 0 in every case: no gradient
//                                       reaches their weights. A leaky relu has none; relus are found by
//                                       OpKind
//   input.mean, input.deviation         of a norm's rows: Eq. 3's mu and sigma; mean over the rows
//   input.turned                        the angle in radians between a norm's input and its result, row by row: how
//                                       much it changes the direction; mean over the rows
//   passed.along_one, passed.along_input  of the gradient that a norm passes back to its input, row by row, the
//                                       components along 1 and along the centred input x - mean(x), absolute and
//                                       relative to its length; mean over the rows
//   hidden.length, hidden.gradient      a recurrent layer's norm2(h_t), norm2(dL/dh_t); mean over cases that are not padded
//   gain.mean, .deviation, .min, .max   and likewise for every parameter with one number per unit
//   weight.length.mean, .min, .max      norm2(w_i) over the units i; w_i is a column of W as it is stored
//   weight.change.mean, .min, .max      the effective learning rate: norm2(w_i' - w_i) / norm2(w_i)
//   weight.angle.mean, .min, .max       between w_i and w_i', in radians
//   weight.gradient                     norm2(dL/dW), before it is clipped; like hidden.gradient, after the derivatives that the
//                                       backward pass clips (handwriting)
//
// Lengths, gains and biases are those at the start of the step.

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/listener.h"
#include "core/parameters.h"
#include "layers/recurrent/fused/sequence_record.h"
#include "models/recording/layer_names.h"
#include "models/recording/record.h"
#include "models/recording/vector_changes.h"
#include "models/run/run_folder.h"

namespace lamina {

/// Over the numbers that are not NaN; NaN when there are none.
struct Summary {
  double mean = 0, deviation = 0, min = 0, max = 0;
};
Summary summary_of(const std::vector<double>& values);
/// The same of numbers that none may lack, as parameters: NaN in all four where one is NaN.
Summary summary_of_all(const std::vector<double>& values);

/// Mean and deviations of numbers that belong to cases and units: [N x units], [T x B x units], or maps
/// [N x H x W x C], where every position of every channel is a unit.
struct SummedInputs {
  double mean = 0, deviation_over_units = 0, deviation_over_cases = 0;
};
SummedInputs summarize(const Tensor& a);

/// What a norm sees and does, mean over the rows; rows that are zero do not count in `turned`.
struct Normalized {
  double mean = 0, deviation = 0, turned = 0;
};
Normalized compare(const Tensor& input, const Tensor& result);

/// How much of the gradient that a norm passes back points where layer norm's has nothing to say: layer norm's output
/// does not change when its input moves along 1 or along x - mean(x). Mean over the rows; rows where the gradient or
/// x - mean(x) is zero do not count. A gradient of random direction has sqrt(2 / (pi d)) of both.
struct PassedBack {
  double along_one = 0, along_input = 0;
};
PassedBack passed_back(const Tensor& input, std::span<const real> gradient);

/// Whether a parameter consists of weight vectors, one per column, rather than of one number per unit. An embedding's table
/// does: its columns are features of all words.
bool holds_weight_vectors(const std::string& name, const Tensor& value);

/// Records one training step at a time.
class Recorder final : public TapeListener, public SequenceObserver {
 public:
  explicit Recorder(const Parameters& parameters) : parameters_(parameters), names_(parameters) {}

  /// Before the loss is computed, with this object listening. `step` counts from 1.
  void begin(std::uint64_t step);
  /// After backward(), before gradients are clipped.
  void before_update();
  /// After the optimizer's step. The rows stay valid until the next begin().
  const std::vector<RecordRow>& after_update();

  void recorded(const Tape::Node& node, std::span<const Tensor> inputs) override;
  void backward_begins(const Tape::Node& node) override;
  void backward_ends(const Tape::Node& node) override;
  SequenceRecord* record_of(const std::string& layer) override;

 private:
  /// A norm whose backward pass is to come. What it passes back is what it adds to the gradient of its input, which may
  /// have parts from elsewhere, past the norm, by then.
  struct Normalizing {
    std::string layer;
    std::uint64_t time;
    Tensor input;
    std::vector<real> gradient_before;
  };
  Normalizing* normalizing(const Tape::Node& node);

  void add(const std::string& layer, const std::string& quantity, double value, std::uint64_t time = 0);
  void add_summed_inputs(const std::string& layer, const Tensor& a);
  void add_normalized(const std::string& layer, const Tensor& input, const Tensor& result);
  void add_sequences();
  bool is_recurrent(const std::string& layer) const;

  const Parameters& parameters_;
  LayerNames names_;
  std::uint64_t step_ = 0;
  std::vector<RecordRow> rows_;
  std::deque<std::pair<std::string, SequenceRecord>> sequences_;  ///< by layer
  std::map<std::string, std::uint64_t> uses_, relus_, norms_;     ///< of each layer in this step
  /// By the id of the result. Norms of parts of a batch, whose results lie in one tensor, run backward from last to first.
  std::map<std::uint64_t, std::vector<Normalizing>> normalizing_;
  std::vector<std::vector<real>> before_;  ///< each parameter before the update
};

/// The record of a run, for the training loop: a step, counted from 1, is recorded when step - 1 is divisible
/// by N. The run's setting `record` is N; without it, or with 0, nothing happens.
class Recording {
 public:
  /// Records nothing.
  Recording() = default;
  /// Continues record.csv after `last_step` steps.
  Recording(const RunFolder& folder, const Parameters& parameters, std::uint64_t last_step);

  /// N.
  std::uint64_t every() const { return every_; }
  /// Returns once all that was recorded is on the disk.
  void sync() const;

  /// One training step: listens while it lives, if the step is to be recorded.
  class Step {
   public:
    Step(Recording& recording, std::uint64_t steps_done);
    bool is_recorded() const { return recording_ != nullptr; }
    void before_update();
    void after_update();

   private:
    Recording* recording_ = nullptr;
    std::optional<Listening> listening_;
  };

 private:
  std::uint64_t every_ = 0;
  std::optional<RecordFile> file_;
  std::optional<Recorder> recorder_;
};

}  // namespace lamina
