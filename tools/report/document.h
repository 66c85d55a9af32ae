#pragma once
// The report as JSON: everything the page shows, decided here; the page's script only lays it out.
//
//   {program, date, repository, looks: {colors: {name: [light, dark]}, dashes: [[..]]}, leftovers: [..],
//   exhibits: [{part, id, title, section, subject, claim, setting, finding, command, quick: {command, time} or null, readme, badges,
//     verdict: {badge, sentence, claims: [{claim, badge, number, seeds, data, name, page}]} or null,
//     charts: [{title, x, y, log_x, log_y, curves: [{label, norm, dash, x: [..], y: [..],
//       low: [..], high: [..]}], by_update, paper: {figure, axes, source, data, line, left_out,
//       curves: [{label, norm, name, x, y}], values: [{title, norm, x, y, source}]} or null}],
//     tables: [{title, columns, rows: [{label, norm, source, cells, group}]}],
//     pictures: [{title, run, source}],
//     runs: [{path, norm, badges, command, made_with, problems}]}]}
//
// A claim, setting or finding that an exhibit does not have is "". Leftovers are sentences on folders that no exhibit shows. A
// badge is {kind: real|synthetic|reduced|absent or, of a verdict, holds|fails|part|open, text}. Numbers in tables are text
// already; a cell that is marked is {text, mark}. `repository` is the way from the page to the files that readme and page name;
// empty when it does not lead there.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/report/exhibits/exhibits.h"
#include "tools/report/found/runs.h"
#include "tools/report/found/traces.h"
#include "tools/report/paper/claims.h"
#include "tools/report/paper/curves.h"

namespace lamina {

using Json = nlohmann::ordered_json;

/// The whole report on these findings, with the verdicts on these claims and these of the paper's curves.
Json make_document(const Findings& findings, const std::vector<KnownClaim>& claims = {},
                   const std::vector<PaperPanel>& panels = {});

/// The charts of an exhibit: the curves of its traces for every facet and plan that has one, and what the paper's figure has
/// of the same.
Json charts_of(const Exhibit& exhibit, const std::vector<Trace>& traces,
               const std::vector<PaperPanel>& panels);

/// All tables of an exhibit that have a row: its measures of every trace below the paper's own rows, and the rows of files.
Json tables_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs);

/// One table, or none: for each row of the paper whose norm we have measured, its numbers beside ours and the difference,
/// which is only formed where ours are comparable. Rows name their pair in `group`.
Json pairs_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs);

/// What keeps a run from being compared with one of the paper's of this length: "synthetic data", "small preset", "trained on
/// 1000 alone", "batch 64 and not 128", "5 of 100 epochs"; empty when nothing does.
std::string why_not_comparable(const FoundRun& run, const Exhibit& exhibit, double length);

/// The runs that an exhibit shows: where each is, what it was trained on, how to repeat it, and what is wrong with it.
Json runs_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs);

/// The last exhibit: milliseconds per step beside PyTorch's, from the files of tools/bench.py.
Json speed_exhibit(const std::vector<std::string>& files);

/// Of a study: whether its data are real and what is small about it; its claims with their verdicts, none or one table;
/// what is wrong with it, none or one line.
Json study_badges(const FoundStudy& study);
Json verdict_tables(const FoundStudy& study);
Json study_problems(const FoundRun& run, const Exhibit& exhibit);

/// "2 of 5 epochs so far" of a run that was to become longer than its rows of a file, by updates where it was asked for these;
/// or else empty. A smoke run trains fewer updates than it was asked for.
std::string unfinished(const FoundRun& run, const Csv& csv);

/// Real, synthetic, reduced or absent, in a word or two.
Json badge(const char* kind, const std::string& label);

/// "5 of 100 epochs", of the column that counts them.
std::string progress(double done, double whole, const std::string& column);

/// A number for people: 1.28 × 10⁻⁷, 0.0132, 429; "–" when it is not known.
std::string pretty(double value, int digits);

}  // namespace lamina
