#pragma once
// "did you mean mnist?": which of several names a mistyped one was meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// How many letters must be added, left out or replaced, or neighbours exchanged, to make one word of the other (the
/// optimal string alignment distance).
size_t typing_distance(std::string_view a, std::string_view b);

/// "; did you mean mnist?": the candidate at the shortest such distance, at most a third of the word's length and at least
/// one; nothing where there is none.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lamina
