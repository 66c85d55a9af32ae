#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace lamina {

namespace {

constexpr int exit_data = 1, exit_usage = 2;

int report(const std::string& program, const std::exception& error, int code) {
  std::cout << std::flush;
  std::cerr << program << ": " << error.what() << '\n';
  return code;
}

}  // namespace

Flag Flag::required() const { return Flag(option_->required()); }
template <class Number>
Flag Flag::range(Number least, Number most) const {
  return Flag(option_->check(CLI::Range(least, most)));
}
template Flag Flag::range(int, int) const;
template Flag Flag::range(std::int64_t, std::int64_t) const;
template Flag Flag::range(double, double) const;

Flag Flag::positive() const { return Flag(option_->check(CLI::PositiveNumber)); }
Flag Flag::non_negative() const { return Flag(option_->check(CLI::NonNegativeNumber)); }
Flag Flag::one_of(const std::vector<std::string>& values) const {
  return Flag(option_->check(CLI::IsMember(values)));
}
Flag Flag::check(const std::function<std::string(const std::string&)>& complaint) const {
  return Flag(option_->check(complaint));
}
Flag Flag::separated_by_commas() const { return Flag(option_->delimiter(',')); }
Flag Flag::needs(Flag other) const { return Flag(option_->needs(other.option_)); }
Flag Flag::excludes(Flag other) const { return Flag(option_->excludes(other.option_)); }
Flag Flag::show_default() const { return Flag(option_->capture_default_str()); }
Flag Flag::show_default(const std::string& value) const { return Flag(option_->default_str(value)); }

Command::Command(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

Command::Command(const std::string& name, const std::string& description)
    : Command(std::make_shared<CLI::App>(description, name)) {}

std::string Command::name() const { return app_->get_name(); }
std::string Command::description() const { return app_->get_description(); }
void Command::footer(const std::string& text) { app_->footer(text); }
void Command::require_command() { app_->require_subcommand(1); }
void Command::add_version(const std::string& version) { app_->set_version_flag("--version", version); }
bool Command::given(const std::string& name) const { return app_->count(name) > 0; }

Command& Command::add_command(const std::string& name, const std::string& description) {
  CLI::App* const app = app_->add_subcommand(name, description);
  commands_.push_back(Command(app_->get_subcommand_ptr(app)));
  return commands_.back();
}

template <class Value>
Flag Command::add(const std::string& name, Value& value, const std::string& description) {
  if constexpr (std::is_same_v<Value, bool>)
    return Flag(app_->add_flag(name, value, description));
  else
    return Flag(app_->add_option(name, value, description));
}

template Flag Command::add(const std::string&, bool&, const std::string&);
template Flag Command::add(const std::string&, int&, const std::string&);
template Flag Command::add(const std::string&, std::int64_t&, const std::string&);
template Flag Command::add(const std::string&, double&, const std::string&);
template Flag Command::add(const std::string&, std::string&, const std::string&);
template Flag Command::add(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<double>&, const std::string&);
template Flag Command::add(const std::string&, std::vector<std::string>&, const std::string&);

Flag Command::add_read(const std::string& name, const std::function<void(const std::string&)>& read,
                       const std::string& description) {
  return Flag(app_->add_option_function<std::string>(name, read, description));
}

const Command& Command::chosen() const {
  for (const Command& command : commands_)
    if (command.app_->parsed()) return command.chosen();
  return *this;
}

/// A mistake on the command line is an error; --help and --version are what was asked for.
int Command::parse_and_act(int argc, const char* const* argv) const {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app_->exit(problem);
    const auto commands = app_->get_subcommands();
    fail<UsageError>(problem.what(), "; see ", name(), commands.empty() ? "" : " " + commands[0]->get_name(),
                     " --help");
  }
  return chosen().action_();
}

int Command::run(int argc, const char* const* argv) const {
  try {
    return parse_and_act(argc, argv);
  } catch (const UsageError& error) {
    return report(name(), error, exit_usage);
  } catch (const std::bad_alloc&) {
    return report(name(), Error("out of memory; choose a smaller --batch or --preset small"), exit_data);
  } catch (const std::exception& error) {
    return report(name(), error, exit_data);
  }
}

}  // namespace lamina
