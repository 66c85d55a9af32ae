#pragma once
// The runs that the report can show: folders with a config.json, or with a file that an exhibit looks for.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/run/run_folder.h"
#include "tools/report/found/csv.h"
#include "tools/report/found/pictures.h"

namespace lamina {

/// Which study a folder is of: study.json in it.
struct FoundStudy {
  std::string experiment = {}, name = {};
  std::string verdicts = {};  ///< the content of verdicts.json; empty until there is one
  std::int64_t smoke = 0;     ///< LAMINA_SMOKE of its runs
};

struct FoundRun {
  std::string path = {};                  ///< as the user would type it
  std::optional<RunConfig> config = {};   ///< empty for a study without one, or when it is damaged
  std::map<std::string, Csv> files = {};  ///< those that exhibits look for, by name
  std::optional<FoundStudy> study =
      {};  ///< in place of a config: the folder holds a study that an exhibit shows
  std::optional<std::string> diverged = {};  ///< why it did, where it did
  std::string problem = {};                  ///< why config.json could not be read; empty when it could
  std::vector<FoundPicture> pictures = {};   ///< those that exhibits show
  std::string data_digest = {};              ///< of the files that it read; empty where unknown
};

struct Findings {
  std::vector<FoundRun> runs;           ///< in the order of their paths
  std::vector<std::string> measured;    ///< paths of bench.json files, which tools/bench.py writes
  std::vector<std::string> unreadable;  ///< a line for each file that is none or too large, with its path
  bool complete = true;                 ///< all was read
};

/// Whether to stop reading here; asked before every folder and every file.
using Enough = std::function<bool()>;
inline bool never_enough() { return false; }

/// Looks through the folders and all below them. A folder that only holds the runs of several variants is
/// left out, and so are the runs of a study that an exhibit shows. Those of another study whose folders are gone are taken
/// from its numbers.json. Broken files are not errors, nor is what is no regular file or more than 64 MB;
/// DataError for a folder that does not exist.
Findings find_runs(const std::vector<std::string>& roots, const Enough& enough = never_enough);

/// The runs that study.json and numbers.json in `folder` name and that have no folder of their own there, as in a repository.
/// None where a file is missing; DataError for a damaged one.
std::vector<FoundRun> kept_runs(const std::string& folder);

}  // namespace lamina
