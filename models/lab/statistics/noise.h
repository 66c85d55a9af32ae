#pragma once
// Batch norm's noise as a regularizer: kept, made stronger, removed, and added by hand.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/math/random.h"
#include "layers/dropout.h"
#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/norm.h"
#include "models/lab/lab.h"

namespace lamina::lab {

struct NoiseVariant {
  std::string name = {};
  Norm norm = Norm::none;  ///< none, layer or batch
  size_t part =
      0;  ///< batch: cases that share statistics; 0: all training cases do, so that there is no noise
  size_t noise = 0;    ///< adds the noise of statistics of so many cases by hand; 0: none
  double dropout = 0;  ///< behind each relu
};

/// The noise of the mean and the variance of k cases, to first order, if the summed inputs are normal. With N the
/// normalized value under exact statistics, each unit has
///
///   N' = N scale + shift,  scale ~ N(1, 1 / (2 k)),  shift ~ N(0, 1 / k)
///
/// the same for the k rows of a part: rows 0 to k - 1, k to 2 k - 1, ... [rows x units].
struct PartNoise {
  Tensor scale, shift;
};
PartNoise draw_part_noise(size_t rows, size_t units, size_t k, Random& random);

/// A network input - width - width - 10 with relu.
class NoiseNet {
 public:
  NoiseNet(const NoiseVariant& variant, size_t input, size_t width, std::uint64_t seed);

  /// Logits in training: rows lie in the order of their parts. Under batch norm over all cases, x are all.
  Tensor train(const Tensor& x, Random& random);
  /// Replaces batch norm's population statistics by those of x, all training cases, without dropout or noise.
  void measure_population(const Tensor& x);
  Tensor use(const Tensor& x);

  Parameters parameters;

 private:
  struct Layer {
    Linear linear;
    std::optional<BatchNorm> batch = {};
    std::optional<LayerNorm> layer = {};
  };
  Tensor normalize(Layer& layer, const Tensor& a, Mode mode, Random* random) const;
  Tensor logits(const Tensor& x, Mode mode, Random* random);

  NoiseVariant variant_;
  std::vector<Layer> layers_;
  Dropout dropout_;
  std::optional<Linear> output_;
};

/// Built-in digits, each pixel the mean of 2 x 2: [count x 196].
struct SmallDigits {
  Tensor x;
  std::vector<int> labels;
};
SmallDigits small_digits(size_t count, std::uint64_t seed);

Lab noise();

}  // namespace lamina::lab
