#include "models/attentive_reader/data/numbering.h"

#include <numeric>

namespace lamina::attentive_reader {

namespace {

/// Words as numbers, in which the entities follow one another.
class Permuted {
 public:
  Permuted(const Data& data, const std::vector<int>& permutation)
      : data_(data), first_(data.vocabulary.number(entity_name(0))), permutation_(permutation) {}

  Sentence operator()(const Words& words) const {
    Sentence numbers = data_.numbered(words);
    for (int& number : numbers) number = word(number);
    return numbers;
  }

  int word(int number) const {
    const auto entity = static_cast<size_t>(number - first_);  // wraps below the first
    return number >= first_ && entity < permutation_.size() ? first_ + permutation_[entity] : number;
  }

 private:
  const Data& data_;
  int first_;
  const std::vector<int>& permutation_;
};

}  // namespace

size_t outputs_of(const Data& data, AnswerSpace answers) {
  return answers == AnswerSpace::entities ? data.entities : data.vocabulary.size();
}

std::string word_of_output(const Data& data, AnswerSpace answers, size_t output) {
  return answers == AnswerSpace::entities ? entity_name(output)
                                          : data.vocabulary.word(static_cast<int>(output));
}

NumberedQuestions number(const Data& data, std::span<const Question> questions,
                         const NumberingOptions& options, const std::vector<int>& permutation) {
  const Permuted permuted(data, permutation);
  const int first_output =
      options.answers == AnswerSpace::entities ? data.vocabulary.number(entity_name(0)) : 0;
  std::vector<Sentence> passages, queries;
  NumberedQuestions numbered;
  for (const Question& question : questions) {
    passages.push_back(permuted(question.passage));
    queries.push_back(permuted(question.query));
    numbered.answers.push_back(permuted.word(data.vocabulary.number(question.answer)) - first_output);
  }
  std::vector<int> all(questions.size());
  std::iota(all.begin(), all.end(), 0);
  numbered.batch = {.passages = make_batch(passages, all, options.padding),
                    .questions = make_batch(queries, all, options.padding),
                    .count_padded = options.padding == Padding::cyclic};
  return numbered;
}

NumberedQuestions questions_of(const NumberedQuestions& batch, size_t begin, size_t end) {
  const auto first = batch.answers.begin();
  return {.batch = {.passages = sentences_of(batch.batch.passages, begin, end),
                    .questions = sentences_of(batch.batch.questions, begin, end),
                    .count_padded = batch.batch.count_padded},
          .answers = {first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)}};
}

}  // namespace lamina::attentive_reader
