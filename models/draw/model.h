#pragma once
// DRAW (Gregor et al. 2015) with attention, the model of Section 6.4: a variational autoencoder that reads an
// image and paints it in T glimpses (see glimpses.h).
//
// Normalizations: none; weight norm of every weight; or layer norm of the LSTMs' c only (Eq. 29-31), the
// variant that the paper uses here.

#include <functional>

#include "core/parameters.h"
#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "models/draw/glimpses.h"

namespace lamina::draw {

struct ModelOptions {
  Norm norm = Norm::none;  ///< none, weight or layer
  GlimpseSizes sizes = {};
};

/// The two parts of the variational bound on -log p(x), for each case, in nats.
struct Bound {
  Tensor reconstruction;  ///< -log p(x | z) [B]
  Tensor kl;              ///< KL(q(z | x) || p(z)) [B]
};

class Model {
 public:
  /// Throws Error for sizes of 0, for more filters than pixels along an axis, and for other norms.
  Model(Parameters& parameters, const ModelOptions& options);

  /// images [B x A^2] in [0, 1]; noise [T x B x Z] from N(0, 1).
  Bound operator()(const Tensor& images, const Tensor& noise) const;

  /// Paints from z = noise [T x B x Z]. After glimpse t, watch(t, canvas [B x A^2] as logits, focus of the
  /// write [B x 5]) is called. Nothing is recorded.
  using Watch = std::function<void(size_t t, const Tensor& canvas, const Tensor& focus)>;
  void generate(const Tensor& noise, const Watch& watch) const;

  GlimpseWeights weights() const;

  const GlimpseSizes& sizes() const { return sizes_; }

  Linear read, latent, write;
  Lstm encoder, decoder;

 private:
  GlimpseSizes sizes_;
};

/// -log p(x | z) for each case [B] from the canvas [B x A^2].
Tensor reconstruction(const Tensor& canvas, const Tensor& images);

/// The same from primitive ops, one glimpse after another: the version to read first.
namespace composed {
Bound bound(const Model& model, const Tensor& images, const Tensor& noise);
}

}  // namespace lamina::draw
