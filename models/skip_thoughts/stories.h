#pragma once
// Stories for everyone who has no books at hand: somebody does something ordinary, step by step. What comes
// next follows from what was said: who it is, where, with which thing, and which step of the story this was;
// every step is told in one of several ways.

#include <cstdint>
#include <string>
#include <vector>

namespace lamina::skip_thoughts {

/// The sentences of story number `index` of the endless sequence `seed`, a function of both.
std::vector<std::string> tell_story(std::uint64_t seed, std::uint64_t index);

}  // namespace lamina::skip_thoughts
