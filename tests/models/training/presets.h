#pragma once
// Checks an experiment's settings, as its command makes them, against a table.
//
// A table has a row for every number and for every learned tensor: the section of the paper (or of
// models/FIDELITY.md) that specifies it, a description, and the expected value. The command runs with the
// paper's preset up to the moment where training would begin; there its parameters, optimizer and plan are
// measured.

#include <functional>
#include <string>
#include <vector>

#include "models/training/training_look.h"

namespace lamina::test {

/// The distribution of a tensor's initial values.
struct Distribution {
  enum class Kind { constant, normal, uniform, orthogonal, first_block, last_block, by_a_number } kind;
  double parameter;   ///< the value, the deviation, the bound, the scale, or the value of the block
  size_t blocks = 1;  ///< orthogonal: square blocks side by side; for blocks: how many there are in all
};

inline Distribution constant_at(double value) { return {Distribution::Kind::constant, value}; }
inline Distribution normal_of(double deviation) { return {Distribution::Kind::normal, deviation}; }
inline Distribution uniform_within(double bound) { return {Distribution::Kind::uniform, bound}; }
/// Each of `blocks` square matrices side by side is `scale` times an orthogonal one.
inline Distribution orthogonal_blocks(size_t blocks, double scale = 1) {
  return {Distribution::Kind::orthogonal, scale, blocks};
}
/// `value` in the first (last) of `blocks` equal parts of a vector, 0 in the others.
inline Distribution first_of(size_t blocks, double value) {
  return {Distribution::Kind::first_block, value, blocks};
}
inline Distribution last_of(size_t blocks, double value) {
  return {Distribution::Kind::last_block, value, blocks};
}

/// For tensors that no distribution describes: a row of numbers measures them.
inline Distribution by_a_number() { return {Distribution::Kind::by_a_number, 0}; }

/// What is wrong with the values as a sample of that distribution; empty when nothing is. Mean and deviation
/// may be off by five standard errors, no value may lie outside the range, and of many values some must be
/// close to its ends.
std::string mismatch(const Tensor& values, const Distribution& wanted);

struct NumberRow {
  const char* source;
  const char* what;
  double wanted;
  std::function<double(const TrainingStart&)> measured;
};

inline constexpr size_t of_the_data = 0;  ///< a size that depends on the data, such as a vocabulary's

struct WeightRow {
  const char* source;
  std::string name;
  Shape shape;  ///< with of_the_data where the paper gives no size
  Distribution start;
};

struct PresetTable {
  std::vector<std::string> command;  ///< arguments of lamina, without --preset and --out
  std::vector<NumberRow> numbers;
  std::vector<WeightRow> weights;  ///< of every learned tensor
};

/// Runs the command and CHECKs every row, and that no learned tensor is without one.
void check_preset(const PresetTable& table);

/// A number of the experiment that would have been trained, of the type SomeExperiment.
template <class SomeExperiment>
NumberRow experiment_row(const char* source, const char* what, double wanted, auto measured) {
  return {source, what, wanted, [=](const TrainingStart& start) {
            return static_cast<double>(measured(dynamic_cast<SomeExperiment&>(start.experiment)));
          }};
}

/// How many cases each split has; `cases` counts those of one.
template <class SomeExperiment>
std::vector<NumberRow> split_rows(const char* source, double train, double valid, double test, auto cases) {
  using E = SomeExperiment;
  return {
      experiment_row<E>(source, "training cases", train, [=](const E& e) { return cases(e.data().train); }),
      experiment_row<E>(source, "validation cases", valid, [=](const E& e) { return cases(e.data().valid); }),
      experiment_row<E>(source, "test cases", test, [=](const E& e) { return cases(e.data().test); })};
}

/// Adam's settings, the length of the plan, and that gradients are unchanged, or clipped together to the norm
/// `clip`.
std::vector<NumberRow> adam_rows(const char* source, double learning_rate);
NumberRow plan_row(const char* source, const char* what, double steps);  ///< steps between two evaluations
NumberRow length_row(const char* source, double periods);
/// The norm of all gradients together after adjust_gradients(), when it was 1e4 before.
NumberRow clipped_row(const char* source, double norm);
/// The largest norm of a single tensor's gradient, of a GRU's of its gates or its candidate.
NumberRow clipped_apart_row(const char* source, double norm);

/// Weight norm: how far a gain is from the length of its unit's incoming weights, at most over all units.
NumberRow weight_norm_row(const char* source);

/// Several lists of rows as one.
template <class Row>
std::vector<Row> rows(std::initializer_list<std::vector<Row>> lists) {
  std::vector<Row> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace lamina::test
