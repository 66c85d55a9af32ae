#pragma once
// Error rates of guesses that ignore the meaning of the passage.

#include "models/attentive_reader/data/question.h"

namespace lamina::attentive_reader {

/// The chance of a wrong answer, from 0 to 1. Among equally good guesses one is drawn at random.
struct Baselines {
  double chance = 0;          ///< an entity of the passage drawn at random
  double frequent = 0;        ///< the most frequent entity of the passage
  double frequent_other = 0;  ///< the most frequent one that is not in the question, if there is one
};

Baselines baselines_of(const Question& question);

}  // namespace lamina::attentive_reader
