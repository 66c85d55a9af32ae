#pragma once
// The looks of curves: one table of colours and dashes for gnuplot's figures and the report's page.

#include <array>
#include <cstddef>
#include <iterator>

namespace lamina {

/// A colour on white paper and the same on a dark screen, each with at least 3:1 against it.
struct Shade {
  const char *light, *dark;
};

/// By the numbers of norm_table (layers/norms/norm.h), so that a norm has one colour everywhere: after Okabe and Ito,
/// whose colours people with any kind of colour vision tell apart, then others, for what is rarely in one figure with
/// all of the former. From `first_plain` on for what is no norm.
inline constexpr Shade palette[] = {{"#0072b2", "#4aa8e8"},
                                    {"#c94f00", "#f0803c"},
                                    {"#00875f", "#2fc296"},
                                    {"#b3578b", "#e08fbd"},
                                    {"#a87400", "#e6a92c"},
                                    {"#2f8fc4", "#8fd0f5"},
                                    {"#6b6b6b", "#b4b4b4"},
                                    {"#857a00", "#cfc02a"},
                                    {"#5a3fc0", "#a593f5"},
                                    {"#882255", "#d9749f"},
                                    {"#23877a", "#6cc9bb"},
                                    {"#cc3311", "#ff7a5c"},
                                    {"#8b5a2b", "#cf9f6f"},
                                    {"#6a3d9a", "#d0a2f0"},
                                    {"#4d7c0f", "#a3d15c"},
                                    // For norms to come.
                                    {"#b0326f", "#f29ac0"},
                                    {"#556b00", "#b9cf5a"},
                                    // What is no norm.
                                    {"#40407a", "#b3b3f0"},
                                    {"#a3154f", "#ff8fb3"},
                                    {"#00707f", "#4fc3d5"},
                                    {"#7d5a00", "#dcb862"},
                                    {"#77459f", "#c7a0ec"},
                                    {"#3b6b2a", "#93cf7e"},
                                    {"#8a3d00", "#ffb38a"},
                                    {"#4a5568", "#a8b6cc"}};
inline constexpr size_t first_plain = 17;

inline constexpr size_t plain_colors = std::size(palette) - first_plain;

/// The number of the i-th colour for what is no norm.
constexpr int plain_color(size_t i) { return static_cast<int>(first_plain + i % plain_colors); }

/// Lengths of lines and gaps in turn, in pixels; none is a solid line. The second curve of a norm is dashed, the next
/// ones dotted and so on.
struct Dash {
  std::array<int, 4> lengths;  ///< 0 ends them
};
inline constexpr std::array dashes = {Dash{{}}, Dash{{8, 4}}, Dash{{2, 3}}, Dash{{10, 4, 2, 4}},
                                      Dash{{1, 6}}};

}  // namespace lamina
