#pragma once
// lamina skip-thoughts: what its training, and the commands that use what was trained, share.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/skip_thoughts/experiment.h"
#include "tools/flags/training_command.h"

namespace lamina {

class SkipCommand final : public TrainingCommand {
 public:
  explicit SkipCommand(Command& command);

  skip_thoughts::SkipOptions options() const;
  /// The books in --data, as the run in `saved` knows them if that is not empty, or the built-in stories.
  skip_thoughts::Corpus corpus(const std::string& saved) const;

 private:
  void complete() override;
  TrainingData load() override;
  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override;
  std::string summary(const TrainedVariants& trained) const override;
  std::vector<Panel> figure(const TrainedVariants& trained) const override;
  std::string folder_of_saved_corpus() const;

  std::string condition_ = "initial";
  size_t evaluate_every_ = 0, embedding_ = 0, hidden_ = 0;  ///< 0: the preset's
  bool lazy_ = false;
  std::optional<skip_thoughts::Corpus> corpus_;
};

/// encode, eval and neighbours: what trained vectors are for.
void add_skip_vector_commands(Command& command, const std::shared_ptr<SkipCommand>& skip);

}  // namespace lamina
