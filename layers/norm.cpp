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
  }
  return "?";
}

}  // namespace lamina
