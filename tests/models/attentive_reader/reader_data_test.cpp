// Question files, relevant sentences, the baselines by guessing, the built-in stories, and the data of a run.

#include <filesystem>
#include <map>
#include <set>

#include "core/files/file.h"
#include "models/attentive_reader/baselines.h"
#include "models/attentive_reader/data/data.h"
#include "models/text/tokenizer.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

const std::string good =
    "http://a.b/c\n\n@entity2 met @entity0 . @entity0 smiled .\n\n@placeholder met someone .\n\n@entity2\n\n"
    "@entity0:Anna\n@entity2:Ben: the second\n";

ar::Words words(const std::string& line) {
  ar::Words all;
  for (const auto word : split_words(line)) all.emplace_back(word);
  return all;
}

ar::Question read(const std::string& bytes) {
  const TemporaryFolder folder;
  put(folder / "a.question", bytes);
  return ar::read_question(folder / "a.question");
}

/// The error for reading these bytes, without the file's name, with which it must begin.
std::string complaint(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.question";
  put(path, bytes);
  const std::string message = message_of<DataError>([&] { ar::read_question(path); });
  CHECK(message.starts_with(path + ":"));
  CHECK_FALSE(contains(message, "\n"));
  const std::string rest = message.substr(std::min(message.size(), path.size() + 1));
  return rest.substr(0, rest.find("; a .question file has"));
}

/// The folders of a corpus with the given number of questions each.
void write_corpus(const TemporaryFolder& folder, size_t train, size_t valid, size_t test) {
  const std::pair<const char*, size_t> splits[]{{"training", train}, {"validation", valid}, {"test", test}};
  for (const auto& [name, count] : splits) {
    std::filesystem::create_directories(folder / name);
    for (size_t i = 0; i < count; ++i) put(folder / name + text("/", i, ".question"), good);
  }
}

}  // namespace

TEST_CASE("question files: all parts, and back") {
  const ar::Question question = read(good);
  CHECK(question.source == "http://a.b/c");
  CHECK(question.passage == words("@entity2 met @entity0 . @entity0 smiled ."));
  CHECK(question.query == words("@placeholder met someone ."));
  CHECK(question.answer == "@entity2");
  CHECK(question.names == std::vector<std::pair<std::string, std::string>>{{"@entity0", "Anna"},
                                                                           {"@entity2", "Ben: the second"}});
  CHECK(ar::to_text(question) == good);
  const ar::Question windows = read("u\r\n\r\n@entity1 .\r\n\r\n@placeholder\r\n\r\n@entity1\r\n");
  CHECK(windows.answer == "@entity1");
  CHECK(windows.names.empty());
}

TEST_CASE("question files: what is wrong is named with its line") {
  CHECK(complaint("") == " is empty; download it again");
  CHECK(complaint("u\n") == "1: the file ends without its passage");
  CHECK(complaint("u\n\n@entity1 .\n\n") == "4: the file ends without its question");
  CHECK(complaint("u\n\n@entity1 .\n\n@placeholder\n") == "5: the file ends without its answer");
  CHECK(complaint("u\n\n@entity1 .\n\nwho ?\n\n@entity1\n") == "5: the question has no @placeholder");
  CHECK(complaint("u\n\n@entity1 .\n\n@placeholder\n\nAnna\n") ==
        "7: the answer is not one entity such as @entity1");
  CHECK(complaint("u\n\n@entity1 .\n\n@placeholder\n\n@entity1 @entity2\n") ==
        "7: the answer is not one entity such as @entity1");
  for (const char* const number : {"10000", "01"})
    CHECK(complaint(text("u\n\n@entity1 @entity01 .\n\n@placeholder\n\n@entity", number, "\n")) ==
          "7: the answer is not one entity such as @entity1");
  CHECK(complaint("u\n\n@entity1 .\n\n@placeholder\n\n@entity2\n") ==
        "7: the answer @entity2 is not in the passage; remove the file");
  CHECK(complaint(good + "no name\n") == "11: is not a name such as @entity1:Oslo");
  CHECK(complaint(good + "\nmore\n") == "12: there is a sixth part");
  CHECK(complaint(good + std::string("\0", 1)).starts_with("11: holds a zero byte"));
}

TEST_CASE("question files: mutations are read as whole questions or refused in one line") {
  const TemporaryFolder folder;
  const std::string path = folder / "mutant";
  Random random(7);
  int parsed = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    put(path, mutated(good, good.size(), random));
    try {
      const ar::Question question = ar::read_question(path);
      REQUIRE(ar::entity_number(question.answer));
      REQUIRE(std::ranges::count(question.passage, question.answer) > 0);
      REQUIRE(std::ranges::count(question.query, ar::blank) > 0);
      ++parsed;
    } catch (const DataError& error) {
      REQUIRE(std::string(error.what()).starts_with(path));
      REQUIRE_FALSE(contains(error.what(), "\n"));
      ++refused;
    }
  }
  CHECK(parsed > 300);
  CHECK(refused > 1000);
}

TEST_CASE("question files: entities and their numbers") {
  CHECK(ar::entity_number("@entity0") == 0);
  CHECK(ar::entity_number("@entity9999") == 9999);
  for (const char* word : {"@entity", "@entity10000", "@entity1x", "@entity-1", "@entity07", "@entity00",
                           "entity1", "@placeholder", ""})
    CHECK_FALSE(ar::entity_number(word));
  CHECK(ar::entity_name(17) == "@entity17");
}

TEST_CASE("relevant sentences: those that share most with the question, in their order") {
  ar::Question question{.source = {},
                        .passage = words("nothing here . @entity1 came . the bridge fell ! the the by of . "
                                         "@entity1 crossed the bridge ? no end"),
                        .query = words("@entity1 saw the bridge by @placeholder"),
                        .answer = "@entity9",
                        .names = {}};
  CHECK(ar::relevant_sentences(question, 0) == question.passage);
  CHECK(ar::relevant_sentences(question, 9) == question.passage);
  CHECK(ar::relevant_sentences(question, 1) == words("@entity1 crossed the bridge ?"));
  CHECK(ar::relevant_sentences(question, 2) == words("@entity1 came . @entity1 crossed the bridge ?"));
  CHECK(ar::relevant_sentences(question, 3) ==
        words("@entity1 came . the bridge fell ! @entity1 crossed the bridge ?"));
  CHECK(ar::relevant_sentences(question, 4) ==
        words("nothing here . @entity1 came . the bridge fell ! @entity1 crossed the bridge ?"));
  question.passage = words("a deer ran . they came here .");
  question.query = words("@placeholder came");
  CHECK(ar::relevant_sentences(question, 1) == words("they came here ."));  // words of four letters count
  question.passage = words("\u00E9t\u00E9 ran . they came here .");
  question.query = words("@placeholder \u00E9t\u00E9 came");
  CHECK(ar::relevant_sentences(question, 1) == words("they came here ."));  // letters, not bytes
}

TEST_CASE("baselines: by hand") {
  ar::Question question{.source = {},
                        .passage = words("@entity1 @entity1 @entity2 x @entity3 @entity3"),
                        .query = words("@placeholder saw @entity1"),
                        .answer = "@entity3",
                        .names = {}};
  ar::Baselines errors = ar::baselines_of(question);
  CHECK(errors.chance == doctest::Approx(2.0 / 3));
  CHECK(errors.frequent == doctest::Approx(0.5));
  CHECK(errors.frequent_other == 0);
  question.answer = "@entity2";
  errors = ar::baselines_of(question);
  CHECK(errors.frequent == 1);
  CHECK(errors.frequent_other == 1);
  question.answer = "@entity1";
  question.query = words("@entity1 @entity2 @entity3 @placeholder");  // none is left
  CHECK(ar::baselines_of(question).frequent_other == doctest::Approx(0.5));
}

TEST_CASE("stories: a function of seed and index, answerable, and anonymous") {
  std::set<std::string> relations;
  std::map<std::string, size_t> answers;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const ar::Question story = ar::tell_story(3, index, 10);
    CHECK(ar::to_text(story) == ar::to_text(ar::tell_story(3, index, 10)));
    REQUIRE(story.query.size() == 6);
    relations.insert(story.query[2] + " " + story.query[3]);
    ++answers[story.answer];
    const std::string bytes = ar::to_text(story);
    const TemporaryFolder folder;
    put(folder / "story.question", bytes);
    CHECK(ar::read_question(folder / "story.question").passage == story.passage);
    for (const auto& [entity, name] : story.names) {
      const std::string own = name.substr(name.find(' ') + 1);
      CHECK(std::ranges::count(story.passage, own) + std::ranges::count(story.query, own) == 0);
    }
  }
  CHECK(relations == std::set<std::string>{"now in", "first in", "now with", "first with"});
  CHECK(answers.size() >= 11);  // numbers carry no information
  for (const auto& [answer, count] : answers) CHECK(count < 60);
  CHECK(ar::to_text(ar::tell_story(3, 0, 10)) != ar::to_text(ar::tell_story(4, 0, 10)));
  CHECK_ERROR(ar::tell_story(1, 0, 1), "story: 1 events; give at least 2");
}

TEST_CASE("stories: the answer is what the events lead to") {
  size_t checked = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const ar::Question story = ar::tell_story(5, index, 10);
    std::map<std::string, std::string> kinds;
    for (const auto& [entity, name] : story.names) kinds[entity] = name;
    std::map<std::string, std::vector<std::string>> places, holders;
    ar::Words sentence;
    for (const std::string& word : story.passage) {
      if (word != ".") {
        sentence.push_back(word);
        continue;
      }
      std::vector<std::string> who;
      for (const std::string& each : sentence)
        if (ar::entity_number(each)) who.push_back(each);
      const auto says = [&](const char* verb) { return std::ranges::count(sentence, verb) > 0; };
      if (says("to") && !says("handed"))
        places[who[0]].push_back(who[1]);
      else if (says("handed"))
        holders[who[1]].push_back(who[2]);
      else if (says("gave"))
        holders[who[2]].push_back(who[1]);
      else if (says("got"))
        holders[who[1]].push_back(who[0]);
      else
        holders[who[1]].push_back(who[0]);
      sentence.clear();
    }
    const std::string subject = story.query[0], relation = story.query[2] + " " + story.query[3];
    const bool is_thing = holders.contains(subject);
    const auto& history = relation.ends_with("with") ? holders[subject]
                          : is_thing                 ? places[holders[subject].back()]
                                                     : places[subject];
    REQUIRE_FALSE(history.empty());
    CHECK(story.answer == (relation.starts_with("first") ? history.front() : history.back()));
    ++checked;
  }
  CHECK(checked == 200);
}

TEST_CASE("reader data: folders of questions, read when they are asked for") {
  const TemporaryFolder folder;
  write_corpus(folder, 3, 2, 1);
  put(folder / "training/notes.txt", "not a question");
  const ar::Data data = ar::load_questions(folder.path(), 1);
  CHECK(data.source == "questions in " + folder.path() +
                           " (at most 1 sentences a passage): 3 training, 2 validation and 1 test questions, "
                           "9 words, 3 of them entities; 3 of validation and test are in training as well");
  CHECK(data.entities == 3);
  CHECK(data.train.lengths == std::vector<std::uint32_t>{4, 4, 4});
  CHECK(data.train.read(1).passage == words("@entity2 met @entity0 ."));
  CHECK(data.numbered(words("@placeholder @entity0 @entity2 zebra")) ==
        Sentence{2, 3, 5, Vocabulary::unknown});
  CHECK(ar::load_questions(folder.path(), 0).train.lengths[0] == 7);
  // Words are those of the training questions, entities those of all, the answers that were cut off included.
  put(folder / "validation/0.question",
      "u\n\n@entity7 slept . @entity2 met @entity0 .\n\n@placeholder met @entity2 .\n\n@entity7\n");
  const ar::Data more = ar::load_questions(folder.path(), 1);
  CHECK(more.valid.read(0).passage == words("@entity2 met @entity0 ."));
  CHECK(more.entities == 8);
  CHECK(more.numbered(words("smiled"))[0] == Vocabulary::unknown);  // cut off as well
  put(folder / "test/0.question", "u\n\n@entity2 slept .\n\n@placeholder slept .\n\n@entity2\n");
  const ar::Data last = ar::load_questions(folder.path(), 1);
  CHECK(last.numbered(words("met"))[0] != Vocabulary::unknown);
  CHECK(last.numbered(words("slept"))[0] == Vocabulary::unknown);
  CHECK(last.source.ends_with("entities; 1 of validation and test are in training as well"));
  put(folder / "validation/1.question",
      "u\n\n@entity2 met @entity0 .\n\n@placeholder met someone .\n\n@entity0\n");
  CHECK(ar::load_questions(folder.path(), 1).source.ends_with("entities"));  // the answer is another
}

TEST_CASE("reader data: bad folders and files are named") {
  const TemporaryFolder folder;
  const auto complaint_about = [&] {
    const std::string message = message_of<DataError>([&] { ar::load_questions(folder.path(), 4); });
    CHECK_FALSE(contains(message, "\n"));
    return message;
  };
  CHECK(complaint_about().starts_with(folder / "training: is not a folder; give a folder with training"));
  write_corpus(folder, 2, 0, 1);
  CHECK(complaint_about().starts_with(folder / "validation: holds no .question files; give a folder"));
  write_corpus(folder, 2, 1, 1);
  put(folder / "training/1.question", "u\n\n@entity1 .\n\n@placeholder\n\n@entity2\n");
  CHECK(complaint_about() ==
        folder / "training/1.question:7: the answer @entity2 is not in the passage; remove the file");
}

TEST_CASE("reader data: permuting the entities' numbers permutes the answer") {
  // The numbers have no meaning: the same question with other numbers differs only in them.
  const auto renamed = [](ar::Question question) {
    const auto swap = [](std::string& word) {
      if (const auto number = ar::entity_number(word)) word = ar::entity_name((*number + 5) % 13);
    };
    for (auto* const side : {&question.passage, &question.query})
      for (std::string& word : *side) swap(word);
    swap(question.answer);
    return question;
  };
  for (std::uint64_t index = 0; index < 50; ++index) {
    const ar::Question story = ar::tell_story(3, index, 8), other = renamed(story);
    const ar::Baselines a = ar::baselines_of(story), b = ar::baselines_of(other);
    CHECK(a.chance == b.chance);
    CHECK(a.frequent == b.frequent);
    CHECK(a.frequent_other == b.frequent_other);
    CHECK(*ar::entity_number(other.answer) == (*ar::entity_number(story.answer) + 5) % 13);
    CHECK(ar::relevant_sentences(other, 2).size() == ar::relevant_sentences(story, 2).size());
  }
}
