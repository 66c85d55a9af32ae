#include "models/handwriting/window.h"

#include <algorithm>

#include "core/math/math.h"
#include "core/ops.h"

namespace lamina::handwriting {

TextBatch::TextBatch(const std::vector<std::vector<int>>& texts) {
  for (const std::vector<int>& text : texts) {
    symbols_.insert(symbols_.end(), text.begin(), text.end());
    ends_.push_back(symbols_.size());
  }
}

void WindowStep::forward(real* parameters, const real* kappa_before, real* kappa, real* w, real* phi) const {
  const size_t k_count = gaussians;
#pragma omp simd
  for (size_t i = 0; i < 3 * k_count; ++i) parameters[i] = scalar::exp(parameters[i]);
  for (size_t k = 0; k < k_count; ++k) kappa[k] = kappa_before[k] + parameters[2 * k_count + k];
  std::fill_n(w, symbols, real{0});
  const real *const alpha = parameters, *const beta = alpha + k_count;
  for (size_t u = 0; u < text.size(); ++u) {
    const auto place = static_cast<real>(u);
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t k = 0; k < k_count; ++k) {
      const real distance = kappa[k] - place;
      sum += alpha[k] * scalar::exp(-beta[k] * distance * distance);
    }
    w[text[u]] += sum;
    if (phi != nullptr) phi[u] = sum;
  }
}

/// With e_ku = exp(-beta_k (kappa_k - u)^2) and dphi_u = dL/dw of character u:
///
///   dalpha_k = sum_u dphi_u e_ku               dbeta_k = -sum_u dphi_u alpha_k e_ku (kappa_k - u)^2
///   dkappa_k += -sum_u dphi_u alpha_k e_ku 2 beta_k (kappa_k - u)
///
/// and the gradients of the logarithms are these, each multiplied by its own value.
void WindowStep::backward(const real* parameters, const real* kappa, const real* dw, real* dkappa,
                          real* dparameters) const {
  const size_t k_count = gaussians;
  const real *const alpha = parameters, *const beta = alpha + k_count, *const moved = beta + k_count;
  real *const dalpha = dparameters, *const dbeta = dalpha + k_count, *const dmoved = dbeta + k_count;
  std::fill_n(dparameters, 2 * k_count, real{0});
  for (size_t u = 0; u < text.size(); ++u) {
    const real dphi = dw[text[u]];
    const auto place = static_cast<real>(u);
#pragma omp simd
    for (size_t k = 0; k < k_count; ++k) {
      const real distance = kappa[k] - place;
      const real part = dphi * alpha[k] * scalar::exp(-beta[k] * distance * distance);
      dalpha[k] += part;
      dbeta[k] -= part * beta[k] * distance * distance;
      dkappa[k] -= part * 2 * beta[k] * distance;
    }
  }
  for (size_t k = 0; k < k_count; ++k) dmoved[k] = dkappa[k] * moved[k];
}

namespace composed {

Window window(const Tensor& parameters, const Tensor& kappa_before, const TextBatch& texts, size_t symbols) {
  const size_t rows = parameters.rows(), count = kappa_before.columns();
  size_t longest = 0;
  for (size_t r = 0; r < rows; ++r) longest = std::max(longest, texts.row(r).size());
  Tensor places({rows, longest}), inside = Tensor::zeros({rows, longest});
  for (size_t r = 0; r < rows; ++r)
    for (size_t u = 0; u < longest; ++u) {
      places[r * longest + u] = static_cast<real>(u);
      if (u < texts.row(r).size()) inside[r * longest + u] = 1;
    }
  const auto part = [&](size_t i) { return exp(slice(parameters, 1, i * count, (i + 1) * count)); };
  const auto column = [](const Tensor& x, size_t k) { return slice(x, 1, k, k + 1); };
  const Tensor alpha = part(0), beta = part(1), kappa = kappa_before + part(2);
  Tensor phi = Tensor::zeros({rows, longest});
  for (size_t k = 0; k < count; ++k)
    phi = phi + exp(-(square(places - column(kappa, k)) * column(beta, k))) * column(alpha, k);
  phi = phi * inside;
  std::vector<Tensor> windows;
  for (size_t r = 0; r < rows; ++r) {
    Tensor characters = Tensor::zeros({longest, symbols});
    const auto text = texts.row(r);
    for (size_t u = 0; u < text.size(); ++u) characters[u * symbols + static_cast<size_t>(text[u])] = 1;
    windows.push_back(matmul(phi.slice(r, r + 1), characters));
  }
  return {.kappa = kappa, .phi = phi, .w = concatenate(windows, 0)};
}

}  // namespace composed

}  // namespace lamina::handwriting
