#pragma once

namespace lamina {

/// Batch normalization and dropout act differently while a model learns and when it is used.
enum class Mode { train, evaluate };

}  // namespace lamina
