#pragma once
// How a Transformer learns where a token stands: attention itself treats its keys as a set.
//
//   learned      a vector for each position, an Embedding, is added to the token's
//   sinusoidal   the same with fixed vectors                                  (Vaswani et al. 2017)
//   rotary       queries and keys are turned by an angle for each position    (Su et al. 2021)
//
// Learned vectors exist for a limited number of positions. With rotary ones, how well a query fits a key depends only
// on how far apart they are.

#include <optional>
#include <string_view>

#include "core/tensor.h"

namespace lamina {

enum class Positions { none, learned, sinusoidal, rotary };

struct PositionsEntry {
  Positions positions;
  const char* name;  ///< on the command line and in files
};

inline constexpr PositionsEntry positions_table[] = {
    {Positions::none, "none"},
    {Positions::learned, "learned"},
    {Positions::sinusoidal, "sinusoidal"},
    {Positions::rotary, "rotary"},
};

const char* name_of(Positions positions);
std::optional<Positions> positions_named(std::string_view name);

/// [length x width], whose row t is to be added to the token at position t; no gradient:
///
///   y[t][2i] = sin(t / 10000^(2i / width)),   y[t][2i + 1] = cos(t / 10000^(2i / width))
Tensor sinusoidal_positions(size_t length, size_t width);

struct RotateOptions {
  size_t first = 0;  ///< the position of the first token
  size_t heads = 0;  ///< only the first ones are turned, the others copied; 0: all
};

/// Turns each pair of features of a head by the angle of its position p = first + t:
///
///   y[2i]     = x[2i] cos(p a_i) - x[2i + 1] sin(p a_i)
///   y[2i + 1] = x[2i] sin(p a_i) + x[2i + 1] cos(p a_i),     a_i = 10000^(-2i / d)
///
/// x [B x T x heads x d] of queries, of keys, or of both side by side. Throws Error for another rank, an odd d, more
/// heads than there are, and a first position beyond any tensor (a negative number).
Tensor rotate(const Tensor& x, const RotateOptions& options = {});

/// The same function, written from primitive ops.
namespace composed {
Tensor rotate(const Tensor& x, const RotateOptions& options = {});
}

}  // namespace lamina
