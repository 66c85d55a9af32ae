#pragma once
// The soft window that slides over the text (Graves 2013, Eq. 46-51): it tells the network which letter it is
// writing.
//
//   (alpha^, beta^, kappa^) = h W + b,  3 K numbers        alpha = exp(alpha^),  beta = exp(beta^)
//   kappa_t = kappa_{t-1} + exp(kappa^)
//   phi(t, u) = sum_k alpha_k exp(-beta_k (kappa_k - u)^2)   for the characters u = 0, 1, ..., U - 1
//   w_t = sum_u phi(t, u) c_u                                with c_u the one-hot vector of character u

#include <span>
#include <vector>

#include "core/memory/cached_vector.h"
#include "core/tensor.h"

namespace lamina::handwriting {

/// The texts of a batch, as symbols.
class TextBatch {
 public:
  TextBatch() = default;
  explicit TextBatch(const std::vector<std::vector<int>>& texts);

  size_t rows() const { return ends_.size(); }
  std::span<const int> row(size_t r) const {
    const size_t begin = r == 0 ? 0 : ends_[r - 1];
    return {symbols_.data() + begin, ends_[r] - begin};
  }

 private:
  CachedVector<int> symbols_;
  CachedVector<size_t> ends_;
};

/// One case at one step, forward beside backward. K is the number of Gaussians, C that of symbols.
struct WindowStep {
  size_t gaussians, symbols;
  std::span<const int> text;

  /// parameters [3 K] in: alpha^, beta^, kappa^; out: alpha, beta, exp(kappa^). kappa_before and kappa [K].
  /// Writes w [C] and, if it is not nullptr, phi [U].
  void forward(real* parameters, const real* kappa_before, real* kappa, real* w, real* phi = nullptr) const;

  /// From dL/dw [C] and the results of forward. dkappa [K] in: dL/dkappa_t from later steps; out: the
  /// complete dL/dkappa_t, which is also dL/dkappa_{t-1}. dparameters [3 K] out.
  void backward(const real* parameters, const real* kappa, const real* dw, real* dkappa,
                real* dparameters) const;
};

namespace composed {
/// The same for a batch, from primitive ops: parameters [B x 3 K], kappa [B x K].
struct Window {
  Tensor kappa;  ///< [B x K]
  Tensor phi;    ///< [B x U], zeros after the end of a text
  Tensor w;      ///< [B x C]
};
Window window(const Tensor& parameters, const Tensor& kappa_before, const TextBatch& texts, size_t symbols);
}  // namespace composed

}  // namespace lamina::handwriting
