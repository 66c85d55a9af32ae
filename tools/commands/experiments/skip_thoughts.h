#pragma once
// lamina skip-thoughts: what its training, and the commands that use what was trained, share.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/skip_thoughts/experiment.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

class SkipCommand final : public TrainingCommand {
 public:
  explicit SkipCommand(Command& command);

  skip_thoughts::SkipOptions options() const;
  /// What a run that is looked at was trained on. Throws as load_again().
  const skip_thoughts::Corpus& corpus_of(const RunFolder& run);

 private:
  void complete() override;
  TrainingData load() override;
  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override;
  std::string summary(const TrainedVariants& trained) const override;
  std::vector<Panel> figure(const TrainedVariants& trained) const override;
  skip_thoughts::Corpus corpus() const;
  void find_saved_corpus();

  std::string condition_ = "initial";
  size_t evaluate_every_ = 0, embedding_ = 0, hidden_ = 0;  ///< 0: the preset's
  bool lazy_ = false;
  std::string saved_;  ///< the folder of a run that knows the books; empty: none does
  std::optional<skip_thoughts::Corpus> corpus_;
};

/// Its own commands, for what was trained: encode, eval and neighbours.
void add_skip_encode(Command& parent, const std::shared_ptr<SkipCommand>& skip);
void add_skip_eval(Command& parent, const std::shared_ptr<SkipCommand>& skip);
void add_skip_neighbours(Command& parent, const std::shared_ptr<SkipCommand>& skip);

}  // namespace lamina
