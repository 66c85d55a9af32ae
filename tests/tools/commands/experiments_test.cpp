// What every experiment must have: what is forgotten of a new one is named here.

#include "tests/tools/commands/experiments.h"

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "layers/attention/transformer_block.h"
#include "models/convnet/model.h"
#include "models/mnist/model.h"
#include "tests/check.h"
#include "tools/commands/training_steps.h"
#include "tools/flags/training/command_times.h"
#include "tools/report/exhibits/exhibits.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr std::string_view preset_tests = "tests/models/*/*preset*_test.cpp";

std::string content_of(std::string_view path) {
  if (path != preset_tests) return read_file(std::string(path));
  std::string all;
  for (const std::string& folder : entries_of("tests/models"))
    for (const std::string& file : entries_of(folder))
      if (file.ends_with("_test.cpp") && contains(file, "preset")) all += read_file(file);
  return all;
}

/// Pages and tests that go through all experiments, and what stands there around the name of each.
struct Place {
  std::string_view file, before, after;
};
constexpr Place places[] = {
    {"README.md", "build/lamina ", " "},
    {"models/run/FILES.md", "`", "`"},  // the columns of its metrics.csv
    {preset_tests, "{\"", "\", "},
    {"models/evidence/known_experiments.cpp", "{.name = \"", "\","},
    {"tests/faults/runs.py", "\"", "\": ["},
    {"tests/models/run/csv_columns_test.sh", " ", " --"},
    {"tests/models/distributed/mpirun_test.sh", " ", " --"},
    {"tests/tools/report/report_page.mjs", "\"", "\": \"epoch,"},
};

/// Tables that no compiler looks at, and how a row of one names its command.
struct Rows {
  std::string_view file, begin;
  bool of_experiments = true;  ///< has a row for each
};
constexpr Rows tables[] = {
    {"models/evidence/known_experiments.cpp", R"re(\n      \{.name = "([a-z-]+)",)re"},
    {"models/run/FILES.md", R"re(`([a-z-]+)`(?=(?:, `[a-z-]+`)*:\n))re"},
    {"tools/flags/training/command_times.cpp", R"re(\n    \{"([a-z-]+))re", false},
    {"tests/faults/runs.py", R"re(\n    "([a-z-]+)": \[)re"},
    {"tests/tools/report/report_page.mjs", R"re("([a-z-]+)": "epoch,)re"},
};

/// What two models of the same seed differ in: the names of their parameters, or what they compute.
struct Seen {
  std::vector<std::string> names;
  std::vector<real> values;
  bool operator==(const Seen&) const = default;
};

template <class Make>
Seen seen(const Make& make, const Tensor& x) {
  Parameters parameters(1);
  auto model = make(parameters);
  const Tensor y = model(x, Mode::train);
  Seen all{.names = {}, .values = {y.values().begin(), y.values().end()}};
  for (const auto& [name, value] : parameters.learned()) all.names.push_back(name);
  return all;
}

}  // namespace

TEST_CASE("experiments: every norm that --norm offers makes another model than none") {
  const auto mnist_with = [](Norm norm) {
    const mnist::ModelOptions options{.norm = norm, .pixels = 16, .hidden = 8};
    return seen([&](Parameters& in) { return mnist::Model(in, options); }, sample({64, 16}, 1));
  };
  const auto convnet_with = [](Norm norm) {
    const convnet::ModelOptions options{.norm = norm, .side = 16, .channels = {8, 8}, .hidden = 8};
    return seen([&](Parameters& in) { return convnet::Model(in, options); }, sample({64, 16, 16, 1}, 1));
  };
  const auto block_with = [](Norm norm) {
    const TransformerBlockOptions options{.width = 8, .heads = 2, .norm = norm};
    return seen([&](Parameters& in) { return TransformerBlock(in, "block", options); },
                sample({32, 2, 8}, 1));
  };
  const auto check_all = [](const std::string& name, const auto& with) {
    const NamedTrainingStep* const step = find_training_step(name);
    REQUIRE(step != nullptr);
    const Seen plain = with(Norm::none);
    CHECK(with(Norm::none) == plain);
    for (const Norm norm : step->norms)
      if (norm != Norm::none) CHECK_MESSAGE(!(with(norm) == plain), name, " with ", name_of(norm));
  };
  check_all("mnist", mnist_with);
  check_all("convnet", convnet_with);
  check_all("transformer", block_with);
}

TEST_CASE("experiments: each has its step, exhibit, time, page, and place in what goes through all") {
  CHECK(experiments().size() >= 8);
  for (const std::string& name : experiments()) {
    CAPTURE(name);
    CHECK_MESSAGE(find_training_step(name) != nullptr, "tools/commands/commands.h");
    CHECK_MESSAGE(std::ranges::count(exhibits(), name, &Exhibit::experiment) > 0,
                  "models/evidence/known_experiments.cpp");
    CHECK_MESSAGE(!time_of(name).empty(), "models/evidence/known_experiments.cpp");
    std::string folder = "models/" + name;
    std::ranges::replace(folder, '-', '_');
    CHECK_MESSAGE(exists(folder + "/README.md"), folder, "/README.md");
    CHECK_MESSAGE(exists("tests/oracle/" + folder + ".py"), "tests/oracle/", folder, ".py");
    for (const Place& place : places)
      CHECK_MESSAGE(contains(content_of(place.file), text(place.before, name, place.after)), place.file);
  }
}

TEST_CASE("experiments: the page of each names every norm that --norm offers") {
  for (const NamedTrainingStep& step : training_steps()) {
    std::string page = "models/" + step.name + "/README.md";
    std::ranges::replace(page, '-', '_');
    if (!exists(page)) continue;
    const std::string content = read_file(page);
    for (const Norm norm : step.norms)
      CHECK_MESSAGE(contains(content, name_of(norm)), page, " does not name ", name_of(norm));
  }
}

TEST_CASE("experiments: what was removed has left no row behind") {
  Command program("lamina", "for tests");
  for (const auto add : add_commands) add(program);
  std::set<std::string> commands;
  for (const Command& command : program.commands()) commands.insert(command.name());
  for (const Rows& table : tables) {
    const std::string content = content_of(table.file);
    const std::regex begin{std::string(table.begin)};
    size_t rows = 0;
    for (std::sregex_iterator row(content.begin(), content.end(), begin), end; row != end; ++row, ++rows)
      CHECK_MESSAGE(commands.contains((*row)[1]), table.file, ": ", (*row)[1].str());
    CHECK_MESSAGE(rows >= (table.of_experiments ? experiments().size() : 1), table.file);
  }
}
