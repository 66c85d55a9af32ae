// The attentive reader's paper preset, as the command runs it, against the paper (6.2) and its authors' public code,
// whose settings models/FIDELITY.md lists.

#include <doctest/doctest.h>

#include <cmath>

#include "models/attentive_reader/experiment.h"
#include "tests/check.h"
#include "tests/models/training/presets.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

constexpr size_t units = 240;
constexpr const char* code = "6.2, code";

/// U(-b, b) with b = sqrt(6 / (in + out + 1)).
Distribution uniform_for(size_t inputs, size_t outputs) {
  return uniform_within(std::sqrt(6 / static_cast<double>(inputs + outputs + 1)));
}
Distribution small_orthogonal(size_t blocks) { return orthogonal_blocks(blocks, 0.05); }

const ar::ReaderExperiment& reader(const TrainingStart& start) {
  return dynamic_cast<const ar::ReaderExperiment&>(start.experiment);
}

std::vector<NumberRow> numbers() {
  const auto option = [](const char* source, const char* what, double wanted, auto member) {
    return NumberRow{source, what, wanted, [=](const TrainingStart& start) {
                       return static_cast<double>(reader(start).model.options().*member);
                     }};
  };
  const auto setting = [](const char* source, const char* what, double wanted, auto member) {
    return NumberRow{source, what, wanted, [=](const TrainingStart& start) {
                       return static_cast<double>(reader(start).options().*member);
                     }};
  };
  return rows<NumberRow>(
      {adam_rows("6.2", 8e-5),
       split_rows<ar::ReaderExperiment>("6.2, ours: built-in stories", 100000, 1000, 1000,
                                        [](const ar::QuestionSplit& split) { return split.count; }),
       {plan_row("6.2", "updates between validations", 1000),
        length_row("6.2: 800,000 updates", 800),
        clipped_row("6.2", 10),
        setting("6.2", "batch", 64, &ar::ReaderOptions::batch),
        setting("6.2, ours", "batches that batch norm's population is measured on", 100,
                &ar::ReaderOptions::population_batches),
        option(code, "dropout", 0.5, &ar::ModelOptions::dropout),
        option("6.2", "embedding", units, &ar::ModelOptions::embedding),
        option("6.2", "hidden", units, &ar::ModelOptions::hidden),
        option(code, "bilinear term", 1, &ar::ModelOptions::bilinear),
        option(code, "mean state", 1, &ar::ModelOptions::mean_state),
        option("6.2, ours", "T_max", 200, &ar::ModelOptions::max_steps),
        {"6.2: entities only", "answers", static_cast<double>(ar::built_in_stories(1).entities),
         [](const TrainingStart& start) {
           return static_cast<double>(reader(start).model.options().answers);
         }}}});
}

/// An LSTM, h_0 learned and c_0 not.
std::vector<WeightRow> lstm_rows(const std::string& name, Norm norm, double gain) {
  const Shape gates{4 * units};
  std::vector<WeightRow> all{{code, name + ".input_weight", {units, 4 * units}, small_orthogonal(4)},
                             {code, name + ".hidden_weight", {units, 4 * units}, small_orthogonal(4)},
                             {code, name + ".initial_h", {units}, constant_at(0)}};
  if (norm == Norm::none) {
    all.push_back({code, name + ".bias", gates, constant_at(0)});
    return all;
  }
  for (const char* const which : {".input_norm", ".hidden_norm"})
    all.push_back({"6.2", name + which + ".gain", gates, constant_at(gain)});
  all.push_back({"6.2", name + ".input_norm.bias", gates, constant_at(0)});
  if (norm == Norm::layer) all.push_back({"12, (20)", name + ".hidden_norm.bias", gates, constant_at(0)});
  all.push_back({"6.2", name + ".memory_norm.gain", {units}, constant_at(gain)});
  all.push_back({"6.2", name + ".memory_norm.bias", {units}, constant_at(0)});
  return all;
}

std::vector<WeightRow> reader_rows(Norm norm, double gain, bool everywhere) {
  const ar::Data data = ar::built_in_stories(1);
  const size_t words = data.vocabulary.size(), entities = data.entities;
  const Shape square{units, units};
  auto all = rows<WeightRow>({lstm_rows("passage_lstm", norm, gain),
                              lstm_rows("question_lstm", norm, gain),
                              {{code, "words", {words, units}, uniform_for(words, units)},
                               {code, "attend_state.weight", square, small_orthogonal(1)},
                               {code, "attend_question.weight", square, uniform_for(units, units)},
                               {code, "attend_weight", {units}, uniform_within(std::sqrt(1.0 / units))},
                               {code, "relation.weight", square, small_orthogonal(1)},
                               {code, "from_context.weight", square, uniform_for(units, units)},
                               {code, "from_question.weight", square, uniform_for(units, units)},
                               {code, "from_mean.weight", square, uniform_for(units, units)},
                               {code, "output.weight", {units, entities}, uniform_for(units, entities)},
                               {code, "output.bias", {entities}, constant_at(0)}}});
  for (const std::string name : {"attend_state", "from_question"})
    all.push_back({code, name + (everywhere ? ".norm.bias" : ".bias"), {units}, constant_at(0)});
  if (everywhere)
    for (const std::string name :
         {"attend_state", "attend_question", "from_context", "from_question", "from_mean"})
      all.push_back({code, name + ".norm.gain", {units}, constant_at(0.1)});
  return all;
}

}  // namespace

TEST_SUITE("slow") {
  TEST_CASE("preset attentive reader: the LSTM (6.2)") {
    check_preset({.command = {"attentive-reader", "--norm", "none"},
                  .numbers = numbers(),
                  .weights = reader_rows(Norm::none, 0, false)});
  }

  TEST_CASE("preset attentive reader: layer norm, gains from 1 and from 0.1 (6.2)") {
    check_preset({.command = {"attentive-reader", "--norm", "layer"},
                  .numbers = numbers(),
                  .weights = reader_rows(Norm::layer, 1, false)});
    check_preset({.command = {"attentive-reader", "--norm", "layer", "--gain", "0.1"},
                  .numbers = numbers(),
                  .weights = reader_rows(Norm::layer, 0.1, false)});
  }

  TEST_CASE("preset attentive reader: BN-LSTM and BN-everywhere (6.2)") {
    for (const bool everywhere : {false, true})
      check_preset({.command = {"attentive-reader", "--norm", everywhere ? "batch-everywhere" : "batch"},
                    .numbers = numbers(),
                    .weights = reader_rows(Norm::batch, 0.1, everywhere)});
  }
}
