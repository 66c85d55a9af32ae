#pragma once
// Section 6.1 as an experiment for the training loop.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/order_embedding/data.h"
#include "models/order_embedding/model.h"
#include "models/order_embedding/retrieval.h"
#include "models/training/training.h"
#include "optim/choice.h"

namespace lamina::order_embedding {

/// The measure on the validation images that selects the best model.
enum class BestBy {
  both,  ///< R@1 + R@5 + R@10, summed over both directions
  image  ///< the same for image search only: the rule of the public code
};

/// The defaults are the paper's settings.
struct OrderOptions {
  Score score = Score::order;
  Norm norm = Norm::none;
  size_t embedding = 300, hidden = 1024;
  size_t batch = 128;
  OptimizerKind optimizer = OptimizerKind::adam;
  double learning_rate = 1e-3;
  BestBy best_by = BestBy::both;
  std::uint64_t seed = 1;
};

inline constexpr real gradient_limit = 2;  ///< of each parameter's gradient, norm2

/// The settings of a run that --preset selects.
struct Preset {
  OrderOptions options = {};
  std::uint64_t epochs = 100, validate_every = 300;  ///< passes over the images; updates
  WorldSizes world = {};                             ///< of the built-in data
};
/// "paper", or "small" with about a quarter of the sizes for a first look; Error for another name.
Preset preset_of(std::string_view name);

/// The file in a run's folder with the model that was best on the validation images.
inline constexpr const char* best_model = "best.safetensors";

/// The points of a split's images [N x hidden] and of all their captions [5 N x hidden].
struct Points {
  Tensor images, captions;
};

/// An epoch visits every image once, in random order, with one of its five captions drawn at random; the
/// images left over after whole batches differ from epoch to epoch.
class OrderExperiment final : public Experiment {
 public:
  /// `data` must outlive the experiment; `folder` gets `best_model`. Throws Error for a batch of 0 or one
  /// larger than the training set.
  OrderExperiment(const Data& data, const OrderOptions& options, RunFolder folder);

  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  /// Clips every gradient separately, to norm 2, those of the GRU's gates and of its candidate too.
  void adjust_gradients() override;
  /// On the first `searched_images` of validation. Keeps the model unless an earlier one was at least as good.
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;
  std::vector<std::string> shown_metrics() const override { return {"train_loss", "valid_sum"}; }

  /// The images [begin, end) of a split, and their captions.
  Points embed(const CaptionSplit& split, size_t begin, size_t end) const;
  /// A single sentence.
  Tensor embed(const Sentence& sentence) const;

  Retrieval score(const CaptionSplit& split, size_t begin, size_t end) const;
  /// Table 2: the mean over the parts of `searched_images` test images, with the current parameters. Images behind the last
  /// whole part are left out; fewer than one part are a part.
  Retrieval test() const;
  /// Writes it to test.csv in the run's folder.
  void write_test(const Retrieval& result) const;

  const Data& data() const { return data_; }
  const OrderOptions& options() const { return options_; }
  std::uint64_t steps_per_epoch() const { return data_.train.images / options_.batch; }

 private:
  void draw_epoch(std::uint64_t epoch);
  double epochs_done() const {
    return static_cast<double>(optimizer->steps) / static_cast<double>(steps_per_epoch());
  }
  Tensor features_of(const CaptionSplit& split, size_t count,
                     const std::function<size_t(size_t)>& image) const;

  const Data& data_;
  OrderOptions options_;
  RunFolder folder_;
  std::vector<int> order_;     // of the images in the current epoch
  std::vector<int> captions_;  // which one each image comes with
  std::uint64_t drawn_epoch_ = ~std::uint64_t{0};
  double best_;  // the value of `best_model`'s measure

 public:
  Parameters parameters;
  Model model;
  std::unique_ptr<Optimizer> optimizer;
};

}  // namespace lamina::order_embedding
