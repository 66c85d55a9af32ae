#include "tools/flags/flag_value.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/flags/suggestion.h"

namespace lamina {

namespace {

/// The ends of a range as --help shows them: those that are not the widest.
template <class Range>
std::string ends_of(const Range& range) {
  const Range widest;
  const bool no_least = range.least == widest.least, no_most = range.most == widest.most;
  if (no_least && no_most) return "";
  return no_most ? text(":{from ", range.least, '}') : text(":{", range.least, " to ", range.most, '}');
}

template <class Range>
std::string described(const char* number, const Range& range) {
  const Range widest;
  const bool no_least = range.least == widest.least, no_most = range.most == widest.most;
  if (no_most) return no_least ? number : text(number, " from ", range.least, " up");
  if (no_least) return text(number, " of at most ", range.most);
  return text(number, " from ", range.least, " to ", range.most);
}

/// The range in words: "a whole number from 1 to 9", "a number above 0". Ends that are those of the type are not named.
std::string describe(const WholeRange& range) { return described("a whole number", range); }
std::string describe(const RealRange& range) {
  if (range.least == least_positive)
    return text("a number above 0", range.most == RealRange().most ? "" : text(" and at most ", range.most));
  return described("a number", range);
}

/// A number, but one that the type cannot hold.
bool is_beyond(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789", word.front() == '-') == std::string::npos;
}

void check_word(const std::string& word, const std::string& given, const FlagRules& rules) {
  if (word.empty() && given.empty()) fail<UsageError>("the value is empty; give one or leave the flag out");
  if (word.empty()) fail<UsageError>('\'', given, "' has an empty place between its commas");
  if (!rules.choices.empty() && std::ranges::find(rules.choices, word) == rules.choices.end())
    fail<UsageError>(word, " not in {", joined(rules.choices), '}', suggestion(word, rules.choices));
}

}  // namespace

std::optional<double> real_number(std::string_view text) {
  const std::optional<double> number = number_from(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

template <class Range>
typename Range::Number read_number(const std::string& text, const Range& range) {
  const auto number = number_from<typename Range::Number>(text);
  if (number && *number >= range.least && *number <= range.most) return *number;
  if (!number && is_beyond(text)) fail<UsageError>(text, " is too large; give ", describe(range));
  fail<UsageError>(text, " is not ", describe(range));
}
template std::int64_t read_number(const std::string&, const WholeRange&);
template double read_number(const std::string&, const RealRange&);

std::string FlagRules::kind() const {
  if (whole) return "INT" + ends_of(*whole);
  if (real) return real->least == least_positive ? "FLOAT:{above 0}" : "FLOAT" + ends_of(*real);
  return choices.empty() ? "TEXT" : "TEXT:{" + joined(choices) + '}';
}

std::vector<std::string> checked_words(const std::vector<std::string>& given, const FlagRules& rules) {
  std::vector<std::string> words;
  for (const std::string& value : given)
    for (const std::string& word : rules.separated_by_commas ? split(value) : std::vector{value}) {
      check_word(word, value, rules);
      words.push_back(word);
    }
  return words;
}

std::string shell_word(const std::string& word) {
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=+:@";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace lamina
