#pragma once
// What a short run of several norms shows of a claim that layer norm is the best of them: a table and two sentences, all
// of it computed from what was measured, also where it contradicts the claim.

#include <string>
#include <vector>

namespace lamina {

/// One measure of several variants after the same training, of which a lower value is better.
struct Demonstrated {
  std::string claim;   ///< the paper's, with its section: "Section 6.2: ..."
  std::string what;    ///< of the measure: "reader of built-in stories, validation error after 400 updates"
  std::string column;  ///< the same, short
  struct Entry {
    std::string title;  ///< "layer norm"
    double error;       ///< a fraction
  };
  std::vector<Entry> entries;  ///< layer norm last
};

/// "layer norm 34.3%, baseline 52.7%, batch norm 64.1%: as the paper says" or "...: not as the paper says".
std::string shown_by(const Demonstrated& one);

/// The table of all, with a row for each variant and the best in asterisks. All have the same entries.
std::string demonstration_table(const std::vector<Demonstrated>& all);

}  // namespace lamina
