#pragma once
// The one floating-point type of the library.

#include <cstddef>

namespace lamina {

#ifdef LAMINA_DOUBLE
using real = double;  // `make REAL=double`: gradient checks and the theory commands
#else
using real = float;
#endif

using std::size_t;

}  // namespace lamina
