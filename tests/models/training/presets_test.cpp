// Every setting of the paper's preset, as the commands run it, against the paper. The first column of each row is the
// section it comes from; "ours" where the paper leaves the setting open (models/FIDELITY.md says which and why).

#include <doctest/doctest.h>

#include <cmath>

#include "models/draw/experiment.h"
#include "models/handwriting/experiment.h"
#include "models/order_embedding/experiment.h"
#include "models/skip_thoughts/experiment.h"
#include "models/training/digit_experiment.h"
#include "tests/check.h"
#include "tests/models/training/presets.h"

using namespace lamina;
using namespace lamina::test;
using handwriting::HandwritingExperiment;
using order_embedding::OrderExperiment;
using skip_thoughts::SkipExperiment;

namespace {

/// The deviations of Xavier's and of He's normal initialization.
double xavier_deviation(double inputs, double outputs) { return std::sqrt(2 / (inputs + outputs)); }
double he_deviation(double inputs) { return std::sqrt(2 / inputs); }

// --- 6.6 and 6.7: digits

/// A hidden layer's gain and bias.
std::vector<WeightRow> norm_rows(const char* source, const std::string& name, const Shape& shape) {
  return {{source, name + ".gain", shape, constant_at(1)}, {source, name + ".bias", shape, constant_at(0)}};
}

std::vector<WeightRow> mnist_matrices(const std::string& ending) {
  return {{"6.6, ours", "hidden1." + ending, {784, 1000}, normal_of(he_deviation(784))},
          {"6.6, ours", "hidden2." + ending, {1000, 1000}, normal_of(he_deviation(1000))},
          {"6.6, ours", "logits." + ending, {1000, 10}, normal_of(he_deviation(1000))}};
}

std::vector<NumberRow> digit_numbers(double steps, double epochs) {
  return rows<NumberRow>({adam_rows("6.6", 1e-3),
                          split_rows<DigitExperiment>("6.6: 55,000 cases for training", 55000, 5000, 10000,
                                                      [](const DigitSplit& split) { return split.count(); }),
                          {plan_row("6.6", "updates per epoch of 55,000 cases", steps),
                           length_row("6.6", epochs), clipped_row("6.6, ours: no clipping", 1e4)}});
}

/// Batch norm: the share of a batch's statistics that enters the running ones. Measured on the variance v of a unit,
/// which two passes over the same batch move from 1 to v_1 and on to v_2: v_2 - v_1 = (1 - share) (v_1 - 1).
NumberRow momentum_row(const char* source, const std::string& name) {
  return {source, "momentum of batch norm's running averages", 0.1, [=](const TrainingStart& start) {
            const auto& state = start.parameters.state();
            const auto found = std::ranges::find(state, name + ".running_variance", &Parameters::Entry::name);
            REQUIRE(found != state.end());
            std::vector<double> seen;
            for (int pass = 0; pass < 2; ++pass) {
              start.experiment.loss(0);
              seen.push_back(static_cast<double>(found->value[0]));
            }
            return 1 - (seen[1] - seen[0]) / (seen[0] - 1);
          }};
}

// --- 6.4 and 6.5: LSTMs

/// Weights of an LSTM whose gates are not normalized.
std::vector<WeightRow> lstm_rows(const char* source, const std::string& name, size_t input, size_t hidden,
                                 double forget_bias) {
  return {{source,
           name + ".input_weight",
           {input, 4 * hidden},
           normal_of(xavier_deviation(static_cast<double>(input), 4 * static_cast<double>(hidden)))},
          {source, name + ".hidden_weight", {hidden, 4 * hidden}, orthogonal_blocks(4)},
          {source, name + ".bias", {4 * hidden}, first_of(4, forget_bias)}};
}

/// The same with layer norm of Eq. 20-22: gains 1, biases 0 except the forget gate's.
std::vector<WeightRow> layer_norm_lstm_rows(const char* source, const std::string& name, size_t input,
                                            size_t hidden, double forget_bias) {
  const auto weights = lstm_rows(source, name, input, hidden, forget_bias);
  const Shape gates{4 * hidden};
  return rows<WeightRow>({{weights[0],
                           weights[1],
                           {"12, (20)", name + ".input_norm.gain", gates, constant_at(1)},
                           {source, name + ".input_norm.bias", gates, first_of(4, forget_bias)}},
                          norm_rows("12, (20)", name + ".hidden_norm", gates),
                          norm_rows("12, (22)", name + ".memory_norm", {hidden})});
}

/// The rows of matrices under weight norm, w = g v / norm2(v): v starts like the matrix, g as its length.
std::vector<WeightRow> with_weight_norm(std::vector<WeightRow> all) {
  const size_t count = all.size();
  for (size_t i = 0; i < count; ++i) {
    if (all[i].shape.rank() < 2) continue;
    std::string name =
        all[i].name.ends_with(".weight") ? all[i].name.substr(0, all[i].name.size() - 7) : all[i].name;
    all.push_back({"weight norm, ours", name + ".gain", {all[i].shape[1]}, by_a_number()});
    all[i].name = name + ".direction";
  }
  return all;
}

std::vector<WeightRow> draw_rows(bool layer_norm) {
  const auto xavier = [](size_t inputs, size_t outputs) {
    return normal_of(xavier_deviation(static_cast<double>(inputs), static_cast<double>(outputs)));
  };
  std::vector<WeightRow> all;
  for (const auto& [name, outputs] :
       {std::pair<std::string, size_t>("read", 5), {"latent", 200}, {"write", 30}}) {
    all.push_back({"6.4, ours", name + ".weight", {256, outputs}, xavier(256, outputs)});
    all.push_back({"6.4, ours", name + ".bias", {outputs}, constant_at(0)});
  }
  // The encoder's input is its reading, 2 x 2 of the image and of the error, and the decoder's state; the
  // decoder's is z.
  for (const auto& [name, input] :
       {std::pair<std::string, size_t>("encoder", 2 * 2 * 2 + 256), {"decoder", 100}}) {
    all = rows<WeightRow>({all, lstm_rows("6.4", name, input, 256, 0)});
    if (layer_norm) all = rows<WeightRow>({all, norm_rows("13, (31)", name + ".memory_norm", {256})});
  }
  return all;
}

std::vector<WeightRow> handwriting_rows(bool layer_norm) {
  constexpr size_t point = 3, symbols = 57, hidden = 400;
  const auto layer = layer_norm ? layer_norm_lstm_rows : lstm_rows;
  return rows<WeightRow>(
      {layer("6.5", "lower", point + symbols, hidden, 1),
       layer("6.5", "middle", point + hidden + symbols, hidden, 1),
       layer("6.5", "upper", point + hidden + symbols, hidden, 1),
       {{"6.5: 10 Gaussians, 30 parameters",
         "window.weight",
         {hidden, 30},
         normal_of(xavier_deviation(400, 30))},
        {"6.5, ours: slides by 1/25 character", "window.bias", {30}, last_of(3, std::log(0.04))},
        {"6.5: 20 components, 121 outputs",
         "mixture.weight",
         {3 * hidden, 121},
         normal_of(xavier_deviation(1200, 121))},
        {"6.5, ours", "mixture.bias", {121}, constant_at(0)}}});
}

// --- 6.1 and 6.3: GRUs

/// Inputs uniform in +-0.1, recurrent weights orthogonal per gate; Eq. 26-27 under layer norm.
std::vector<WeightRow> gru_rows(const char* source, const std::string& name, size_t input, size_t hidden,
                                bool layer_norm) {
  const Shape gates{3 * hidden};
  const std::vector<WeightRow> weights{
      {source, name + ".input_weight", {input, 3 * hidden}, uniform_within(0.1)},
      {source, name + ".hidden_weight", {hidden, 3 * hidden}, orthogonal_blocks(3)}};
  if (!layer_norm) return rows<WeightRow>({weights, {{source, name + ".bias", gates, constant_at(0)}}});
  return rows<WeightRow>({weights, norm_rows("12, (26, 27)", name + ".input_norm", gates),
                          norm_rows("12, (26, 27)", name + ".hidden_norm", gates)});
}

std::vector<WeightRow> order_rows(bool layer_norm) {
  return rows<WeightRow>(
      {{{"6.1 (code)", "words", {of_the_data, 300}, uniform_within(0.1)}},
       gru_rows("6.1 (code)", "gru", 300, 1024, layer_norm),
       {{"6.1 (code): Xavier", "image.weight", {4096, 1024}, uniform_within(std::sqrt(6.0 / (4096 + 1024)))},
        {"6.1 (code)", "image.bias", {1024}, constant_at(0)}}});
}

std::vector<WeightRow> skip_thought_rows(bool layer_norm) {
  std::vector<WeightRow> all{{"6.3 (code)", "words", {of_the_data, 620}, uniform_within(0.1)},
                             {"6.3 (code)", "output.weight", {2400, of_the_data}, uniform_within(0.1)},
                             {"6.3 (code)", "output.bias", {of_the_data}, constant_at(0)}};
  for (const std::string name : {"encoder", "previous", "next"})
    all = rows<WeightRow>({all, gru_rows("6.3 (code)", name, 620, 2400, layer_norm)});
  return all;
}

/// A setting that config.json keeps, as a number.
NumberRow setting_row(const char* source, const char* name, double wanted) {
  return {source, name, wanted, [=](const TrainingStart& start) {
            return static_cast<double>(start.folder.config().settings.get<std::int64_t>(name));
          }};
}

/// 1000 validation images, 5 parts of 1000 for the test; the best model is best in both directions.
std::vector<NumberRow> order_evaluation() {
  const auto row = [](const char* source, const char* what, double wanted, auto measured) {
    return experiment_row<OrderExperiment>(source, what, wanted, measured);
  };
  return {
      row("6.1", "batch", 128, [](const auto& e) { return e.options().batch; }),
      row("6.1: every 300 iterations", "validation images", 1000,
          [](const auto& e) { return std::min(e.data().valid.images, order_embedding::searched_images); }),
      row("6.1: five splits of 1000", "test parts", 5,
          [](const auto& e) { return e.data().test.images / order_embedding::searched_images; }),
      row("6.1, ours", "best in both directions", 1,
          [](const auto& e) { return e.options().best_by == order_embedding::BestBy::both; })};
}

}  // namespace

TEST_SUITE("slow") {
  TEST_CASE("preset order-embedding (6.1)") {
    check_preset({.command = {"order-embedding", "--score", "cosine", "--norm", "none"},
                  .numbers = adam_rows("6.1", 1e-3),
                  .weights = order_rows(false)});
    for (const bool layer_norm : {false, true})
      check_preset(
          {.command = {"order-embedding", "--score", "order", "--norm", layer_norm ? "layer" : "none"},
           .numbers =
               rows<NumberRow>({adam_rows("6.1", 1e-3),
                                order_evaluation(),
                                {plan_row("6.1 (code): a validation every 300 updates", "period", 300),
                                 setting_row("6.1", "epochs", 100), setting_row("6.1", "validate_every", 300),
                                 clipped_apart_row("6.1 (code): each gradient", 2)}}),
           .weights = order_rows(layer_norm)});
  }

  TEST_CASE("preset skip-thoughts (6.3)") {
    for (const bool layer_norm : {false, true})
      check_preset({.command = {"skip-thoughts", "--norm", layer_norm ? "layer" : "none"},
                    .numbers = rows<NumberRow>(
                        {adam_rows("6.3 (code)", 2e-4),
                         {setting_row("6.3", "evaluate_every", 50000),
                          {"6.3", "batch", 64,
                           [](const TrainingStart& start) {
                             return std::stod(start.folder.config().settings.get<std::string>("batch"));
                           }},
                          experiment_row<SkipExperiment>(
                              "6.3, ours", "passages held out", 16,
                              [](const auto& e) { return e.triples().passages_held_out(); }),
                          clipped_row("6.3: norm of all gradients", 5)}}),
                    .weights = skip_thought_rows(layer_norm)});
  }
  TEST_CASE("preset mnist: layer norm on the hidden layers only (6.6)") {
    check_preset({.command = {"mnist", "--norm", "layer"},
                  .numbers = digit_numbers(429, 60),
                  .weights = rows<WeightRow>({mnist_matrices("weight"),
                                              norm_rows("6.6", "hidden1.norm", {1000}),
                                              norm_rows("6.6", "hidden2.norm", {1000}),
                                              {{"6.6", "logits.bias", {10}, constant_at(0)}}})});
  }

  TEST_CASE("preset mnist: batch norm on all layers, logits too (6.6)") {
    for (const auto& [batch, steps] : {std::pair<std::string, double>("128", 429), {"4", 13750}})
      check_preset({.command = {"mnist", "--norm", "batch", "--batch", batch},
                    .numbers = rows<NumberRow>(
                        {digit_numbers(steps, 60), {momentum_row("6.6, ours", "hidden1.norm")}}),
                    .weights = rows<WeightRow>(
                        {mnist_matrices("weight"), norm_rows("6.6", "hidden1.norm", {1000}),
                         norm_rows("6.6", "hidden2.norm", {1000}), norm_rows("6.6", "logits.norm", {10})})});
    CHECK(variance_for(4) == Variance::unbiased);  // 6.6
    CHECK(variance_for(128) == Variance::biased);
  }

  TEST_CASE("preset mnist: the baseline has neither (6.6)") {
    check_preset({.command = {"mnist", "--norm", "none"},
                  .numbers = digit_numbers(429, 60),
                  .weights = rows<WeightRow>({mnist_matrices("weight"),
                                              {{"6.6", "hidden1.bias", {1000}, constant_at(0)},
                                               {"6.6", "hidden2.bias", {1000}, constant_at(0)},
                                               {"6.6", "logits.bias", {10}, constant_at(0)}}})});
  }

  TEST_CASE("preset mnist: weight norm on all layers (ours)") {
    check_preset({.command = {"mnist", "--norm", "weight"},
                  .numbers = rows<NumberRow>({digit_numbers(429, 60), {weight_norm_row("1")}}),
                  .weights = rows<WeightRow>({with_weight_norm(mnist_matrices("weight")),
                                              {{"6.6", "hidden1.bias", {1000}, constant_at(0)},
                                               {"6.6", "hidden2.bias", {1000}, constant_at(0)},
                                               {"6.6", "logits.bias", {10}, constant_at(0)}}})});
  }

  TEST_CASE("preset convnet (6.7: all ours)") {
    const std::vector<WeightRow> matrices{
        {"6.7, ours", "conv1.weight", {5, 5, 1, 32}, normal_of(he_deviation(25))},
        {"6.7, ours", "conv2.weight", {5, 5, 32, 64}, normal_of(he_deviation(25 * 32))},
        {"6.7, ours", "hidden.weight", {3136, 512}, normal_of(he_deviation(3136))},
        {"6.7, ours", "logits.weight", {512, 10}, normal_of(he_deviation(512))},
        {"6.7, ours", "logits.bias", {10}, constant_at(0)}};
    const auto check = [&](const char* norm, const std::vector<WeightRow>& others) {
      check_preset({.command = {"convnet", "--norm", norm},
                    .numbers = digit_numbers(429, 20),
                    .weights = rows<WeightRow>({matrices, others})});
    };
    const char* const source = "6.7, ours";
    const auto hidden = norm_rows(source, "hidden.norm", {512});
    for (const char* const per_unit : {"layer", "layer-interior"})
      check(per_unit, rows<WeightRow>({norm_rows(source, "conv1.norm", {28, 28, 32}),
                                       norm_rows(source, "conv2.norm", {14, 14, 64}), hidden}));
    for (const char* const per_channel : {"batch", "group"})
      check(per_channel, rows<WeightRow>({norm_rows(source, "conv1.norm", {32}),
                                          norm_rows(source, "conv2.norm", {64}), hidden}));
    check("none", {{source, "conv1.bias", {32}, constant_at(0)},
                   {source, "conv2.bias", {64}, constant_at(0)},
                   {source, "hidden.bias", {512}, constant_at(0)}});
  }

  TEST_CASE("preset draw (6.4)") {
    const auto numbers = rows<NumberRow>(
        {adam_rows("6.4: Adam's default setting", 1e-3),
         split_rows<draw::DrawExperiment>("6.4: Larochelle and Murray's", 50000, 10000, 10000,
                                          [](const draw::BinaryImages& images) { return images.count(); }),
         {plan_row("6.4: 50,000 images, batch 128", "updates per epoch", 390),
          length_row("6.4: the figure shows 100", 100), clipped_row("6.4, ours", 10)}});
    check_preset({.command = {"draw", "--norm", "none"}, .numbers = numbers, .weights = draw_rows(false)});
    check_preset({.command = {"draw", "--norm", "layer"}, .numbers = numbers, .weights = draw_rows(true)});
    check_preset({.command = {"draw", "--norm", "weight"},
                  .numbers = rows<NumberRow>({numbers, {weight_norm_row("6.4, ours")}}),
                  .weights = with_weight_norm(draw_rows(false))});
  }

  TEST_CASE("preset handwriting (6.5)") {
    for (const bool layer_norm : {false, true})
      check_preset(
          {.command = {"handwriting", "--norm", layer_norm ? "layer" : "none", "--updates", "800"},
           .numbers = rows<NumberRow>(
               {adam_rows("6.5: Adam, rate ours", 1e-3),
                {experiment_row<HandwritingExperiment>("6.5", "batch", 8,
                                                       [](const auto& e) { return e.options().batch; }),
                 experiment_row<HandwritingExperiment>("6.5", "points per line", 500,
                                                       [](const auto& e) { return e.options().length; }),
                 experiment_row<HandwritingExperiment>("6.5, ours", "built-in training lines", 10000,
                                                       [](const auto& e) { return e.data().train.size(); }),
                 experiment_row<HandwritingExperiment>("6.5, ours", "built-in test lines", 500,
                                                       [](const auto& e) { return e.data().test.size(); })},
                {plan_row("Figure 5's axis: updates / 200", "updates per report", 200), length_row("6.5", 4),
                 clipped_row("6.5, ours: of elements only", 1e4)}}),
           .weights = handwriting_rows(layer_norm)});
  }

}  // TEST_SUITE("slow")

TEST_CASE("the tables' measure finds a distribution that is slightly off") {
  Tensor values({300, 200});
  Random(1).fill_uniform(values.data(), values.size(), real(-0.1), real(0.1));
  CHECK(mismatch(values, uniform_within(0.1)) == "");
  CHECK(mismatch(values, uniform_within(0.098)) != "");
  CHECK(mismatch(values, uniform_within(0.103)) != "");
  CHECK(mismatch(values, normal_of(0.1)) != "");
  Random(2).fill_normal(values.data(), values.size(), 0, real(0.01));
  CHECK(mismatch(values, normal_of(0.01)) == "");
  CHECK(mismatch(values, normal_of(0.0103)) != "");
  CHECK(mismatch(values, constant_at(0)) != "");
  const Tensor identity = Tensor::from({2, 2}, {1, 0, 0, 1});
  CHECK(mismatch(identity, orthogonal_blocks(1)) == "");
  CHECK(mismatch(identity, orthogonal_blocks(1, 0.05)) != "");
  CHECK(mismatch(Tensor::from({4}, {1, 1, 0, 0}), first_of(2, 1)) == "");
  CHECK(mismatch(Tensor::from({4}, {1, 1, 0, 0}), last_of(2, 1)) != "");
}
