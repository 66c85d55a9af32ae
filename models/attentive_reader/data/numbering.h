#pragma once
// Batches of questions as numbers. The names of entities are permuted: in one batch @entity3 is read as
// @entity11 wherever it occurs, in the next as another, so no embedding can learn the meaning of one name.

#include <span>
#include <vector>

#include "models/attentive_reader/data/data.h"
#include "models/attentive_reader/model.h"

namespace lamina::attentive_reader {

/// The outputs: the entities, as the paper says, or all words of the vocabulary, as its authors' public code
/// does.
enum class AnswerSpace { entities, vocabulary };

struct NumberingOptions {
  AnswerSpace answers = AnswerSpace::entities;
  Padding padding = Padding::zeros;  ///< cyclic: batch norm counts padded steps, as the public code does
};

struct NumberedQuestions {
  QuestionBatch batch;
  std::vector<int> answers;  ///< numbers of outputs
};

/// How many outputs a model needs.
size_t outputs_of(const Data& data, AnswerSpace answers);

/// The word of output number `output`.
std::string word_of_output(const Data& data, AnswerSpace answers, size_t output);

/// @entityN is read as @entityM with M = permutation[N], in passages, questions and answers alike; with an
/// empty permutation they are unchanged.
NumberedQuestions number(const Data& data, std::span<const Question> questions,
                         const NumberingOptions& options, const std::vector<int>& permutation = {});

/// The questions [begin, end) of a batch, with as many steps.
NumberedQuestions questions_of(const NumberedQuestions& batch, size_t begin, size_t end);

}  // namespace lamina::attentive_reader
