// Every command that the page prints is one that lamina takes.

#include <algorithm>
#include <set>
#include <sstream>

#include "core/error.h"
#include "tests/temporary_folder.h"
#include "tests/tools/commands/experiments.h"
#include "tests/tools/report/runs_folder.h"
#include "tools/commands/commands.h"

using namespace lamina;
using namespace lamina::report_test;

namespace {

/// The words of each command of a line as a shell has them, without what stands before "lamina".
std::vector<std::vector<std::string>> commands_in(const std::string& line) {
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  bool quoted = false, any = false;
  const auto end_word = [&] {
    if (any) commands.back().push_back(word);
    word.clear();
    any = false;
  };
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && (c == ' ' || c == ';')) {
      end_word();
      if (c == ';') commands.emplace_back();
    } else {
      word += c;
      any = true;
    }
  }
  end_word();
  for (auto& words : commands)
    std::erase_if(words, [](const std::string& each) { return each.starts_with("LAMINA_SMOKE="); });
  return commands;
}

/// What is wrong with a line; empty when nothing is.
std::string complaint(const std::string& line) {
  for (const auto& words : commands_in(line)) {
    if (words.empty() || words[0] != "lamina") continue;  // make bench
    Command program("lamina", "");
    program.require_command();
    for (const auto add : add_commands) add(program);
    try {
      program.check(words);
    } catch (const UsageError& error) {
      return text(line, "\n  ", error.what());
    }
  }
  return {};
}

/// A run's settings as a command writes them into its config.json.
Json settings_of(const std::string& experiment) {
  Json common{{"preset", "small"}, {"data", ""},  {"seed", 1},  {"epochs", 2},
              {"batch", 64},       {"lr", 0.001}, {"smoke", 0}, {"sync_batch_norm", true}};
  const auto with = [&](const Json& more) {
    common.update(more);
    return common;
  };
  if (experiment == "skip-thoughts")
    return with({{"norm", "layer"},
                 {"embedding", 620},
                 {"hidden", 2400},
                 {"lazy", false},
                 {"record", 20},
                 {"updates", 0}});
  if (experiment == "order-embedding")
    return with({{"variants", "oe-ln"}, {"norm", "layer"}, {"hidden", 1024}, {"embedding", 300}});
  if (experiment == "handwriting") return with({{"norm", "layer"}, {"updates", 100}, {"length", 500}});
  if (experiment == "attentive-reader")
    return with({{"norm", "layer"}, {"gain", 0.1}, {"updates", 100}, {"epochs", 0}});
  if (experiment == "transformer")
    return with({{"norm", "layer"}, {"placement", "pre"}, {"updates", 100}, {"epochs", 0}, {"train_on", 0}});
  return with({{"norm", "layer"}, {"record", 20}, {"train_on", 0}});
}

}  // namespace

TEST_CASE("the test itself sees a flag that is none") {
  CHECK(complaint("lamina mnist --norm layer --record every=20 --out 'runs/a b'").empty());
  CHECK_FALSE(complaint("lamina mnist --embedding 620").empty());
  CHECK_FALSE(complaint("lamina mnist --record 20").empty());
  CHECK_FALSE(complaint("LAMINA_SMOKE=2 lamina list; lamina mnits").empty());
}

TEST_CASE("every exhibit's command parses") {
  for (const Exhibit& exhibit : exhibits())
    CHECK_MESSAGE(complaint(exhibit.command).empty(), complaint(exhibit.command));
}

TEST_CASE("what is missing has a quick command first, which parses, needs no data and has its time") {
  size_t quick = 0;
  const Json document = make_document(find_runs({}));
  for (const Json& exhibit : document["exhibits"]) {
    const auto full = exhibit["command"].get<std::string>();
    const Json first = exhibit.value("quick", Json());
    CHECK(first.is_null() == (full.find("--data") == std::string::npos));
    if (first.is_null()) continue;
    const auto command = first["command"].get<std::string>();
    CHECK_MESSAGE(complaint(command).empty(), complaint(command));
    CHECK(command.find("--data") == std::string::npos);
    CHECK_MESSAGE(!first["time"].get<std::string>().empty(), command);
    ++quick;
  }
  CHECK(quick > 5);
}

TEST_CASE("the command of a run of every experiment parses, and so does each remedy") {
  const TemporaryFolder folder;
  for (const std::string& experiment : test::experiments())
    make_run_of(experiment, folder / experiment, settings_of(experiment), "");
  const Json document = make_document(find_runs({folder.path()}));
  size_t seen = 0;
  for (const Json& exhibit : document["exhibits"])
    for (const Json& run : exhibit["runs"]) {
      const auto command = run["command"].get<std::string>();
      CHECK_MESSAGE(complaint(command).empty(), complaint(command));
      for (const Json& problem : run["problems"]) {
        const auto words = problem.get<std::string>();
        const size_t from = words.find("lamina "), to = words.find(" does that");
        REQUIRE_MESSAGE(from != std::string::npos, words);
        const std::string remedy = words.substr(from, to == std::string::npos ? to : to - from);
        CHECK_MESSAGE(complaint(remedy).empty(), complaint(remedy));
      }
      ++seen;
    }
  CHECK(seen >= 8);
}

TEST_CASE("the command of what trains no model parses, and repeats what was measured") {
  const TemporaryFolder folder;
  const auto make = [&](const std::string& name, const std::string& experiment, const Json& settings,
                        const std::string& file) {
    make_run_of(experiment, folder / name, settings, "");
    write_file(folder / name + "/" + file, "a\n1\n");
  };
  make("stability", "stability", {{"steps", 10}, {"hidden", 7}, {"scales", "0.5"}, {"seed", 1}},
       "stability.csv");
  make("invariance", "invariance", {{"draws", 2}, {"seed", 1}, {"smoke", 0}}, "invariance.csv");
  make("gain", "lab", {{"seeds", "1,2"}}, "curves.csv");
  make("stopped", "placement", {{"depths", "2,4"}, {"width", 8}, {"seed", 5}}, "nothing");
  make("words", "skip-thoughts", {{"norm", "bag-of-words"}, {"data", "tasks"}}, "tasks.csv");
  Json of_lab = Json::parse(read_file(folder / "gain/config.json"));
  of_lab["variant"] = "gain";
  write_file(folder / "gain/config.json", of_lab.dump());
  std::set<std::string> commands;
  const Json document = make_document(find_runs({folder.path()}));
  for (const Json& exhibit : document["exhibits"])
    for (const Json& run : exhibit["runs"]) {
      const auto command = run["command"].get<std::string>();
      CHECK_MESSAGE(complaint(command).empty(), complaint(command));
      for (const Json& each : run["badges"])
        CHECK(each["text"].get<std::string>().find("updates") == std::string::npos);
      commands.insert(command);
      for (const Json& problem : run["problems"]) {
        const auto words = problem.get<std::string>();
        if (const size_t from = words.find("lamina "); from != std::string::npos)
          CHECK_MESSAGE(complaint(words.substr(from)).empty(), words);
      }
    }
  const auto any = [&](const std::string& part) {
    return std::ranges::any_of(commands,
                               [&](const std::string& each) { return each.find(part) != std::string::npos; });
  };
  CHECK(any("lamina stability --steps 10 --hidden 7 "));
  CHECK(any("lamina invariance --draws 2 "));
  CHECK(any("lamina lab gain"));
  CHECK(any("lamina placement --depths 2,4 --width 8 --seed 5 "));
  CHECK(any("lamina skip-thoughts eval --features bag-of-words --data tasks --out " + folder / "words"));
}

TEST_CASE("the command of a run of every exhibit on random inputs parses") {
  size_t seen = 0;
  for (const Exhibit& exhibit : exhibits()) {
    const auto words = commands_in(exhibit.command).front();
    if (exhibit.on_data || !exhibit.study.empty() || words[0] != "lamina") continue;
    const TemporaryFolder folder;
    make_run_of(words[1], folder.path(), Json::object(), "");
    if (!exhibit.file.empty()) write_file(folder / exhibit.file, "a\n1\n");
    const Json shown = exhibit_on(folder.path(), exhibit.id);
    for (const Json& run : shown["runs"]) {
      const auto command = run["command"].get<std::string>();
      CHECK_MESSAGE(complaint(command).empty(), exhibit.id, ": ", complaint(command));
      ++seen;
    }
  }
  CHECK(seen >= 5);
}

TEST_CASE("models that were trained and not evaluated are to be evaluated, not trained again") {
  const TemporaryFolder folder;
  make_run_of("skip-thoughts", folder / "a", settings_of("skip-thoughts"), "epoch,step,train_nll\n1,10,3\n");
  const Json problems = exhibit_on(folder.path(), "table-3")["runs"][0]["problems"];
  CHECK(problems[0].get<std::string>().find("lamina skip-thoughts eval " + folder / "a" + " --data TASKS") !=
        std::string::npos);
}
