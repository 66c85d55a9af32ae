// Exercise: Adam.
#include "exercises.h"

void adam_step(std::vector<double>& w, AdamState& state, const std::vector<double>& g, double rate) {
  // [ your code: count the step, then for every i the averages, their corrections, and w
  ++state.steps;
  for (size_t i = 0; i < w.size(); ++i) {
    state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
    state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
    const double mean = state.m[i] / (1 - std::pow(0.9, state.steps));
    const double square = state.v[i] / (1 - std::pow(0.999, state.steps));
    w[i] -= rate * mean / (std::sqrt(square) + 1e-8);
  }
  // ]
  // mistake: your first step is 3.162 times too long: the bias correction is missing
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (std::sqrt(state.v[i]) + 1e-8);
  // ~ }
  // mistake: your first step is infinite or no number: count the step before you correct by 1 - beta^steps
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / (std::sqrt(state.v[i] / (1 - std::pow(0.999, state.steps))) + 1e-8);
  // ~ }
  // ~ ++state.steps;
  // mistake: your step counts every weight: count once a call
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   ++state.steps;
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / (std::sqrt(state.v[i] / (1 - std::pow(0.999, state.steps))) + 1e-8);
  // ~ }
  // mistake: your step moves the first weight alone
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i + 1 < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / (std::sqrt(state.v[i] / (1 - std::pow(0.999, state.steps))) + 1e-8);
  // ~ }
  // mistake: your step depends on the scale of the gradient: divide by the square root of v, not by v
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / (state.v[i] / (1 - std::pow(0.999, state.steps)) + 1e-8);
  // ~ }
  // mistake: your epsilon is inside the root: with a gradient of 1e-6 the step is 0.01 times what it must be
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / std::sqrt(state.v[i] / (1 - std::pow(0.999, state.steps)) + 1e-8);
  // ~ }
  // mistake: your epsilon is added to sqrt(v) before v is corrected
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   const double factor = std::sqrt(1 - std::pow(0.999, state.steps)) / (1 - std::pow(0.9, state.steps));
  // ~   w[i] -= rate * factor * state.m[i] / (std::sqrt(state.v[i]) + 1e-8);
  // ~ }
  // mistake: your later steps have their betas exchanged: m decays by 0.9, v by 0.999
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.999 * state.m[i] + 0.001 * g[i];
  // ~   state.v[i] = 0.9 * state.v[i] + 0.1 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.999, state.steps)) / (std::sqrt(state.v[i] / (1 - std::pow(0.9, state.steps))) + 1e-8);
  // ~ }
  // mistake: your w moves uphill: subtract
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] += rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / (std::sqrt(state.v[i] / (1 - std::pow(0.999, state.steps))) + 1e-8);
  // ~ }
  // mistake: your m and v are corrected where they are kept; keep the averages as they are
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = (0.9 * state.m[i] + 0.1 * g[i]) / (1 - std::pow(0.9, state.steps));
  // ~   state.v[i] = (0.999 * state.v[i] + 0.001 * g[i] * g[i]) / (1 - std::pow(0.999, state.steps));
  // ~   w[i] -= rate * state.m[i] / (std::sqrt(state.v[i]) + 1e-8);
  // ~ }
  // mistake: your step lacks epsilon, which matters for a tiny gradient
  // ~ ++state.steps;
  // ~ for (size_t i = 0; i < w.size(); ++i) {
  // ~   state.m[i] = 0.9 * state.m[i] + 0.1 * g[i];
  // ~   state.v[i] = 0.999 * state.v[i] + 0.001 * g[i] * g[i];
  // ~   w[i] -= rate * state.m[i] / (1 - std::pow(0.9, state.steps)) / std::sqrt(state.v[i] / (1 - std::pow(0.999, state.steps)));
  // ~ }
}
