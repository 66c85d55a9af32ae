#pragma once
// What the exercises of lesson 8 define. Sequences are [T x B x features]; x.step(t) is step t of one, [B x features].

#include <lamina.h>

#include <vector>

// rnn_backward.cpp

struct RnnGradients {
  lamina::Tensor w_x, w_h, b;
};

/// Back-propagation through time of h_t = tanh(x_t W_x + h_{t-1} W_h + b), where h_{-1} = 0: dL/dW_x [I x H], dL/dW_h
/// [H x H] and dL/db [H]. x [T x B x I] and h [T x B x H] are known from the forward pass; dh [T x B x H] is what the
/// output of step t contributes to dL/dh_t, without what comes back from step t + 1.
RnnGradients rnn_backward(const lamina::Tensor& x, const lamina::Tensor& h, const lamina::Tensor& w_h,
                          const lamina::Tensor& dh);

// lstm_step.cpp

/// N(a): layer norm of the rows of a, with gain 1 and bias 0.
inline lamina::Tensor normalized(const lamina::Tensor& a) {
  return lamina::layer_norm(a, lamina::Tensor::ones({a.columns()}), lamina::Tensor::zeros({a.columns()}));
}

/// One step of an LSTM with layer norm from x [B x I] and the state before it, h and c [B x H] (Eq. 20 to 22):
///
///   (f, i, o, g) = N(h W_h) + N(x W_x) + b          side by side: W_h [H x 4H], W_x [I x 4H], b [4H]
///   c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(N(c'))
lamina::RecurrentState lstm_step(const lamina::Tensor& x, const lamina::RecurrentState& before,
                                 const lamina::Tensor& w_x, const lamina::Tensor& w_h,
                                 const lamina::Tensor& b);

// clip_gradients.cpp

/// If the common length of all gradients, the root of the sum of all squares, is above the limit, multiplies them by
/// one factor so that it becomes the limit. Returns the length before.
double clip_gradients(std::vector<std::vector<double>>& gradients, double limit);

// draw_letter.cpp

/// A letter at random: number k with the share softmax(logits / temperature)[k]. `u` is a random number in [0, 1).
int draw_letter(const std::vector<double>& logits, double temperature, double u);
