// Exercise 8.2: a step of an LSTM with layer norm.
#include "exercises.h"
using namespace lamina;

RecurrentState lstm_step(const Tensor& x, const RecurrentState& before, const Tensor& w_x, const Tensor& w_h,
                         const Tensor& b) {
  const size_t hidden = before.h.columns();
  const auto gate = [hidden](const Tensor& all, size_t k) {
    return slice(all, -1, k * hidden, (k + 1) * hidden);
  };
  // [ your code: matmul, normalized, gate(a, 0) to gate(a, 3), sigmoid and tanh; return {.h = ..., .c = ...}
  const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // | return {.h = Tensor::zeros(before.h.shape()), .c = Tensor::zeros(before.c.shape())};
  // ]
  // mistake: you normalize the sum of both products: each of them has a mu and a sigma of its own
  // ~ const Tensor a = normalized(matmul(before.h, w_h) + matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // mistake: you normalize every gate by itself: mu and sigma are those of all four together
  // ~ const auto n = [&](const Tensor& p) { return concatenate({normalized(gate(p, 0)), normalized(gate(p, 1)), normalized(gate(p, 2)), normalized(gate(p, 3))}, -1); };
  // ~ const Tensor a = n(matmul(before.h, w_h)) + n(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // mistake: your b is normalized away in part: add it behind the norm
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x) + b);
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // mistake: your f and i are exchanged: f is gate 0
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 1)) * before.c + sigmoid(gate(a, 0)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // mistake: your g is between 0 and 1: it is a tanh, so that c can also fall
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * sigmoid(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // mistake: your c is carried on normalized: only h sees N(c'), c' itself stays a sum
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = normalized(sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3)));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(c), .c = c};
  // mistake: your h lacks the norm of c'
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(c), .c = c};
  // mistake: your h lacks the tanh of N(c')
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * normalized(c), .c = c};
  // mistake: your h reads the c of the step before: it must be c'
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(before.c)), .c = c};
  // mistake: your o and g are exchanged: o is gate 2, g is gate 3
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * tanh(gate(a, 2));
  // ~ return {.h = sigmoid(gate(a, 3)) * tanh(normalized(c)), .c = c};
  // mistake: your c' lacks the tanh of g
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = sigmoid(gate(a, 0)) * before.c + sigmoid(gate(a, 1)) * gate(a, 3);
  // ~ return {.h = sigmoid(gate(a, 2)) * tanh(normalized(c)), .c = c};
  // mistake: your f, i and o lack the sigmoid
  // ~ const Tensor a = normalized(matmul(before.h, w_h)) + normalized(matmul(x, w_x)) + b;
  // ~ const Tensor c = gate(a, 0) * before.c + gate(a, 1) * tanh(gate(a, 3));
  // ~ return {.h = gate(a, 2) * tanh(normalized(c)), .c = c};
}
