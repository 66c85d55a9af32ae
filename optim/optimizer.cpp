#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "core/error.h"
#include "core/memory/allocator.h"

namespace lamina {

namespace {
constexpr auto no_group = static_cast<size_t>(-1);
}

Optimizer::Optimizer(Parameters& parameters, std::string name, const std::vector<ParameterGroup>& groups)
    : lifetime_(parameters.lifetime()),
      name_(std::move(name)),
      size_(parameters.values().size()),
      groups_(groups.size()) {
  memory::trim();  // the model is built: what its parameters were drawn in goes back to the system
  if (groups.empty()) return;
  const auto& learned = parameters.learned();
  group_of_.assign(learned.size(), no_group);
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<size_t> members;
    for (const std::string& each : groups[g].names)
      std::ranges::copy(parameters.named(each), std::back_inserter(members));
    if (members.empty()) fail(name_, ": group ", g, " names no parameter; give it names, or leave it out");
    for (const size_t i : members) {
      if (group_of_[i] != no_group && group_of_[i] != g)
        fail(name_, ": '", learned[i].name, "' is in the groups ", group_of_[i], " and ", g,
             "; name it in one of them");
      group_of_[i] = g;
    }
  }
}

Parameters& Optimizer::parameters() const {
  const auto place = lifetime_.lock();
  if (place == nullptr)
    fail(name_,
         ": the parameters are gone; keep them as long as their optimizer, and declare them before it");
  return **place;
}

void Optimizer::update_only(const Tensor& table, std::function<std::span<const int>()> rows) {
  const Parameters& all = parameters();
  const auto& learned = all.learned();
  const auto same = [&](const Parameters::Entry& entry) {
    return entry.value.storage() == table.storage() && entry.value.size() == table.size();
  };
  const auto place = std::ranges::find_if(learned, same);
  if (place == learned.end()) fail(name_, ": the table ", table.shape(), " is not a parameter of this model");
  const size_t begin = all.offset(static_cast<size_t>(place - learned.begin()));
  if (std::ranges::find(lazy_, begin, &Lazy::begin) != lazy_.end())
    fail(name_, ": the table '", place->name, "' has its rows listed already; name it once");
  lazy_.push_back({.begin = begin,
                   .end = begin + table.size(),
                   .width = table.columns(),
                   .rows = std::move(rows),
                   .listed = std::vector<bool>(table.rows()),
                   .chosen = {}});
  lazy_.back().chosen.reserve(table.rows());
  std::ranges::sort(lazy_, {}, &Lazy::begin);
}

void Optimizer::list_rows() {
  for (Lazy& lazy : lazy_) {
    for (const int row : lazy.chosen) lazy.listed[static_cast<size_t>(row)] = false;
    lazy.chosen.clear();
    for (const int row : lazy.rows()) {
      const auto place = static_cast<size_t>(row);
      if (row < 0 || place >= lazy.listed.size())
        fail(name_, ": row ", row, " is to be updated of a table that has ", lazy.listed.size(),
             "; list rows that it has");
      if (lazy.listed[place]) continue;
      lazy.listed[place] = true;
      lazy.chosen.push_back(row);
    }
  }
}

void Optimizer::require_rate(real learning_rate) const {
  if (!std::isfinite(learning_rate) || learning_rate < 0)
    fail(name_, ": the learning rate is ", learning_rate, " after ", steps,
         " steps; it must be a number of at least 0");
}

namespace {

bool is_decay(real decay) { return std::isfinite(decay) && decay >= 0; }

/// Gains and biases by their names: layer norm of feature maps has as many axes of them as the maps.
bool is_matrix(const Parameters::Entry& entry) {
  const std::string_view own = std::string_view(entry.name).substr(entry.name.rfind('.') + 1);
  return entry.value.shape().rank() >= 2 && own != "gain" && own != "bias";
}

}  // namespace

void Optimizer::begin_step(const Rule& rule) {
  Parameters& all = parameters();
  if (all.values().size() != size_)
    fail(name_, ": the model grew after its optimizer was made; make the optimizer when all layers exist");
  if (!all.locked().empty()) fail(name_, ": ", all.locked());
  require_rate(rule.learning_rate);
  if (!is_decay(rule.weight_decay))
    fail(name_, ": the weight decay is ", rule.weight_decay, "; it must be a number of at least 0");
  if (rule.groups.size() != groups_)
    fail(name_, ": made with ", groups_, " groups, it now has ", rule.groups.size(),
         "; change their rates, or make another optimizer");
  for (const ParameterGroup& group : rule.groups) {
    require_rate(group.learning_rate.value_or(rule.learning_rate) * group.learning_rate_factor);
    if (const real decay = group.weight_decay.value_or(0); !is_decay(decay))
      fail(name_, ": the weight decay of '", group.names.empty() ? "" : group.names[0], "' is ", decay,
           "; it must be a number of at least 0");
  }
  if (!all.any_gradient() && !all.learned().empty())
    fail(name_, all.trained().empty()
                    ? ": every parameter is frozen; thaw() some before step()"
                    : ": no gradient has arrived since the last step; call backward() before step()");
  list_rows();
  ++steps;
  learning_rate_ = rule.learning_rate;
  parts_.clear();
  const bool all_trained =
      all.trained().size() <= 1 && (all.trained().empty() || all.trained()[0].size() == size_);
  const bool uniform = groups_ == 0 && (rule.decayed == Decayed::all || rule.weight_decay == 0);
  if (all_trained && uniform && missed.empty())
    parts_.push_back({0, size_, rule.learning_rate, rule.weight_decay, steps});
  else
    add_parts(rule);
}

/// Adjacent parameters that are updated alike become one part.
void Optimizer::add_parts(const Rule& rule) {
  const Parameters& all = parameters();
  const auto& learned = all.learned();
  for (size_t i = 0; i < learned.size(); ++i) {
    if (all.frozen(i)) {
      missed.resize(learned.size());
      ++missed[i];
      continue;
    }
    const size_t end = i + 1 < learned.size() ? all.offset(i + 1) : size_;
    Part part{all.offset(i), end, rule.learning_rate, rule.weight_decay,
              steps - (missed.empty() ? 0 : missed[i])};
    if (groups_ > 0 && group_of_[i] != no_group) {
      const ParameterGroup& group = rule.groups[group_of_[i]];
      part.learning_rate = group.learning_rate.value_or(rule.learning_rate) * group.learning_rate_factor;
      part.weight_decay = group.weight_decay.value_or(rule.weight_decay);
    }
    if (rule.decayed == Decayed::matrices && !is_matrix(learned[i])) part.weight_decay = 0;
    Part* const last = parts_.empty() ? nullptr : &parts_.back();
    if (last != nullptr && last->end == part.begin && last->learning_rate == part.learning_rate &&
        last->weight_decay == part.weight_decay && last->steps == part.steps)
      last->end = part.end;
    else
      parts_.push_back(part);
  }
}

}  // namespace lamina
