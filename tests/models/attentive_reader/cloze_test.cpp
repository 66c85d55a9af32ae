// Books: chapters, sentences, names; and the questions made from them.

#include <filesystem>
#include <map>
#include <set>

#include "core/files/file.h"
#include "models/attentive_reader/data/cloze.h"
#include "models/text/tokenizer.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

std::vector<ar::Chapter> book_of(const std::string& bytes) {
  const TemporaryFolder folder;
  put(folder / "book.txt", bytes);
  return ar::read_book(folder / "book.txt");
}

/// The sentences of all chapters; "#" before each chapter.
std::vector<std::string> outline(const std::string& bytes) {
  std::vector<std::string> lines;
  for (const ar::Chapter& chapter : book_of(bytes)) {
    lines.emplace_back("#");
    for (const auto& sentence : chapter.sentences) lines.push_back(ar::joined(sentence));
  }
  return lines;
}

using Lines = std::vector<std::string>;

/// A book of `chapters` chapters, in which Anna, Boris, Clara and Dmitri Orlov meet.
std::string small_book(size_t chapters) {
  std::string book;
  for (size_t i = 1; i <= chapters; ++i)
    book += text(
        "CHAPTER ", i, "\r\n\r\nAt noon Anna met Boris by the mill. Then Clara came with Anna\r\n",
        "and Mr. Dmitri Orlov. \"Where is Boris?\" asked Clara. They said that Boris had gone home.\r\n\r\n",
        "In the evening Orlov wrote to Anna's aunt. Nobody saw Dmitri Orlov again.\r\n\r\n");
  return book;
}

}  // namespace

TEST_CASE("books: chapters, with and without Gutenberg's frame") {
  CHECK(outline("One. Two!\n") == Lines{"#", "One .", "Two !"});
  CHECK(outline("Title\n\n*** START OF THIS BOOK ***\nCHAPTER I\n\nA b.\n\nChapter 2. On the Moon\nC "
                "d.\nII.\nE f.\n"
                "*** END OF THIS BOOK ***\nlicence.\n") == Lines{"#", "A b .", "#", "C d .", "#", "E f ."});
  CHECK(outline("EPILOGUE\n\nPart of it was left. Chapter and verse he knew.\n") ==
        Lines{"#", "Part of it was left .", "Chapter and verse he knew ."});
  const auto book = book_of("\n\nCHAPTER I\n\nA b.\n\nCHAPTER II\n\nCHAPTER III\n\nC d.");
  REQUIRE(book.size() == 2);
  CHECK(book[0].line == 5);
  CHECK(book[1].line == 11);
}

TEST_CASE("books: sentences end where they should") {
  CHECK(outline("Mr. Darcy and St. John J. Smith left. He did.\n") ==
        Lines{"#", "Mr . Darcy and St . John J . Smith left .", "He did ."});
  CHECK(outline(
            "\xE2\x80\x9CGood again!\xE2\x80\x9D cried he. \xE2\x80\x9CYes.\xE2\x80\x9D Then\nhe left.\n") ==
        Lines{"#", "\xE2\x80\x9C Good again ! \xE2\x80\x9D cried he .", "\xE2\x80\x9C Yes . \xE2\x80\x9D",
              "Then he left ."});
  CHECK(outline("\"Come!\" \"Why?\" \"So.\" He went.\n") ==
        Lines{"#", "\" Come ! \"", "\" Why ? \"", "\" So . \"", "He went ."});
  CHECK(outline("A heading without end\n\nThen text... and more. Caf\xE9s _were_ there!\n") ==
        Lines{"#", "A heading without end", "Then text . . . and more .", "Caf\xC3\xA9s were there !"});
}

TEST_CASE("books: names recur with a capital letter inside of sentences, and hardly ever without") {
  std::string bytes = "Nobody knew it. ";
  for (int i = 0; i < 5; ++i)
    bytes += "Then Rose saw Hope and Mr. Holmes's dog in March. Often she saw Ivy. ";
  bytes += "A rose is red. Then came Otto. ";
  const WordMap<size_t> names = ar::names_of(book_of(bytes));
  std::set<std::string> found;
  for (const auto& [name, count] : names) found.insert(name);
  CHECK(found == std::set<std::string>{"hope", "holmes", "ivy"});
  CHECK(names.find("hope")->second == 5);
}

TEST_CASE("books: what is no book is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "book.txt";
  const auto complaint = [&](const std::string& bytes) {
    put(path, bytes);
    return message_of<DataError>([&] { ar::read_book(path); });
  };
  CHECK(complaint("") == path + ": is empty; download it again");
  CHECK(complaint("\n \n") == path + ":2: ends without a sentence; give a book in plain text");
  CHECK(complaint(std::string("a.\nb\0c", 6)).starts_with(path + ":2: holds a zero byte"));
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    put(path, mutated(small_book(2), 100, random));
    const std::string message = message_of<DataError>([&] {
      for (const ar::Chapter& chapter : ar::read_book(path)) REQUIRE_FALSE(chapter.sentences.empty());
    });
    CHECK((message.empty() || message.starts_with(path + ":")));
  }
}

TEST_CASE("cloze: questions of a small book, by hand") {
  const auto book = book_of(small_book(6));
  const WordMap<size_t> names = ar::names_of(book);
  const auto questions = ar::cloze_questions(book[0], names, "book, chapter 1");
  REQUIRE(questions.size() == 6);
  const ar::Question& question = questions[0];
  CHECK(question.source == "book, chapter 1, sentence 3");
  CHECK(question.passage.size() == 19);
  CHECK(ar::joined(question.query).find(ar::blank) != std::string::npos);
  CHECK(question.names.size() == 4);
  // "Dmitri Orlov" is one entity, identified by the more frequent name.
  std::set<std::string> known;
  for (const auto& [entity, name] : question.names) known.insert(name);
  CHECK(known == std::set<std::string>{"anna", "boris", "clara", "orlov"});
  for (const ar::Question& each : questions) {
    CHECK(std::ranges::count(each.passage, each.answer) > 0);
    CHECK(std::ranges::count(each.query, each.answer) == 0);
  }
  CHECK(ar::cloze_questions(book[0], names, "", {.least_entities = 5}).empty());
  CHECK(ar::cloze_questions(book[0], names, "", {.most_question_words = 3}).empty());
  for (const ar::Question& each : ar::cloze_questions(book[0], names, "", {.most_passage_words = 12}))
    CHECK(each.passage.size() <= 12);
}

TEST_CASE("cloze: a mention is its most frequent name, and who is mentioned twice is not asked for") {
  const WordMap<size_t> names{{"anna", 5}, {"karenina", 9}, {"boris", 7}, {"clara", 6}};
  ar::Chapter chapter;
  for (const char* const sentence :
       {"Anna Karenina met Boris and Clara .", "Karenina Anna saw Boris and Boris ran ."}) {
    ar::BookSentence written;
    for (const std::string_view word : split_words(sentence)) written.emplace_back(word);
    chapter.sentences.push_back(written);
  }
  const auto questions = ar::cloze_questions(chapter, names, "");
  REQUIRE(questions.size() == 1);
  const auto& asked = questions[0].names;
  CHECK(std::ranges::find(asked, questions[0].answer, [](const auto& pair) { return pair.first; })->second ==
        "karenina");
  CHECK(asked.size() == 3);  // and no anna
}

TEST_CASE("cloze: other numbers are the same question, and the answer goes with them") {
  const auto book = book_of(small_book(6));
  const WordMap<size_t> names = ar::names_of(book);
  const auto named = [](const ar::Question& question) {
    std::string all =
        ar::joined(question.passage) + " | " + ar::joined(question.query) + " | " + question.answer;
    for (const auto& [entity, name] : question.names)
      for (size_t at = all.find(entity); at != all.npos; at = all.find(entity))
        all.replace(at, entity.size(), name);
    return all;
  };
  std::set<std::string> numbers;
  std::vector<std::set<std::string>> texts(6);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto questions = ar::cloze_questions(book[0], names, "", {.seed = seed});
    for (size_t i = 0; i < questions.size(); ++i) texts[i].insert(named(questions[i]));
    numbers.insert(questions[0].answer);
  }
  CHECK(numbers == std::set<std::string>{"@entity0", "@entity1", "@entity2", "@entity3"});
  for (const auto& alike : texts) CHECK(alike.size() == 1);
  CHECK(*texts[5].begin() ==
        "at noon anna met boris by the mill . then clara came with anna and mr . orlov . \" "
        "where is boris ? \" asked clara . they said that boris had gone home . in the evening "
        "orlov wrote to anna 's aunt . | nobody saw @placeholder again . | orlov");
}

TEST_CASE("cloze: files hold no name but in their last part, and chapters are not shared") {
  const TemporaryFolder folder;
  put(folder / "book.txt", small_book(20));
  const auto counts = ar::make_cloze({folder / "book.txt"}, folder / "out");
  CHECK(counts.train == 16 * 6);
  CHECK(counts.valid == 2 * 6);
  CHECK(counts.test == 2 * 6);
  std::map<std::string, std::set<std::string>> chapters;
  for (const std::string split : {"training", "validation", "test"})
    for (const auto& entry : std::filesystem::directory_iterator(folder / "out/" + split)) {
      const ar::Question question = ar::read_question(entry.path().string());
      chapters[split].insert(question.source.substr(0, question.source.find(", sentence")));
      ar::Words words = question.passage;
      words.insert(words.end(), question.query.begin(), question.query.end());
      for (const char* name : {"anna", "boris", "clara", "dmitri", "orlov"})
        CHECK(std::ranges::count(words, name) == 0);
    }
  CHECK(chapters["validation"] == std::set<std::string>{"book.txt, chapter 9", "book.txt, chapter 19"});
  CHECK(chapters["test"] == std::set<std::string>{"book.txt, chapter 10", "book.txt, chapter 20"});
  CHECK(chapters["training"].size() == 16);
  CHECK_FALSE(chapters["training"].contains("book.txt, chapter 9"));
  CHECK(message_of<DataError>([&] { ar::make_cloze({folder / "book.txt"}, folder / "out"); }) ==
        folder / "out/training: is there already; name another folder with --out");
}

TEST_CASE("cloze: what else is in the folder stays, and what a killed process left there goes") {
  const TemporaryFolder folder;
  put(folder / "book.txt", small_book(20));
  for (const char* const name : {"unfinished", ".lamina-unfinished"}) {
    std::filesystem::create_directories(folder / "out/" + name);
    put(folder / "out/" + name + "/notes.txt", "mine");
  }
  ar::make_cloze({folder / "book.txt"}, folder / "out");
  CHECK(read_file(folder / "out/unfinished/notes.txt") == "mine");
  CHECK_FALSE(std::filesystem::exists(folder / "out/.lamina-unfinished"));
}

TEST_CASE("cloze: a book is given once") {
  const TemporaryFolder folder;
  put(folder / "book.txt", small_book(17));
  const std::string again =
      folder / "../" + std::filesystem::path(folder.path()).filename().string() + "/book.txt";
  CHECK(message_of<DataError>([&] {
          ar::make_cloze({folder / "book.txt", again}, folder / "out");
        }) == again + ": is the same text as " + (folder / "book.txt") + "; leave one of them out");
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("cloze: too short a book says so") {
  const TemporaryFolder folder;
  put(folder / "book.txt", small_book(3));
  CHECK(message_of<DataError>([&] {
          ar::make_cloze({folder / "book.txt"}, folder / "out");
        }).starts_with(folder / "out: "));
}
