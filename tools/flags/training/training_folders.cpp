// The folders of a training command: the new ones, and those of runs that it goes on with, which must have begun as it would.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <span>
#include <sstream>

#include "core/distributed/group.h"
#include "core/error.h"
#include "core/files/folder.h"
#include "core/gemm/gemm.h"
#include "core/math/digest.h"
#include "core/version.h"
#include "models/run/data_note.h"
#include "models/run/length.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

namespace {

void report_change(const RunFolder& run, const std::string& began, const std::string& now) {
  if (!distributed::is_first()) return;
  std::cerr << run.path() << ": began with " << began << " and goes on with " << now
            << "; its numbers do not repeat bit by bit\n";
}

/// "--lr 0.01: the run in runs/mnist began with 0.001", where a setting differs; for an empty value "none".
std::string difference(const std::string& name, const std::string& now, const std::string& began,
                       const std::string& folder) {
  const std::string words = name == "smoke" ? "LAMINA_SMOKE" : flag_of_setting(name);
  const auto value = [&](const std::string& content) {
    return content.empty() ? "none" : (name == "record" ? "every=" : "") + content;
  };
  return text(words, ' ', value(now), ": the run in ", folder, " began with ", value(began));
}

/// The settings that a run began with, with the length that it has now; nothing where that is no longer one.
std::optional<Settings> lengthened(const Settings& began, const Settings& now) {
  Settings all = began;
  bool longer = false;
  for (const char* const name : length_settings) {
    if (!now.has(name)) continue;
    const auto length = now.get<std::int64_t>(name);
    longer = longer || !began.has(name) || length > began.get<std::int64_t>(name);
    all.set(name, length);
  }
  return longer ? std::optional(all) : std::nullopt;
}

}  // namespace

// --- New ones

RunFolder TrainingCommand::create(const std::string& path, const std::string& variant) const {
  RunFolder run =
      RunFolder::create(path, {.experiment = name_, .variant = variant, .settings = fields.settings()});
  if (RunFolder::is_ours() && !data_folder.empty())
    write_data_note(run.path(), {std::filesystem::absolute(data_folder).string(), data_digest_});
  return run;
}

/// One that is there already, and then says how long it is trained now.
RunFolder TrainingCommand::with_length(RunFolder folder) const {
  if (const auto longer = lengthened(folder.config().settings, fields.settings());
      longer && RunFolder::is_ours())
    folder.change_settings(*longer);
  return folder;
}

RunFolder TrainingCommand::folder_of(const Variant& variant, const RunFolder& whole) const {
  const std::string path = whole.file(variant.name);
  if (!RunFolder::is_ours() || !exists(path + "/config.json")) return create(path, variant.name);
  return with_length(RunFolder::resume(path, name_));
}

// --- Those that are there

/// The settings that a run began with are those it goes on with, defaults for what its config.json does not keep; but for
/// its length, where the flags ask for more.
void TrainingCommand::take_over(const RunFolder& run) const {
  const Settings asked = fields.settings();
  Settings given;
  for (const auto& [name, value] : asked.entries())
    if (name == "smoke" ? smoke > 0 : fields.given(flag_of_setting(name))) given.set(name, value);
  fields.read(run.config().settings);
  const Settings began = fields.settings(), longer = longer_than(began, given);
  for (const auto& [name, value] : given.entries())
    if (text_of(value) != began.word(name) && !longer.has(name))
      fail<UsageError>(difference(name, text_of(value), began.word(name), run.path()),
                       "; leave it out, or start a new run in another folder");
  fields.read(began.with(longer));
}

/// A variant whose folder is there already goes on with it, so that must have begun with the settings of this run, but for
/// its length: tables and figures say how far each came, and with_length() notes a longer one. Where the learning rate falls
/// towards the end the length is a setting as others are.
void TrainingCommand::require_same_variants(const std::vector<Variant>& all, const std::string& path) {
  if (!RunFolder::is_ours() || path.empty()) return;
  const Settings whole = fields.settings();
  for (const Variant& variant : all) {
    const std::string folder = path + '/' + variant.name;
    if (!exists(folder + "/config.json")) continue;
    const RunFolder found = open("--out", folder);
    const Settings began = fields.settings();
    fields.read(whole.with(variant.own));
    const Settings now = fields.settings();
    fields.read(whole);
    require_same_folder(found);
    require_same_data(found);
    const bool any_length = may_become_longer(now);
    for (const Settings* each : {&now, &began})
      for (const auto& [name, value] : each->entries())
        if (!(any_length && std::ranges::find(length_settings, name) != length_settings.end()) &&
            now.word(name) != began.word(name))
          fail<UsageError>(difference(name, now.word(name), began.word(name), folder),
                           "; give the same, or start anew in another folder with --out");
  }
}

/// Where --data is not the folder that it was, and that is still there, the command was started in another directory. A run
/// that was moved with its data goes on.
void require_data_folder(const RunFolder& run, const std::string& data) {
  const std::string began = data_note_of(run.path()).folder;
  std::error_code hidden;  // a folder that may not be looked into is not the one that was given
  if (std::filesystem::is_directory(began, hidden) && !std::filesystem::equivalent(began, data, hidden))
    fail<UsageError>("--data ", data, ": the run in ", run.path(), " began with ", began,
                     ", which is another folder; call lamina from the directory that it began in");
}

void TrainingCommand::require_same_folder(const RunFolder& run) const {
  if (RunFolder::is_ours() && !data_folder.empty()) require_data_folder(run, data_folder);
}

/// The numbers of words and classes come from the data: with others they would be those of other words.
void TrainingCommand::require_same_data(const RunFolder& run) const {
  if (!RunFolder::is_ours() || data_folder.empty()) return;
  const std::string began = data_note_of(run.path()).digest;
  if (!began.empty() && began != data_digest_)
    fail<DataError>("--data ", data_folder, ": its files are not those that the run in ", run.path(),
                    " began with; put them back, or start a new run in another folder");
}

/// The files of the data as they are now, whatever the folder is called: of each its place in it, its size and a digest of
/// its bytes, in one number.
void TrainingCommand::note_data(const std::string& files_read) {
  if (data_folder.find('\n') != data_folder.npos)
    fail<UsageError>("--data: the folder's name has a line end, so that data.txt cannot hold it; rename it");
  std::set<std::string> files;
  std::istringstream lines(files_read);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(data_folder))
      files.insert(line.substr(std::min(line.find_first_not_of('/', data_folder.size()), line.size())));
  if (!data_folder.empty() && files.empty())
    fail(
        "lamina ", name_, ": load() read nothing in --data ", data_folder,
        " by open_to_read() or what calls it (core/files/file.h), so other files there would not be noticed");
  std::string all;
  for (const std::string& file : files) all += file + '\n';
  data_digest_ = text(std::hex, digest_of(std::as_bytes(std::span(all))));
}

/// The data of a run that is looked at, which must be those that it was trained on.
void TrainingCommand::load_again(const RunFolder& run) {
  require_same_folder(run);
  load_noted();
  require_same_data(run);
}

/// With --resume the folder of the run to go on with, whose settings are taken over, and its threads where the flags
/// name none. Says in one line when the threads, the version or the kernels are others than the run began with, since its
/// numbers then do not repeat bit by bit.
std::optional<RunFolder> TrainingCommand::folder_to_resume() {
  if (!resume) return {};
  RunFolder folder = RunFolder::resume(out, name_);
  const RunConfig& began = folder.config();
  take_over(folder);
  if (const size_t ranks = distributed::group().size(); ranks != began.ranks)
    report_change(folder, text(began.ranks, " ranks"), text(ranks));
  else if (threads == 0)
    threads = began.threads;
  if (threads != 0 && threads != began.threads)
    report_change(folder, text(began.threads, " threads"), text(threads));
  if (began.version != version)  // presets and built-in data may be others
    report_change(folder, "version " + began.version, version);
  if (began.backend != gemm_backend()) report_change(folder, began.backend, gemm_backend());
  require_same_folder(folder);
  return folder;
}

}  // namespace lamina
