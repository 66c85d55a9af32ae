#pragma once
// The protocol of Table 3: simple classifiers on sentence vectors that were not tuned for the task.
//
//   SICK             softmax regression from |u - v| and u v to five classes; a relatedness of 3.6 is 0.4 of
//                    class 3 and 0.6 of class 4, and the prediction is the expected class. C is the one
//                    whose Pearson's r on the trial pairs is largest, or the public code's Adam stops when r
//                    falls (early_stopping.h); r, rho and MSE are those of the test pairs
//   MR, CR, SUBJ,    logistic regression in 10-fold cross-validation; within each fold C is the best one on
//   MPQA             parts of the training cases that are held out in turn
//
// C is one of 2^0, ..., 2^8. Results are deterministic for a seed, on any number of threads.

#include <functional>
#include <string>

#include "models/skip_thoughts/evaluation/representation.h"
#include "models/skip_thoughts/evaluation/tasks.h"

namespace lamina::skip_thoughts {

/// How SICK's softmax regression is fitted.
enum class SickFit { penalty, early_stopping };

struct EvaluationOptions {
  size_t folds = 10;
  size_t inner_folds = 1;  ///< 1: a tenth held out once; the public code averages over 10
  SickFit sick = SickFit::penalty;
  std::uint64_t seed = 1;  ///< of the order of the cases
};

/// The seven numbers of Table 3; accuracies in percent.
struct TaskScores {
  double sick_r = 0, sick_rho = 0, sick_mse = 0, mr = 0, cr = 0, subj = 0, mpqa = 0;
};

/// The mean accuracy over the folds, in percent. `done` is called after each fold, by one thread at a time.
double cross_validate(const Features& x, const std::vector<int>& labels, const EvaluationOptions& options,
                      const std::function<void()>& done = {});

struct RelatednessScores {
  double r = 0, rho = 0, mse = 0;
};
/// Throws NotFinite where no regression has an r on the trial pairs to be chosen by.
RelatednessScores predict_relatedness(const Representation& of, const Relatedness& data,
                                      const EvaluationOptions& options = {},
                                      const std::function<void()>& done = {});

/// p of a relatedness from 1 to 5: the weights of the two classes around it [5].
std::vector<real> soft_label(double relatedness);

/// How often `done` is called by one evaluation of everything.
size_t evaluation_steps(const EvaluationOptions& options);

TaskScores evaluate(const Representation& of, const Relatedness& sick,
                    const std::vector<Classification>& tasks, const EvaluationOptions& options,
                    const std::function<void()>& done = {});

}  // namespace lamina::skip_thoughts
