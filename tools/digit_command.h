#pragma once
// What the commands that train classifiers of digits share beyond variant_command.h: their data, their table
// and their figure.

#include <functional>
#include <memory>
#include <string>

#include "models/common/digit_experiment.h"
#include "tools/variant_command.h"

namespace lamina {

struct DigitCommand {
  std::string name;  ///< "mnist", as on the command line
  std::function<std::unique_ptr<DigitExperiment>(const MnistData& data, const DigitOptions& options)> make;
  std::int64_t paper_epochs = 60, small_epochs = 5;
};

DigitOptions options_of(const Variant& variant, const CommonFlags& flags);

/// The data that --data names, or built-in ones; only a few of those in a smoke run.
MnistData load_digits(const CommonFlags& flags);

/// Trains, prints and saves a summary and draws the figure. Returns the exit code.
int run_digit_command(const DigitCommand& command, const CommonFlags& flags);

}  // namespace lamina
