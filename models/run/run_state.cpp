#include "models/run/run_state.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/distributed/group.h"
#include "core/distributed/shared_parameters.h"
#include "core/error.h"
#include "core/files/checkpoint.h"
#include "core/files/folder.h"
#include "core/files/number.h"
#include "core/files/parameter_file.h"
#include "models/training/training.h"

namespace lamina {

namespace {

constexpr const char* model_file = "model.safetensors";

bool is_finite(const Tensor& tensor) {
  // A product with 0 is 0, or NaN for NaN and infinity: its sum vectorizes, a loop with an early exit does
  // not.
  const real* const values = tensor.data();
  const size_t count = tensor.size();
  real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; ++i) sum += values[i] * 0;
  return sum == 0;
}

std::string non_finite_part(const Parameters& parameters) {
  for (const auto* entries : {&parameters.learned(), &parameters.state()})
    for (const auto& [name, value] : *entries)
      if (!is_finite(value)) return name;
  return {};
}

/// The names of `steps` and `missed` among the metadata of `state`.
std::string steps_key(const Optimizer& optimizer) { return optimizer.name() + ".steps"; }
std::string missed_key(const Optimizer& optimizer) { return optimizer.name() + ".missed"; }

/// The tensor of a checkpoint that has this name and shape and holds finite numbers.
const Tensor& part_of(const std::string& path, const Checkpoint& from, const std::string& name,
                      const Tensor& like) {
  const Tensor* const saved = from.find(name);
  if (saved == nullptr || saved->shape() != like.shape())
    fail<DataError>(path, ": does not fit this model: '", name, "' should be ", like.shape(), " and is ",
                    saved == nullptr ? "missing" : text(saved->shape()),
                    "; resume with the settings it began with");
  if (!is_finite(*saved))
    fail<DataError>(path, ": '", name,
                    "' holds numbers that are not finite, so nothing can go on from it; "
                    "use an earlier copy, or train again with a smaller --lr");
  return *saved;
}

void restore(const std::string& path, const Checkpoint& from, const std::string& name, Tensor& to) {
  std::ranges::copy(part_of(path, from, name, to).values(), to.data());
}

void restore(const std::string& path, const Checkpoint& from, const Parameters& parameters) {
  for (const auto* entries : {&parameters.learned(), &parameters.state()})
    for (auto [name, value] : *entries) restore(path, from, name, value);
}

[[noreturn]] void refuse_state(const std::string& path, const std::string& reason) {
  fail<DataError>(path, ": ", reason, "; restore it, or start a new run in another folder");
}

const std::string& metadata(const std::string& path, const Checkpoint& from, const std::string& key) {
  const auto entry = from.metadata.find(key);
  if (entry == from.metadata.end())
    refuse_state(path, "holds no '" + key + "', so it is not the state of a run");
  return entry->second;
}

std::uint64_t whole_number(const std::string& path, const Checkpoint& from, const std::string& key) {
  const std::string& digits = metadata(path, from, key);
  const auto value = number_from<std::uint64_t>(digits);
  if (!value) refuse_state(path, "its '" + key + "' is '" + digits + "', which is no whole number");
  return *value;
}

std::string list(const std::vector<std::uint64_t>& numbers) {
  std::string all;
  for (const std::uint64_t number : numbers) all += text(all.empty() ? "" : " ", number);
  return all;
}

/// In the format of list(), one for each of `count` parameters; empty when there is no such entry.
std::vector<std::uint64_t> missed_steps(const std::string& path, const Checkpoint& from,
                                        const std::string& key, size_t count) {
  if (!from.metadata.contains(key)) return {};
  std::istringstream words(from.metadata.at(key));
  std::vector<std::uint64_t> numbers{std::istream_iterator<std::uint64_t>(words), {}};
  if (!words.eof() || numbers.size() != count)
    refuse_state(path, text("its '", key, "' should be ", count, " whole numbers"));
  return numbers;
}

/// Removes the word from the beginning of a text; whether it was there.
bool take(std::string_view& text, std::string_view word) {
  const bool there = text.starts_with(word);
  if (there) text.remove_prefix(word.size());
  return there;
}

/// A number in the format of exact().
double number(const std::string& path, const Checkpoint& from, const std::string& key) {
  const std::string& digits = metadata(path, from, key);
  std::string_view rest = digits;
  const bool negative = take(rest, "-0x"), hexadecimal = negative || take(rest, "0x");
  double value = 0;
  const auto [stop, problem] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (problem != std::errc() || stop != rest.data() + rest.size() || !std::isfinite(value))
    refuse_state(path, "its '" + key + "' is '" + digits + "', which is no finite number");
  return negative ? -value : value;
}

/// Whether the last row of metrics.csv, whose second column is the step, is of this step: then a run longer
/// than the current one ended there.
bool reported(const std::optional<std::string>& rows, std::uint64_t step) {
  if (!rows || rows->size() < 2) return false;
  const size_t line = rows->rfind('\n', rows->size() - 2) + 1, comma = rows->find(',', line);
  const std::string wanted = std::to_string(step) + ',';
  return comma != std::string::npos && rows->compare(comma + 1, wanted.size(), wanted) == 0;
}

/// Whether a state is of a run that has evaluated its model.
bool has_reported(const std::string& path) {
  if (!exists(path)) return false;
  const Checkpoint state = load_checkpoint(path);
  const auto rows = state.metadata.find("metrics");
  return rows != state.metadata.end() && std::ranges::count(rows->second, '\n') > 1;
}

/// Makes sure that the next save does not silently overwrite a damaged model. The model may be of a later
/// step than the state: the run was killed between the two saves, or another process wrote it later.
void check_model(const std::string& path, const Parameters& parameters) {
  const Checkpoint model = load_checkpoint(path);
  for (const auto* entries : {&parameters.learned(), &parameters.state()})
    for (const auto& [name, value] : *entries) part_of(path, model, name, value);
}

}  // namespace

void save_state(const RunFolder& folder, const Parameters& parameters, const Optimizer& optimizer,
                const Position& position) {
  save_model(folder, parameters, model_file);
  Checkpoint state = checkpoint_of(parameters);
  for (const auto& [name, value] : optimizer.state()) state.tensors.push_back({name, value});
  state.metadata = {{"step", std::to_string(position.step)},
                    {steps_key(optimizer), std::to_string(optimizer.steps)},
                    {"loss_sum", exact(position.loss_sum)},
                    {"seconds", exact(position.seconds)}};
  if (position.metrics) state.metadata["metrics"] = *position.metrics;
  if (!optimizer.missed.empty()) state.metadata[missed_key(optimizer)] = list(optimizer.missed);
  save_checkpoint(folder.file("state"), state);
}

Position load_state(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer,
                    std::uint64_t last_step) {
  const std::string path = folder.file("state"), model = folder.file(model_file);
  if (exists(model)) check_model(model, parameters);
  if (!exists(path)) return {};
  const Checkpoint state = load_checkpoint(path);
  Position position{.step = whole_number(path, state, "step"),
                    .loss_sum = number(path, state, "loss_sum"),
                    .seconds = number(path, state, "seconds")};
  const bool of_another =
      !state.metadata.contains(steps_key(optimizer)) &&
      std::ranges::any_of(state.metadata, [](const auto& entry) { return entry.first.ends_with(".steps"); });
  if (of_another)
    fail<DataError>(path, ": is of a run with another optimizer than ", optimizer.name(),
                    "; resume with the one it began with");
  const std::uint64_t steps =
      whole_number(path, state, steps_key(optimizer));  // some may be of before the run
  if (steps < position.step) refuse_state(path, "its '" + steps_key(optimizer) + "' is less than its 'step'");
  if (state.metadata.contains("metrics")) position.metrics = state.metadata.at("metrics");
  if (position.step > last_step && !reported(position.metrics, position.step))
    refuse_state(path, text("is of step ", position.step, ", and the run ends after ", last_step));
  restore(path, state, parameters);
  for (auto [name, value] : optimizer.state()) restore(path, state, name, value);
  optimizer.steps = steps;
  optimizer.missed = missed_steps(path, state, missed_key(optimizer), parameters.learned().size());
  if (!exists(model)) save_model(folder, parameters, model_file);
  return position;
}

std::string non_finite_part(const Parameters& parameters, const Optimizer& optimizer) {
  std::string part = non_finite_part(parameters);
  for (const auto& [name, value] : optimizer.state())
    if (part.empty() && !is_finite(value)) part = name;
  return part;
}

void save_model(const RunFolder& folder, const Parameters& parameters, const std::string& file,
                std::map<std::string, std::string> metadata) {
  if (!RunFolder::is_ours()) return;
  metadata.insert({{"format", "pt"}, {"experiment", folder.config().experiment}});
  save(parameters, folder.file(file), metadata);
}

void load_model(const RunFolder& folder, Parameters& parameters, const std::string& file) {
  if (!parameters.locked().empty()) fail("load_model: ", parameters.locked());
  const std::string path = folder.file(file);
  if (RunFolder::is_ours()) restore(path, load_checkpoint(path), parameters);
  distributed::broadcast(parameters);
}

double number_kept(const RunFolder& folder, const std::string& file, const std::string& name,
                   double otherwise) {
  const std::string path = folder.file(file);
  double kept = otherwise;
  if (RunFolder::is_ours() && exists(path))
    kept = number(path, load_checkpoint(path), name);
  else if (RunFolder::is_ours() && has_reported(folder.file("state")))
    fail<DataError>(
        path,
        ": is missing, and with it what was best so far; restore it, or start a new run in another folder");
  distributed::group().broadcast(std::as_writable_bytes(std::span(&kept, 1)));
  return kept;
}

/// As printf's %a writes it in the C locale: "0x1.8p+1".
std::string exact(double value) {
  std::array<char, 64> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::fabs(value), std::chars_format::hex);
  return (std::signbit(value) ? "-0x" : "0x") + std::string(digits.data(), end.ptr);
}

}  // namespace lamina
