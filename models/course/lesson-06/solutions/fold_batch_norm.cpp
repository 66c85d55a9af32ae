// Exercise: a trained batch norm costs nothing: it disappears in the layer in front of it.
#include "exercises.h"
using namespace lamina;

Folded fold_batch_norm(const Tensor& weight, const Tensor& bias, const Tensor& gain, const Tensor& shift,
                       const RunningStatistics& running, real epsilon) {
  // [ your code: y = gain (x weight + bias - mean) / sqrt(variance + epsilon) + shift, as x weight' + bias'
  // One per unit, which is a column of the weights.
  const Tensor factor = gain / sqrt(running.variance + epsilon);
  return {weight * factor, (bias - running.mean) * factor + shift};
  // | return {Tensor::zeros(weight.shape()), Tensor::zeros(bias.shape())};
  // ]
  // mistake: your weight lacks the gain
  // ~ const Tensor factor = 1 / sqrt(running.variance + epsilon);
  // ~ return {weight * factor, (bias - running.mean) * factor + shift};
  // mistake: your weight is divided by the variance; it must be by its square root
  // ~ const Tensor factor = gain / (running.variance + epsilon);
  // ~ return {weight * factor, (bias - running.mean) * factor + shift};
  // mistake: your weight has the epsilon outside of the root
  // ~ const Tensor factor = gain / (sqrt(running.variance) + epsilon);
  // ~ return {weight * factor, (bias - running.mean) * factor + shift};
  // mistake: your weight lacks the epsilon beside the variance
  // ~ const Tensor factor = gain / sqrt(running.variance);
  // ~ return {weight * factor, (bias - running.mean) * factor + shift};
  // mistake: your weight is right for as many inputs as units, not for fewer
  // ~ const Tensor factor = gain / sqrt(running.variance + epsilon);
  // ~ Tensor folded = weight.copy();
  // ~ for (size_t i = 0; i < weight.rows(); ++i)
  // ~   for (size_t unit = 0; unit < weight.rows(); ++unit) folded.at(i, unit) *= factor[unit];
  // ~ return {folded, (bias - running.mean) * factor + shift};
  // mistake: your bias lacks the running mean
  // ~ const Tensor factor = gain / sqrt(running.variance + epsilon);
  // ~ return {weight * factor, bias * factor + shift};
  // mistake: your bias lacks the layer's own bias, which is multiplied as the weights are
  // ~ const Tensor factor = gain / sqrt(running.variance + epsilon);
  // ~ return {weight * factor, shift - running.mean * factor};
  // mistake: in your bias the layer's own bias is added as it is; it is multiplied as the weights are
  // ~ const Tensor factor = gain / sqrt(running.variance + epsilon);
  // ~ return {weight * factor, bias - running.mean * factor + shift};
  // mistake: in your bias the running mean is subtracted as it is; it is multiplied as the weights are
  // ~ const Tensor factor = gain / sqrt(running.variance + epsilon);
  // ~ return {weight * factor, bias * factor - running.mean + shift};
  // mistake: your bias lacks batch norm's own bias, shift
  // ~ const Tensor factor = gain / sqrt(running.variance + epsilon);
  // ~ return {weight * factor, (bias - running.mean) * factor};
}
