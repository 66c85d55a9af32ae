#pragma once
// The two classifiers of digits by hand: layer by layer forward, and back.

#include "tools/peers/by_hand/digits.h"

namespace by_hand {

struct Mlp {
  explicit Mlp(size_t batch)
      : first{parameters, batch, 784, 1000},
        second{parameters, batch, 1000, 1000},
        logits{parameters, batch, 1000, 10, false} {}

  void forward(const Numbers& x) { logits.forward(second.forward(first.forward(x.data()).data()).data()); }
  void backward(const Numbers& x) {
    logits.backward(second.y.data(), second.dy.data());
    second.backward(first.y.data(), first.dy.data());
    first.backward(x.data(), nullptr);
  }

  Parameters parameters;
  Dense first, second, logits;
};

struct Convnet {
  explicit Convnet(size_t batch)
      : first(parameters, batch, 28, 1, 32),
        second(parameters, batch, 14, 32, 64),
        hidden{parameters, batch, 3136, 512},
        logits{parameters, batch, 512, 10, false} {}

  void forward(const Numbers& x) {
    logits.forward(hidden.forward(second.forward(first.forward(x.data()).data()).data()).data());
  }
  void backward(const Numbers&) {
    logits.backward(hidden.y.data(), hidden.dy.data());
    hidden.backward(second.pooled.data(), second.pooled_gradient.data());
    std::fill(first.pooled_gradient.begin(), first.pooled_gradient.end(), 0.0F);
    second.backward(first.pooled_gradient.data());
    first.backward(nullptr);
  }

  Parameters parameters;
  Convolution first, second;
  Dense hidden, logits;
};

}  // namespace by_hand
