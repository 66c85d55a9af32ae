// Exercise: the loss of a classifier and its gradient, without overflow.
#include "exercises.h"

#include <cmath>
using namespace lamina;

LossAndGradient softmax_loss(const Tensor& logits, std::span<const int> labels) {
  const size_t classes = logits.columns();
  const auto cases = static_cast<double>(logits.rows());
  double loss = 0;
  Tensor dlogits = Tensor::zeros(logits.shape());
  for (size_t r = 0; r < logits.rows(); ++r) {
    const auto label = static_cast<size_t>(labels[r]);
    // [ your code: add to loss, and set dlogits.at(r, c) for every class c; logits.at(r, c) is z_c
    double largest = logits.at(r, 0), sum = 0;
    for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    loss += largest + std::log(sum) - logits.at(r, label);
    for (size_t c = 0; c < classes; ++c) {
      const double p = std::exp(logits.at(r, c) - largest) / sum;
      dlogits.at(r, c) = (p - (c == label ? 1 : 0)) / cases;
    }
    // ]
    // mistake: your loss is no number for logits around 1000: e^1000 is infinite; subtract the largest logit first
    // ~ double sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c));
    // ~ loss += std::log(sum) - logits.at(r, label);
    // ~ for (size_t c = 0; c < classes; ++c) dlogits.at(r, c) = (std::exp(logits.at(r, c)) / sum - (c == label ? 1 : 0)) / cases;
    // mistake: your gradient is the softmax: it lacks the 1 that is subtracted at the label
    // ~ double largest = logits.at(r, 0), sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ loss += largest + std::log(sum) - logits.at(r, label);
    // ~ for (size_t c = 0; c < classes; ++c) dlogits.at(r, c) = std::exp(logits.at(r, c) - largest) / sum / cases;
    // mistake: your gradient is that of the sum over the cases; the loss is their mean
    // ~ double largest = logits.at(r, 0), sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ loss += largest + std::log(sum) - logits.at(r, label);
    // ~ for (size_t c = 0; c < classes; ++c) dlogits.at(r, c) = std::exp(logits.at(r, c) - largest) / sum - (c == label ? 1 : 0);
    // mistake: your gradient has the wrong sign: it is p - y
    // ~ double largest = logits.at(r, 0), sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ loss += largest + std::log(sum) - logits.at(r, label);
    // ~ for (size_t c = 0; c < classes; ++c) dlogits.at(r, c) = ((c == label ? 1 : 0) - std::exp(logits.at(r, c) - largest) / sum) / cases;
    // mistake: your loss lacks the largest logit that was subtracted: log sum e^z = m + log sum e^(z - m)
    // ~ double largest = logits.at(r, 0), sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ loss += std::log(sum) - logits.at(r, label);
    // mistake: your loss is minus the logit; it is -log of the softmax
    // ~ loss -= logits.at(r, label);
    // mistake: your loss is wrong for a label whose logit is far below the largest
    // ~ double largest = logits.at(r, 0), sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ loss -= std::log(std::exp(logits.at(r, label) - largest) / sum);
    // ~ for (size_t c = 0; c < classes; ++c) dlogits.at(r, c) = (std::exp(logits.at(r, c) - largest) / sum - (c == label ? 1 : 0)) / cases;
    // mistake: your loss or gradient is wrong where a case has logits far from each other
    // ~ double largest = logits.at(r, 0), of_all = logits[0], sum = 0, sum_of_all = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t i = 0; i < logits.size(); ++i) of_all = std::max(of_all, logits[i]);
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ for (size_t c = 0; c < classes; ++c) sum_of_all += std::exp(logits.at(r, c) - of_all);
    // ~ loss += largest + std::log(sum) - logits.at(r, label);
    // ~ for (size_t c = 0; c < classes; ++c) dlogits.at(r, c) = (std::exp(logits.at(r, c) - of_all) / sum_of_all - (c == label ? 1 : 0)) / cases;
    // mistake: your loss has the wrong sign: it is -log p
    // ~ double largest = logits.at(r, 0), sum = 0;
    // ~ for (size_t c = 0; c < classes; ++c) largest = std::max(largest, logits.at(r, c));
    // ~ for (size_t c = 0; c < classes; ++c) sum += std::exp(logits.at(r, c) - largest);
    // ~ loss -= largest + std::log(sum) - logits.at(r, label);
  }
  return {loss / cases, dlogits};
}
