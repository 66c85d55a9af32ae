// Lines of the synthetic pen: English-like texts, made from a list of words, in a hundred hands.

#include <set>
#include <string_view>

#include "core/threads/parallel.h"
#include "models/handwriting/data/data.h"
#include "models/text/tokenizer.h"

namespace lamina::handwriting {

namespace {

constexpr std::uint32_t hands = 100, hands_per_test_hand = 10;
constexpr std::uint64_t text_stream = 0x74657874, line_stream = 0x6c696e65;

// Common words, and rarer ones so that every letter is written often enough to be learned.
constexpr std::string_view all_words =
    "the of and to in a is that for it was on with as be at by this had not are but from or have an they "
    "which one you were her all she there would their we him been has when who will more no if out so said "
    "what up its about into than them can only other new some could time these two may then do first any my "
    "now such like our over man me even most made after also did many before must through back years where "
    "much your way well down should because each just those people how too little state good very make world "
    "still own see men work long get here between both life being under never day same another know while "
    "last might us great old year off come since against go came right used take three house again place "
    "around however home small found thought went say part once general high upon school every water garden "
    "letter quiet queen question quick quite jump journey join just major object zero zebra frozen size "
    "prize lazy dozen box six next text mixed axis fox exact taxi kind keep king dark kitchen value river "
    "seven give voice village winter window yellow young yard brown bright cloud clever dance dream early "
    "earth field forest green ground happy heavy hidden island jacket joke knee lemon light market moon "
    "morning music night noise ocean orange paper plain rain road silver simple snow spring stone story "
    "summer table train travel under violin walk white wind wooden writing hand pen ink line page book word "
    "layer normal network machine learning gradient weight";

char capital(char c) { return static_cast<char>(c - 'a' + 'A'); }

/// A phrase of roughly `length` characters, of whole words with capitals and punctuation.
std::string draw_text(Random random, size_t length) {
  static const std::vector<std::string_view> words = split_words(all_words);
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

/// Hands 0, 10, 20, ... write the test lines, the others the training lines.
std::uint32_t draw_hand_number(Random& random, bool test) {
  const std::uint32_t tenth = random.below(hands / hands_per_test_hand);
  return tenth * hands_per_test_hand + (test ? 0 : 1 + random.below(hands_per_test_hand - 1));
}

/// `count` texts that are not in `others`.
std::vector<std::string> draw_texts(const Random& random, size_t count, const std::set<std::string>& others) {
  std::vector<std::string> texts;
  for (std::uint64_t number = 0; texts.size() < count; ++number) {
    Random own = random.split(number);
    const size_t length = 20 + own.below(25);  // some 700 points on average
    std::string text = draw_text(own.split(0), length);
    if (!others.contains(text)) texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<Line> write_lines(std::uint64_t seed, const Random& random, const std::vector<std::string>& texts,
                              bool test) {
  std::vector<Line> lines(texts.size());
  parallel_for(texts.size(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Random own = random.split(i);
      const Hand hand = draw_hand(seed, draw_hand_number(own, test));
      lines[i] = line_of(write_text(texts[i], hand, own.split(0)), texts[i]);
    }
  });
  return lines;
}

}  // namespace

Data synthetic_lines(std::uint64_t seed, size_t train, size_t test) {
  const Random texts(seed, text_stream), lines(seed, line_stream);
  Data data;
  const std::vector<std::string> test_texts = draw_texts(texts.split(1), test, {});
  data.test = write_lines(seed, lines.split(1), test_texts, true);
  const std::set<std::string> taken(test_texts.begin(), test_texts.end());
  data.train = write_lines(seed, lines.split(0), draw_texts(texts.split(0), train, taken), false);
  normalize(data);
  data.source = text("built-in lines of a synthetic pen, not IAM-OnDB (seed ", seed, "): ", train,
                     " training lines of 90 hands, ", test, " test lines of 10 others");
  return data;
}

}  // namespace lamina::handwriting
