#include "models/attentive_reader/data/stories.h"

#include <array>
#include <string_view>

#include "core/error.h"
#include "core/math/random.h"
#include "models/text/tokenizer.h"

namespace lamina::attentive_reader {

namespace {

constexpr std::array<std::string_view, 8> people{"Mary",   "John", "Sandra", "Daniel",
                                                 "Fatima", "Bill", "Julia",  "Pedro"};
constexpr std::array<std::string_view, 8> places{"the kitchen", "the garden", "the office", "the hallway",
                                                 "the station", "the school", "the cinema", "the park"};
constexpr std::array<std::string_view, 8> things{"the lamp", "the apple", "the milk", "the letter",
                                                 "the key",  "the hat",   "the ball", "the book"};

// P somebody, Q somebody else, L a place, O a thing.
constexpr std::array<std::string_view, 4> going{"P went to L .", "P walked over to L .",
                                                "then P travelled to L .", "P ran to L ."};
constexpr std::array<std::string_view, 3> finding{"P found O .", "P picked up O .", "then P took O ."};
constexpr std::array<std::string_view, 3> giving{"P handed O to Q .", "P gave Q O .", "Q got O from P ."};

/// The entities of one kind in a story: their names, and the place of the first in the list of all entities.
struct Cast {
  std::vector<int> names;
  size_t first = 0;  ///< its place in the list of all entities
  size_t size() const { return names.size(); }
};

class Story {
 public:
  Story(Random random, size_t events) : random_(random) {
    people_ = draw(people.size(), 3 + below(3));
    places_ = draw(places.size(), 3 + below(3));
    things_ = draw(things.size(), 2 + below(2));
    number_of_ = random_.permutation(count_);
    places_of_.resize(people_.size());
    holders_of_.resize(things_.size());
    happen_going();
    happen_finding();
    for (size_t i = 2; i < events; ++i) happen();
    ask();
    tell_names();
  }

  Question question;

 private:
  size_t below(size_t n) { return random_.below(static_cast<std::uint32_t>(n)); }

  Cast draw(size_t from, size_t count) {
    std::vector<int> names = random_.permutation(from);
    names.resize(count);
    Cast cast{.names = names, .first = count_};
    count_ += count;
    return cast;
  }

  std::string name(const Cast& cast, size_t i) const {
    return entity_name(static_cast<size_t>(number_of_[cast.first + i]));
  }

  /// A template's words, with the capital letters replaced.
  template <size_t Count>
  void tell(const std::array<std::string_view, Count>& templates, const std::array<std::string, 4>& meaning) {
    constexpr std::string_view letters = "PQLO";
    for (const std::string_view word : split_words(templates[below(Count)])) {
      const size_t letter = word.size() == 1 ? letters.find(word) : letters.npos;
      question.passage.emplace_back(letter == letters.npos ? std::string(word) : meaning.at(letter));
    }
  }

  void happen() {
    const size_t chance = below(10);
    if (chance < 5)
      happen_going();
    else if (!happen_giving())
      happen_finding();
  }

  void happen_going() {
    const size_t person = below(people_.size());
    size_t place = below(places_.size());
    std::vector<size_t>& visited = places_of_[person];
    if (!visited.empty() && visited.back() == place) place = (place + 1) % places_.size();
    visited.push_back(place);
    tell(going, {name(people_, person), "", name(places_, place), ""});
  }

  /// A thing that nobody has; if everything is taken, somebody goes somewhere.
  void happen_finding() {
    const size_t thing = below(things_.size());
    if (!holders_of_[thing].empty()) return happen_going();
    const size_t person = below(people_.size());
    holders_of_[thing].push_back(person);
    tell(finding, {name(people_, person), "", "", name(things_, thing)});
  }

  /// False when nobody has the thing that was drawn.
  bool happen_giving() {
    const size_t thing = below(things_.size());
    std::vector<size_t>& holders = holders_of_[thing];
    if (holders.empty()) return false;
    const size_t from = holders.back(), to = (from + 1 + below(people_.size() - 1)) % people_.size();
    holders.push_back(to);
    tell(giving, {name(people_, from), name(people_, to), "", name(things_, thing)});
    return true;
  }

  /// One of those whose history has at least the given length.
  size_t choose(const std::vector<std::vector<size_t>>& histories) {
    std::vector<size_t> candidates;
    for (const size_t least : {size_t{2}, size_t{1}}) {
      for (size_t i = 0; i < histories.size(); ++i)
        if (histories[i].size() >= least) candidates.push_back(i);
      if (!candidates.empty()) break;
    }
    return candidates[below(candidates.size())];
  }

  void ask() {
    const size_t kind = below(10);
    if (kind < 5) {
      const size_t person = choose(places_of_);
      const bool now = kind < 3;
      const auto& visited = places_of_[person];
      ask(name(people_, person), now ? "is now in" : "was first in",
          name(places_, now ? visited.back() : visited.front()));
      return;
    }
    const size_t thing = choose(holders_of_);
    const auto& holders = holders_of_[thing];
    const auto& visited = places_of_[holders.back()];
    if (kind < 7 && !visited.empty())
      ask(name(things_, thing), "is now in", name(places_, visited.back()));
    else if (kind < 9)
      ask(name(things_, thing), "is now with", name(people_, holders.back()));
    else
      ask(name(things_, thing), "was first with", name(people_, holders.front()));
  }

  void ask(const std::string& subject, std::string_view relation, const std::string& answer) {
    question.query = {subject};
    for (const std::string_view word : split_words(relation)) question.query.emplace_back(word);
    question.query.insert(question.query.end(), {blank, "."});
    question.answer = answer;
  }

  void tell_names() {
    question.names.resize(count_);
    const auto put = [&](const Cast& cast, const auto& all) {
      for (size_t i = 0; i < cast.size(); ++i) {
        const auto number = static_cast<size_t>(number_of_[cast.first + i]);
        question.names[number] = {entity_name(number), std::string(all[static_cast<size_t>(cast.names[i])])};
      }
    };
    put(people_, people);
    put(places_, places);
    put(things_, things);
  }

  Random random_;
  size_t count_ = 0;  // of the entities
  Cast people_, places_, things_;
  std::vector<int> number_of_;                   // of each entity, when it is anonymous
  std::vector<std::vector<size_t>> places_of_;   // where each person has been
  std::vector<std::vector<size_t>> holders_of_;  // who has had each thing
};

}  // namespace

Question tell_story(std::uint64_t seed, std::uint64_t index, size_t events) {
  if (events < 2) fail("story: ", events, " events; give at least 2");
  Story story(Random(seed, index), events);
  story.question.source = text("a built-in story, seed ", seed);
  return std::move(story.question);
}

}  // namespace lamina::attentive_reader
