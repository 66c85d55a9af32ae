#pragma once
// The recurrence of DRAW (Gregor et al. 2015, Eq. 3-8 and 16-17) as one node on the tape: T glimpses of a
// batch of images, forward and then backward through time.
//
//   focus^r_t = h^dec_{t-1} W_read + b              r_t = read(x, x - sigmoid(c_{t-1}); focus^r_t)
//   h^enc_t = LSTM([h^dec_{t-1}, r_t], h^enc_{t-1}) (mu_t, log sigma_t) = h^enc_t W_latent + b
//   z_t = mu_t + sigma_t noise_t                    h^dec_t = LSTM(z_t, h^dec_{t-1})
//   (focus^w_t, patch_t) = h^dec_t W_write + b      c_t = c_{t-1} + write(patch_t; focus^w_t)
//
// Speed. All five products of a glimpse read windows of one row of numbers,
//
//   [ z_t | h^dec_{t-1} | 1 | r_t | h^enc_{t-1} | 1 ]
//     ------ decoder ------                             read and write: h^dec | 1 (write: of the next row)
//           -------- encoder ----------------           latent: h^enc | 1 (of the next row)
//
// in which the ones turn each bias into a row of its weight. The rows of all glimpses lie one after another,
// so the gradient of a weight is one product over all glimpses. A thread takes its own cases of the batch
// through all glimpses, forward and backward, and never waits for another; summed inputs are replaced by
// their gradients in place.

#include "layers/recurrent/fused/step_norm.h"
#include "models/draw/attention.h"

namespace lamina::draw {

struct GlimpseSizes {
  size_t side = 28;      ///< A: images have A x A pixels
  size_t glimpses = 64;  ///< T
  size_t hidden = 256;   ///< of either LSTM
  size_t latent = 100;   ///< of each z_t
  size_t read = 2;       ///< read patches are 2 x 2
  size_t write = 5;      ///< write patches are 5 x 5

  size_t pixels() const { return side * side; }
  Attention reading() const { return {side, read}; }
  Attention writing() const { return {side, write}; }
  size_t read_inputs() const { return 2 * read * read; }
  size_t write_outputs() const { return focus_size + write * write; }
};

/// Rows of a weight are in the order of the window that they multiply, with the bias at the position of the
/// 1. Gates are f, i, o, g.
struct GlimpseWeights {
  Tensor read;                                    ///< [H + 1 x 5]
  Tensor encoder;                                 ///< [H + 1 + 2 N^2 + H x 4H]
  Tensor latent;                                  ///< [H + 1 x 2Z]: mu, log sigma
  Tensor decoder;                                 ///< [Z + H + 1 x 4H]
  Tensor write;                                   ///< [H + 1 x 5 + N^2]: focus, patch
  StepNormParameters encoder_norm, decoder_norm;  ///< of c in h = o tanh(N(c)) (Eq. 31): none or layer
};

struct Glimpses {
  Tensor canvas;  ///< c_T [B x A^2], the logits of the pixels
  Tensor kl;      ///< [B]: sum over t of KL(q(z_t | x) || N(0, 1)), in nats
};

/// images [B x A^2] in [0, 1] and noise [T x B x Z] from N(0, 1), neither of which gets a gradient. Throws
/// Error, naming the shapes, for other shapes.
Glimpses glimpses(const GlimpseSizes& sizes, const GlimpseWeights& weights, const Tensor& images,
                  const Tensor& noise);

}  // namespace lamina::draw
