#pragma once
// The one floating-point type of the library.
//
// Everything that holds numbers of this type lives in an inline namespace named after the type, so a program
// that was compiled for one type does not link with the library of the other.

#include <cstddef>

namespace lamina {

#ifdef LAMINA_SCALAR
#error \
    "this source is compiled once for float and double (tools/scalar_free.mk): list it there among those that are not, or leave this header out"
#endif
#ifdef LAMINA_DOUBLE
#define LAMINA_SCALAR in_double
using real = double;  // `make REAL=double`: gradient checks and the theory commands
#else
#define LAMINA_SCALAR in_float
using real = float;
#endif

using std::size_t;

}  // namespace lamina
