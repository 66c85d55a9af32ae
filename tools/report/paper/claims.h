#pragma once
// What is known of the paper's claims, and of those of later papers and of the labs: models/evidence/claims.json, which
// tools/paper-claims.py makes of the committed results.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct KnownClaim {
  std::vector<std::string> exhibits;  ///< that it belongs to
  std::string claim;
  std::string answer;  ///< "holds", "does not hold", "cannot be told", "one seed", "withdrawn"
  std::string number;  ///< "difference 0.174 (0.168 to 0.18)"; empty for none
  size_t seeds = 0;
  std::string data;        ///< "MNIST", "synthetic"
  std::string name, page;  ///< of the committed results: "online", "models/lab/README.md"
};

/// Of the content of the file. DataError with the path and the remedy for anything else.
std::vector<KnownClaim> claims_from(const std::string& path, std::string_view content);

/// The file that `make` puts beside the page; no claims where there is none.
std::vector<KnownClaim> read_claims();

/// The verdict of an exhibit, {badge, sentence, claims: [..]}: that of its claims where all have the same, or else "holds in part" where
/// some hold and "open" or "does not hold" where none does. null without claims.
nlohmann::ordered_json verdict_on(const std::string& exhibit, const std::vector<KnownClaim>& claims);

}  // namespace lamina
