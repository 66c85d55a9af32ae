// Every setting of lamina transformer's preset "paper", as the command runs it. The experiment is of no one paper: the
// first column says whose each setting is (models/FIDELITY.md).

#include <doctest/doctest.h>

#include <cmath>

#include "models/transformer/experiment.h"
#include "tests/models/training/presets.h"

using namespace lamina;
using namespace lamina::test;
using transformer::TransformerExperiment;

namespace {

constexpr size_t width = 256, inner = 1024, layers = 6;
const char* const ours = "ours";

NumberRow number(const char* source, const char* what, double wanted, auto measured) {
  return experiment_row<TransformerExperiment>(source, what, wanted, measured);
}

std::vector<NumberRow> numbers() {
  return rows<NumberRow>(
      {adam_rows(ours, 1e-3),
       {number(ours, "heads", 8, [](const auto& e) { return e.options().model.heads; }),
        number(ours, "characters at a time", 256, [](const auto& e) { return e.options().model.length; }),
        number(ours, "texts per update", 16, [](const auto& e) { return e.options().batch; }),
        number(ours, "dropout", 0, [](const auto& e) { return e.options().model.dropout; }),
        number("ours: 5 epochs of 20,000 built-in stories", "updates", 5620,
               [](const auto& e) { return e.options().updates; }),
        number(ours, "rate after 50 of 100 updates", 5e-4,
               [](const auto& e) { return e.learning_rate_at(49); }),
        number(ours, "the highest rate", 1e-3, [](const auto& e) { return e.learning_rate_at(100); }),
        number(ours, "rate in the middle of the cosine", 5.5e-4,
               [](const auto& e) { return e.learning_rate_at(2860); }),
        number(ours, "rate at the end", 1e-4, [](const auto& e) { return e.learning_rate_at(5620); }),
        plan_row(ours, "updates between validations", 250), clipped_row(ours, 1)}});
}

double xavier_deviation(double inputs, double outputs) { return std::sqrt(2 / (inputs + outputs)); }

std::vector<WeightRow> linear_rows(const char* source, const std::string& name, size_t inputs, size_t outputs,
                                   double deviation) {
  return {{source, name + ".weight", {inputs, outputs}, normal_of(deviation)},
          {source, name + ".bias", {outputs}, constant_at(0)}};
}

std::vector<WeightRow> norm_rows(const std::string& name) {
  return {{"LN (5)", name + ".gain", {width}, constant_at(1)},
          {"LN (5)", name + ".bias", {width}, constant_at(0)}};
}

/// Queries, keys and values stand side by side and start each for itself.
std::vector<WeightRow> weights(bool norm_after_blocks) {
  const char* const vaswani = "Vaswani et al. 2017, 3";
  const char* const xiong = "Xiong et al. 2020, 3.2: Xavier";
  std::vector<WeightRow> all{{ours, "words", {of_the_data, width}, normal_of(std::sqrt(0.5))},
                             {xiong, "output.weight", {width, of_the_data}, by_a_number()},
                             {xiong, "output.bias", {of_the_data}, constant_at(0)}};
  for (size_t l = 1; l <= layers; ++l) {
    const std::string block = text("block", l);
    const double square = xavier_deviation(width, width), wide = xavier_deviation(width, inner);
    all = rows<WeightRow>({all, linear_rows(xiong, block + ".attention.in", width, 3 * width, square),
                           linear_rows(xiong, block + ".attention.out", width, width, square),
                           linear_rows(vaswani, block + ".inner", width, inner, wide),
                           linear_rows(vaswani, block + ".outer", inner, width, wide),
                           norm_rows(block + ".attention_norm"), norm_rows(block + ".feed_forward_norm")});
  }
  return norm_after_blocks ? rows<WeightRow>({all, norm_rows("norm")}) : all;
}

/// Glorot and Bengio's deviation, with as many outputs as there are characters.
NumberRow output_row() {
  return number("Xiong et al. 2020, 3.2: Xavier", "deviation of the output's weights, relative to Xavier's",
                1, [](const TransformerExperiment& e) {
                  for (const auto& [name, value] : e.parameters.learned())
                    if (name == "output.weight") {
                      double squares = 0;
                      for (const real v : value.values())
                        squares += static_cast<double>(v) * static_cast<double>(v);
                      const double deviation = std::sqrt(squares / static_cast<double>(value.size()));
                      const double wanted = xavier_deviation(width, static_cast<double>(value.columns()));
                      return std::round(20 * deviation / wanted) / 20;  // of a sample
                    }
                  return 0.0;
                });
}

}  // namespace

TEST_SUITE("slow") {
  TEST_CASE("preset transformer") {
    const auto all = rows<NumberRow>({numbers(), {output_row()}});
    for (const std::string placement : {"pre", "post"})
      check_preset({.command = {"transformer", "--placement", placement},
                    .numbers = all,
                    .weights = weights(placement == "pre")});
  }
}
