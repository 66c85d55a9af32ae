#pragma once
// The commands that train classifiers of digits: their data, their table and their figure.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/training/digit_experiment.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

class DigitCommand : public TrainingCommand {
 public:
  DigitCommand(Command& command, const NamedTrainingStep& step, const CommonDefaults& defaults);

  DigitOptions options() const;
  /// The data that --data names, or built-in ones; only a few of those in a smoke run.
  TrainingData load() override;
  const MnistData& data() const { return *data_; }

 protected:
  virtual std::unique_ptr<DigitExperiment> make() const = 0;

  void complete() override;
  std::vector<Variant> variants() const override;
  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override;
  std::string summary(const TrainedVariants& trained) const override;
  std::vector<Panel> figure(const TrainedVariants& trained) const override;

 private:
  double momentum_ = 0;
  size_t train_on_ = 0;
  std::optional<MnistData> data_;
};

/// That of a kind of experiment.
template <class SomeExperiment>
class DigitCommandOf : public DigitCommand {
 public:
  using DigitCommand::DigitCommand;

 private:
  std::unique_ptr<DigitExperiment> make() const override {
    return std::make_unique<SomeExperiment>(data(), options());
  }
};

}  // namespace lamina
