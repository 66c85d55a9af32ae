// The text of the language model: units and their numbers, books in odd encodings, what is held out.

#include <algorithm>
#include <filesystem>

#include "core/files/file.h"
#include "models/transformer/data.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::transformer;

namespace {

std::vector<std::string> units_of(Unit unit, std::string_view text) {
  std::vector<std::string> units;
  for_each_unit(unit, text, [&](std::string_view each) { units.emplace_back(each); });
  return units;
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string all_of(const Data& data) {
  return data.alphabet.text_of(data.train) + data.alphabet.text_of(data.valid) +
         data.alphabet.text_of(data.test);
}

}  // namespace

TEST_CASE("units: characters of UTF-8, words with their marks apart, paragraphs") {
  using Units = std::vector<std::string>;
  CHECK(units_of(Unit::character, "a\xC3\xA9\n\xE2\x80\x94") == Units{"a", "\xC3\xA9", "\n", "\xE2\x80\x94"});
  CHECK(units_of(Unit::word, "\n\nDon't go,\nhe said.\n\n\nNo\n") ==
        Units{"Don't", "go", ",", "he", "said", ".", "\n", "No"});
  CHECK(units_of(Unit::word, "").empty());
}

TEST_CASE("alphabet: there and back, also through a run's folder") {
  const TemporaryFolder folder;
  const std::vector<std::string> odd{"a", " ", "\n", "\\", "\t", "\r", "\xEF\xBB\xBF", "\xC3\xA9"};
  const Alphabet characters(Unit::character, Vocabulary(odd));
  characters.save(folder.path());
  const Alphabet again = Alphabet::load(Unit::character, folder.path());
  CHECK(again.size() == odd.size() + 2);
  const std::string text = "a \n\\\t\r\xEF\xBB\xBF\xC3\xA9";
  CHECK(again.numbers_of(text) == std::vector<int>{2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(again.text_of(again.numbers_of(text)) == text);
  CHECK(again.numbers_of("b") == std::vector<int>{Vocabulary::unknown});
  CHECK(again.strange_units("abba c") == std::vector<std::string>{"b", "c"});

  const Alphabet words(Unit::word, Vocabulary({"He", "said", "(", "no", ")", ".", "\n", ","}));
  CHECK(words.text_of(words.numbers_of("He said, (no).\n\nHe")) == "He said, (no).\nHe");

  for (const char* const broken : {"a\n\\\n", "a\n\\a\n", "\\61;\n", "\\g;\n"}) {
    write_file(folder / "vocabulary.txt", broken);
    const std::string message =
        message_of<DataError>([&] { Alphabet::load(Unit::character, folder.path()); });
    CHECK(contains(message, "vocabulary.txt: the line '\\"));
    CHECK(contains(message, "start a new run"));
  }
  write_file(folder / "vocabulary.txt", "a\na\n");
  CHECK(contains(message_of<DataError>([&] { Alphabet::load(Unit::character, folder.path()); }),
                 "comes twice"));
}

TEST_CASE("books: notices, byte order mark, Windows-1252 and CR LF; nine tenths are for training") {
  const TemporaryFolder folder;
  write_file(
      folder / "b.txt",
      "\xEF\xBB\xBFThe Project\r\n*** START OF THIS PROJECT GUTENBERG EBOOK ***\r\n" +
          repeated("caf\xE9 \xE2\x80\x94\r\n", 20) +
          "End of the Project Gutenberg EBook\r\n*** END OF THIS PROJECT GUTENBERG EBOOK ***\r\nlicence\r\n");
  write_file(folder / "a.txt", repeated("ab", 54));  // with the line's end 109 characters, ten tens
  const Data one = load_books(folder.path(), Unit::character, "b");
  // A line that is not UTF-8 is Windows-1252: the dash's three bytes are three characters.
  CHECK(all_of(one) == repeated("caf\xC3\xA9 \xC3\xA2\xE2\x82\xAC\xE2\x80\x9D\n", 20));
  CHECK(one.train.size() == 162);
  CHECK(one.valid.size() == 9);
  CHECK(one.test.size() == 9);
  CHECK(
      contains(one.source, "b.txt: 162 characters to train on, 9 to validate, 9 to test; 9 different ones"));
  CHECK(one.source.ends_with("different ones"));  // and none unknown
  CHECK(load_books(folder.path(), Unit::character, "b.txt").train == one.train);

  // Of each book its own end is held out.
  const Data both = load_books(folder.path(), Unit::character);
  CHECK(both.alphabet.text_of(both.valid) == "ababababa" + one.alphabet.text_of(one.valid));
  CHECK(both.train.size() == 90 + 162);
}

TEST_CASE("books: of words the 10,000 most frequent have numbers, of characters all") {
  const TemporaryFolder folder;
  std::string book;
  for (int i = 0; i < 12000; ++i) book += text("w", i, " w", i, i % 20 == 19 ? "\n" : " ");
  write_file(folder / "x.txt", book);
  CHECK(load_books(folder.path(), Unit::word).alphabet.size() == 2 + most_words);
  CHECK(load_books(folder.path(), Unit::character).alphabet.size() ==
        2 + 13);  // w, ten digits, space, line's end
}

TEST_CASE("books: words that come once are unknown in training too") {
  const TemporaryFolder folder;
  std::string book;
  for (int i = 0; i < 100; ++i) book += text("a b w", i, i % 20 == 19 ? "\n" : " ");
  write_file(folder / "x.txt", book);
  const Data data = load_books(folder.path(), Unit::word);
  CHECK(data.alphabet.size() == 2 + 2);
  for (const std::vector<int>& part : {data.train, data.valid, data.test})
    CHECK(3 * std::ranges::count(part, Vocabulary::unknown) / std::ssize(part) == 1);
}

TEST_CASE("books: what only the end has is unknown") {
  const TemporaryFolder folder;
  write_file(folder / "x.txt", repeated("ab", 49) + "zz");
  const Data data = load_books(folder.path(), Unit::character);
  CHECK(data.test.back() == Vocabulary::unknown);
  CHECK(contains(data.source, "to test; 2 different ones, and 3 of the test that are not among them"));
  CHECK(data.alphabet.size() == 2 + 2);  // z is in the test part, and so is the line's end
}

TEST_CASE("books: errors name the file or folder and the remedy") {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& where, const std::string& book = {}) {
    return [=] { load_books(where, Unit::character, book); };
  };
  CHECK(contains(message_of<DataError>(load(folder / "none")),
                 "none: is not a folder; give one that holds books"));
  CHECK(contains(message_of<DataError>(load(folder.path())),
                 "holds no plain text; put books into it as *.txt"));
  write_file(folder / "emma.txt", "too short\n");
  CHECK(contains(message_of<DataError>(load(folder.path())), "characters; give a longer text"));
  CHECK(message_of<UsageError>(load(folder.path(), "anna")) ==
        "--book anna: no such text in " + folder.path() + "; there are emma");
  std::filesystem::create_directory(folder / "more");
  write_file(folder / "more/emma.txt", "another\n");
  CHECK(message_of<UsageError>(load(folder.path(), "emma")) ==
        text("--book emma: there are ", folder / "emma.txt", " and ", folder / "more/emma.txt",
             "; give --data the folder of one"));
  write_file(folder / "zero.txt", std::string("a\0b\n", 4));
  CHECK(contains(message_of<DataError>(load(folder.path(), "zero")), "zero.txt:1: holds a zero byte"));
  write_file(folder / "emma (1).txt", "too short\n");
  CHECK(message_of<DataError>(load(folder.path())) == text(folder / "emma.txt", ": is the same text as ",
                                                           folder / "emma (1).txt",
                                                           "; leave one of them out"));
}

TEST_CASE("built-in stories: the same for a seed, a line each") {
  const Data data = built_in_stories(Unit::character, 3, 40);
  CHECK(all_of(data) == all_of(built_in_stories(Unit::character, 3, 40)));
  CHECK(all_of(data) != all_of(built_in_stories(Unit::character, 4, 40)));
  const std::string text = all_of(data);
  CHECK(std::ranges::count(text, '\n') == 40);
  CHECK(contains(data.source, "built-in stories, not a book (seed 3)"));
  const Data words = built_in_stories(Unit::word, 3, 40);
  CHECK(words.train.size() < data.train.size() / 3);
  CHECK(words.alphabet.unit() == Unit::word);
}
