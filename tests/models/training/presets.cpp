#include "tests/models/training/presets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <sstream>
#include <string_view>

#include "optim/adam.h"
#include "tests/temporary_folder.h"
#include "tools/commands/commands.h"

namespace lamina::test {

namespace {

struct Moments {
  double mean = 0, deviation = 0, least = std::numeric_limits<double>::infinity(), most = -least;
};

Moments moments_of(std::span<const real> values) {
  Moments m;
  for (const real value : values) {
    const auto x = static_cast<double>(value);
    m.mean += x;
    m.least = std::min(m.least, x);
    m.most = std::max(m.most, x);
  }
  m.mean /= static_cast<double>(values.size());
  for (const real value : values) m.deviation += std::pow(static_cast<double>(value) - m.mean, 2);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

/// Mean and deviation of n values against those of their distribution, whose fourth moment is `kurtosis`
/// deviations^4.
std::string wrong_moments(const Moments& m, size_t n, double deviation, double kurtosis) {
  const double count = static_cast<double>(n), errors = 5;
  if (std::fabs(m.mean) > errors * deviation / std::sqrt(count))
    return text("mean ", m.mean, " instead of 0");
  const double spread = deviation * std::sqrt((kurtosis - 1) / (4 * count));
  if (std::fabs(m.deviation - deviation) > errors * spread + 1e-6 * deviation)
    return text("deviation ", m.deviation, " instead of ", deviation);
  return {};
}

std::string wrong_orthogonal(const Tensor& values, const Distribution& wanted) {
  const size_t size = values.rows(), width = values.columns();
  if (width != wanted.blocks * size)
    return text("shape ", values.shape(), " is not ", wanted.blocks, " squares");
  const double scale = wanted.parameter * wanted.parameter;
  for (size_t block = 0; block < wanted.blocks; ++block)
    for (const auto& [i, j] :
         {std::pair<size_t, size_t>(0, 0), {0, size - 1}, {size / 2, size / 2}, {1, size / 2}}) {
      double dot = 0;
      for (size_t k = 0; k < size; ++k)
        dot += static_cast<double>(values[i * width + block * size + k]) *
               static_cast<double>(values[j * width + block * size + k]);
      const double expected = i == j ? scale : 0;
      if (std::fabs(dot - expected) > 1e-4 * scale)
        return text("rows ", i, " and ", j, " of block ", block, " have the product ", dot, " instead of ",
                    expected);
    }
  return {};
}

std::string wrong_block(const Tensor& values, const Distribution& wanted) {
  const size_t part = values.size() / wanted.blocks;
  const bool first = wanted.kind == Distribution::Kind::first_block;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool inside = first ? i < part : i >= values.size() - part;
    const auto expected = static_cast<real>(inside ? wanted.parameter : 0);
    if (std::fabs(values[i] - expected) > real(1e-6))
      return text("element ", i, " is ", values[i], " instead of ", expected);
  }
  return {};
}

double norm_of(std::span<const real> values) {
  double sum = 0;
  for (const real value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// Gives all gradients together the norm 1e4 and lets the experiment adjust them.
void adjust_large_gradients(const TrainingStart& start) {
  const std::span<real> gradients = start.parameters.gradients();
  const double each = 1e4 / std::sqrt(static_cast<double>(gradients.size()));
  std::ranges::fill(gradients, static_cast<real>(each));
  start.experiment.adjust_gradients();
}

bool fits(const Shape& shape, const Shape& wanted) {
  if (shape.rank() != wanted.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (wanted[axis] != of_the_data && wanted[axis] != shape[axis]) return false;
  return true;
}

}  // namespace

std::string mismatch(const Tensor& values, const Distribution& wanted) {
  using Kind = Distribution::Kind;
  const Moments m = moments_of(values.values());
  const double p = wanted.parameter;
  switch (wanted.kind) {
    case Kind::constant:
      if (std::fabs(m.least - p) > 1e-6 || std::fabs(m.most - p) > 1e-6)
        return text("from ", m.least, " to ", m.most, " instead of ", p);
      return {};
    case Kind::normal:
      return wrong_moments(m, values.size(), p, 3);
    case Kind::uniform:
      if (m.least < -p * 1.000001 || m.most > p * 1.000001)
        return text("from ", m.least, " to ", m.most, ", outside of +-", p);
      if (values.size() > 1000 && (m.least > -0.99 * p || m.most < 0.99 * p))
        return text("from ", m.least, " to ", m.most, ", not up to +-", p);
      return wrong_moments(m, values.size(), p / std::sqrt(3.0), 9.0 / 5);
    case Kind::by_a_number:
      return {};
    case Kind::orthogonal:
      return wrong_orthogonal(values, wanted);
    default:
      return wrong_block(values, wanted);
  }
}

void check_preset(const PresetTable& table) {
  const TemporaryFolder scratch;
  Command program("lamina", "for tests");
  for (const auto add : add_commands) add(program);
  const std::string out = scratch / "run";
  std::vector<const char*> arguments{"lamina"};
  for (const std::string& argument : table.command) arguments.push_back(argument.c_str());
  for (const char* argument : {"--preset", "paper", "--out", out.c_str()}) arguments.push_back(argument);
  bool seen = false;
  std::ostringstream unheard;  // messages about the run folder and resuming
  std::streambuf* const screen = std::cout.rdbuf(unheard.rdbuf());
  const TrainingLook look([&](const TrainingStart& start) {
    seen = true;
    std::cout.rdbuf(screen);  // doctest reports failures there
    INFO(start.folder.config().experiment, " ", start.folder.config().variant);
    for (const NumberRow& row : table.numbers) {
      INFO(std::string(row.source), ": ", std::string(row.what));
      CHECK(row.measured(start) == doctest::Approx(row.wanted).epsilon(1e-4).scale(row.wanted == 0 ? 1 : 0));
    }
    for (const Parameters::Entry& entry : start.parameters.learned()) {
      INFO("the table needs a row for ", entry.name, " ", text(entry.value.shape()));
      CHECK(std::ranges::count(table.weights, entry.name, &WeightRow::name) == 1);
    }
    for (const WeightRow& row : table.weights) {
      INFO(std::string(row.source), ": ", row.name);
      const auto& learned = start.parameters.learned();
      const auto found = std::ranges::find(learned, row.name, &Parameters::Entry::name);
      REQUIRE(found != learned.end());
      INFO(text(found->value.shape(), ", wanted ", row.shape));
      CHECK(fits(found->value.shape(), row.shape));
      CHECK(mismatch(found->value, row.start) == "");
    }
    std::cout.rdbuf(unheard.rdbuf());
  });
  program.run(static_cast<int>(arguments.size()), arguments.data());
  std::cout.rdbuf(screen);
  CHECK(seen);
}

std::vector<NumberRow> adam_rows(const char* source, double learning_rate) {
  const auto options = [](const TrainingStart& start) {
    return dynamic_cast<const Adam&>(start.optimizer).options;
  };
  return {
      {source, "learning rate", learning_rate,
       [=](const auto& s) { return static_cast<double>(options(s).learning_rate); }},
      {source, "beta1", 0.9, [=](const auto& s) { return static_cast<double>(options(s).beta1); }},
      {source, "beta2", 0.999, [=](const auto& s) { return static_cast<double>(options(s).beta2); }},
      {source, "epsilon", 1e-8, [=](const auto& s) { return static_cast<double>(options(s).epsilon); }},
      {source, "weight decay", 0,
       [=](const auto& s) { return static_cast<double>(options(s).weight_decay); }},
  };
}

NumberRow plan_row(const char* source, const char* what, double steps) {
  return {source, what, steps, [](const auto& s) { return static_cast<double>(s.plan.steps_per_epoch); }};
}

NumberRow length_row(const char* source, double periods) {
  return {source, "epochs, or periods between evaluations", periods,
          [](const auto& s) { return static_cast<double>(s.plan.epochs); }};
}

NumberRow clipped_row(const char* source, double norm) {
  return {source, "norm of all gradients after clipping, 1e4 before", norm, [](const TrainingStart& start) {
            adjust_large_gradients(start);
            return norm_of(start.parameters.gradients());
          }};
}

NumberRow clipped_apart_row(const char* source, double norm) {
  return {source, "largest norm of a tensor's gradient after clipping", norm, [](const TrainingStart& start) {
            adjust_large_gradients(start);
            double largest = 0;
            for (const auto& [name, value] : start.parameters.learned()) {
              const size_t columns = value.shape()[-1],
                           gates = name.starts_with("gru.") ? columns / 3 * 2 : 0;
              std::vector<real> of_gates, rest;
              for (size_t i = 0; i < value.size(); ++i)
                (i % columns < gates ? of_gates : rest).push_back(value.gradient_data()[i]);
              largest = std::max({largest, norm_of(of_gates), norm_of(rest)});
            }
            return largest;
          }};
}

NumberRow weight_norm_row(const char* source) {
  return {source, "distance of gains from the lengths of weights", 0, [](const TrainingStart& start) {
            constexpr std::string_view ending = ".direction";
            double largest = 0;
            const auto& learned = start.parameters.learned();
            for (const auto& [name, direction] : learned) {
              if (!name.ends_with(ending)) continue;
              const std::string gain_name = name.substr(0, name.size() - ending.size()) + ".gain";
              const auto gain = std::ranges::find(learned, gain_name, &Parameters::Entry::name);
              if (gain == learned.end()) return 1.0;
              for (size_t unit = 0; unit < direction.columns(); ++unit) {
                double sum = 0;
                for (size_t i = 0; i < direction.rows(); ++i)
                  sum += std::pow(static_cast<double>(direction[i * direction.columns() + unit]), 2);
                largest =
                    std::max(largest, std::fabs(std::sqrt(sum) - static_cast<double>(gain->value[unit])));
              }
            }
            return largest;
          }};
}

}  // namespace lamina::test
