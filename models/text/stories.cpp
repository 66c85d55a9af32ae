#include "models/text/stories.h"

#include <array>
#include <span>
#include <string_view>

#include "core/math/random.h"

namespace lamina {

namespace {

using Choices = std::span<const std::string_view>;

constexpr std::array<std::string_view, 8> women{"anna", "clara", "julia", "martha",
                                                "nora", "olga",  "ruth",  "vera"};
constexpr std::array<std::string_view, 8> men{"albert", "boris", "daniel", "emil",
                                              "felix",  "henry", "oscar",  "peter"};
constexpr std::array<std::string_view, 8> friends{"brother",    "sister", "neighbour", "cousin",
                                                  "old friend", "uncle",  "teacher",   "daughter"};
constexpr std::array<std::string_view, 6> weathers{"a cold morning",  "a warm evening", "a rainy day",
                                                   "a windy morning", "a quiet sunday", "a grey afternoon"};
constexpr std::array<std::string_view, 6> feelings{"happy", "tired", "proud", "sad", "hungry", "cheerful"};
constexpr std::array<std::string_view, 8> looks{"red",   "blue",  "old",    "small",
                                                "heavy", "green", "broken", "new"};

/// One way to spend a day: places and things to choose from, and steps, each told in one of three ways.
/// @ stands for the name, $ for he or she, % for his or her, & for the friend, # for the place, * for the
/// thing, ! for the look, ~ for the feeling, ^ for the weather.
struct Script {
  std::array<std::string_view, 4> places, things;
  std::array<std::array<std::string_view, 3>, 7> steps;
};

constexpr std::array<Script, 5> scripts{{
    {{"river", "lake", "sea", "pond"},
     {"net", "boat", "basket", "rod"},
     {{{"on ^ @ went to the # .", "@ walked down to the # on ^ .", "it was ^ and @ was at the # ."},
       {"$ carried a ! * to the water .", "$ had a ! * with % .", "in the grass lay % ! * ."},
       {"$ waited a long time for a fish .", "for hours no fish came .", "the water of the # was still ."},
       {"suddenly a big fish jumped .", "then something pulled hard .", "at last $ caught a fish ."},
       {"$ put the fish into the * .", "the fish was too heavy for the ! * .",
        "$ called % & to look at the fish ."},
       {"% & came running to the # .", "% & laughed and helped .", "together with % & $ went home ."},
       {"they ate the fish and were ~ .", "that night $ was ~ .", "after the meal @ felt ~ ."}}}},
    {{"market", "village", "town", "harbour"},
     {"coat", "lamp", "hat", "clock"},
     {{{"on ^ @ drove to the # .", "@ needed something from the # .", "it was ^ when @ reached the # ."},
       {"$ wanted to buy a ! * .", "in a window stood a ! * .", "% & had asked for a ! * ."},
       {"the merchant asked for ten coins .", "how much is the * , $ asked .", "the * was very dear ."},
       {"$ counted % money twice .", "$ had only seven coins .", "in % pocket $ found a hole ."},
       {"the merchant shook his head .", "the merchant thought for a while .",
        "take it for seven , said the merchant ."},
       {"$ carried the * home under % arm .", "at home $ showed the * to % & .", "% & opened the door ."},
       {"% & was ~ about the ! * .", "so @ was ~ all evening .", "everybody was ~ ."}}}},
    {{"garden", "field", "yard", "orchard"},
     {"tree", "rose", "bush", "vine"},
     {{{"@ worked in the # on ^ .", "on ^ @ came into the # .", "behind the house of @ was a # ."},
       {"a ! * stood there since many years .", "$ dug a hole for a ! * .", "nobody cared for the ! * ."},
       {"$ brought water and earth .", "$ cut the dry leaves .", "the ground was hard as stone ."},
       {"% & came with a spade .", "$ asked % & for help .", "% & said it was too late ."},
       {"in spring the * had leaves .", "after the rain the * began to grow .",
        "week after week $ watered the * ."},
       {"bees and birds came to the # .", "soon the whole # smelled sweet .", "children came to see the * ."},
       {"@ was ~ .", "and % & was ~ too .", "never had $ been so ~ ."}}}},
    {{"station", "harbour", "bridge", "inn"},
     {"letter", "bag", "ticket", "parcel"},
     {{{"on ^ @ left for a long journey .", "@ had to travel on ^ .", "it was ^ when @ came to the # ."},
       {"in % hand $ held a ! * .", "$ looked for % ! * .", "the ! * was the only thing $ took along ."},
       {"the train was late again .", "no carriage was to be seen .", "at the # many people waited ."},
       {"$ fell asleep on a bench .", "a stranger sat down beside % .",
        "$ talked with a stranger about the weather ."},
       {"when $ looked again the * was gone .", "somebody had taken the * .", "where is the * , $ cried ."},
       {"% & found it under the bench .", "the stranger came back with the * .",
        "a boy had seen the * at the # ."},
       {"so the journey began and $ was ~ .", "$ was ~ and thanked them all .",
        "on the way $ wrote to % & and was ~ ."}}}},
    {{"kitchen", "cellar", "house", "bakery"},
     {"cake", "soup", "bread", "pie"},
     {{{"on ^ @ stood in the # .", "@ came early into the # on ^ .", "it was ^ and in the # it was warm ."},
       {"$ wanted to make a ! * for % & .", "tomorrow % & would have birthday .",
        "the book said how to make a * ."},
       {"$ took flour , eggs and butter .", "there was no sugar in the # .", "$ lit the fire in the oven ."},
       {"the dough grew and grew .", "after an hour it smelled good .", "$ forgot the time over a book ."},
       {"black smoke came out of the oven .", "the * was done at noon .",
        "$ ran to the oven and opened it ."},
       {"% & tasted the first piece .", "$ cut the * into eight pieces .", "is this a * , asked % & ."},
       {"they were all ~ in the end .", "@ was ~ about the * .", "nobody left the table before $ was ~ ."}}}},
}};

std::string_view one_of(Choices choices, Random& random) {
  return choices[random.below(static_cast<std::uint32_t>(choices.size()))];
}

/// Who and what a story is about.
struct Cast {
  std::string_view name, pronoun, owner, other, place, thing, look, feeling, weather;

  std::string tell(std::string_view pattern) const {
    std::string sentence;
    for (const char c : pattern) {
      const std::string_view filled = fill(c);
      sentence += filled.empty() ? std::string_view(&c, 1) : filled;
    }
    return sentence;
  }

 private:
  std::string_view fill(char sign) const {
    switch (sign) {
      case '@':
        return name;
      case '$':
        return pronoun;
      case '%':
        return owner;
      case '&':
        return other;
      case '#':
        return place;
      case '*':
        return thing;
      case '!':
        return look;
      case '~':
        return feeling;
      case '^':
        return weather;
      default:
        return {};
    }
  }
};

}  // namespace

std::vector<std::string> tell_story(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t stream = 0x73746f7279;
  Random random = Random(seed, stream).split(index);
  const Script& script = scripts[random.below(scripts.size())];
  const bool woman = random.below(2) == 0;
  const Cast cast{.name = one_of(woman ? women : men, random),
                  .pronoun = woman ? "she" : "he",
                  .owner = woman ? "her" : "his",
                  .other = one_of(friends, random),
                  .place = one_of(script.places, random),
                  .thing = one_of(script.things, random),
                  .look = one_of(looks, random),
                  .feeling = one_of(feelings, random),
                  .weather = one_of(weathers, random)};
  std::vector<std::string> sentences;
  for (const auto& ways : script.steps) sentences.push_back(cast.tell(one_of(ways, random)));
  return sentences;
}

}  // namespace lamina
