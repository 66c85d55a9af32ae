#include "tools/study/queue.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/evidence/kept_numbers.h"
#include "models/evidence/verdict.h"
#include "models/run/data_note.h"
#include "models/run/length.h"
#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "models/terminal/interrupt.h"
#include "models/terminal/progress.h"
#include "tools/study/memory.h"
#include "tools/study/same_data.h"

namespace lamina {

namespace {

constexpr unsigned microseconds_between_looks = 20'000;
constexpr std::size_t looks_between_reading = 50;  ///< the children's logs, once a second
constexpr std::size_t most_ends_by_signal = 3;

/// A text file that a child may be writing to; empty where it cannot be read.
std::string content_of(const std::string& path) {
  try {
    return read_file(path);
  } catch (const DataError&) {
    return {};
  }
}

/// The whole lines of a table below its header.
std::size_t rows_in(const std::string& table) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(table, '\n'));
  return lines == 0 ? 0 : lines - 1;
}

constexpr std::string_view program = "lamina: ";  ///< begins an error

/// What the data are: the line before that of the run's folder, but for a word on the preset. Earlier attempts may have left
/// errors in front, and the system warnings.
std::string data_line(std::string_view log) {
  const size_t end = log.find("\nrun folder: ");
  if (end == std::string_view::npos) return {};
  log = log.substr(0, end);
  if (const size_t last = log.rfind('\n');
      last != log.npos && log.substr(last + 1).starts_with("preset small,"))
    log = log.substr(0, last);
  return std::string(log.substr(log.rfind('\n') + 1));
}

/// The last line of a log, which is the error where there was one, without the name of the program.
std::string last_line(std::string_view log) {
  while (log.ends_with('\n')) log.remove_suffix(1);
  log.remove_prefix(log.find_last_of("\n\r") == std::string_view::npos ? 0 : log.find_last_of("\n\r") + 1);
  if (log.starts_with(program)) log.remove_prefix(program.size());
  return log.empty() ? "it said nothing" : std::string(log);
}

/// Of the last line such as "layer norm, epoch 3/20: ..." of a log the part that is done; 0 where there is none.
double share_done(const std::string& log) {
  double share = 0;
  for (std::size_t slash = log.find('/'); slash != std::string::npos; slash = log.find('/', slash + 1)) {
    const std::size_t begin = log.find_last_not_of("0123456789", slash - 1) + 1;
    const std::size_t end = log.find_first_not_of("0123456789", slash + 1);
    if (begin == slash || end == std::string::npos || end == slash + 1 || log[end] != ':') continue;
    const auto done = number_from<std::int64_t>(std::string_view(log).substr(begin, slash - begin));
    const auto all = number_from<std::int64_t>(std::string_view(log).substr(slash + 1, end - slash - 1));
    if (done && all && *all > 0)
      share = std::min(1.0, static_cast<double>(*done) / static_cast<double>(*all));
  }
  return share;
}

/// The time that a run has trained for, as its last row says.
double seconds_of(const std::string& folder) {
  const std::string path = folder + "/metrics.csv";
  try {
    const Table table = table_of(path, content_of(path));
    return table.rows.empty() ? 0 : table.column("seconds").back();
  } catch (const DataError&) {
    return 0;
  }
}

}  // namespace

StudyQueue::StudyQueue(const Study& study, const std::vector<StudyRun>& runs, const QueueOptions& options)
    : study_(study), options_(options) {
  std::map<std::string, RunEnd> ends;
  for (const MeasuredRun& run : measured_runs(study, options.folder)) ends[run.run.name] = run.end;
  for (const StudyRun& run : runs) {
    const std::string folder = options.folder + '/' + run.name;
    RunEnd how = ends.at(run.name);
    if (how.outcome == RunEnd::failed && !how.damaged) how = {};  // the reason may be gone by now
    if (how.outcome != RunEnd::waiting && !exists(folder)) ++kept_;
    runs_.push_back({.run = run, .folder = folder, .how = how});
    look_at(runs_.back());
  }
}

bool StudyQueue::train() {
  const CatchInterrupts catching;
  const std::size_t before = runs_.size() - count(RunEnd::waiting) - failed();
  status_.line(text(runs_.size(), " runs of lamina ", study_.experiment, " in ", options_.folder, ": ",
                    before, " done before",
                    kept_ > 0 ? text(" (", kept_, " of them in ", numbers_file, ")") : "", ", ",
                    count(RunEnd::waiting), " to go, at most ", options_.jobs, " at a time"));
  for (const Run& run : runs_)
    if (run.how.damaged) status_.line("failed: " + run.run.name + ", " + run.how.reason);
  while (!interrupted() && count(RunEnd::waiting) > 0) {
    look_at_children();
    start_some();
    if (at_work().empty() && std::ranges::all_of(runs_, [](const Run& run) {
          return run.how.outcome != RunEnd::waiting || run.ends_by_signal >= most_ends_by_signal;
        }))
      break;
    show();
    ::usleep(microseconds_between_looks);
  }
  stop_all();
  status_.erase();
  // A killed process counts as running until its parent or the system has taken note, so its run may have left it there.
  for (const Run& run : runs_)
    if (exists(run.folder) && !is_locked(run.folder)) remove_unfinished_files(run.folder);
  return count(RunEnd::waiting) == 0;
}

std::size_t StudyQueue::failed() const { return count(RunEnd::failed); }

// --- Starting

void StudyQueue::start_some() {
  for (Run& run : runs_) {
    if (at_work().size() >= options_.jobs) return;
    if (run.how.outcome != RunEnd::waiting || run.child || run.ends_by_signal >= most_ends_by_signal)
      continue;
    if (is_locked(run.folder)) {  // its process outlived an earlier session
      if (!std::exchange(run.awaited, true)) status_.line("waits until it is saved: " + run.run.name);
      continue;
    }
    if (!may_start(run)) return;
    start(run);
  }
}

/// The most that a run of this combination, or else of any, has held.
std::size_t StudyQueue::peak_of(std::size_t combination) const {
  std::size_t own = 0, any = 0;
  for (const Run& each : runs_) {
    const std::size_t peak = each.child ? each.child->peak_bytes() : each.how.peak_bytes;
    any = std::max(any, peak);
    if (each.run.combination == combination) own = std::max(own, each.child ? 0 : peak);
  }
  return own > 0 ? own : any;
}

/// Whether memory allows one more. The first run shows how much one needs.
bool StudyQueue::may_start(const Run& next) const {
  std::vector<RunMemory> others;
  for (const Run* other : at_work())
    others.push_back({.now = other->child->bytes(),
                      .peak = std::max(peak_of(other->run.combination), other->child->peak_bytes())});
  const bool measured = std::ranges::any_of(
      runs_, [](const Run& each) { return each.how.peak_bytes > 0 || (each.child && each.share > 0); });
  return fits_beside(others, peak_of(next.run.combination), measured, available_memory());
}

/// A run that had begun goes on, one that had ended where the study ended then for longer.
void StudyQueue::start(Run& run) {
  make_folder(run.folder);
  const bool begun = exists(run.folder + "/config.json");
  std::vector<std::string> arguments{study_.experiment, "--out=" + run.folder};
  if (begun) {
    arguments.emplace_back("--resume");
    const Settings longer =
        longer_than(RunFolder::open(run.folder).config().settings, study_.settings_of(run.run));
    for (const auto& [name, value] : longer.entries()) {
      arguments.push_back("--" + name + '=' + text_of(value));
      remove_end(run.folder);
      std::filesystem::remove(run.folder + "/log.txt");  // whose last line says that all is done
    }
  } else {
    std::ranges::copy(study_.flags_of(run.run), std::back_inserter(arguments));
  }
  setenv(of_study, "1", /*overwrite=*/1);
  run.child = std::make_unique<ChildProcess>(arguments, run.folder + "/log.txt");
  status_.line(text(begun ? "goes on: " : "starts: ", run.run.name));
}

// --- Watching

std::vector<const StudyQueue::Run*> StudyQueue::at_work() const {
  std::vector<const Run*> all;
  for (const Run& run : runs_)
    if (run.child) all.push_back(&run);
  return all;
}

std::size_t StudyQueue::count(RunEnd::Outcome outcome) const {
  return static_cast<std::size_t>(
      std::ranges::count(runs_, outcome, [](const Run& run) { return run.how.outcome; }));
}

void StudyQueue::look_at_children() {
  const bool reads = ++looks_ % looks_between_reading == 0;
  for (Run& run : runs_) {
    if (!run.child) continue;
    if (reads) look_at(run);
    const bool ended = run.child->ended();
    compare_data(run);
    if (ended) end(run);
  }
}

/// As soon as a run says which files it reads: what is trained on others than the rest is of no use.
void StudyQueue::compare_data(Run& run) const {
  if (run.compared || data_note_of(run.folder).digest.empty()) return;
  run.compared = true;
  require_same_data(study_, options_.folder);
}

void StudyQueue::look_at(Run& run) {
  run.share = run.how.outcome == RunEnd::waiting ? share_done(content_of(run.folder + "/log.txt")) : 1;
  run.seconds = seconds_of(run.folder);
}

/// Records how a run ended. One that was stopped by a signal, ours or another's, has not: it goes on later.
void StudyQueue::end(Run& run) {
  const int code = run.child->exit_code();
  const std::string log = content_of(run.folder + "/log.txt"), diverged = run.folder + '/' + diverged_file;
  RunEnd how{.data = code == 0 || exists(diverged) ? data_line(log) : "",
             .peak_bytes = run.child->peak_bytes()};
  run.child.reset();
  if (code < 0 || code == interrupted_exit_code) {
    if (interrupted()) return;
    ++run.ends_by_signal;
    if (code == -SIGKILL && options_.jobs > 1) --options_.jobs;
    status_.line(text(
        run.run.name, code < 0 ? ": was killed by signal " : ": was interrupted", code < 0 ? text(-code) : "",
        code == -SIGKILL ? text(", perhaps for want of memory; at most ", options_.jobs, " at a time now")
        : run.ends_by_signal < most_ends_by_signal ? "; goes on later"
                                                   : "; left to the next session"));
    return;
  }
  if (exists(diverged)) {
    how.outcome = RunEnd::diverged;
    how.reason = last_line(content_of(diverged));
  } else if (code == 0 && exists(run.folder + "/metrics.csv")) {
    how.outcome = RunEnd::finished;
    how.rows = rows_in(content_of(run.folder + "/metrics.csv"));
  } else {
    how.outcome = RunEnd::failed;
    how.reason = code == 0 ? "it wrote no metrics.csv" : last_line(log);
  }
  write_end(run.folder, how);
  run.how = how;
  look_at(run);
  status_.line(text(name_of(how.outcome), ": ", run.run.name, how.reason.empty() ? "" : ", " + how.reason,
                    "; ", totals()));
  require_what_is_named();
}

/// Once, when every variant has a run that ended: what these do not measure, the others will not either.
void StudyQueue::require_what_is_named() {
  std::set<std::size_t> all, with_result;
  for (const Run& run : runs_) {
    all.insert(run.run.combination);
    if (run.how.outcome == RunEnd::finished || run.how.outcome == RunEnd::diverged)
      with_result.insert(run.run.combination);
  }
  if (required_ || with_result != all) return;
  required_ = true;
  const std::vector<MeasuredRun> measured = measured_runs(study_, options_.folder);
  require_metrics(study_, measured);
  for (const Claim& claim : study_.claims) judge(claim, study_, measured);
}

void StudyQueue::stop_all() {
  if (at_work().empty()) return;
  status_.line(text("saving ", at_work().size(), " runs"));
  for (const Run* run : at_work()) run->child->stop();
  while (!at_work().empty()) {
    look_at_children();
    ::usleep(microseconds_between_looks);
  }
}

// --- Showing

/// From what the runs of a combination have taken so far, or all where it has none yet.
double StudyQueue::seconds_left() const {
  std::map<std::size_t, std::pair<double, double>> taken;  // of a combination: seconds and shares
  std::pair<double, double> all;
  for (const Run& run : runs_) {
    if (run.share <= 0 || run.seconds <= 0 || run.how.outcome == RunEnd::diverged) continue;
    auto& own = taken[run.run.combination];
    own = {own.first + run.seconds, own.second + run.share};
    all = {all.first + run.seconds, all.second + run.share};
  }
  double sum = 0, longest = 0;
  for (const Run& run : runs_) {
    if (run.how.outcome != RunEnd::waiting) continue;
    const auto own = taken.find(run.run.combination);
    const auto [seconds, shares] = own == taken.end() ? all : own->second;
    const double left = (1 - run.share) * seconds / shares;  // not a number where nothing is known
    sum += left;
    longest = std::max(longest, left);
  }
  return std::max(sum / static_cast<double>(options_.jobs), longest);
}

std::string StudyQueue::totals() const {
  const std::size_t waiting = count(RunEnd::waiting);
  std::string all = text(runs_.size() - waiting, " of ", runs_.size(), " done");
  if (const std::size_t diverged = count(RunEnd::diverged); diverged > 0)
    all += text(", ", diverged, " diverged");
  if (const std::size_t failures = failed(); failures > 0) all += text(", ", failures, " failed");
  return waiting == 0 ? all : all + ", " + duration_text(seconds_left()) + " left";
}

/// "study: 5 of 12 done, 1:23 left; at work: layer-batch4-seed2 30%, none-batch4-seed2 10%"
void StudyQueue::show() {
  const auto word = [](const Run* run) { return run->run.name + formatted(" %.0f%%", 100 * run->share); };
  const std::string list = joined(at_work(), word);
  status_.show("study: " + totals() + (list.empty() ? "" : "; at work: " + list));
}

}  // namespace lamina
