#include "models/attentive_reader/data/book.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/error.h"
#include "models/text/gutenberg.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"

namespace lamina::attentive_reader {

namespace {

template <size_t Count>
bool among(const std::array<std::string_view, Count>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

constexpr auto abbreviations =
    std::to_array<std::string_view>({"mr", "mrs", "ms", "dr", "st", "messrs", "mme", "capt", "col", "gen",
                                     "prof", "rev", "hon", "esq", "no"});
constexpr auto no_names = std::to_array<std::string_view>(
    {"i",        "i'm",          "i'll",     "i've",    "i'd",      "mr",     "mrs",       "ms",
     "miss",     "sir",          "lady",     "lord",    "dr",       "doctor", "madam",     "madame",
     "monsieur", "mademoiselle", "captain",  "colonel", "general",  "major",  "count",     "countess",
     "prince",   "princess",     "king",     "queen",   "emperor",  "duke",   "god",       "monday",
     "tuesday",  "wednesday",    "thursday", "friday",  "saturday", "sunday", "january",   "february",
     "march",    "april",        "may",      "june",    "july",     "august", "september", "october",
     "november", "december"});
constexpr auto headings = std::to_array<std::string_view>(
    {"chapter", "book", "part", "volume", "letter", "adventure", "act", "scene", "epilogue", "prologue"});
constexpr auto end_marks = std::to_array<std::string_view>({".", "!", "?"});
constexpr auto closing_marks = std::to_array<std::string_view>({"\u201D", "\u2019", "'", ")", "]"});

bool is_all_capitals(const std::string& word) {
  return word.size() > 1 && word.find_first_of("abcdefghijklmnopqrstuvwxyz") == word.npos;
}

bool is_roman(std::string_view word) {
  return !word.empty() && word.find_first_not_of("ivxlc") == std::string_view::npos;
}
bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "CHAPTER IV", "Chapter 12. Of the Moon", "EPILOGUE", "II."
bool is_heading(const std::string& line) {
  constexpr size_t longest = 60;
  if (line.size() > longest) return false;
  const std::vector<std::string> words = tokenize(line);
  if (words.empty()) return false;
  const bool numeral_alone =
      words.size() == 2 && words[1] == "." && (is_roman(words[0]) || is_number(words[0]));
  if (numeral_alone) return true;
  if (!among(headings, words[0])) return false;
  return words.size() == 1 || is_all_capitals(line) || is_roman(words[1]) || is_number(words[1]);
}

/// Whether a token begins with a letter, of ASCII or Latin-1.
bool is_word(const std::string& token) {
  const auto first = static_cast<unsigned char>(token[0]);
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || (first >= 0xC3 && first < 0xE2);
}

bool is_capitalized(const std::string& word) {
  std::string_view rest = word;
  const char32_t first = take_character(rest);
  std::string as_is;
  append_character(as_is, first);
  return lower_case(as_is) != as_is;
}

/// The words of a line; "Darcy's" becomes "Darcy" and "'s".
Words words_of(const std::string& line) {
  Words words;
  for (std::string& word : words_as_written(line)) {
    const bool possessive = word.size() > 2 && (word.ends_with("'s") || word.ends_with("'S"));
    if (word == "_") continue;  // Gutenberg's italics
    words.push_back(possessive ? word.substr(0, word.size() - 2) : std::move(word));
    if (possessive) words.emplace_back("'s");
  }
  return words;
}

/// Cuts the words of a paragraph into sentences.
class Cutter {
 public:
  explicit Cutter(const Words& words) : words_(words) {}

  std::vector<BookSentence> cut() {
    std::vector<BookSentence> sentences;
    size_t begin = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      quoted_ ^= words_[i] == "\"";
      if (!among(end_marks, words_[i])) continue;
      const size_t end = end_of(i);
      if (end < words_.size() && (is_abbreviation(i) || continues(end))) continue;
      for (; i + 1 < end; ++i) quoted_ ^= words_[i + 1] == "\"";
      sentences.push_back(part(begin, end));
      begin = end;
    }
    if (begin < words_.size()) sentences.push_back(part(begin, words_.size()));
    return sentences;
  }

 private:
  Words part(size_t begin, size_t end) const {
    return {words_.begin() + static_cast<std::ptrdiff_t>(begin),
            words_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  /// Skips further end marks and closing quotes after an end mark.
  size_t end_of(size_t mark) const {
    size_t end = mark + 1;
    bool open = quoted_;
    while (end < words_.size()) {
      const std::string& word = words_[end];
      const bool closes = among(closing_marks, word) || (word == "\"" && open);
      if (!closes && !among(end_marks, word)) break;
      open = open && word != "\"";
      ++end;
    }
    return end;
  }

  bool is_abbreviation(size_t mark) const {
    if (words_[mark] != "." || mark == 0) return false;
    const std::string& before = words_[mark - 1];
    const bool initial = before.size() == 1 && before[0] >= 'A' && before[0] <= 'Z' && before != "I";
    return initial || among(abbreviations, lower_case(before));
  }

  /// "Good again!" cried he: the next word is not the first of a sentence.
  bool continues(size_t next) const { return is_word(words_[next]) && !is_capitalized(words_[next]); }

  const Words& words_;
  bool quoted_ = false;  // between plain quotation marks
};

}  // namespace

std::vector<Chapter> read_book(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path);
  const std::span<const std::string> body = without_notices(lines, path);
  const auto first = static_cast<size_t>(body.data() - lines.data()), last = first + body.size();
  std::vector<Chapter> book(1);
  Words paragraph;
  const auto end_paragraph = [&](size_t line) {
    if (paragraph.empty()) return;
    Chapter& chapter = book.back();
    if (chapter.sentences.empty()) chapter.line = line;
    std::ranges::move(Cutter(paragraph).cut(), std::back_inserter(chapter.sentences));
    paragraph.clear();
  };
  size_t paragraph_line = first;
  for (size_t i = first; i < last; ++i) {
    const Words words = words_of(lines[i]);
    if (words.empty() || is_heading(lines[i])) {
      end_paragraph(paragraph_line);
      if (!words.empty() && !book.back().sentences.empty()) book.emplace_back();
      continue;
    }
    if (paragraph.empty()) paragraph_line = i + 1;
    paragraph.insert(paragraph.end(), words.begin(), words.end());
  }
  end_paragraph(paragraph_line);
  if (book.back().sentences.empty()) book.pop_back();
  if (book.empty())
    fail<DataError>(path, ":", lines.size(), ": ends without a sentence; give a book in plain text");
  return book;
}

WordMap<size_t> names_of(const std::vector<Chapter>& book) {
  constexpr size_t least = 5, rarely = 50;
  struct Uses {
    size_t inside = 0, capital = 0, small = 0;  // capitalized within a sentence, anywhere; small
  };
  WordMap<Uses> uses;
  for (const Chapter& chapter : book)
    for (const BookSentence& sentence : chapter.sentences)
      for (size_t i = 0; i < sentence.size(); ++i) {
        Uses& of = uses[lower_case(sentence[i])];
        if (!is_capitalized(sentence[i])) {
          ++of.small;
          continue;
        }
        ++of.capital;
        // A point that did not end the sentence is a title's.
        const std::string before = i == 0 ? "" : sentence[i - 1];
        const bool in_the_middle = before == "." || before == "," || (i > 0 && is_word(before));
        if (in_the_middle && !is_all_capitals(sentence[i])) ++of.inside;
      }
  WordMap<size_t> names;
  for (const auto& [word, of] : uses)
    if (of.inside >= least && of.small * rarely <= of.capital && word.size() > 1 && !among(no_names, word))
      names.emplace(word, of.capital + of.small);
  return names;
}

}  // namespace lamina::attentive_reader
