#pragma once
// A command that trains the variants of a model one after another, each in a folder of its own unless it is the only
// one. A call can be resumed, and the whole ends with a table and a figure. An experiment says what differs:
//
//   class SquareCommand final : public TrainingCommand {
//    public:
//     explicit SquareCommand(Command& command) : TrainingCommand(command, square_step(), {.batch = 16}) {
//       fields.add("--side", side_, "of the square", {.paper = 64, .small = 8}).positive();
//     }
//    private:
//     TrainingData load() override;
//     Outcome train_variant(const RunFolder& folder, const RunLabel& label) override;
//     std::string summary(const TrainedVariants& trained) const override;
//     std::vector<Panel> figure(const TrainedVariants& trained) const override;
//     size_t side_ = 0;
//   };
//   const auto square = std::make_shared<SquareCommand>(command);
//   command.action([square] { return square->run(); });

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/training/training.h"
#include "models/training/training_step.h"
#include "optim/choice.h"
#include "tools/flags/training/common_flags.h"
#include "tools/results/variant_report.h"

namespace lamina {

struct TrainingData {
  std::string source;  ///< one line: what the data are
  size_t cases;        ///< no batch may be larger
  std::string called = "training cases";
};

class TrainingCommand : public CommonFlags {
 public:
  /// Adds the common flags to a command of the name of its training step, whose norms --norm offers, and `more_norms`.
  TrainingCommand(Command& command, const NamedTrainingStep& step, const CommonDefaults& defaults,
                  const std::vector<std::string>& more_norms = {});

  /// Trains all variants, prints and saves a summary and draws the figure; with --seeds as a study. Returns the exit code.
  int run();

  /// Opens a run of this command and takes over its settings. `asked` is the word of the command line in front of
  /// `path`. UsageError when the run is of another command.
  RunFolder open(const std::string& asked, const std::string& path);
  /// The same where it must be of one variant: UsageError when it is of several.
  RunFolder open_single(const std::string& asked, const std::string& path);
  /// Acts on a run of one variant, or on each in the folder of several, its settings taken over.
  void for_each_run(const std::string& asked, const std::string& path,
                    const std::function<void(const RunFolder& folder)>& act);

  /// Reads or makes the data that the settings name.
  virtual TrainingData load() = 0;
  /// The same for a run that is looked at. UsageError when --data is another folder than when it was trained, DataError
  /// when other files are in it.
  void load_again(const RunFolder& run);

 protected:
  /// Trains one in its folder, from where it was; the settings are those of this variant alone.
  virtual Outcome train_variant(const RunFolder& folder, const RunLabel& label) = 0;
  /// A markdown table, one row a variant, and the panels of a figure.
  virtual std::string summary(const TrainedVariants& trained) const = 0;
  virtual std::vector<Panel> figure(const TrainedVariants& trained) const = 0;

  /// Lists that the command line left open, spelled out.
  virtual void spell_out() {}
  /// What presets alone do not tell.
  virtual void complete() {}
  /// Unless overridden, each norm with each batch size.
  virtual std::vector<Variant> variants() const;

  /// --optimizer with these names. authors-adam is for the experiments whose public code has an Adam of its own
  /// (Sections 6.1 and 6.3).
  void add_optimizer_flag(const std::vector<std::string>& names);
  OptimizerKind optimizer_kind() const;
  /// How many updates a run has: those that --updates asks for, or with 0 its epochs'; with LAMINA_SMOKE at most so many
  /// epochs'.
  std::uint64_t updates_in_all(size_t asked, std::uint64_t per_epoch) const;
  /// --sync-batch-norm, for experiments whose --norm offers batch norm.
  void add_sync_batch_norm_flag();

 private:
  std::optional<RunFolder> folder_to_resume();
  void take_over(const RunFolder& run) const;
  void require_same_variants(const std::vector<Variant>& all, const std::string& path);
  void require_same_start() const;
  void require_same_folder(const RunFolder& run) const;
  void require_same_data(const RunFolder& run) const;
  TrainingData load_same();
  TrainingData load_noted();
  void note_data(const std::string& files_read);
  void set_threads_of_rank();
  void choose_statistics() const;
  void require_parts() const;
  void require_enough_for_ranks() const;
  void fill_in_preset();
  void require_fitting(const TrainingData& data) const;
  /// --seeds: trains the variants with each seed. Returns the exit code.
  int run_study() const;
  /// What the command line said, apart from what tells variants apart.
  Settings given_settings(const std::vector<Settings>& variants) const;
  RunFolder create(const std::string& path, const std::string& variant) const;
  RunFolder with_length(RunFolder folder) const;
  RunFolder folder_of(const Variant& variant, const RunFolder& whole) const;
  std::optional<Outcome> train_one_of_several(const RunFolder& folder, const RunLabel& label);
  /// Trains one after the other until all are, or until an interrupt. One that diverges is not among the trained.
  Outcome train_all(const std::vector<Variant>& all, const RunFolder& whole, TrainedVariants& trained);
  /// Returns the exit code: 1 where a variant diverged.
  int train_and_finish(const std::vector<Variant>& all, const RunFolder& whole);
  void finish(const std::vector<Variant>& all, const RunFolder& whole, const TrainedVariants& trained) const;

  const Command& command_;
  std::string name_;         ///< "mnist", as on the command line
  std::string data_digest_;  ///< of the files in --data
  std::string optimizer_ = "adam";
  bool sync_batch_norm_ = false;
};

/// Tests a model after train() with this outcome, unless that was interrupted: all ranks come here and divide the work.
void test_together(Outcome outcome, const std::function<void()>& test);

/// UsageError where `data`, as --data names it, is not the folder that the run began with, while that is still there.
void require_data_folder(const RunFolder& run, const std::string& data);

/// UsageError when the run at `path` is not one of `lamina experiment`.
RunFolder open_run(const std::string& experiment, const std::string& asked, const std::string& path);

}  // namespace lamina
