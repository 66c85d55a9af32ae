#include "models/skip_thoughts/experiment.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/distributed/batch_part.h"
#include "core/distributed/group.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/files/checkpoint.h"
#include "core/files/folder.h"
#include "core/ops.h"
#include "core/tape.h"
#include "optim/clip.h"

namespace lamina::skip_thoughts {

namespace {

constexpr std::string_view snapshot_begin = "snapshot-", snapshot_end = ".safetensors";

/// Words that a batch predicts.
double predicted_words(const Neighbours& sentences) {
  double count = 0;
  for (const TokenBatch* const batch : {&sentences.previous, &sentences.next})
    for (const int word : words_to_predict(*batch)) count += word != no_word;
  return count;
}

}  // namespace

Preset preset_of(std::string_view name) {
  if (name == "paper") return {};
  if (name != "small") fail("skip-thoughts: no preset '", name, "'; there are paper and small");
  return {.options = {.embedding = 300, .hidden = 600},
          .epochs = 5,
          .evaluate_every = 250,
          .vocabulary = 10000,
          .stories = 2000};
}

std::string snapshot_file(std::uint64_t updates) { return text(snapshot_begin, updates, snapshot_end); }

std::vector<std::uint64_t> snapshots_in(const std::string& run_folder) {
  std::vector<std::uint64_t> found;
  for (const std::string& path : entries_of(run_folder)) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (!name.starts_with(snapshot_begin)) continue;
    const std::uint64_t updates = std::strtoull(name.c_str() + snapshot_begin.size(), nullptr, 10);
    if (name == snapshot_file(updates)) found.push_back(updates);
  }
  std::ranges::sort(found);
  return found;
}

SkipExperiment::SkipExperiment(const Corpus& corpus, const SkipOptions& options, RunFolder folder)
    : folder_(std::move(folder)),
      batch_(options.batch),
      triples_(corpus, {.batch = options.batch, .seed = options.seed}),
      held_out_(triples_.held_out()),
      parameters(options.seed),
      model(parameters, {.norm = options.norm,
                         .condition = options.condition,
                         .sizes = {.vocabulary = corpus.vocabulary.size(),
                                   .embedding = options.embedding,
                                   .hidden = options.hidden}}),
      optimizer(make_optimizer(options.optimizer, parameters, static_cast<real>(options.learning_rate))) {
  const Embedding& words = model.encoder().words();
  if (options.lazy && distributed::is_shared())
    fail<UsageError>(
        "--lazy: each of several ranks would update the words of its own part of a batch; leave it out, or "
        "train without mpirun");
  if (options.lazy) optimizer->update_only(words.table(), words.used_rows());
  if (!folder_.is_ours()) return;
  corpus.save(folder_.path());
  if (!exists(folder_.file(snapshot_file(0)))) save_snapshot();
}

Tensor SkipExperiment::loss(std::uint64_t step) {
  const BatchPart part = part_of_batch(batch_);
  const Neighbours sentences = triples_.batch(step);
  words_ = predicted_words(sentences);
  if (part.is_all()) return model.loss(sentences);
  const Neighbours own = triples_.batch(step, part);
  return model.loss(own) * static_cast<real>(predicted_words(own) / words_);
}

void SkipExperiment::adjust_gradients() {
  clip_gradient_norm(parameters, gradient_limit, static_cast<real>(words_));
}

Metrics SkipExperiment::evaluate(double mean_training_loss) {
  const Tape::Pause pause;
  const auto [total, words] = distributed::sum_of_pieces<2>(held_out_.size(), [&](size_t i) {
    const double count = predicted_words(held_out_[i]);
    return std::array{count * static_cast<double>(model.loss(held_out_[i]).item()), count};
  });
  if (optimizer->steps > 0) save_snapshot();
  return {{"epoch", static_cast<double>(optimizer->steps) / static_cast<double>(steps_per_epoch())},
          {"train_nll", mean_training_loss},
          {"valid_nll", total / words}};
}

void SkipExperiment::save_snapshot() const {
  if (!folder_.is_ours()) return;
  Checkpoint snapshot;
  for (const auto& [name, value] : parameters.learned())
    if (name == "words" || name.starts_with("encoder.")) snapshot.tensors.push_back({name, value});
  snapshot.metadata = {{"format", "pt"}, {"updates", std::to_string(optimizer->steps)}};
  save_checkpoint(folder_.file(snapshot_file(optimizer->steps)), snapshot);
}

}  // namespace lamina::skip_thoughts
