#include "tools/flags/command_line.h"

#include <doctest/doctest.h>

#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <sstream>

#include "core/error.h"

using namespace lamina;

namespace {

/// A program's standard output, standard error and exit code.
struct Ending {
  int code;
  std::string said, complained;
};

Ending run(const Command& program, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  std::ostringstream out, errors;
  std::streambuf* const usual_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const usual_errors = std::cerr.rdbuf(errors.rdbuf());
  const int code = program.run(static_cast<int>(arguments.size()), arguments.data());
  std::cout.rdbuf(usual_out);
  std::cerr.rdbuf(usual_errors);
  return {.code = code, .said = out.str(), .complained = errors.str()};
}

}  // namespace

TEST_CASE("a command line fills the variables behind its flags") {
  Command program("program", "does nothing");
  std::string word, text = "unread";
  int small = 0;
  std::int64_t large = 0;
  double fraction = 0;
  bool yes = false, no = false;
  std::optional<std::int64_t> maybe, never;
  std::vector<std::int64_t> sizes;
  std::vector<double> scales;
  std::vector<std::string> names;
  program.add("WORD", word, "a word").required();
  program.add("--small", small, "an int");
  program.add("--large", large, "an int64");
  program.add("--fraction", fraction, "a double");
  program.add("--yes", yes, "given");
  program.add("--no", no, "not given");
  program.add("--maybe", maybe, "given");
  program.add("--never", never, "not given");
  program.add("--sizes", sizes, "integers").separated_by_commas();
  program.add("--scales", scales, "numbers").separated_by_commas();
  program.add("--names", names, "words").separated_by_commas();
  program.add_read(
      "--text", [&](const std::string& value) { text = "read " + value; }, "made something else of");
  program.action([] { return 7; });
  const Ending ending =
      run(program, {"it", "--small", "3", "--large", "5000000000", "--fraction", "0.25", "--yes", "--maybe",
                    "9", "--sizes", "128,4", "--scales", "0.5,2", "--names", "a,b", "--text", "it"});
  CHECK(ending.code == 7);
  CHECK(ending.complained == "");
  CHECK(word == "it");
  CHECK(small == 3);
  CHECK(large == 5000000000);
  CHECK(fraction == 0.25);
  CHECK(yes);
  CHECK_FALSE(no);
  CHECK(maybe == 9);
  CHECK_FALSE(never.has_value());
  CHECK(sizes == std::vector<std::int64_t>{128, 4});
  CHECK(scales == std::vector<double>{0.5, 2});
  CHECK(names == std::vector<std::string>{"a", "b"});
  CHECK(text == "read it");
  CHECK(program.given("--maybe"));
  CHECK_FALSE(program.given("--never"));
}

TEST_CASE("the innermost command that was named acts, and no other") {
  Command program("program", "has commands");
  program.require_command();
  Command& outer = program.add_command("outer", "has one of its own");
  outer.action([] { return 10; });
  outer.add_command("inner", "is one").action([] { return 20; });
  program.add_command("other", "is another").action([] { return 30; });
  CHECK(run(program, {"outer"}).code == 10);
  CHECK(run(program, {"outer", "inner"}).code == 20);
  CHECK(run(program, {"other"}).code == 30);
  std::string names;
  for (const Command& command : program.commands())
    names += command.name() + ": " + command.description() + "; ";
  CHECK(names == "outer: has one of its own; other: is another; ");
  CHECK(run(program, {}).complained == "program: name a command; see program --help\n");
  CHECK(run(program, {"outre"}).complained ==
        "program: outre: there is no such command; did you mean outer? see program --help\n");
  CHECK(run(program, {"outre", "--sizes", "3"})
            .complained.starts_with("program: outre: there is no such command"));
  CHECK(run(program, {"--innre", "x"}).complained ==
        "program: --innre: there is no such flag; see program --help\n");
  CHECK(run(program, {"outer", "iner"}).complained ==
        "program: iner: there is no such command; did you mean inner? see program outer --help\n");
}

TEST_CASE("a flag of a command is refused in front of one of its own, which would not read it") {
  Command program("program", "has commands");
  Command& outer = program.add_command("outer", "has one of its own, and flags");
  std::string norm, word;
  bool quick = false;
  int acted = 0;
  outer.add("--norm", norm, "of the outer command");
  outer.add("--quick", quick, "too");
  outer.action([&] { return ++acted; });
  Command& inner = outer.add_command("inner", "has a flag of the same name");
  inner.add("--norm", word, "of the inner command");
  inner.action([&] { return ++acted; });
  CHECK(run(program, {"outer", "--norm", "layer", "inner"}).complained ==
        "program: --norm: in front of inner it has no effect; see program outer inner --help\n");
  CHECK(run(program, {"outer", "--quick", "inner", "--norm", "layer"}).code == 2);
  CHECK(acted == 0);
  CHECK(run(program, {"outer", "--norm", "batch"}).code == 1);
  CHECK(run(program, {"outer", "inner", "--norm", "layer"}).code == 2);
  CHECK(norm == "batch");
  CHECK(word == "layer");
}

TEST_CASE("a mistake on the command line is one line, with exit code 2 and no action") {
  Command program("program", "has commands");
  Command& command = program.add_command("run", "takes flags");
  std::int64_t count = 1;
  double rate = 1, deviation = 0;
  std::string kind = "one", second;
  command.add("--count", count, "a number").range(1, 9);
  command.add("--rate", rate, "a number").positive();
  command.add("--deviation", deviation, "a number").non_negative();
  command.add("--kind", kind, "a word").one_of({"one", "two"}).show_default();
  const Flag a = command.add_read(
      "--first",
      [](const std::string& value) {
        if (value != "right") fail<UsageError>(value, " is wrong");
      },
      "a word");
  command.add("--second", second, "a word").needs(a);
  command.add("--third", second, "a word").excludes(a);
  bool acted = false;
  command.action([&] {
    acted = true;
    return 0;
  });
  const auto complaint = [&](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "run");
    const Ending ending = run(program, arguments);
    CHECK(ending.code == 2);
    CHECK(ending.said == "");
    CHECK_FALSE(acted);
    CHECK(ending.complained.starts_with("program: "));
    CHECK(ending.complained.find('\n') == ending.complained.size() - 1);
    CHECK(ending.complained.ends_with(" see program run --help\n"));
    return ending.complained;
  };
  CHECK(complaint({"--count", "10"}).starts_with("program: --count: 10 is not a whole number from 1 to 9;"));
  CHECK(complaint({"--count", "0"}).find("--count") != std::string::npos);
  CHECK(complaint({"--rate", "0"}).find("--rate") != std::string::npos);
  CHECK(complaint({"--deviation", "-1"}).find("--deviation") != std::string::npos);
  CHECK(complaint({"--kind", "three"}).find("three not in {one,two}") != std::string::npos);
  CHECK(complaint({"--first", "left"}).starts_with("program: --first: left is wrong;"));
  CHECK(complaint({"--second", "x"}).find("--first") != std::string::npos);
  CHECK(complaint({"--first", "right", "--third", "x"}).find("--first") != std::string::npos);
  CHECK(complaint({"--fourth"}).starts_with("program: --fourth: there is no such flag;"));
  CHECK(complaint({"--cuont", "3"})
            .starts_with("program: --cuont: there is no such flag; did you mean --count?"));
  CHECK(
      complaint({"--cuont=3"}).starts_with("program: --cuont: there is no such flag; did you mean --count?"));
  CHECK(complaint({"more"}).starts_with("program: more: one word too many;"));
  CHECK(run(program, {"run", "--count", "9", "--deviation", "0", "--first", "right"}).code == 0);
  CHECK(acted);
}

TEST_CASE("what is not a number or not there names its flag") {
  Command program("program", "takes numbers");
  std::int64_t seed = 1;
  int threads = 0;
  double rate = 1;
  std::optional<std::int64_t> image;
  std::vector<std::int64_t> sizes;
  std::vector<double> scales;
  std::vector<std::string> kinds;
  std::string out;
  program.add("--seed", seed, "a number").non_negative();
  program.add("--threads", threads, "a number");
  program.add("--rate", rate, "a number").positive();
  program.add("--image", image, "a number").non_negative();
  program.add("--sizes", sizes, "numbers").separated_by_commas().positive();
  program.add("--scales", scales, "numbers").separated_by_commas().positive();
  program.add("--kinds", kinds, "words").separated_by_commas().one_of({"one", "two"});
  program.add("--out", out, "a name");
  program.action([] { return 0; });
  using Words = std::vector<const char*>;
  for (const Words& words : {Words{"--seed", "0x10"},
                             {"--seed", "-1"},
                             {"--seed", "9223372036854775808"},
                             {"--seed="},
                             {"--seed=", "--out=x"},
                             {"--threads", "4294967296"},
                             {"--rate", "nan"},
                             {"--rate", "inf"},
                             {"--rate", "1e400"},
                             {"--rate", "1e300"},
                             {"--rate", ""},
                             {"--image", "1e2"},
                             {"--sizes", "1,,2"},
                             {"--sizes", "1,0x2"},
                             {"--sizes", ","},
                             {"--scales", "1,nan"},
                             {"--kinds", "one,"},
                             {"--kinds", "one,six"},
                             {"--out", ""},
                             {"--out="},
                             {"--out=", "x"}}) {
    const Ending ending = run(program, words);
    const std::string flag(words[0], std::string(words[0]).find_last_not_of('=') + 1);
    CAPTURE(words);
    CHECK(ending.code == 2);
    CHECK(ending.complained.starts_with("program: " + flag + ": "));
    CHECK(ending.complained.find('\n') == ending.complained.size() - 1);
  }
  CHECK(run(program, {"--seed", "9223372036854775807", "--sizes", "4,128", "--scales", "0.5"}).code == 0);
  CHECK(seed == std::numeric_limits<std::int64_t>::max());
  CHECK(sizes == std::vector<std::int64_t>{4, 128});
}

TEST_CASE("nothing stands twice in a list, in whatever words") {
  Command program("program", "takes lists");
  std::vector<size_t> sizes;
  std::vector<double> scales;
  std::vector<std::string> names, files;
  program.add("--sizes", sizes, "integers").separated_by_commas();
  program.add("--scales", scales, "numbers").separated_by_commas();
  program.add("--names", names, "words").separated_by_commas();
  program.add("FILES", files, "no list");
  program.action([] { return 0; });
  const std::vector<std::vector<const char*>> right{
      {"--sizes", "4,40"}, {"--scales", "1,-1"}, {"--names", "4,04"}, {"a", "a"}};
  for (const auto& arguments : right) CHECK(run(program, arguments).code == 0);
  const std::vector<std::vector<const char*>> twice{{"--sizes", "4,04"},
                                                    {"--scales", "0.5,1,5e-1"},
                                                    {"--names", "a,b,a"},
                                                    {"--names", "a", "--names", "a"}};
  for (const auto& arguments : twice) {
    const Ending ending = run(program, arguments);
    CHECK(ending.code == 2);
    CHECK_MESSAGE(ending.complained.find(" is given twice; once is enough") != std::string::npos,
                  arguments.back());
  }
  CHECK(run(program, {"--sizes", "4,04"}).complained.starts_with("program: --sizes: 04 is given twice;"));
}

TEST_CASE("a program whose output cannot be written says so and fails") {
  struct : std::streambuf {
  } full;  // accepts nothing, like /dev/full
  Command program("program", "prints");
  program.add_version("program 1.2.3");
  program.action([] {
    std::cout << "a result\n";
    return 0;
  });
  std::ostringstream errors;
  for (const std::vector<const char*>& words :
       {std::vector{"program"}, {"program", "--help"}, {"program", "--version"}}) {
    errors.str("");
    std::streambuf* const usual_out = std::cout.rdbuf(&full);
    std::streambuf* const usual_errors = std::cerr.rdbuf(errors.rdbuf());
    const int code = program.run(static_cast<int>(words.size()), words.data());
    std::cerr.rdbuf(usual_errors);
    std::cout.rdbuf(usual_out);
    std::cout.clear();
    CHECK(code == 1);
    CHECK(errors.str().starts_with("program: standard output cannot be written"));
  }
}

TEST_CASE("help and version go to standard output; errors of an action have the exit code of their kind") {
  Command program("program", "fails as it is told");
  program.add_version("program 1.2.3");
  program.footer("Example: program data");
  std::string kind = "usage";
  program.add("KIND", kind, "of error").show_default();
  program.action([&]() -> int {
    if (kind == "data") fail<DataError>("file.csv: is broken");
    if (kind == "memory") throw std::bad_alloc();
    if (kind == "length") std::vector<int>().resize(std::numeric_limits<size_t>::max());
    fail<UsageError>("--flag: is wrong");
  });
  const Ending help = run(program, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.said.starts_with("fails as it is told\nUsage: program "));
  CHECK(help.said.find("TEXT=usage") != std::string::npos);
  CHECK(help.said.ends_with("Example: program data\n"));
  CHECK(run(program, {"--version"}).said == "program 1.2.3\n");
  const Ending usage = run(program, {}), data = run(program, {"data"}), memory = run(program, {"memory"});
  CHECK(usage.code == 2);
  CHECK(usage.complained == "program: --flag: is wrong\n");
  CHECK(data.code == 1);
  CHECK(data.complained == "program: file.csv: is broken\n");
  for (const Ending& ending : {memory, run(program, {"length"})}) {
    CHECK(ending.code == 1);
    CHECK(ending.complained.starts_with("program: not enough memory;"));
  }
}
