#include "models/recording/recorder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace lamina {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double length_of(std::span<const real> values) {
  double squares = 0;
  for (const real v : values) squares += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(squares);
}

/// The fraction of columns with no number above 0.
double dead_fraction(const Tensor& outputs) {
  const size_t columns = outputs.columns();
  std::vector<real> highest(columns, 0);
  for (size_t r = 0; r < outputs.rows(); ++r)
    for (size_t c = 0; c < columns; ++c) highest[c] = std::max(highest[c], outputs[r * columns + c]);
  return static_cast<double>(std::ranges::count(highest, real{0})) / static_cast<double>(columns);
}

}  // namespace

Summary summary_of(const std::vector<double>& all) {
  std::vector<double> values;
  std::ranges::copy_if(all, std::back_inserter(values), [](double v) { return !std::isnan(v); });
  if (values.empty()) return {unknown, unknown, unknown, unknown};
  const auto count = static_cast<double>(values.size());
  double total = 0, squares = 0;
  for (const double v : values) total += v;
  for (const double v : values) squares += (v - total / count) * (v - total / count);
  const auto [min, max] = std::ranges::minmax(values);
  return {.mean = total / count, .deviation = std::sqrt(squares / count), .min = min, .max = max};
}

Summary summary_of_all(const std::vector<double>& values) {
  const bool complete = std::ranges::none_of(values, [](double v) { return std::isnan(v); });
  return summary_of(complete ? values : std::vector<double>{});
}

SummedInputs summarize(const Tensor& a) {
  const size_t cases = a.shape().rank() == 4 ? a.shape()[0] : a.rows(), units = a.size() / cases;
  const auto case_count = static_cast<double>(cases), unit_count = static_cast<double>(units);
  std::vector<double> sums(units, 0), squares(units, 0);
  SummedInputs result;
  for (size_t n = 0; n < cases; ++n) {
    const real* const row = a.data() + n * units;
    double total = 0, spread = 0;
    for (size_t i = 0; i < units; ++i) total += static_cast<double>(row[i]);
    const double mean = total / unit_count;
    for (size_t i = 0; i < units; ++i) {
      const auto v = static_cast<double>(row[i]);
      spread += (v - mean) * (v - mean);
      sums[i] += v;
      squares[i] += v * v;
    }
    result.mean += mean / case_count;
    result.deviation_over_units += std::sqrt(spread / unit_count) / case_count;
  }
  for (size_t i = 0; i < units; ++i) {
    const double mean = sums[i] / case_count;
    result.deviation_over_cases +=
        std::sqrt(std::max(0.0, squares[i] / case_count - mean * mean)) / unit_count;
  }
  return result;
}

Normalized compare(const Tensor& input, const Tensor& result) {
  const size_t rows = input.rows(), columns = input.columns();
  const auto count = static_cast<double>(columns);
  Normalized all;
  double turned_rows = 0;
  for (size_t r = 0; r < rows; ++r) {
    const std::span x(input.data() + r * columns, columns), y(result.data() + r * columns, columns);
    double sum = 0, squares = 0, along = 0;
    for (size_t i = 0; i < columns; ++i) {
      sum += static_cast<double>(x[i]);
      along += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    }
    for (const real v : x) squares += std::pow(static_cast<double>(v) - sum / count, 2);
    all.mean += sum / count / static_cast<double>(rows);
    all.deviation += std::sqrt(squares / count) / static_cast<double>(rows);
    const double lengths = length_of(x) * length_of(y);
    if (!(lengths > 0)) continue;
    all.turned += std::acos(std::clamp(along / lengths, -1.0, 1.0));
    ++turned_rows;
  }
  all.turned = turned_rows > 0 ? all.turned / turned_rows : unknown;
  return all;
}

PassedBack passed_back(const Tensor& input, std::span<const real> gradient) {
  const size_t rows = input.rows(), columns = input.columns();
  const auto count = static_cast<double>(columns);
  PassedBack all;
  double counted = 0;
  for (size_t r = 0; r < rows; ++r) {
    const std::span x(input.data() + r * columns, columns), g = gradient.subspan(r * columns, columns);
    double mean = 0, along_one = 0, along_input = 0, squares = 0;
    for (const real v : x) mean += static_cast<double>(v) / count;
    for (size_t i = 0; i < columns; ++i) {
      const auto g_i = static_cast<double>(g[i]), centred = static_cast<double>(x[i]) - mean;
      along_one += g_i;
      along_input += g_i * centred;
      squares += centred * centred;
    }
    const double length = length_of(g), spread = std::sqrt(squares);
    if (!(length > 0 && spread > 0)) continue;
    all.along_one += std::abs(along_one) / std::sqrt(count) / length;
    all.along_input += std::abs(along_input) / spread / length;
    ++counted;
  }
  if (counted == 0) return {unknown, unknown};
  return {.along_one = all.along_one / counted, .along_input = all.along_input / counted};
}

bool holds_weight_vectors(const std::string& name, const Tensor& value) {
  const std::string own = own_part(name);
  const bool population =
      own == "mean" || own == "variance";  // of each step (layers/statistics/population.h)
  return value.shape().rank() >= 2 && own != "gain" && own != "bias" && !population;
}

void Recorder::begin(std::uint64_t step) {
  step_ = step;
  names_.clear();
  rows_.clear();
  sequences_.clear();
  uses_.clear();
  relus_.clear();
  norms_.clear();
  normalizing_.clear();
}

void Recorder::add(const std::string& layer, const std::string& quantity, double value, std::uint64_t time) {
  rows_.push_back({.step = step_, .layer = layer, .quantity = quantity, .time = time, .value = value});
}

bool Recorder::is_recurrent(const std::string& layer) const {
  const auto same = [&](const auto& sequence) { return sequence.first == layer; };
  return std::ranges::any_of(sequences_, same);
}

SequenceRecord* Recorder::record_of(const std::string& layer) {
  return &sequences_.emplace_back(layer, SequenceRecord{}).second;
}

void Recorder::recorded(const Tape::Node& node, std::span<const Tensor> inputs) {
  const auto is_parameter = [this](const Tensor& input) { return names_.is_parameter(input); };
  const std::string layer = names_.layer_of(node, inputs);
  const Tensor& output = node.outputs[0];
  if (node.kind == OpKind::product && !is_parameter(output) && std::ranges::any_of(inputs, is_parameter))
    add_summed_inputs(layer, output);
  if (node.kind == OpKind::norm && !is_parameter(output)) {  // standardized weights are no norm of vectors
    add_normalized(layer, inputs[0], output);
    normalizing_[output.storage()->id].push_back(
        {.layer = layer, .time = norms_[layer], .input = inputs[0], .gradient_before = {}});
  }
  if (node.kind == OpKind::relu) add(layer, "outputs.dead", dead_fraction(output), ++relus_[layer]);
}

/// Not for a recurrent layer, whose two parts mean little separately: it fills its own record.
void Recorder::add_summed_inputs(const std::string& layer, const Tensor& a) {
  if (is_recurrent(layer) || a.size() == 0) return;
  const SummedInputs s = summarize(a);
  const std::uint64_t time = ++uses_[layer];
  add(layer, "summed_inputs.mean", s.mean, time);
  add(layer, "summed_inputs.deviation_over_units", s.deviation_over_units, time);
  add(layer, "summed_inputs.deviation_over_cases", s.deviation_over_cases, time);
}

void Recorder::add_normalized(const std::string& layer, const Tensor& input, const Tensor& result) {
  const Normalized n = compare(input, result);
  const std::uint64_t time = ++norms_[layer];
  add(layer, "input.mean", n.mean, time);
  add(layer, "input.deviation", n.deviation, time);
  add(layer, "input.turned", n.turned, time);
}

Recorder::Normalizing* Recorder::normalizing(const Tape::Node& node) {
  const auto found =
      node.kind == OpKind::norm ? normalizing_.find(node.outputs[0].storage()->id) : normalizing_.end();
  return found == normalizing_.end() ? nullptr : &found->second.back();
}

void Recorder::backward_begins(const Tape::Node& node) {
  Normalizing* const norm = normalizing(node);
  if (norm == nullptr) return;
  const real* const gradient = norm->input.gradient_data();
  norm->gradient_before.assign(norm->input.size(), 0);
  if (gradient != nullptr) std::copy_n(gradient, norm->input.size(), norm->gradient_before.begin());
}

void Recorder::backward_ends(const Tape::Node& node) {
  Normalizing* const norm = normalizing(node);
  if (norm == nullptr) return;
  if (const real* const gradient = norm->input.gradient_data(); gradient != nullptr) {
    std::vector<real>& passed = norm->gradient_before;
    std::transform(gradient, gradient + passed.size(), passed.begin(), passed.begin(), std::minus<>());
    const PassedBack p = passed_back(norm->input, passed);
    add(norm->layer, "passed.along_one", p.along_one, norm->time);
    add(norm->layer, "passed.along_input", p.along_input, norm->time);
  }
  const auto place = normalizing_.find(node.outputs[0].storage()->id);
  place->second.pop_back();
  if (place->second.empty()) normalizing_.erase(place);
}

/// Sequences fill their records as they run. A layer that runs more than once continues its count.
void Recorder::add_sequences() {
  std::map<std::string, std::uint64_t> times;
  for (const auto& [layer, record] : sequences_)
    for (size_t t = 0; t < record.hidden_norm.size(); ++t) {
      const std::uint64_t time = ++times[layer];
      add(layer, "summed_inputs.mean", record.summed_input_mean[t], time);
      add(layer, "summed_inputs.deviation_over_units", record.summed_input_deviation[t], time);
      add(layer, "hidden.length", record.hidden_norm[t], time);
      // Not there of a piece that runs again in the backward pass, where nothing listens.
      if (const double norm = record.hidden_gradient_norm[t]; !std::isnan(norm))
        add(layer, "hidden.gradient", norm, time);
    }
}

void Recorder::before_update() {
  add_sequences();
  before_.resize(parameters_.learned().size());
  for (size_t i = 0; i < before_.size(); ++i) {
    const auto& [name, value] = parameters_.learned()[i];
    const std::string layer = layer_part(name), own = own_part(name);
    before_[i].clear();
    if (holds_weight_vectors(name, value)) {
      before_[i].assign(value.values().begin(), value.values().end());
    } else {
      const Summary s = summary_of_all({value.values().begin(), value.values().end()});
      add(layer, own + ".mean", s.mean);
      add(layer, own + ".deviation", s.deviation);
      add(layer, own + ".min", s.min);
      add(layer, own + ".max", s.max);
    }
    const real* const gradient = value.gradient_data();
    add(layer, own + ".gradient", gradient == nullptr ? 0 : length_of({gradient, value.size()}));
  }
}

const std::vector<RecordRow>& Recorder::after_update() {
  for (size_t i = 0; i < before_.size(); ++i) {
    const auto& [name, value] = parameters_.learned()[i];
    if (before_[i].empty()) continue;
    const auto changes = column_changes(value.rows(), value.columns(), before_[i].data(), value.data());
    const auto add_range = [&, &key = name](const std::string& quantity, double VectorChange::*member) {
      std::vector<double> values;
      values.reserve(changes.size());
      for (const VectorChange& change : changes) values.push_back(change.*member);
      // A vector of length 0 has neither angle nor relative change.
      const Summary s = member == &VectorChange::length ? summary_of_all(values) : summary_of(values);
      const std::string own = own_part(key) + quantity;
      add(layer_part(key), own + ".mean", s.mean);
      add(layer_part(key), own + ".min", s.min);
      add(layer_part(key), own + ".max", s.max);
    };
    add_range(".length", &VectorChange::length);
    add_range(".change", &VectorChange::relative_change);
    add_range(".angle", &VectorChange::angle);
  }
  return rows_;
}

Recording::Recording(const RunFolder& folder, const Parameters& parameters, std::uint64_t last_step) {
  const Settings& settings = folder.config().settings;
  if (settings.has("record")) every_ = static_cast<std::uint64_t>(settings.get<std::int64_t>("record"));
  if (every_ == 0) return;
  file_.emplace(folder.file("record.csv"), last_step, every_);
  recorder_.emplace(parameters);
}

void Recording::sync() const {
  if (file_) file_->sync();
}

Recording::Step::Step(Recording& recording, std::uint64_t steps_done) {
  if (recording.every_ == 0 || steps_done % recording.every_ != 0) return;
  recording_ = &recording;
  recording.recorder_->begin(steps_done + 1);
  listening_.emplace(*recording.recorder_);
}

void Recording::Step::before_update() {
  if (recording_ != nullptr) recording_->recorder_->before_update();
}

void Recording::Step::after_update() {
  if (recording_ != nullptr) recording_->file_->append(recording_->recorder_->after_update());
}

}  // namespace lamina
