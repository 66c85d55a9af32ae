#include "tools/report/paper/claims.h"

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/report/paper/known_file.h"

namespace lamina {

namespace {

KnownClaim claim_from(const Json& json) {
  return {.exhibits = json.at("exhibits").get<std::vector<std::string>>(),
          .claim = json.at("claim").get<std::string>(),
          .answer = json.at("answer").get<std::string>(),
          .number = json.at("number").get<std::string>(),
          .seeds = json.at("seeds").get<size_t>(),
          .data = json.at("data").get<std::string>(),
          .name = json.at("name").get<std::string>(),
          .page = json.at("page").get<std::string>()};
}

/// Of a badge, for its colour.
const char* kind_of(const std::string& answer) {
  if (answer == "holds") return "holds";
  return answer == "does not hold" ? "fails" : "open";
}

/// The verdict on all claims together.
Json summary(const std::vector<KnownClaim>& claims) {
  const auto count = [&](const char* answer) {
    return std::ranges::count(claims, answer, &KnownClaim::answer);
  };
  const auto all = std::ssize(claims), holding = count("holds"), failing = count("does not hold");
  if (std::ranges::all_of(claims, [&](const KnownClaim& each) { return each.answer == claims[0].answer; }))
    return badge(kind_of(claims[0].answer), claims[0].answer);
  if (holding > 0) return badge("part", text("holds in part: ", holding, " of ", all));
  if (failing > 0) return badge("fails", text("does not hold: ", failing, " of ", all));
  return badge("open", "open");
}

/// "MNIST, synthetic": what the claims were judged on; of a study's data what stands before the details.
std::string data_of(const std::vector<KnownClaim>& claims) {
  std::vector<std::string> all;
  for (const KnownClaim& each : claims)
    if (!each.data.empty())
      place_of(all, each.data.substr(0, std::min(each.data.find(':'), each.data.find(" files in "))));
  return joined(all, std::identity());
}

std::string seeds_of(const KnownClaim& claim) {
  return claim.seeds == 0 ? "" : text(claim.seeds, claim.seeds == 1 ? " seed" : " seeds");
}

/// "Layer norm learns: holds (ratio 7.23; 5 seeds)."
std::string sentence_on_one(const KnownClaim& only) {
  std::string facts;
  for (const std::string& fact : {only.number, seeds_of(only), data_of({only})})
    if (!fact.empty()) facts += (facts.empty() ? "" : "; ") + fact;
  const bool withdrawn = only.answer == "withdrawn";
  return text(only.claim, ": ", only.answer, withdrawn ? " until it is measured again" : "",
              facts.empty() ? "" : " (" + facts + ')', '.');
}

/// Few claims are named under each verdict, many are counted.
std::string sentence_on(const std::vector<KnownClaim>& claims) {
  constexpr size_t few = 5;
  if (claims.size() == 1) return sentence_on_one(claims[0]);
  std::string sentence;
  for (const auto& [answer, title] : {std::pair{"holds", "Holds: "},
                                      {"does not hold", "Does not hold: "},
                                      {"cannot be told", "Cannot be told: "},
                                      {"one seed", "Measured with one seed, which decides nothing: "},
                                      {"withdrawn", "Withdrawn until it is measured again: "},
                                      {"not measured", "Not measured: "}}) {
    std::string list;
    for (const KnownClaim& each : claims)
      if (each.answer == answer) list += (list.empty() ? "" : "; ") + each.claim;
    if (list.empty()) continue;
    if (claims.size() > few)
      list = text(std::ranges::count(claims, answer, &KnownClaim::answer), " of ", claims.size());
    sentence += text(sentence.empty() ? "" : " ", title, list, '.');
  }
  const std::string data = data_of(claims);
  return sentence + (data.empty() ? "" : " Data: " + data + '.');
}

Json claim_json(const KnownClaim& claim) {
  return {{"claim", claim.claim},   {"badge", badge(kind_of(claim.answer), claim.answer)},
          {"number", claim.number}, {"seeds", claim.seeds == 0 ? "" : text(claim.seeds)},
          {"data", claim.data},     {"name", claim.name},
          {"page", claim.page}};
}

}  // namespace

std::vector<KnownClaim> claims_from(const std::string& path, std::string_view content) {
  return read_known(path, content, [](const Json& list) {
    std::vector<KnownClaim> claims;
    for (const Json& each : list) claims.push_back(claim_from(each));
    return claims;
  });
}

std::vector<KnownClaim> read_claims() { return known_beside_page("claims.json", claims_from); }

Json verdict_on(const std::string& exhibit, const std::vector<KnownClaim>& claims) {
  std::vector<KnownClaim> own;
  for (const KnownClaim& each : claims)
    if (std::ranges::find(each.exhibits, exhibit) != each.exhibits.end()) own.push_back(each);
  if (own.empty()) return nullptr;
  Json list = Json::array();
  for (const KnownClaim& each : own) list.push_back(claim_json(each));
  return {{"badge", summary(own)}, {"sentence", sentence_on(own)}, {"claims", std::move(list)}};
}

}  // namespace lamina
