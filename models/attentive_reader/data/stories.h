#pragma once
// Built-in stories, for use without a corpus.
//
// A few people go from place to place, find things and hand them on:
//
//   @entity4 went to @entity0 . then @entity7 picked up @entity2 . @entity7 gave @entity4 @entity2 . ...
//
// and the question asks who has a thing now or had it first, where somebody is now or was first, or where a
// thing is now (which takes two steps: who has it, and where that person is). The sentence with the answer
// can be anywhere, with others of the same kind before or after it, and most people and things occur more
// than once: the answer requires following the whole passage. Names are anonymous as in the real corpora: who
// is @entity4 is drawn anew for every story.

#include <cstdint>

#include "models/attentive_reader/data/question.h"

namespace lamina::attentive_reader {

/// Number `index` of the endless sequence `seed`, a function of both alone, with `events` events, at least 2,
/// of 4 to 6 words each.
Question tell_story(std::uint64_t seed, std::uint64_t index, size_t events);

}  // namespace lamina::attentive_reader
