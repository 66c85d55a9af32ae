#pragma once
// The command line: a program or subcommand, its flags, and what is done when it is chosen.
//
//   void add_square_command(Command& program) {
//     Command& command = program.add_command("square", "squares a number", "Example: lamina square 3");
//     const auto flags = std::make_shared<SquareFlags>();  // lives as long as the action that reads it
//     command.add("NUMBER", flags->number, "what to square").required();
//     command.add("--times", flags->times, "how often").range(1, 9).show_default();
//     command.action([flags] { run(*flags); });
//   }
//
// CLI11 does the work behind it. All of it is in its headers, which take a compiler ten seconds each time
// they are read, and so only command_line.cpp includes them.

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
class Option;
}  // namespace CLI

namespace lamina {

struct FlagRules;  // tools/flags/flag_value.h

/// What is asked of a flag's values, and what --help says of them. A handle: copies are the same flag. An empty
/// value is a mistake, and so is a number that is not decimal, not finite or does not fit.
class Flag {
 public:
  Flag required() const;
  /// From `least` to `most`, both included.
  Flag range(double least, double most) const;
  Flag positive() const;
  Flag non_negative() const;
  Flag one_of(const std::vector<std::string>& values) const;
  Flag separated_by_commas() const;
  Flag needs(const Flag& other) const;
  Flag excludes(const Flag& other) const;
  Flag show_default() const;  ///< the value that the variable has now
  Flag show_default(const std::string& value) const;

 private:
  friend class Command;
  Flag(CLI::Option* option, std::shared_ptr<FlagRules> rules) : option_(option), rules_(std::move(rules)) {}
  CLI::Option* option_;
  std::shared_ptr<FlagRules> rules_;
};

/// A flag as --help, a manual and a shell's completion show it.
struct FlagView {
  std::string name;  ///< "--seed", or "RUN" of an argument without a flag
  std::string description;
  std::string kind;       ///< of its values: "INT:{0 to 1024}"; empty where it takes none
  std::string otherwise;  ///< what holds where it is not given, if that is shown
  std::vector<std::string> choices;
  bool takes_value;
};

/// A program, or one of its commands, which may have commands of its own.
class Command {
 public:
  /// The program itself.
  Command(const std::string& name, const std::string& description);
  Command(Command&&) = default;

  std::string name() const;
  std::string description() const;
  const std::list<Command>& commands() const { return commands_; }

  /// The command lives as long as this one. `footer` ends its --help; without it this one's does.
  Command& add_command(const std::string& name, const std::string& description,
                       const std::string& footer = "");
  void require_command();

  /// Adds a flag such as "--seed", or an argument without one such as "RUN", read into `value`: a
  /// std::string, int, std::int64_t, size_t or double, a vector of them, a std::optional<std::int64_t>, or a
  /// bool, which the flag sets.
  template <class Value>
  Flag add(const std::string& name, Value& value, const std::string& description);
  /// The same for values that `read` makes something else of, or refuses with a UsageError.
  Flag add_read(const std::string& name, const std::function<void(const std::string&)>& read,
                const std::string& description);
  void add_version(const std::string& version);
  bool has(const std::string& name) const;    ///< does the command have this flag?
  bool given(const std::string& name) const;  ///< and was it used?

  /// Ends --help: examples of how the command is called.
  void footer(const std::string& text);
  std::string footer() const;

  /// All of its flags but --help, in the order in which they were added.
  std::vector<FlagView> flags() const;

  /// Adds to the descriptions of its commands what `note` says of each, in brackets; nothing where that is empty.
  void annotate(const std::function<std::string(const std::string& command)>& note);

  /// What is done when this command is chosen, and none of its own: `act` returns the exit code, or nothing where that is 0.
  template <class Act>
  void action(Act act) {
    if constexpr (std::is_same_v<decltype(act()), void>)
      action_ = [act = std::move(act)] {
        act();
        return 0;
      };
    else
      action_ = std::move(act);
  }

  /// From here on this command may be started by mpirun: its action shares its work among the processes
  /// (core/distributed/group.h). Others refuse that.
  void for_ranks() { for_ranks_ = true; }

  /// Reads the program's command line, does what it asks for and says in one line what went wrong. Returns
  /// the exit code: the action's, 0 after --help and --version, 1 for bad data, 2 for bad usage.
  int run(int argc, const char* const* argv) const {
    return run(std::vector<std::string>(argv, argv + argc));
  }
  /// The same for the words of one, the program's name first.
  int run(const std::vector<std::string>& words) const;

  /// Reads such a command line and does nothing else. UsageError when run() would say one.
  void check(const std::vector<std::string>& words) const { parse(words); }

 private:
  explicit Command(std::shared_ptr<CLI::App> app);
  const Command& chosen() const;
  std::string unknown_word(const std::vector<std::string>& words) const;
  void require_flags_of_chosen(const std::string& called) const;
  std::optional<int> parse(const std::vector<std::string>& words) const;

  std::shared_ptr<CLI::App> app_;
  std::list<Command> commands_;
  std::vector<Flag> flags_;
  std::function<int()> action_;
  bool for_ranks_ = false;
};

}  // namespace lamina
