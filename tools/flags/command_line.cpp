#include "tools/flags/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <concepts>
#include <functional>
#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/distributed/group.h"
#include "core/error.h"
#include "models/run/metrics.h"
#include "models/terminal/terminal.h"
#include "tools/flags/flag_value.h"
#include "tools/flags/suggestion.h"
#include "tools/flags/wrapped_text.h"
#include "tools/programs/process.h"

namespace lamina {

namespace {

constexpr int exit_data = 1, exit_usage = 2;

using Words = std::vector<std::string>;

/// Whole numbers that `Whole` can hold.
template <std::integral Whole>
FlagRules rules_for(const Whole&) {
  WholeRange range{.least = std::numeric_limits<Whole>::min()};
  if (std::in_range<std::int64_t>(std::numeric_limits<Whole>::max()))
    range.most = static_cast<std::int64_t>(std::numeric_limits<Whole>::max());
  return {.whole = range};
}
FlagRules rules_for(const std::optional<std::int64_t>&) { return {.whole = WholeRange()}; }
FlagRules rules_for(const double&) { return {.real = RealRange()}; }
FlagRules rules_for(const std::string&) { return {}; }
template <class Item>
FlagRules rules_for(const std::vector<Item>&) {
  return rules_for(Item());
}

/// A whole number; the rules keep it within what `Whole` can hold.
template <class Whole>
void read_word(const std::string& word, const FlagRules& rules, Whole& value) {
  value = static_cast<Whole>(read_number(word, *rules.whole));
}
void read_word(const std::string& word, const FlagRules& rules, double& value) {
  value = read_number(word, *rules.real);
}
void read_word(const std::string& word, const FlagRules&, std::string& value) { value = word; }

template <class Value>
void read_words(const Words& words, const FlagRules& rules, Value& value) {
  read_word(words.back(), rules, value);
}
/// What stands twice in a list is told by its value: 4 and 04 are the same.
template <class Item>
void read_words(const Words& words, const FlagRules& rules, std::vector<Item>& values) {
  values.clear();
  for (const std::string& word : words) {
    Item value{};
    read_word(word, rules, value);
    if (rules.separated_by_commas && std::ranges::find(values, value) != values.end())
      fail<UsageError>(word, " is given twice; once is enough");
    values.push_back(value);
  }
}

/// What CLI11 calls with the words of a flag: `read` gets those that are right, and mistakes name the flag.
CLI::callback_t checked(const std::string& name, const std::shared_ptr<const FlagRules>& rules,
                        const std::function<void(const Words&)>& read) {
  return [=](const CLI::results_t& given) {
    try {
      read(checked_words(given, *rules));
    } catch (const UsageError& problem) {
      throw CLI::ValidationError(name, problem.what());
    }
    return true;
  };
}

/// CLI11 takes the word after `--flag=` for its value, which would make `--out= --resume` a folder "--resume".
void refuse_empty_values(const Words& words) {
  for (const std::string& word : std::span(words).subspan(1))
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw CLI::ValidationError(word.substr(0, word.size() - 1),
                                 "the value is empty; give one or leave the flag out");
}

/// CLI11's --help, in a terminal in lines that fit it.
class FittingFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return help_entry(make_option_name(option, is_positional) + make_option_opts(option),
                      make_option_desc(option), width());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return help_entry(command->get_display_name(true), command->get_description(), width());
  }
  std::string make_description(const CLI::App* command) const override {
    return joined(wrapped(command->get_description(), width()), std::identity(), "\n") + '\n';
  }

 private:
  static size_t width() {
    constexpr int most = 100;
    return redraws() ? static_cast<size_t>(std::min(terminal_width(), most))
                     : std::numeric_limits<size_t>::max();
  }
};

constexpr std::chrono::seconds patience{5};

/// Most errors meet all ranks: the first one says them, and its end is the others'. One that has waited for that in vain
/// is alone with its error.
int report(const std::string& program, const std::exception& error, int code) {
  std::cout << std::flush;
  const size_t rank = distributed::launched_rank();
  if (rank > 0) std::this_thread::sleep_for(patience);
  std::cerr << program << (rank > 0 ? text(": rank ", rank) : "") << ": " << error.what() << '\n';
  distributed::group().abort(code);
  return code;
}

/// Becomes one of the ranks that mpirun has started, if it has.
void join_ranks(const std::string& command, bool shares_work) {
  if (distributed::launched() == 1) return;
  if (!shares_work)
    fail<UsageError>("lamina ", command, " does not share its work among processes; start it without mpirun");
  distributed::join(distributed::mpi_group());
  if (!distributed::is_first()) silence_output();
}

}  // namespace

Flag Flag::required() const { return {option_->required(), rules_}; }
Flag Flag::range(double least, double most) const {
  if (rules_->whole)
    rules_->whole = {.least = static_cast<std::int64_t>(least), .most = static_cast<std::int64_t>(most)};
  else
    rules_->real = {.least = least, .most = most};
  return *this;
}

Flag Flag::positive() const {
  if (rules_->whole) rules_->whole->least = 1;
  if (rules_->real) rules_->real->least = least_positive;
  return *this;
}
Flag Flag::non_negative() const {
  if (rules_->whole) rules_->whole->least = 0;
  if (rules_->real) rules_->real->least = 0;
  return *this;
}
Flag Flag::one_of(const std::vector<std::string>& values) const {
  rules_->choices = values;
  return *this;
}
Flag Flag::separated_by_commas() const {
  rules_->separated_by_commas = true;
  return *this;
}
Flag Flag::needs(const Flag& other) const { return {option_->needs(other.option_), rules_}; }
Flag Flag::excludes(const Flag& other) const { return {option_->excludes(other.option_), rules_}; }
Flag Flag::show_default() const { return {option_->capture_default_str(), rules_}; }
Flag Flag::show_default(const std::string& value) const { return {option_->default_str(value), rules_}; }

Command::Command(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

Command::Command(const std::string& name, const std::string& description)
    : Command(std::make_shared<CLI::App>(description, name)) {
  app_->formatter(std::make_shared<FittingFormatter>());
}

std::string Command::name() const { return app_->get_name(); }
std::string Command::description() const { return app_->get_description(); }
void Command::footer(const std::string& text) { app_->footer(text); }
std::string Command::footer() const { return app_->get_footer(); }
void Command::annotate(const std::function<std::string(const std::string&)>& note) {
  for (Command& command : commands_)
    if (const std::string words = note(command.name()); !words.empty())
      command.app_->description(command.description() + " [" + words + ']');
}
void Command::require_command() { app_->require_subcommand(1); }
void Command::add_version(const std::string& version) { app_->set_version_flag("--version", version); }
bool Command::has(const std::string& name) const { return app_->get_option_no_throw(name) != nullptr; }
bool Command::given(const std::string& name) const {
  const CLI::Option* const option = app_->get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

Command& Command::add_command(const std::string& name, const std::string& description,
                              const std::string& footer) {
  CLI::App* const app = app_->add_subcommand(name, description);
  if (!footer.empty()) app->footer(footer);
  commands_.push_back(Command(app_->get_subcommand_ptr(app)));
  return commands_.back();
}

template <class Value>
Flag Command::add(const std::string& name, Value& value, const std::string& description) {
  if constexpr (std::is_same_v<Value, bool>) {
    return flags_.emplace_back(Flag(app_->add_flag(name, value, description), std::make_shared<FlagRules>()));
  } else {
    const auto rules = std::make_shared<FlagRules>(rules_for(value));
    CLI::Option* const option = app_->add_option(
        name, checked(name, rules, [&value, rules](const Words& words) { read_words(words, *rules, value); }),
        description, false, [&value] { return CLI::detail::checked_to_string<Value, Value>(value); });
    option->type_name_fn([rules] { return rules->kind(); })
        ->expected(CLI::detail::expected_count<Value>::value);
    return flags_.emplace_back(Flag(option, rules));
  }
}

template Flag Command::add(const std::string&, bool&, const std::string&);
template Flag Command::add(const std::string&, int&, const std::string&);
template Flag Command::add(const std::string&, std::int64_t&, const std::string&);
template Flag Command::add(const std::string&, size_t&, const std::string&);
template Flag Command::add(const std::string&, double&, const std::string&);
template Flag Command::add(const std::string&, std::string&, const std::string&);
template Flag Command::add(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<size_t>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<double>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<std::string>&, const std::string&);

Flag Command::add_read(const std::string& name, const std::function<void(const std::string&)>& read,
                       const std::string& description) {
  const auto rules = std::make_shared<FlagRules>();
  CLI::Option* const option = app_->add_option(
      name, checked(name, rules, [read](const auto& words) { read(words.back()); }), description);
  return flags_.emplace_back(Flag(option->type_name_fn([rules] { return rules->kind(); }), rules));
}

std::vector<FlagView> Command::flags() const {
  std::vector<FlagView> all;
  for (const auto& [option, rules] : flags_) {
    const bool takes_value = option->get_items_expected_max() > 0;
    all.push_back({.name = option->get_name(),
                   .description = option->get_description(),
                   .kind = takes_value ? rules->kind() : "",
                   .otherwise = option->get_default_str(),
                   .choices = rules->choices,
                   .takes_value = takes_value});
  }
  return all;
}

const Command& Command::chosen() const {
  for (const Command& command : commands_)
    if (command.app_->parsed()) return command.chosen();
  return *this;
}

/// A mistake on the command line is an error; --help and --version are what was asked for, and leave an exit code.
std::optional<int> Command::parse(const std::vector<std::string>& words) const {
  try {
    refuse_empty_values(words);
    app_->parse(Words(words.rbegin(), words.rend() - 1));  // CLI11 takes them from the end
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app_->exit(problem);
    const auto commands = app_->get_subcommands();
    const std::string unknown = chosen().unknown_word(words);
    const bool is_without_command = dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr &&
                                    chosen().app_->get_require_subcommand_min() > 0;
    const std::string complaint = !unknown.empty()     ? unknown
                                  : is_without_command ? "name a command"
                                                       : problem.what();
    fail<UsageError>(complaint, complaint.ends_with('?') ? " see " : "; see ", name(),
                     commands.empty() ? "" : " " + commands[0]->get_name(), " --help");
  }
  require_flags_of_chosen(name());
  return {};
}

/// A flag in front of a command is one of the outer command, which does not act then.
void Command::require_flags_of_chosen(const std::string& called) const {
  for (const Command& inner : commands_) {
    if (!inner.app_->parsed()) continue;
    const std::string inner_called = called + ' ' + inner.name();
    for (const auto& [option, rules] : flags_)
      if (option->count() > 0)
        fail<UsageError>(option->get_name(), ": in front of ", inner.name(), " it has no effect; see ",
                         inner_called, " --help");
    inner.require_flags_of_chosen(inner_called);
  }
}

/// What is wrong with a word that is no flag and no command of this one; nothing when there is none.
std::string Command::unknown_word(const std::vector<std::string>& words) const {
  const std::vector<std::string> left = app_->remaining();
  const auto is_left = [&](std::string_view word) { return std::ranges::find(left, word) != left.end(); };
  auto found = std::ranges::find_if(words, is_left);
  if (found == words.end()) return "";
  // Behind a command's last word a flag is to blame before the words that were meant for its values.
  const auto is_flag = [&](std::string_view word) { return word.starts_with("--") && is_left(word); };
  if (const auto flag = std::ranges::find_if(words, is_flag); commands_.empty() && flag != words.end())
    found = flag;
  const std::string whole = *found, word = whole.substr(0, whole.find('='));
  if (!word.starts_with("--")) {
    if (commands_.empty()) return word + ": one word too many";
    std::vector<std::string> names;
    for (const Command& command : commands_) names.push_back(command.name());
    return word + ": there is no such command" + suggestion(word, names);
  }
  std::vector<std::string> flags;
  for (const CLI::Option* const option : app_->get_options()) flags.push_back(option->get_name());
  return word + ": there is no such flag" + suggestion(word, flags);
}

int Command::run(const std::vector<std::string>& words) const {
  const Error no_memory(
      "not enough memory; choose a smaller --batch or --preset small, or raise the limit (ulimit -v)");
  try {
    const std::optional<int> answered = parse(words);
    if (!answered) join_ranks(chosen().name(), chosen().for_ranks_);
    const int code = answered ? *answered : chosen().action_();
    if (!std::cout.flush() && code == 0)
      fail(
          "standard output cannot be written, so results are missing from it; free some space on its disk, "
          "or let the program behind a pipe read to the end");
    distributed::join(nullptr);
    return code;
  } catch (const UsageError& error) {
    return report(name(), error, exit_usage);
  } catch (const std::bad_alloc&) {
    return report(name(), no_memory, exit_data);
  } catch (const std::length_error&) {  // more than there can be
    return report(name(), no_memory, exit_data);
  } catch (const std::exception& error) {
    return report(name(), error, exit_data);
  }
}

}  // namespace lamina
