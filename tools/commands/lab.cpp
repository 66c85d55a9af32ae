// lamina lab: what is said about normalization, each sentence in a short experiment with several seeds.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <numeric>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/lab/lab_verdict.h"
#include "models/lab/labs.h"
#include "models/terminal/interrupt.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/common_flags.h"
#include "tools/lab/lab_report.h"
#include "tools/lab/measure_labs.h"
#include "tools/results/result_folder.h"

namespace lamina {

namespace {

using namespace lab;

struct LabFlags {
  std::string name, from, out, rows;
  size_t seeds = 5, jobs = 0;
  std::int64_t seed = 1;

  bool all() const { return name == "all"; }
  std::string folder() const { return out.empty() ? all() ? "runs/lab" : "runs/lab/" + name : out; }
};

/// The labs that are asked for, with the folder of each.
std::vector<LabTask> tasks_of(const LabFlags& flags) {
  if (!flags.all()) return {{&lab_named(flags.name), flags.folder()}};
  std::vector<LabTask> tasks;
  for (const Lab& lab : labs()) tasks.push_back({&lab, flags.folder() + '/' + lab.name});
  return tasks;
}

/// The folder of one lab, from its rows. `from`: the file of rows that were not measured here; empty where they were.
LabResult report(const LabTask& task, const Rows& rows, size_t smoke, const std::string& from = {}) {
  RunConfig config{.experiment = "lab", .variant = task.lab->name};
  const auto word = [](std::int64_t seed) { return text(seed); };
  config.settings.set("seeds", joined(seeds_of(rows), word, ","));
  config.settings.set("smoke", smoke);
  if (!from.empty()) config.settings.set("from", from);
  report_lab(*task.lab, rows, {task.folder, config});
  std::cout << std::endl;
  return {task.lab, verdicts_of(*task.lab, rows)};
}

/// LAMINA_SMOKE of the rows in a file, as config.json beside it has it.
size_t smoke_of(const std::string& rows_file) {
  const std::string folder = std::filesystem::path(rows_file).parent_path().string();
  const std::string in = folder.empty() ? "." : folder;
  if (!exists(in + "/config.json")) return 0;
  const RunConfig config = RunFolder::open(in).config();
  return config.experiment == "lab" && config.settings.has("smoke")
             ? static_cast<size_t>(config.settings.get<std::int64_t>("smoke"))
             : 0;
}

/// From the rows of a file, or of NAME.csv in a folder. What they lack is said of that file.
LabResult report_from(const std::string& from, const LabTask& task) {
  const std::string path = is_folder(from) ? from + '/' + task.lab->name + ".csv" : from;
  const Rows rows = rows_of(path, read_file(path));
  try {
    verdicts_of(*task.lab, rows);
  } catch (const DataError& problem) {
    fail<DataError>(path, ": ", problem.what());
  }
  return report(task, rows, smoke_of(path), path);
}

/// What all of them say, in the order of the labs.
void report_all(const LabFlags& flags, std::vector<LabResult> results) {
  const auto place = [](const LabResult& each) { return each.lab - labs().data(); };
  std::ranges::sort(results, {}, place);
  ResultFolder(flags.folder()).report(table_of(results));
}

/// Before anything is measured.
void require_places(const LabFlags& flags) {
  if (flags.all()) require_place_for(flags.folder(), {.experiment = "lab"});
  for (const LabTask& task : tasks_of(flags))
    require_place_for(task.folder, {.experiment = "lab", .variant = task.lab->name});
}

int show(const LabFlags& flags) {
  if (flags.all() && !is_folder(flags.from))
    fail<UsageError>("--from: '", flags.from,
                     "' is no folder; for all labs name one that holds a NAME.csv of each");
  std::vector<LabResult> results;
  for (const LabTask& task : tasks_of(flags)) results.push_back(report_from(flags.from, task));
  if (flags.all()) report_all(flags, results);
  return 0;
}

int measure(const LabFlags& flags) {
  const size_t smoke = smoke_epochs();
  std::vector<std::int64_t> seeds(smoke > 0 ? std::min<size_t>(flags.seeds, 2) : flags.seeds);
  std::iota(seeds.begin(), seeds.end(), flags.seed);
  std::vector<LabResult> results;
  const std::vector<std::string> failures = measure_labs(
      tasks_of(flags),
      {.seeds = seeds, .jobs = flags.jobs > 0 ? flags.jobs : static_cast<size_t>(usable_cores())},
      [&](const LabTask& task, const Rows& rows) { results.push_back(report(task, rows, smoke)); });
  if (interrupted()) return interrupted_exit_code;
  if (flags.all()) report_all(flags, results);
  for (const std::string& failure : failures) std::cerr << "lamina: " << failure << '\n';
  return failures.empty() ? 0 : 1;
}

int run(const LabFlags& flags) {
  if (flags.name.empty()) {
    for (const Lab& lab : labs())
      std::cout << lab.name << "\n    " << lab.sentence << "\n    " << lab.source << '\n';
    return 0;
  }
  if (!flags.rows.empty()) {
    if (flags.all()) fail<UsageError>("--rows: takes the rows of one lab; name it in place of all");
    const Lab& lab = lab_named(flags.name);
    // Known before minutes of measuring.
    const std::string folder = std::filesystem::path(flags.rows).parent_path().string();
    if (!folder.empty() && !is_folder(folder))
      fail<UsageError>("--rows ", flags.rows, ": there is no folder ", folder, "; create it first");
    measure_seed(lab, flags.seed, flags.rows);
    return 0;
  }
  require_places(flags);
  return flags.from.empty() ? measure(flags) : show(flags);
}

}  // namespace

void add_lab_command(Command& program) {
  Command& command = program.add_command(
      "lab", "what is said about normalization, each sentence tested in a short experiment",
      "Without NAME lists all labs: the sentence that each tests, and where it stands.\n"
      "Examples: lamina lab reparameterization --out runs/lab/reparameterization\n"
      "          lamina lab all --from models/lab/results");
  const auto flags = std::make_shared<LabFlags>();
  const Flag name = command.add("NAME", flags->name, "a lab, or all");
  const Flag seeds =
      command.add("--seeds", flags->seeds, "how many").range(1, 1000).show_default().needs(name);
  const Flag seed =
      command.add("--seed", flags->seed, "the first one").non_negative().show_default().needs(name);
  const Flag jobs = command.add("--jobs", flags->jobs, "seeds at a time; 0: one per core")
                        .range(0, 1024)
                        .show_default()
                        .needs(name);
  const Flag from =
      command.add("--from", flags->from, "measure nothing; rows of this file, or of NAME.csv in this folder")
          .needs(name)
          .excludes(seeds)
          .excludes(seed)
          .excludes(jobs);
  const Flag out =
      command.add("--out", flags->out, "folder for tables and figure; by default runs/lab/NAME").needs(name);
  command.add("--rows", flags->rows, "measure --seed alone, and write only its rows into this file")
      .needs(name)
      .excludes(from)
      .excludes(seeds)
      .excludes(jobs)
      .excludes(out);
  command.action([flags] { return run(*flags); });
}

}  // namespace lamina
