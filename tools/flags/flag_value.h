#pragma once
// What the values of a flag may be, and how they are read: the one place through which every word of the
// command line passes that is to become a number or one of several names. Numbers are decimal and nothing
// else: no hexadecimal, no NaN, no infinity, nothing that does not fit, no spaces around them.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// Both ends are allowed.
struct WholeRange {
  using Number = std::int64_t;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Both ends are allowed. No flag needs more than a float can hold.
struct RealRange {
  using Number = double;
  double least = -std::numeric_limits<float>::max();
  double most = std::numeric_limits<float>::max();
};

/// The smallest number that counts as positive: the next ones lose digits as a float.
inline constexpr double least_positive = std::numeric_limits<float>::min();

/// The whole of `text` as a finite decimal number; nothing when it is not one or does not fit.
std::optional<double> real_number(std::string_view text);

/// Throws UsageError when the text is no number or out of range: "0x10 is not a whole number from 1 to 9".
template <class Range>
typename Range::Number read_number(const std::string& text, const Range& range);

/// What is asked of each word that is given to a flag.
struct FlagRules {
  bool separated_by_commas = false;
  std::optional<WholeRange> whole = {};   ///< of a flag with whole numbers
  std::optional<RealRange> real = {};     ///< of a flag with other numbers
  std::vector<std::string> choices = {};  ///< empty: any word

  /// The kind of the values as --help shows it: "INT:{0 to 1024}", "TEXT:{tanh,relu}".
  std::string kind() const;
};

/// The words of a flag, lists taken apart, after the checks of words (numbers are checked when they are read).
/// Throws UsageError for an empty word, and for what the rules do not allow.
std::vector<std::string> checked_words(const std::vector<std::string>& given, const FlagRules& rules);

/// And back, for commands that are printed for the reader to copy: the word as a shell takes it, as it is, or in single quotes
/// where it holds anything that a shell might change.
std::string shell_word(const std::string& word);

}  // namespace lamina
