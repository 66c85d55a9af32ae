// Exercise: predict RMS norm's row of Table 1; the judge makes the experiment.
#include "exercises.h"

std::array<bool, 6> rms_norm_invariances() {
  // [ your code: true where the output stays the same
  return {
      true,   // delta W
      false,  // W + gamma
      false,  // delta w_1
      true,   // delta X
      false,  // X + shift
      true,   // delta x_1
  };
  // | return {
  // |     false,  // delta W
  // |     false,  // W + gamma
  // |     false,  // delta w_1
  // |     false,  // delta X
  // |     false,  // X + shift
  // |     false,  // delta x_1
  // | };
  // ]
  // mistake: W + gamma: you say that the output stays the same, but it changes: without a mean nothing removes gamma
  // ~ return {true, true, false, true, false, true};
  // mistake: delta w_1: you say that the output stays the same, but it changes: all units are divided by one number, to which w_1 contributes
  // ~ return {true, false, true, true, false, true};
  // mistake: X + shift: you say that the output stays the same, but it changes: without a mean nothing removes the shift
  // ~ return {true, false, false, true, true, true};
  // mistake: delta X: you say that the output changes, but it stays the same: every case is divided by its own scale
  // ~ return {true, false, false, false, false, true};
  // mistake: delta W: you say that the output changes, but it stays the same: a and sqrt(mean(a^2)) grow by the same factor
  // ~ return {false, false, false, true, false, true};
}
