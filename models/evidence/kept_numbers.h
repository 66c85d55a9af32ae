#pragma once
// numbers.json in a study's folder: how each run ended and all that it measured. Tables, verdicts and figure can be made
// again from it where the folders of the runs are gone, as in a repository.
//
//   {"data": ["data/books/emma.txt: ..."],
//    "runs": {
//     "layer-seed1": {"outcome": "finished", "data": 0, "curves": {"step": [500], "valid_bits": [2.9]}, "test": {...}},
//     ...}}

#include <map>
#include <string>
#include <vector>

#include "models/evidence/measured_run.h"

namespace lamina {

inline constexpr const char* numbers_file = "numbers.json";

/// The file's content: of all runs that finished or diverged, one a line.
std::string numbers_of(const std::vector<MeasuredRun>& runs);

/// By the run's name; empty where there is no file. Each lacks its place in the study. DataError for a damaged file.
using KeptNumbers = std::map<std::string, MeasuredRun>;
KeptNumbers kept_numbers(const std::string& folder);

}  // namespace lamina
