#pragma once
// Handwriting synthesis (Graves 2013, Section 5), the model of Section 6.5: three LSTM layers over the points
// of a pen, the first of which slides a window over the text.
//
//   h1_t = LSTM([x_t, w_{t-1}])     w_t = window(h1_t)          (window_lstm.h)
//   h2_t = LSTM([x_t, h1_t, w_t])   h3_t = LSTM([x_t, h2_t, w_t])
//   mixture_t = [h1_t, h2_t, h3_t] W + b, the distribution of x_{t+1}   (mixture.h)
//
// Normalizations: none, or layer norm of all three layers (Eq. 20-22).
//
// As in Graves's Sections 2.1 and 4.2, derivatives of a line's loss are clipped to [-100, 100] at the network's
// outputs and to [-10, 10] at the summed inputs of the LSTMs.

#include "core/parameters.h"
#include "models/handwriting/data/symbols.h"
#include "models/handwriting/mixture.h"
#include "models/handwriting/window_lstm.h"

namespace lamina::handwriting {

struct ModelOptions {
  Norm norm = Norm::none;   ///< none or layer
  size_t hidden = 400;      ///< of each layer
  size_t gaussians = 10;    ///< K, of the window
  size_t components = 20;   ///< M, of the mixture
  bool checkpoint = false;  ///< in training keep only every sqrt(T)-th state and recompute the rest
};

/// A batch of lines, cut or padded to T + 1 points.
struct Batch {
  Tensor points;  ///< [T + 1 x B x 3]: dx and dy in deviations, and 1 where a stroke ends
  Tensor mask;    ///< [T x B]: 1 where point t + 1 belongs to the line
  TextBatch texts;
};

/// The state between two points. An empty tensor means zeros.
struct State {
  WindowState lower = {};
  RecurrentState middle = {}, upper = {};
};

class Model {
 public:
  /// Throws Error for sizes of 0 and for other norms.
  Model(Parameters& parameters, const ModelOptions& options);

  /// The network's outputs after each of the points x [T x B x 3]: [T x B x 6 M + 1]. Updates the state.
  Tensor operator()(const Tensor& x, const TextBatch& texts, State& state) const;

  /// -log p in nats, summed over the points of each line and over the lines of the batch.
  Tensor loss(const Batch& batch) const;

  const ModelOptions& options() const { return options_; }

  Lstm lower, middle, upper;
  Linear window, mixture;
  Tensor deviation;  ///< [2]: the divisors of dx and dy; state, not learned

 private:
  Tensor piece(const Batch& batch, size_t begin, size_t end, State& state) const;
  Tensor piece_again_later(const Batch& batch, size_t begin, size_t end, Tensor& state) const;

  ModelOptions options_;
  std::vector<Tensor> learned_;  ///< what a piece that runs again later has read
};

namespace composed {
/// The same from primitive ops, one step after another: the version to read first.
Tensor loss(const Model& model, const Batch& batch);
}  // namespace composed

}  // namespace lamina::handwriting
