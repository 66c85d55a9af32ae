#include "core/files/parameter_file.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/error.h"

namespace lamina {

namespace {

using Names = std::vector<std::string>;

/// "'a', 'b' and 7 more"
std::string list(const Names& names) {
  constexpr size_t shown = 8;
  std::string all;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i) all += text(i > 0 ? ", '" : "'", names[i], "'");
  return names.size() > shown ? text(all, " and ", names.size() - shown, " more") : all;
}

/// The name in the model of a tensor in the file.
std::string renamed(const std::string& name, const std::map<std::string, std::string>& rename) {
  const std::string* longest = nullptr;
  for (const auto& [from, to] : rename)
    if (is_named(name, from) && (longest == nullptr || from.size() > longest->size())) longest = &from;
  if (longest == nullptr) return name;
  const std::string &to = rename.at(*longest), rest = name.substr(longest->size());
  if (rest.empty()) return to;
  // "" and prefixes that end with a dot leave no dot at the start of the rest.
  if (rest.front() != '.') return to.empty() || to.back() == '.' ? to + rest : to + '.' + rest;
  return to.empty() || to.back() == '.' ? to + rest.substr(1) : to + rest;
}

/// One that renames nothing is a mistake, which a load of what both sides have would pass over.
void require_named(const std::string& path, const std::vector<Checkpoint::Entry>& tensors,
                   const std::map<std::string, std::string>& rename) {
  for (const auto& [from, to] : rename) {
    Names others;
    for (const Checkpoint::Entry& entry : tensors)
      if (!is_named(entry.name, from)) others.push_back(entry.name);
    if (others.size() == tensors.size())
      fail<DataError>(path, ": `rename` has '", from, "', but none of its tensors is named so; there are ",
                      others.empty() ? "none" : list(others));
  }
}

bool is_transpose(const Shape& a, const Shape& b) {
  return a.rank() == 2 && b.rank() == 2 && a[0] == b[1] && a[1] == b[0];
}

/// A parameter and the tensor of the file that it gets its values from.
struct Match {
  Tensor to, from;
};

/// What a load is going to do, and every reason to refuse it.
struct Plan {
  std::vector<Match> matches;
  Loaded result;
  Names misfits;  ///< each a part of the message
  bool transposed = false;

  void add(const std::string& name, const Tensor& to, const Tensor* from) {
    if (from == nullptr) {
      result.missing.push_back(name);
    } else if (from->shape() != to.shape()) {
      misfits.push_back(text("'", name, "' is ", from->shape(), " in the file and ", to.shape(), " here"));
      transposed = transposed || is_transpose(from->shape(), to.shape());
    } else {
      matches.push_back({to, *from});
    }
  }
};

[[noreturn]] void refuse(const std::string& path, const Plan& plan, bool strict) {
  std::string message, remedy;
  const auto add = [&](const std::string& part) { message += (message.empty() ? "" : "; ") + part; };
  constexpr size_t shown = 4;
  for (size_t i = 0; i < std::min(plan.misfits.size(), shown); ++i) add(plan.misfits[i]);
  if (plan.misfits.size() > shown) add(text(plan.misfits.size() - shown, " more shapes differ"));
  if (strict && !plan.result.missing.empty()) add("the file lacks " + list(plan.result.missing));
  if (strict && !plan.result.unexpected.empty()) add("the model has no " + list(plan.result.unexpected));
  if (plan.transposed)
    remedy =
        "; PyTorch keeps the weights of linear layers [out x in]: transpose them where the file is written, "
        "as "
        "core/PYTORCH.md shows";
  else if (!plan.misfits.empty())
    remedy = "; build the model with the sizes it was saved with";
  else
    remedy = "; give their names in `rename`, or load with strict = false what both have";
  fail<DataError>(path, ": does not fit these parameters: ", message, remedy);
}

}  // namespace

Checkpoint checkpoint_of(const Parameters& parameters) {
  Checkpoint all;
  for (const auto* entries : {&parameters.learned(), &parameters.state()})
    for (const auto& [name, value] : *entries) all.tensors.push_back({name, value});
  return all;
}

void save(const Parameters& parameters, const std::string& path,
          const std::map<std::string, std::string>& metadata) {
  Checkpoint all = checkpoint_of(parameters);
  all.metadata = metadata;
  save_checkpoint(path, all);
}

Loaded load(Parameters& parameters, const std::string& path, const LoadOptions& options) {
  if (!parameters.locked().empty()) fail("load: ", parameters.locked());
  Checkpoint file = load_checkpoint(path, OtherTypes::skip);
  require_named(path, file.tensors, options.rename);
  std::map<std::string, const Tensor*> there;
  for (Checkpoint::Entry& entry : file.tensors) {
    const std::string name = renamed(entry.name, options.rename);
    if (!there.emplace(name, &entry.value).second)
      fail<DataError>(path, ": two of its tensors would be '", name,
                      "' after `rename`; give them different names");
  }
  Plan plan;
  std::set<std::string> known;
  for (const auto* entries : {&parameters.learned(), &parameters.state()})
    for (const auto& [name, value] : *entries) {
      const auto found = there.find(name);
      plan.add(name, value, found == there.end() ? nullptr : found->second);
      known.insert(name);
    }
  for (const auto& [name, value] : there)
    if (!known.contains(name)) plan.result.unexpected.push_back(name);
  const bool incomplete = !plan.result.missing.empty() || !plan.result.unexpected.empty();
  if (!plan.misfits.empty() || (options.strict && incomplete)) refuse(path, plan, options.strict);
  for (Match& match : plan.matches) std::ranges::copy(std::as_const(match.from).values(), match.to.data());
  plan.result.metadata = std::move(file.metadata);
  return plan.result;
}

}  // namespace lamina
