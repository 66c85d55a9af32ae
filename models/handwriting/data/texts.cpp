#include "models/handwriting/data/texts.h"

#include <array>
#include <string_view>

namespace lamina::handwriting {

namespace {

// Common words, and rarer ones so that every letter is written often enough to be learned.
constexpr auto words = std::to_array<std::string_view>({
    "the",     "of",       "and",      "to",     "in",      "a",      "is",      "that",     "for",
    "it",      "was",      "on",       "with",   "as",      "be",     "at",      "by",       "this",
    "had",     "not",      "are",      "but",    "from",    "or",     "have",    "an",       "they",
    "which",   "one",      "you",      "were",   "her",     "all",    "she",     "there",    "would",
    "their",   "we",       "him",      "been",   "has",     "when",   "who",     "will",     "more",
    "no",      "if",       "out",      "so",     "said",    "what",   "up",      "its",      "about",
    "into",    "than",     "them",     "can",    "only",    "other",  "new",     "some",     "could",
    "time",    "these",    "two",      "may",    "then",    "do",     "first",   "any",      "my",
    "now",     "such",     "like",     "our",    "over",    "man",    "me",      "even",     "most",
    "made",    "after",    "also",     "did",    "many",    "before", "must",    "through",  "back",
    "years",   "where",    "much",     "your",   "way",     "well",   "down",    "should",   "because",
    "each",    "just",     "those",    "people", "how",     "too",    "little",  "state",    "good",
    "very",    "make",     "world",    "still",  "own",     "see",    "men",     "work",     "long",
    "get",     "here",     "between",  "both",   "life",    "being",  "under",   "never",    "day",
    "same",    "another",  "know",     "while",  "last",    "might",  "us",      "great",    "old",
    "year",    "off",      "come",     "since",  "against", "go",     "came",    "right",    "used",
    "take",    "three",    "house",    "again",  "place",   "around", "however", "home",     "small",
    "found",   "thought",  "went",     "say",    "part",    "once",   "general", "high",     "upon",
    "school",  "every",    "water",    "garden", "letter",  "quiet",  "queen",   "question", "quick",
    "quite",   "jump",     "journey",  "join",   "just",    "major",  "object",  "zero",     "zebra",
    "frozen",  "size",     "prize",    "lazy",   "dozen",   "box",    "six",     "next",     "text",
    "mixed",   "axis",     "fox",      "exact",  "taxi",    "kind",   "keep",    "king",     "dark",
    "kitchen", "value",    "river",    "seven",  "give",    "voice",  "village", "winter",   "window",
    "yellow",  "young",    "yard",     "brown",  "bright",  "cloud",  "clever",  "dance",    "dream",
    "early",   "earth",    "field",    "forest", "green",   "ground", "happy",   "heavy",    "hidden",
    "island",  "jacket",   "joke",     "knee",   "lemon",   "light",  "market",  "moon",     "morning",
    "music",   "night",    "noise",    "ocean",  "orange",  "paper",  "plain",   "rain",     "road",
    "silver",  "simple",   "snow",     "spring", "stone",   "story",  "summer",  "table",    "train",
    "travel",  "under",    "violin",   "walk",   "white",   "wind",   "wooden",  "writing",  "hand",
    "pen",     "ink",      "line",     "page",   "book",    "word",   "layer",   "normal",   "network",
    "machine", "learning", "gradient", "weight",
});

char capital(char c) { return static_cast<char>(c - 'a' + 'A'); }

}  // namespace

std::string draw_text(Random random, std::size_t length) {
  const auto chance = [&](double probability) { return random.uniform() < static_cast<real>(probability); };
  std::string text;
  bool starts = chance(0.5);  // a sentence, or the middle of one
  while (true) {
    std::string word(words.at(random.below(static_cast<std::uint32_t>(words.size()))));
    // Names make rare capitals occur; some words are all capitals.
    if (chance(0.03))
      for (char& c : word) c = capital(c);
    else if (starts || chance(0.15))
      word[0] = capital(word[0]);
    starts = false;
    if (chance(0.03)) word += "'s";
    if (chance(0.08)) {
      word += '.';
      starts = true;
    } else if (chance(0.06)) {
      word += ',';
    }
    if (!text.empty() && text.size() + 1 + word.size() > length) return text;
    text += (text.empty() ? "" : " ") + word;
  }
}

}  // namespace lamina::handwriting
