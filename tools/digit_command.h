#pragma once
// What the commands that train classifiers of digits share: each chosen normalization is trained with each
// batch size, and the whole ends with a table and a figure.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/digit_experiment.h"
#include "tools/common_flags.h"

namespace lamina {

struct DigitCommand {
  std::string name;  ///< "mnist", as on the command line
  std::function<std::unique_ptr<DigitExperiment>(const MnistData& data, const DigitOptions& options)> make;
  std::int64_t paper_epochs = 60, small_epochs = 5;
};

/// One of the runs that a call of a command makes.
struct DigitVariant {
  std::string norm;
  std::int64_t batch;
  std::string name() const { return text(norm, "-b", batch); }
};
std::vector<DigitVariant> digit_variants(const CommonFlags& flags);

DigitOptions options_of(const DigitVariant& variant, const CommonFlags& flags);

/// The data that --data names, or built-in ones; only a few of those in a smoke run.
MnistData load_digits(const CommonFlags& flags);

/// Trains, prints and saves a summary and draws the figure. Returns the exit code.
int run_digit_command(const DigitCommand& command, CommonFlags flags);

}  // namespace lamina
