// Exercise: batch norm's two modes.
#include "exercises.h"
using namespace lamina;

Tensor normalize_batch(const Tensor& a, RunningStatistics& running, Mode mode, real momentum, real epsilon) {
  // [ your code: mean_rows(x) is the mean over the cases
  Tensor mu = running.mean, variance = running.variance;
  if (mode == Mode::train) {
    mu = mean_rows(a);
    variance = mean_rows(square(a - mu));
    running.mean = (1 - momentum) * running.mean + momentum * mu;
    running.variance = (1 - momentum) * running.variance + momentum * variance;
  }
  return (a - mu) / sqrt(variance + epsilon);
  // | return Tensor::zeros(a.shape());
  // ]
  // mistake: in training your output is normalized over the units of each case: that is layer norm
  // ~ return (a - mean_columns(a)) / sqrt(mean_columns(square(a - mean_columns(a))) + epsilon);
  // mistake: in training your output is normalized by the running statistics; it must be by the batch's
  // ~ return (a - running.mean) / sqrt(running.variance + epsilon);
  // mistake: in training your output is divided by the variance; it must be by its square root
  // ~ return (a - mean_rows(a)) / (mean_rows(square(a - mean_rows(a))) + epsilon);
  // mistake: your running mean does not move in training
  // ~ Tensor mu = running.mean, variance = running.variance;
  // ~ if (mode == Mode::train) {
  // ~   mu = mean_rows(a);
  // ~   variance = mean_rows(square(a - mu));
  // ~ }
  // ~ return (a - mu) / sqrt(variance + epsilon);
  // mistake: your running mean keeps the share that the batch must have: running = (1 - momentum) running + momentum batch
  // ~ Tensor mu = running.mean, variance = running.variance;
  // ~ if (mode == Mode::train) {
  // ~   mu = mean_rows(a);
  // ~   variance = mean_rows(square(a - mu));
  // ~   running.mean = momentum * running.mean + (1 - momentum) * mu;
  // ~   running.variance = momentum * running.variance + (1 - momentum) * variance;
  // ~ }
  // ~ return (a - mu) / sqrt(variance + epsilon);
  // mistake: your running variance averages the deviation; it must average its square
  // ~ Tensor mu = running.mean, variance = running.variance;
  // ~ if (mode == Mode::train) {
  // ~   mu = mean_rows(a);
  // ~   variance = mean_rows(square(a - mu));
  // ~   running.mean = (1 - momentum) * running.mean + momentum * mu;
  // ~   running.variance = (1 - momentum) * running.variance + momentum * sqrt(variance);
  // ~ }
  // ~ return (a - mu) / sqrt(variance + epsilon);
  // mistake: your running variance averages that of the number of cases less one; divide by their number
  // ~ if (mode == Mode::evaluate) return (a - running.mean) / sqrt(running.variance + epsilon);
  // ~ const Tensor c = a - mean_rows(a);
  // ~ running.mean = (1 - momentum) * running.mean + momentum * mean_rows(a);
  // ~ running.variance = (1 - momentum) * running.variance + momentum * sum_rows(square(c)) / static_cast<real>(a.rows() - 1);
  // ~ return c / sqrt(mean_rows(square(c)) + epsilon);
  // mistake: in evaluation your output is normalized by the batch's statistics; it must be by the running ones
  // ~ const Tensor mu = mean_rows(a), variance = mean_rows(square(a - mu));
  // ~ if (mode == Mode::train) {
  // ~   running.mean = (1 - momentum) * running.mean + momentum * mu;
  // ~   running.variance = (1 - momentum) * running.variance + momentum * variance;
  // ~ }
  // ~ return (a - mu) / sqrt(variance + epsilon);
  // mistake: your running mean moves in evaluation; only training may move it
  // ~ const Tensor mu = mean_rows(a), variance = mean_rows(square(a - mu)), old = running.mean, squares = running.variance;
  // ~ running.mean = (1 - momentum) * running.mean + momentum * mu;
  // ~ running.variance = (1 - momentum) * running.variance + momentum * variance;
  // ~ return mode == Mode::train ? (a - mu) / sqrt(variance + epsilon) : (a - old) / sqrt(squares + epsilon);
  // mistake: in training your output is normalized by the running statistics after they moved; it must be by the batch's
  // ~ if (mode == Mode::train) {
  // ~   running.mean = (1 - momentum) * running.mean + momentum * mean_rows(a);
  // ~   running.variance = (1 - momentum) * running.variance + momentum * variance(a, 0);
  // ~ }
  // ~ return (a - running.mean) / sqrt(running.variance + epsilon);
  // mistake: your running variance is around the running mean; it must be around the batch's
  // ~ if (mode == Mode::evaluate) return (a - running.mean) / sqrt(running.variance + epsilon);
  // ~ running.mean = (1 - momentum) * running.mean + momentum * mean_rows(a);
  // ~ running.variance = (1 - momentum) * running.variance + momentum * mean_rows(square(a - running.mean));
  // ~ return (a - mean_rows(a)) / sqrt(variance(a, 0) + epsilon);
  // mistake: in training your epsilon is outside of the root
  // ~ return (a - mean_rows(a)) / (sqrt(variance(a, 0)) + epsilon);
  // mistake: in training your variance is divided by the number of cases less one; divide by their number
  // ~ const Tensor c = a - mean_rows(a);
  // ~ return c / sqrt(sum_rows(square(c)) / static_cast<real>(a.rows() - 1) + epsilon);
}
