#pragma once
// Initial values of weights. Weights are stored [inputs x outputs]; tensors of higher rank count all axes but
// the last as inputs.

#include <functional>
#include <string>

#include "core/math/random.h"
#include "core/tensor.h"

namespace lamina {

using Initializer = std::function<Tensor(const Shape&, Random)>;

/// initial(shape, random), as the first values of a parameter. Throws Error, naming it, for a result of another shape.
Tensor initial_values(const Initializer& initial, const std::string& parameter, const Shape& shape,
                      const Random& random);

Initializer constant(real value);
Initializer normal(real deviation);      ///< N(0, deviation^2)
Initializer uniform(real bound);         ///< U(-bound, bound)
Initializer xavier();                    ///< N(0, 2 / (inputs + outputs))  (Glorot and Bengio 2010)
Initializer xavier_uniform();            ///< U(-b, b), b = sqrt(6 / (inputs + outputs)): the same variance
Initializer he();                        ///< N(0, 2 / inputs), for relu     (He et al. 2015)
Initializer orthogonal(real scale = 1);  ///< orthonormal rows or columns    (Saxe et al. 2014)

}  // namespace lamina
