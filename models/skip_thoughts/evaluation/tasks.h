#pragma once
// The data sets that sentence vectors are evaluated on (Table 3), in their original files, which lie in a
// folder or in its subfolders sick and sentiment.
//
//   SICK   SICK_train.txt, SICK_trial.txt, SICK_test_annotated.txt: pairs of sentences and their relatedness,
//          from 1 to 5; columns separated by tabs, a header first
//   MR     rt-polarity.pos, .neg                 CR     custrev.pos, .neg
//   SUBJ   subj.subjective, subj.objective       MPQA   mpqa.pos, .neg: one sentence or phrase per line, in Latin-1 where
//          it is not UTF-8, as the public code reads them

#include <string>
#include <vector>

namespace lamina::skip_thoughts {

struct Pairs {
  std::vector<std::string> first, second;
  std::vector<double> relatedness;
};

struct Relatedness {
  Pairs train, trial, test;
};

struct Classification {
  std::string name;  ///< "MR"
  std::vector<std::string> sentences;
  std::vector<int> labels;  ///< 1 for the first of the two files, 0 for the second
};

/// Throw DataError, naming the file, the line and the remedy, when a file is missing, not text or holds no
/// sentence, or a line of SICK lacks columns or a relatedness from 1 to 5, or its first line is no header.
Pairs read_pairs(const std::string& path);
Relatedness read_sick(const std::string& folder);
/// MR, CR, SUBJ and MPQA.
std::vector<Classification> read_classifications(const std::string& folder);

}  // namespace lamina::skip_thoughts
