#include "models/skip_thoughts/evaluation/tasks.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/folder.h"
#include "core/files/number.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"

namespace lamina::skip_thoughts {

namespace {

/// The file in the folder or in its subfolder.
std::string find_file(const std::string& folder, const std::string& subfolder, const std::string& name) {
  for (const std::string& path : {text(folder, '/', name), text(folder, '/', subfolder, '/', name)})
    if (exists(path)) return path;
  fail<DataError>(folder, "/", name, ": not found, nor in ", subfolder,
                  "/; put the original files of SICK, MR, CR, SUBJ and MPQA there");
}

std::vector<std::string_view> split_at_tabs(std::string_view line) {
  std::vector<std::string_view> columns;
  for (size_t tab = 0; tab != line.npos; line.remove_prefix(tab == line.npos ? 0 : tab + 1)) {
    tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
  }
  return columns;
}

std::optional<double> relatedness_of(std::string_view field) {
  const auto score = number_from(field);
  return score && *score >= 1 && *score <= 5 ? score : std::nullopt;
}

}  // namespace

Pairs read_pairs(const std::string& path) {
  Pairs pairs;
  const std::vector<std::string> lines = read_lines(path);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (split_words(lines[i]).empty()) continue;
    const auto columns = split_at_tabs(lines[i]);
    const std::optional<double> score = columns.size() < 4 ? std::nullopt : relatedness_of(columns[3]);
    if (i == 0 && !score) continue;  // the header
    if (i == 0)
      fail<DataError>(
          path, ":1: is a pair of sentences, where the names of the columns are needed; download it again");
    if (columns.size() < 4)
      fail<DataError>(path, ":", i + 1, ": has ", columns.size(),
                      " columns, and pair_ID, sentence_A, sentence_B and relatedness_score are needed, "
                      "separated by tabs; download it again");
    if (!score)
      fail<DataError>(path, ":", i + 1, ": the relatedness_score is '", columns[3],
                      "', and a number from 1 to 5 is needed; download it again");
    pairs.first.emplace_back(columns[1]);
    pairs.second.emplace_back(columns[2]);
    pairs.relatedness.push_back(*score);
  }
  if (pairs.first.empty()) fail<DataError>(path, ": holds no pairs of sentences; download it again");
  return pairs;
}

Relatedness read_sick(const std::string& folder) {
  const auto read = [&](const char* name) { return read_pairs(find_file(folder, "sick", name)); };
  return {.train = read("SICK_train.txt"),
          .trial = read("SICK_trial.txt"),
          .test = read("SICK_test_annotated.txt")};
}

std::vector<Classification> read_classifications(const std::string& folder) {
  struct Files {
    const char *name, *positive, *negative;
  };
  constexpr std::array<Files, 4> files{{{"MR", "rt-polarity.pos", "rt-polarity.neg"},
                                        {"CR", "custrev.pos", "custrev.neg"},
                                        {"SUBJ", "subj.subjective", "subj.objective"},
                                        {"MPQA", "mpqa.pos", "mpqa.neg"}}};
  std::vector<Classification> all;
  for (const auto& [name, positive, negative] : files) {
    Classification task{.name = name, .sentences = {}, .labels = {}};
    for (const auto& [file, label] : {std::pair(positive, 1), std::pair(negative, 0)}) {
      const std::string path = find_file(folder, "sentiment", file);
      const size_t before = task.sentences.size();
      for (std::string& line : read_lines(path, from_latin1))  // as the public code does
        if (!split_words(line).empty()) task.sentences.push_back(std::move(line));
      if (task.sentences.size() == before)  // with a single class, every guess is right
        fail<DataError>(path, ": holds no sentences; download it again");
      task.labels.resize(task.sentences.size(), label);
    }
    all.push_back(std::move(task));
  }
  return all;
}

}  // namespace lamina::skip_thoughts
