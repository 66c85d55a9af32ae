#pragma once
// Built-in stories, for use without books: somebody does something ordinary, step by step. The next sentence
// follows from the story so far: the person, the place, the thing, and the step of the story; every step is
// told in one of several ways.

#include <cstdint>
#include <string>
#include <vector>

namespace lamina {

/// The sentences of story number `index` of the endless sequence `seed`, a function of both.
std::vector<std::string> tell_story(std::uint64_t seed, std::uint64_t index);

}  // namespace lamina
