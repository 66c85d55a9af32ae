#include "core/version.h"

#ifndef LAMINA_COMMIT
#define LAMINA_COMMIT "unknown"
#endif

namespace lamina {

const char* commit() { return LAMINA_COMMIT; }

}  // namespace lamina
