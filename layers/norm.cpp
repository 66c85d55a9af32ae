#include "layers/norm.h"

namespace lamina {

const char* name_of(Norm norm) {
  switch (norm) {
    case Norm::none:
      return "none";
    case Norm::batch:
      return "batch";
    case Norm::layer:
      return "layer";
    case Norm::weight:
      return "weight";
    case Norm::rms:
      return "rms";
    case Norm::group:
      return "group";
    case Norm::instance:
      return "instance";
    case Norm::layer_interior:
      return "layer-interior";
  }
  return "?";
}

}  // namespace lamina
