#include "models/evidence/known_experiments.h"

#include <algorithm>

namespace lamina {

const std::vector<KnownExperiment>& known_experiments() {
  static const std::vector<std::string> of_digits{"train_nll", "valid_nll", "valid_error", "test_nll",
                                                  "test_error"};
  static const std::vector<KnownExperiment> all{
      {.name = "mnist",
       .seconds = 18,
       .example = ExampleTime{"--norm none,batch,layer", 53},
       .curves = of_digits,
       .test = {},
       .highest = {}},
      {.name = "convnet",
       .seconds = 43,
       .example = ExampleTime{"--norm none,batch,layer,group", 157},
       .curves = of_digits,
       .test = {},
       .highest = {}},
      {.name = "draw",
       .seconds = 22,
       .example = ExampleTime{"--norm none,weight,layer", 59},
       .curves = {"epoch_bound", "train_bound", "train_reconstruction", "train_kl", "valid_bound",
                  "test_bound", "test_reconstruction", "test_kl"},
       .test = {},
       .highest = {}},
      {.name = "handwriting",
       .seconds = 160,
       .example = ExampleTime{"--norm none,layer", 266},
       .curves = {"epoch", "running_nll", "train_nll", "test_nll"},
       .test = {},
       .highest = {}},
      {.name = "order-embedding",
       .seconds = 60,
       .example = {},
       .curves = {"epoch", "train_loss", "valid_sum", "valid_caption_r1", "valid_caption_r5",
                  "valid_caption_r10", "valid_caption_mean_rank", "valid_image_r1", "valid_image_r5",
                  "valid_image_r10", "valid_image_mean_rank"},
       .test = {"test_caption_r1", "test_caption_r5", "test_caption_r10", "test_caption_mean_rank",
                "test_image_r1", "test_image_r5", "test_image_r10", "test_image_mean_rank"},
       .highest = {"valid_sum", "valid_caption_r1", "valid_caption_r5", "valid_caption_r10", "valid_image_r1",
                   "valid_image_r5", "valid_image_r10", "test_caption_r1", "test_caption_r5",
                   "test_caption_r10", "test_image_r1", "test_image_r5", "test_image_r10"}},
      {.name = "attentive-reader",
       .seconds = 34,
       .example = {},
       .curves = {"epoch", "train_loss", "valid_loss", "valid_error", "population_loss", "population_error",
                  "moving_loss", "moving_error", "chance_error", "frequent_error", "frequent_other_error"},
       .test = {"test_loss", "test_error", "test_population_loss", "test_population_error"},
       .highest = {}},
      {.name = "skip-thoughts",
       .seconds = 128,
       .example = ExampleTime{"--norm none,layer", 238},
       .curves = {"epoch", "train_nll", "valid_nll"},
       .test = {},
       .highest = {}},
      {.name = "transformer",
       .seconds = 3,
       .example = ExampleTime{"--norm layer,rms --placement post,pre", 11},
       .curves = {"epoch", "train_nll", "valid_nll", "valid_bits", "learning_rate"},
       .test = {"test_nll", "test_bits"},
       .highest = {}}};
  return all;
}

const KnownExperiment* find_known_experiment(std::string_view name) {
  const auto own = std::ranges::find(known_experiments(), name, &KnownExperiment::name);
  return own == known_experiments().end() ? nullptr : &*own;
}

}  // namespace lamina
