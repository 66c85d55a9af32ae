#include "tools/lab/measure_labs.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/run/run_folder.h"
#include "models/terminal/interrupt.h"
#include "tools/flags/training/common_flags.h"
#include "tools/programs/child_process.h"
#include "tools/programs/process.h"
#include "tools/study/status_line.h"

namespace lamina::lab {

namespace {

constexpr unsigned microseconds_between_looks = 20'000;

/// One seed of one lab.
struct SeedRun {
  size_t task = 0;
  std::int64_t seed = 0;
  std::string file = {};  ///< of its rows; beside it its output, .log
  std::unique_ptr<ChildProcess> child = {};
  bool ended = false;

  std::string log() const { return file + ".log"; }
};

/// The last line of a file: the error of a process that failed.
std::string last_line(const std::string& path) {
  if (!exists(path)) return "it said nothing";
  std::string content = read_file(path);
  while (content.ends_with('\n')) content.pop_back();
  content.erase(0, content.find_last_of('\n') + 1);
  return content.empty() ? "it said nothing" : content;
}

class Measuring {
 public:
  Measuring(const std::vector<LabTask>& tasks, const MeasureOptions& options,
            const std::function<void(const LabTask&, const Rows&)>& done)
      : tasks_(tasks), options_(options), done_(done) {
    for (size_t i = 0; i < tasks.size(); ++i)
      for (const std::int64_t seed : options.seeds)
        runs_.push_back({.task = i, .seed = seed, .file = text(tasks[i].folder, "/seed-", seed, ".csv")});
  }

  std::vector<std::string> measure() {
    const CatchInterrupts catching;
    while (!interrupted() && !std::ranges::all_of(runs_, &SeedRun::ended)) {
      look();
      start_some();
      show();
      ::usleep(microseconds_between_looks);
    }
    status_.erase();
    return failures_;
  }

 private:
  size_t at_work() const {
    return static_cast<size_t>(
        std::ranges::count_if(runs_, [](const SeedRun& run) { return run.child != nullptr; }));
  }

  void start_some() {
    for (SeedRun& run : runs_) {
      if (at_work() >= options_.jobs) return;
      if (run.ended || run.child) continue;
      const LabTask& task = tasks_[run.task];
      make_folder(task.folder);
      std::filesystem::remove(run.log());
      run.child = std::make_unique<ChildProcess>(
          std::vector<std::string>{"lab", task.lab->name, text("--seed=", run.seed), "--rows=" + run.file},
          run.log());
    }
  }

  void look() {
    for (SeedRun& run : runs_) {
      if (!run.child || !run.child->ended()) continue;
      const int code = run.child->exit_code();
      run.child.reset();
      run.ended = true;
      if (code != 0) fail_lab(run, code);
      if (std::ranges::all_of(runs_,
                              [&](const SeedRun& other) { return other.task != run.task || other.ended; }))
        end_lab(run.task);
    }
  }

  /// The other seeds of a lab that failed need not be measured.
  void fail_lab(const SeedRun& failed, int code) {
    failures_.push_back(text(tasks_[failed.task].lab->name, ", seed ", failed.seed, ": ",
                             code < 0 ? text("killed by signal ", -code) : last_line(failed.log())));
    failed_.push_back(failed.task);
    for (SeedRun& run : runs_)
      if (run.task == failed.task && !run.child) run.ended = true;
  }

  /// All rows in the order of the seeds.
  void end_lab(size_t task) {
    if (std::ranges::find(failed_, task) != failed_.end()) return;
    Rows all;
    for (const SeedRun& run : runs_) {
      if (run.task != task) continue;
      const Rows rows = rows_of(run.file, read_file(run.file));
      all.insert(all.end(), rows.begin(), rows.end());
      std::filesystem::remove(run.file);
      std::filesystem::remove(run.log());
    }
    status_.erase();
    done_(tasks_[task], all);
  }

  /// "lab: 7 of 70 seeds; at work: shift 2, shift 3"
  void show() {
    std::string list;
    for (const SeedRun& run : runs_)
      if (run.child)
        list += text(list.empty() ? "; at work: " : ", ", tasks_[run.task].lab->name, ' ', run.seed);
    status_.show(
        text("lab: ", std::ranges::count_if(runs_, &SeedRun::ended), " of ", runs_.size(), " seeds", list));
  }

  const std::vector<LabTask>& tasks_;
  const MeasureOptions& options_;
  const std::function<void(const LabTask&, const Rows&)>& done_;
  std::vector<SeedRun> runs_;
  std::vector<std::string> failures_;
  std::vector<size_t> failed_;
  StatusLine status_;
};

}  // namespace

std::vector<std::string> measure_labs(const std::vector<LabTask>& tasks, const MeasureOptions& options,
                                      const std::function<void(const LabTask&, const Rows&)>& done) {
  return Measuring(tasks, options, done).measure();
}

void measure_seed(const Lab& lab, std::int64_t seed, const std::string& file) {
  if (lab.in_double) continue_in_double();
  set_threads(1);
  write_file(file, to_csv(lab.measure(seed, smoke_epochs() > 0)));
}

}  // namespace lamina::lab
