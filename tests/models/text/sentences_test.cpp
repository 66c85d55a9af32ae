// Sentences from running text, and books as a corpus.

#include <filesystem>

#include "core/files/file.h"
#include "models/skip_thoughts/corpus.h"
#include "models/text/sentences.h"
#include "models/text/stories.h"
#include "models/text/tokenizer.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

std::vector<std::string> sentences_of(std::string_view paragraph) {
  const auto views = split_sentences(paragraph);
  return {views.begin(), views.end()};
}

std::string in_one_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// The given number of short sentences, each in its own paragraph.
std::string short_book(size_t sentences) {
  std::string book;
  for (size_t i = 0; i < sentences; ++i) book += text("The ", i % 7, " dogs ran ", i, " miles.\n\n");
  return book;
}

}  // namespace

TEST_CASE("sentences: marks, quotes, titles and initials") {
  using List = std::vector<std::string>;
  CHECK(sentences_of("He came. She\nwent! Why? No...\n") == List{"He came.", "She\nwent!", "Why?", "No..."});
  CHECK(sentences_of("\"What!\" cried he. \"Come in.\" He did.") ==
        List{"\"What!\" cried he.", "\"Come in.\"", "He did."});
  CHECK(sentences_of("\xE2\x80\x9COh!\xE2\x80\x9D said Mr. J. Bennet. \xE2\x80\x9CYes.\xE2\x80\x9D") ==
        List{"\xE2\x80\x9COh!\xE2\x80\x9D said Mr. J. Bennet.", "\xE2\x80\x9CYes.\xE2\x80\x9D"});
  CHECK(sentences_of("It was 3.5 miles. It was I. Then") == List{"It was 3.5 miles.", "It was I.", "Then"});
  CHECK(sentences_of("he came .\nshe went !\nwho ?") == List{"he came .", "she went !", "who ?"});
  CHECK(sentences_of("he came . she went !\nwho ?") == List{"he came . she went !", "who ?"});
  CHECK(sentences_of("The page ends.\f\nThe next begins.\rIt goes on.") ==
        List{"The page ends.", "The next begins.", "It goes on."});
  CHECK(sentences_of(" \n\f ").empty());
  CHECK(sentences_of("...") == List{"..."});
  CHECK(sentences_of("").empty());
}

TEST_CASE("tokens: contractions in two, whether they were or not") {
  CHECK(in_one_line(tokenize_apart("I don\xE2\x80\x99t, it's")) == "i do n't , it 's");
  CHECK(in_one_line(tokenize_apart("i do n't , it 's")) == "i do n't , it 's");
  CHECK(in_one_line(tokenize_apart("They'll say we've, he'd o'clock 's 'tis")) ==
        "they 'll say we 've , he 'd o'clock 's ' tis");
  CHECK(tokenize_apart("").empty());
}

TEST_CASE("lines: positions, long lines, zero bytes") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "a.txt";
  write_file(path, "\xEF\xBB\xBFone\r\ntwo words here\ncaf\xE9");
  LineReader reader(path, 0, 9);
  std::string line;
  std::vector<std::string> lines;
  std::vector<size_t> positions;
  while (reader.next(line)) {
    lines.push_back(line);
    positions.push_back(reader.position());
  }
  CHECK(lines == std::vector<std::string>{"one", "two", " words", " here", "caf\xC3\xA9"});
  LineReader again(path, positions[1], 9);
  CHECK((again.next(line) && line == " words"));
  write_file(path, std::string("a\nb\nc\0d\n", 8));
  CHECK(message_of<DataError>([&] { read_lines(path); }) ==
        path + ":3: holds a zero byte, so it is not plain text; save it as UTF-8 (iconv -t UTF-8)");
  write_file(path, "");
  CHECK(message_of<DataError>([&] { read_lines(path); }) == path + ": is empty; download it again");
  write_file(path, std::string(100, ' ') + "x");
  LineReader spaces(path, 0, 9);
  size_t parts = 0;
  while (spaces.next(line)) ++parts;
  CHECK(parts == 13);
}

TEST_CASE("lines: a long one without spaces is cut between characters") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "a.txt",
                    word = "\xE4\xB8\xAD\xC3\xA9z\xF0\x9F\x98\x80";  // of 3, 2, 1 and 4 bytes
  std::string all;
  for (int i = 0; i < 20; ++i) all += word;
  write_file(path, all);
  for (size_t longest = 4; longest < 20; ++longest) {
    LineReader reader(path, 0, longest);
    std::string line, read;
    while (reader.next(line)) read += line;
    CHECK(read == all);
  }
}

TEST_CASE("paragraphs: huge ones come in parts, none is lost") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "a.txt";
  std::string words;
  for (int i = 0; i < 40000; ++i) words += "word ";
  write_file(path, "\n\nfirst\nparagraph\n \n" + words + "\n\nlast");
  ParagraphReader reader(path);
  std::string paragraph, all;
  size_t parts = 0, longest = 0;
  while (reader.next(paragraph)) {
    ++parts;
    longest = std::max(longest, paragraph.size());
    all += paragraph;
  }
  CHECK(parts == 5);
  CHECK(longest <= 2 * 65536);
  CHECK(split_words(all).size() > 39000);
}

TEST_CASE("paragraphs: end at lines of nothing but spaces or the end of a page") {
  const TemporaryFolder scratch;
  write_file(scratch / "a.txt", "One.\r\r\n\r\r\nTwo.\n \t\nThree.\n\f\nFour.\n");
  ParagraphReader reader(scratch / "a.txt");
  std::vector<std::string> all;
  for (std::string paragraph; reader.next(paragraph);) all.push_back(paragraph);
  CHECK(all == std::vector<std::string>{"One.\n", "Two.\n", "Three.\n", "Four.\n"});
}

TEST_CASE("books: passages are read as they were counted; a long sentence is whole, a word is a sentence") {
  const TemporaryFolder scratch;
  std::filesystem::create_directories(scratch / "books/more");
  std::string thousands;
  for (int i = 0; i < 10000; ++i) thousands += "go ";
  write_file(scratch / "books/a.txt", short_book(300) + "Go!\n\n" + thousands + "stop.\n");
  write_file(scratch / "books/more/b.txt", short_book(40));
  write_file(scratch / "books/notes.md", "not a book");
  const Corpus corpus = scan_books(scratch / "books", 12);
  CHECK(corpus.passages == std::vector<size_t>{128, 128, 46, 40});
  CHECK(corpus.vocabulary.size() == 14);
  CHECK(corpus.source.starts_with("2 books, the first "));
  const Vocabulary& words = corpus.vocabulary;
  const auto third = corpus.read(2);
  CHECK(third[44] == Sentence{words.number("go"), words.number("!"), Vocabulary::end});
  CHECK(third[45].size() == 10000 + 3);  // "stop", "." and <eos>
  // Neighbours of the long sentence are in no triple: it is the last of its passage.
  CHECK(corpus.triples == std::vector<size_t>{126, 126, 43, 38});
  CHECK(corpus.read(3)[0] == corpus.read(0)[0]);

  corpus.save(scratch.path());
  const Corpus again = load_books(scratch.path());
  CHECK(again.passages == corpus.passages);
  CHECK(again.triples == corpus.triples);
  CHECK(again.read(2) == third);
  CHECK(again.source == corpus.source);

  SUBCASE("damaged files are refused in one line or read") {
    const std::string whole = read_file(scratch / "passages.tsv");
    Random random(3);
    for (int i = 0; i < 300; ++i) {
      put(scratch / "passages.tsv", mutated(whole, 40, random));
      const std::string message = message_of<DataError>([&] {
        const Corpus damaged = load_books(scratch.path());
        for (size_t p = 0; p < damaged.passages.size(); ++p) damaged.read(p);
      });
      CHECK(message.find('\n') == std::string::npos);
    }
  }
  SUBCASE("a book that changed") {
    const std::string path = scratch / "books/a.txt";
    write_file(path, "short");
    CHECK(message_of<DataError>([&] { load_books(scratch.path()); }) ==
          path + ": is missing or has changed since " + scratch.path() +
              "/passages.tsv was written; put it back or start a new run");
  }
}

TEST_CASE("books: Project Gutenberg's notices are no text to learn from") {
  const TemporaryFolder scratch;
  std::filesystem::create_directories(scratch / "books");
  write_file(scratch / "books/a.txt",
             "A notice.\n\n*** START OF THIS EBOOK ***\nBut go. " + short_book(20) +
                 "\nThey stop.\n*** END OF THIS EBOOK ***\nThe license.\n\nIt is long.\n");
  const Corpus corpus = scan_books(scratch / "books", 50);
  CHECK(corpus.passages == std::vector<size_t>{22});
  CHECK(corpus.vocabulary.number("notice") == Vocabulary::unknown);
  CHECK(corpus.vocabulary.number("license") == Vocabulary::unknown);
  const Sentence last = corpus.read(0).back();
  CHECK(last == corpus.vocabulary.sentence(std::vector<std::string>{"they", "stop", "."}));
  corpus.save(scratch.path());
  CHECK(load_books(scratch.path()).read(0).back() == last);
}

TEST_CASE("books: bad input") {
  const TemporaryFolder scratch;
  const std::string books = scratch / "books";
  CHECK(message_of<DataError>([&] { scan_books(books, 10); }) ==
        books +
            ": is not a folder; give one that holds books as plain text (*.txt), or leave --data out for "
            "built-in stories");
  std::filesystem::create_directories(books);
  CHECK(message_of<DataError>([&] { scan_books(books, 10); }) ==
        books + ": holds no plain text; put books into it as *.txt");
  write_file(books + "/a.txt", short_book(9));
  write_file(books + "/b.txt", short_book(9));
  CHECK(message_of<DataError>([&] { scan_books(books, 10); }) ==
        text(books, "/b.txt: is the same text as ", books, "/a.txt; leave one of them out"));
  std::filesystem::remove(books + "/b.txt");
  write_file(books + "/a.txt", "");
  CHECK(message_of<DataError>([&] { scan_books(books, 10); }) ==
        books + "/a.txt: is empty; download it again");
  write_file(books + "/a.txt", std::string("good line\nPNG\0\0\n", 16));
  CHECK(message_of<DataError>([&] { scan_books(books, 10); }) ==
        books + "/a.txt:2: holds a zero byte, so it is not plain text; save it as UTF-8 (iconv -t UTF-8)");
}

TEST_CASE("stories: a function of seed and index, whose sentences share their cast") {
  const auto story = tell_story(3, 7);
  CHECK(story == tell_story(3, 7));
  CHECK(story != tell_story(4, 7));
  CHECK(story.size() == 7);
  for (std::uint64_t index = 0; index < 200; ++index)
    for (const std::string& sentence : tell_story(1, index)) {
      CHECK(sentence.find_first_of("@$%&#*!~^") == std::string::npos);
      CHECK(sentence.ends_with("."));
      CHECK(words_of(sentence).size() >= 3);
    }
  const Corpus corpus = synthetic_stories(3, 60);
  CHECK(corpus.source.starts_with("built-in stories, not books (seed 3): 60 stories, 420 sentences, "));
  CHECK(corpus.sentences() == 420);
}
