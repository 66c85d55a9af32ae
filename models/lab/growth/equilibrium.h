#pragma once
// How long the weight vectors of a normalized layer become, and how far an update turns them.
//
// The loss does not depend on the length of such a vector w, so that its gradient g is at a right angle to w, and
// norm2(g) = G / norm2(w) with a G that does not depend on the length. An update w' = (1 - r d) w - r g, of rate r and
// decay d, gives
//
//   norm2(w')^2 = (1 - r d)^2 norm2(w)^2 + r^2 norm2(g)^2
//
// Without decay w grows with every update. With decay the length comes to rest where both parts balance:
//
//   norm2(w)^4 = r G^2 / (2 d - r d^2), near (r / 2 d)^(1/4) sqrt(G)             SGD
//   norm2(w)^2 = norm2(u)^2 / (2 r d - (r d)^2), near sqrt(r / 2 d) norm2(u / r) for updates u of a given length: Adam
//
// Momentum m makes updates alike: those of independent gradients grow w by (1 + m) / (1 - m) of the sum of their squares.

#include <vector>

#include "core/tensor.h"
#include "models/lab/lab.h"

namespace lamina::lab {

/// What updates without their decay do to one vector: means over some updates.
struct UpdateMoments {
  double length = 0;          ///< norm2(w)
  double squared_update = 0;  ///< norm2(u)^2
  double product = 0;         ///< norm2(u)^2 norm2(w)^2 = r^2 G^2
};

/// The length at which a vector rests, for gradients that fall with it (SGD), and for updates that do not (Adam).
double resting_length_of_sgd(const UpdateMoments& moments, double rate, double decay);
double resting_length_of_adam(const UpdateMoments& moments, double rate, double decay, double momentum);

/// Adds up the moments of every column, or of the whole matrix, over updates from `before` to `after`.
class UpdateWatch {
 public:
  UpdateWatch(double rate, double decay, bool by_column) : shrink_(1 - rate * decay), by_column_(by_column) {}
  void add(const Tensor& before, const Tensor& after);
  std::vector<UpdateMoments> means() const;

 private:
  double shrink_;
  bool by_column_;
  double updates_ = 0;
  std::vector<UpdateMoments> sums_;
};

Lab equilibrium();

}  // namespace lamina::lab
