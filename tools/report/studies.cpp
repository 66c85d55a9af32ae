// What the report says of a study: verdicts.json, which lamina study writes.

#include "core/error.h"
#include "models/evidence/interval.h"
#include "tools/report/document.h"

namespace lamina {

namespace {

Json claim_row(const Json& verdict) {
  const bool ratio = verdict.contains("ratio"), known = ratio || verdict.contains("difference");
  const auto number = [](const Json& value) { return pretty(value.get<double>(), 3); };
  std::string effect = "–", interval = "–";
  if (known) {
    effect = number(verdict.at(ratio ? "ratio" : "difference")) + (ratio ? " times" : "");
    interval = number(verdict.at("interval").at(0)) + " to " + number(verdict.at("interval").at(1));
  }
  return {{"label", verdict.at("claim").get<std::string>()},
          {"norm", ""},
          {"source", "here"},
          {"cells",
           {verdict.at("answer").get<std::string>(), effect, interval, text(verdict.at("n").get<int>()),
            text(verdict.at("subject").get<std::string>(), " against ",
                 verdict.at("other").get<std::string>())}}};
}

/// The rows of a table; throws Json::exception for what lamina study does not write.
Json claim_rows(const FoundStudy& study) {
  Json rows = Json::array();
  if (study.verdicts.empty()) return rows;
  for (const Json& verdict : Json::parse(study.verdicts)) rows.push_back(claim_row(verdict));
  return rows;
}

}  // namespace

Json verdict_tables(const FoundStudy& study) {
  try {
    Json rows = claim_rows(study);
    if (rows.empty()) return Json::array();
    return Json::array(
        {{{"title", "Claims"},
          {"columns", {"verdict", "difference", text(100 * verdict_confidence, "% interval"), "seeds", "of"}},
          {"rows", std::move(rows)}}});
  } catch (const Json::exception&) {
    return Json::array();
  }
}

Json study_badges(const FoundStudy& study) {
  Json badges = Json::array();
  try {  // the data as the first verdict names them
    const auto data = Json::parse(study.verdicts).at(0).at("data").get<std::string>();
    const bool synthetic = data.empty() || data.starts_with("built-in");  // labs name none
    badges.push_back(synthetic ? badge("synthetic", "synthetic data")
                               : badge("real", "data: " + data.substr(0, data.find(':'))));
    if (data.find("; preset small") != data.npos) badges.push_back(badge("reduced", "small preset"));
  } catch (const Json::exception&) {
    badges.push_back(badge("synthetic", "data not recorded"));
  }
  if (study.smoke > 0) badges.push_back(badge("reduced", text("cut down by LAMINA_SMOKE=", study.smoke)));
  return badges;
}

Json study_problems(const FoundRun& run, const Exhibit& exhibit) {
  if (!run.files.contains(exhibit.file))
    return Json::array({text(exhibit.file, " is missing: the study's runs have not all ended; go on with ",
                             exhibit.command)});
  const Csv& csv = run.files.at(exhibit.file);
  if (!csv.problem.empty()) return Json::array({exhibit.file + ' ' + csv.problem});
  try {
    claim_rows(*run.study);
  } catch (const Json::exception& problem) {
    return Json::array(
        {text("verdicts.json is damaged (", problem.what(), "); write it again with --tables")});
  }
  return Json::array();
}

}  // namespace lamina
