#pragma once
// Recurrent layers: the simple RNN, LSTM and GRU over whole sequences, plain or normalized by a value.
//
//   simple (Eq. 4)    h_t = f(N(W_x x_t + W_h h_{t-1}) + b)
//   LSTM (Eq. 20-22)  (f, i, o, g) = N(W_h h_{t-1}) + N(W_x x_t) + b,
//                     c_t = sig(f) c_{t-1} + sig(i) tanh(g),  h_t = sig(o) tanh(N(c_t))
//   GRU (Eq. 26-28)   (z, r) = N(W_h h_{t-1}) + N(W_x x_t),  n = tanh(N(W x_t) + sig(r) N(U h_{t-1})),
//                     h_t = (1 - sig(z)) h_{t-1} + sig(z) n
//
// A vector v that conditions the whole sequence adds N(C v), gate by gate like W_x x, to the x part of every
// step (the sentence vector of Kiros et al. 2015, Eq. 5-7).
//
// N is nothing, layer norm, or batch norm per step; under weight norm W_x and W_h are normalized instead.
// Every N has its own gain and bias, but for N(W_h h) under batch norm, which has a gain alone; b is the bias of N(W_x x),
// of the simple layer's one N, or without N of the layer. Sequences are time-major, [T x B x features]. The matrices of
// all gates stand side by side, in the order above: a gate's columns are [k H, (k + 1) H) of input_weight
// [input x gates H] and hidden_weight [H x gates H].

#include <string>

#include "core/parameters.h"
#include "layers/initializers.h"
#include "layers/recurrent/cell.h"
#include "layers/recurrent/fused/sequence_record.h"
#include "layers/recurrent/fused/step_norm.h"

namespace lamina {

struct RowStepOptions;  // layers/recurrent/fused/row_step.h

struct RecurrentOptions {
  size_t input = 0;
  size_t hidden = 0;
  Norm norm = Norm::none;    ///< none, layer, batch or weight
  bool only_memory = false;  ///< LSTM: normalize nothing but c in h = o tanh(N(c)), as DRAW does (Eq. 29-31)
  real gain = 0;  ///< initial value of layer and batch norm's gains; 0 means 1, or 0.1 under batch norm
  size_t max_steps = 100;  ///< batch norm: population statistics for this many steps; later ones use the last
  real forget_bias = 0;    ///< LSTM: initial value of the bias of f
  real clip = 0;           ///< bound of dL/d(summed inputs), element by element (Graves 2013); 0: none
  bool learn_initial = false;        ///< the initial state is a parameter shared by all cases, starting at 0
  bool learn_initial_memory = true;  ///< LSTM, with learn_initial: c_0 too, not only h_0
  bool reverse = false;              ///< from the last step to the first
  size_t condition = 0;              ///< size of a vector that enters every step; 0: there is none
  /// Keep every 64th state, or sqrt(T)-th beyond 4096 steps, and recompute the rest. Up to 256 steps are one piece, which is
  /// recomputed at once: less is kept until backward(), but the peak of memory does not fall.
  bool checkpoint = false;
  Initializer input_initial = xavier();
  Initializer hidden_initial = orthogonal();  ///< for each gate's [H x H]
};

/// Optional inputs of a sequence.
struct SequenceOptions {
  /// [T x B]: 1, or 0 at padded steps, which carry the state over unchanged; backward() throws Error where it was
  /// written since. Inputs at padded steps need some finite value, which has no effect without count_padded: NaN times
  /// 0 is NaN in the gradient of W_x.
  Tensor mask = {};
  RecurrentState initial = {};  ///< [B x H]; an empty part is learned or zero
  Tensor condition = {};        ///< v [B x condition], for layers that have one
  Mode mode = Mode::train;
  bool count_padded = false;  ///< batch norm: padded cases enter the statistics, which suits cyclic padding
  SequenceRecord* record = nullptr;  ///< filled if given, else a SequenceObserver's; must outlive backward()
};

struct Sequence {
  Tensor hidden;  ///< h_t [T x B x H]
  /// After the last step; detach() it to continue with the next piece of a sequence. Its h is a view of `hidden`.
  RecurrentState last;
};

class Recurrent {
 public:
  /// Parameters under `name`: .input_weight, .hidden_weight (.direction and .gain of each under weight norm),
  /// .condition_weight and .condition_norm, .bias or those of the normalizations, .initial_h, .initial_c.
  /// Throws Error for sizes of 0, a negative clip, initial values of other shapes, and combinations that do not exist.
  /// The cell is not copied: it must outlive the layer and the tapes that have recorded it.
  Recurrent(Parameters& parameters, const std::string& name, const Cell& cell,
            const RecurrentOptions& options);
  Recurrent(Parameters&, const std::string&, const Cell&&, const RecurrentOptions&) = delete;

  /// x [T x B x input]. Throws Error, naming the shapes, for T or B = 0 and for masks and states of other shapes.
  Sequence operator()(const Tensor& x, const SequenceOptions& with = {}) const;

  /// W_x x + b, before its normalization.
  Tensor project(const Tensor& x) const;
  /// The same sequence from project(x) [T x B x gates H]: for inputs that repeat, such as words, of which each needs
  /// the product only once. Keeps every state, also where `checkpoint` is chosen. While a tape records, the result
  /// of a product, such as project()'s, is consumed: read it no more, nor a detach() of it. What another op made, leaves,
  /// constants, parts of a tensor, what earlier ops on the tape read and what was handed out for writing are copied
  /// instead, as is everything where no tape records. Throws Error for other shapes, and for a projection that an earlier
  /// sequence on this tape has consumed; backward() does so for one that another op has read since, where the gradients of
  /// both arrive.
  Sequence from_projected(const Tensor& projected, const SequenceOptions& with = {}) const;
  /// The W_x and W_h in use: under weight norm w = g v / norm2(v).
  Tensor effective_input_weight() const;
  Tensor effective_hidden_weight() const;
  /// Batch norm: the population statistics of each normalization.
  std::vector<Population> populations() const;
  /// Batch norm: the next batch's statistics will replace the population's. Until then evaluation has none of its own for
  /// any step: measure first.
  void forget_population() const;

  /// The given state, else the learned one, else an empty one, which means zeros: [rows x hidden].
  RecurrentState initial_state(const RecurrentState& given, size_t rows) const;

  /// The options of this layer's row-step, without a condition.
  RowStepOptions step_options(Mode mode, SequenceRecord* record) const;

  const std::string& name() const { return name_; }
  const RecurrentOptions& options() const { return options_; }
  const Cell& cell() const { return *cell_; }

  Tensor input_weight, input_gain, hidden_weight, hidden_gain, bias;
  Tensor initial_h, initial_c, condition_weight;
  StepNormParameters input_norm, hidden_norm, memory_norm, condition_norm;

 private:
  /// x [T x B x width] and what goes with it.
  void require_shapes(const Tensor& x, size_t width, const SequenceOptions& with) const;
  /// N(C v) [B x gates H].
  Tensor project_condition(const Tensor& v) const;
  RecurrentState run(const Tensor& projected, const RecurrentState& state, const SequenceOptions& with,
                     const Tensor& condition, size_t begin, const Tensor& hidden) const;
  RecurrentState run_again_later(const Tensor& x, const RecurrentState& state, const SequenceOptions& with,
                                 const Tensor& condition, size_t begin, const Tensor& hidden) const;

  std::string name_;
  const Cell* cell_;
  RecurrentOptions options_;
};

/// The simple RNN with tanh or relu.
class Rnn : public Recurrent {
 public:
  Rnn(Parameters& parameters, const std::string& name, const RecurrentOptions& options,
      const Cell& cell = tanh_cell())
      : Recurrent(parameters, name, cell, options) {}
  Rnn(Parameters&, const std::string&, const RecurrentOptions&, const Cell&&) = delete;
};

class Lstm : public Recurrent {
 public:
  Lstm(Parameters& parameters, const std::string& name, const RecurrentOptions& options)
      : Recurrent(parameters, name, lstm_cell(), options) {}
};

class Gru : public Recurrent {
 public:
  Gru(Parameters& parameters, const std::string& name, const RecurrentOptions& options)
      : Recurrent(parameters, name, gru_cell(), options) {}
};

}  // namespace lamina
