// The runs that an exhibit shows.

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.h"
#include "tools/flags/field.h"
#include "tools/flags/flag_value.h"
#include "tools/report/document.h"
#include "tools/results/norm_table.h"

namespace lamina {

namespace {

/// All commands but those that compute on one thread.
bool has_threads(const std::string& experiment) {
  return experiment != "stability" && experiment != "invariance";
}

/// Settings that are no flags: they follow from others, from the command's own defaults or from the environment.
bool is_no_flag(const std::string& experiment, const std::string& name) {
  static const std::set<std::pair<std::string, std::string>> without{
      {"draw", "glimpses"},          {"order-embedding", "variants"}, {"order-embedding", "embedding"},
      {"order-embedding", "hidden"}, {"skip-thoughts", "embedding"},  {"skip-thoughts", "hidden"}};
  return name == "smoke" || without.contains({experiment, name});
}

/// Settings whose flags the command refuses beside the others: --updates stands in the place of --epochs, built-in
/// passages are kept whole, and a norm that was trained beside batch norm may have no statistics to share.
bool is_refused(const FoundRun& run, const std::string& name) {
  return (name == "epochs" && number_in(setting_of(run, "updates")) > 0) ||
         (name == "sentences" && setting_of(run, "data").empty()) ||
         (name == "sync_batch_norm" && !has_shared_statistics(setting_of(run, "norm")));
}

/// Settings that are 0 where nobody has given their flags, which take no 0.
bool is_left_out(const std::string& name, const std::string& content) {
  static const std::set<std::string> counts{"epochs", "updates", "record", "train_on"};
  return content == "0" && counts.contains(name);
}

/// What stands behind the flag of a setting: nothing for `true`, and "every=20" for `--record`.
std::string flag_value(const std::string& name, const SettingValue& value) {
  if (std::holds_alternative<bool>(value)) return {};
  const std::string content = text_of(value);
  const bool is_number = content.find_first_not_of("0123456789") == std::string::npos;
  return ' ' + shell_word((name == "record" && is_number ? "every=" : "") + content);
}

/// The scores of words alone, which stand beside those of models and were not trained.
bool is_bag_of_words(const FoundRun& run) { return setting_of(run, "norm") == "bag-of-words"; }

/// "mpirun -n 4 lamina mnist"
std::string program_of(const FoundRun& run) {
  const std::string ranks = run.config->ranks > 1 ? text("mpirun -n ", run.config->ranks, ' ') : "";
  return ranks + "lamina " + shell_word(run.config->experiment);
}

/// The command that repeats a run: a setting is a flag of the same name, unless it follows from others or from the
/// environment.
std::string command_of(const FoundRun& run, const Exhibit& exhibit) {
  if (!run.config || run.study) return exhibit.command;
  const std::string& experiment = run.config->experiment;
  if (is_bag_of_words(run))
    return text("lamina ", experiment, " eval --features bag-of-words --data ",
                shell_word(setting_of(run, "data")), " --out ", shell_word(run.path));
  const std::string smoke = setting_of(run, "smoke");
  std::string command = smoke.empty() || smoke == "0" ? "" : "LAMINA_SMOKE=" + smoke + ' ';
  command += program_of(run);
  for (const auto& [name, value] : run.config->settings.entries()) {
    const std::string content = text_of(value);
    if (content.empty() || content == "false" || is_left_out(name, content) || is_refused(run, name) ||
        is_no_flag(experiment, name))
      continue;
    command += ' ' + flag_of_setting(name) + flag_value(name, value);
  }
  if (has_threads(experiment)) command += text(" --threads ", std::max(run.config->threads, 1));
  return command + " --out " + shell_word(run.path);
}

/// How to make the exhibit's file in a run that has none.
std::string remedy_for(const FoundRun& run, const Exhibit& exhibit) {
  if (exhibit.file == "tasks.csv")
    return text("the saved models have not been evaluated; lamina ", run.config->experiment, " eval ",
                shell_word(run.path), " --data TASKS does that");
  if (!exhibit.on_data) return "the command was stopped; start it again with " + command_of(run, exhibit);
  const std::string going_on = text("go on with ", program_of(run), " --resume --out ", shell_word(run.path));
  return (exhibit.file == "test.csv" ? "the best model is tested when training ends; "
                                     : "the run has measured nothing yet, or was stopped; ") +
         going_on;
}

double last_of(const Csv& csv, const std::string& column) {
  const auto place = csv.find(column);
  return place && !csv.rows.empty() ? number_in(csv.rows.back()[*place]) : NAN;
}

/// Real or synthetic, whole or reduced.
Json badges_of(const FoundRun& run, const Exhibit& exhibit) {
  if (run.study) return study_badges(*run.study);
  Json badges = Json::array();
  if (exhibit.on_data)
    badges.push_back(badge(setting_of(run, "data").empty() ? "synthetic" : "real", data_words(run)));
  if (!run.config) return badges;
  if (setting_of(run, "preset") == "small") badges.push_back(badge("reduced", "small preset"));
  if (const std::string part = part_of_data(run); !part.empty()) badges.push_back(badge("reduced", part));
  if (run.diverged) badges.push_back(badge("reduced", "diverged"));
  const auto file = run.files.find(exhibit.file);
  if (run.diverged || file == run.files.end() || is_bag_of_words(run)) return badges;
  const double done = last_of(file->second, exhibit.length_column);
  if (const std::string so_far = unfinished(run, file->second); !so_far.empty())
    badges.push_back(badge("reduced", so_far));
  else if (exhibit.full_length > done)
    badges.push_back(badge("reduced", progress(done, exhibit.full_length, exhibit.length_column)));
  return badges;
}

/// What cannot be shown of a run, and why.
Json problems_of(const FoundRun& run, const Exhibit& exhibit) {
  Json problems = run.study ? study_problems(run, exhibit) : Json::array();
  for (const FoundPicture& picture : run.pictures)
    if (!picture.problem.empty() && fits(exhibit.pictures, picture.file))
      problems.push_back(picture.file + ' ' + picture.problem);
  if (run.study || exhibit.file.empty()) return problems;
  if (!run.problem.empty()) problems.push_back(run.problem);
  if (run.diverged) problems.push_back("diverged: " + *run.diverged);
  const auto file = run.files.find(exhibit.file);
  if (file == run.files.end()) {
    if (!run.diverged) problems.push_back(text(exhibit.file, " is missing: ", remedy_for(run, exhibit)));
    return problems;
  }
  const Csv& csv = file->second;
  if (!csv.problem.empty()) problems.push_back(exhibit.file + ' ' + csv.problem);
  std::vector<std::string> missing;
  for (const ChartPlan& chart : exhibit.charts)
    for (const std::string& column : {chart.x, chart.y})
      if (chart.in_all_runs && !csv.columns.empty() && !csv.find(column)) place_of(missing, column);
  for (const TablePlan& plan : exhibit.tables)
    for (const std::string& column : plan.values)
      if (!csv.columns.empty() && !csv.find(column)) place_of(missing, column);
  for (const std::string& column : missing)
    problems.push_back(text(exhibit.file, " has no column ", column, ", which the page would show"));
  return problems;
}

}  // namespace

std::string unfinished(const FoundRun& run, const Csv& csv) {
  const bool by_updates = number_in(setting_of(run, "updates")) > 0;
  if (by_updates && number_in(setting_of(run, "smoke")) > 0) return {};
  const std::string column = by_updates ? "step" : "epoch";
  const double done = last_of(csv, column),
               planned = number_in(setting_of(run, by_updates ? "updates" : "epochs"));
  return planned > done ? progress(done, planned, column) + " so far" : "";
}

Json runs_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs) {
  Json list = Json::array();
  for (const FoundRun& run : runs) {
    if (!belongs(run, exhibit)) continue;
    std::string made_with;
    if (run.config && run.config->version.empty())
      made_with = "its numbers are kept in the study's numbers.json";
    else if (run.config && run.config->experiment == "lab" && run.config->settings.has("from"))
      made_with = "its rows are those of " + run.config->settings.word("from");
    else if (run.config)
      made_with = text("lamina ", run.config->version,
                       run.config->commit.empty() ? "" : ", commit " + run.config->commit, ", ",
                       run.config->scalar, ", ", run.config->threads,
                       run.config->threads == 1 ? " thread, " : " threads, ", run.config->backend);
    list.push_back({{"path", run.path},
                    {"norm", setting_of(run, "norm")},
                    {"badges", badges_of(run, exhibit)},
                    {"command", command_of(run, exhibit)},
                    {"made_with", made_with},
                    {"problems", problems_of(run, exhibit)}});
  }
  return list;
}

}  // namespace lamina
