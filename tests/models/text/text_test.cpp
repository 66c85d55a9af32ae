// Text input: characters, lines of files, words, vocabularies, batches.

#include <filesystem>
#include <fstream>

#include "core/files/file.h"
#include "models/text/batches.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"
#include "models/text/vocabulary.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

using Words = std::vector<std::string>;

Words lines_of(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text", std::ios::binary) << bytes;
  return read_lines(folder / "text");
}

}  // namespace

TEST_CASE("utf8: characters of every length go in and out") {
  for (const char32_t character :
       {0x24U, 0x7FU, 0x80U, 0xE9U, 0x7FFU, 0x800U, 0x20ACU, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    append_character(text, character);
    CHECK(is_utf8(text));
    std::string_view rest = text;
    CHECK(take_character(rest) == character);
    CHECK(rest.empty());
  }
}

TEST_CASE("utf8: cut off, overlong, surrogate and out of range are not") {
  for (const std::string bytes : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC0\xAF", "\xE0\x80\xAF",
                                  "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "a\x80"})
    CHECK_FALSE(is_utf8(bytes));
  std::string_view rest = "\xE2\x82z";
  CHECK(take_character(rest) == 0xFFFD);
  CHECK(take_character(rest) == 0xFFFD);
  CHECK(take_character(rest) == 'z');
  CHECK(from_latin1("caf\xE9") == "caf\xC3\xA9");
}

TEST_CASE("lines: LF and CR LF, with and without a last end") {
  CHECK(lines_of("a\nb c\n") == Words{"a", "b c"});
  CHECK(lines_of("a\r\nb c") == Words{"a", "b c"});
  CHECK(lines_of("\n\nx\r\n\n") == Words{"", "", "x", ""});
  CHECK(lines_of("a\r\r\n\r\r\nb\rc") == Words{"a", "", "b\rc"});
}

TEST_CASE("lines: a byte order mark goes, Windows-1252 becomes UTF-8, line by line") {
  CHECK(lines_of("\xEF\xBB\xBF"
                 "caf\xC3\xA9\r\n") == Words{"caf\xC3\xA9"});
  CHECK(lines_of("caf\xE9\ncaf\xC3\xA9\n") == Words{"caf\xC3\xA9", "caf\xC3\xA9"});
  CHECK(lines_of("\x93"
                 "Don\x92t \x96 \x80\x9F\x81\x94\n") ==
        Words{"\xE2\x80\x9C"
              "Don\xE2\x80\x99t \xE2\x80\x93 \xE2\x82\xAC\xC5\xB8\xC2\x81\xE2\x80\x9D"});
  const TemporaryFolder folder;
  write_file(folder / "dots", "humor\x85it\n");
  CHECK(read_lines(folder / "dots", from_latin1) == Words{"humor\xC2\x85it"});
}

TEST_CASE("lines: what is no text is refused with file, line and remedy") {
  const TemporaryFolder folder;
  const std::string path = folder / "text";
  const auto complaint = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return message_of<DataError>([&] { read_lines(path); });
  };
  CHECK(complaint("") == path + ": is empty; download it again");
  CHECK(complaint("\xEF\xBB\xBF") == path + ": is empty; download it again");
  CHECK(complaint(std::string("good\nb\0d\n", 9)) ==
        path + ":2: holds a zero byte, so it is not plain text; save it as UTF-8 (iconv -t UTF-8)");
  CHECK(message_of<DataError>([&] {
          read_lines(folder / "none");
        }).starts_with(folder / "none" + ": cannot be read"));
}

TEST_CASE("texts below a folder are not those that runs have written there") {
  const TemporaryFolder folder;
  for (const char* const name :
       {"a.txt", "config.json", "metrics.csv", "more/b.txt", "more/config.json", "runs/all/config.json",
        "runs/all/data.txt", "runs/all/layer/samples.txt", "runs/c.txt"}) {
    std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
    write_file(folder / name, "text");
  }
  for (const char* const end : {"", "/"})
    CHECK(texts_below(folder.path() + end) == std::vector<std::string>{folder.path() + "/a.txt",
                                                                       folder.path() + "/more/b.txt",
                                                                       folder.path() + "/runs/c.txt"});
}

TEST_CASE("texts: two of the same bytes are refused, whatever they are called") {
  const TemporaryFolder folder;
  write_file(folder / "a", "one text");
  write_file(folder / "b", "another!");  // as long
  write_file(folder / "copy", "one text");
  write_file(folder / "empty", "");
  std::filesystem::create_symlink("b", folder / "link");
  require_different({folder / "a", folder / "b", folder / "empty", folder / "empty", folder / "none"});
  const auto complaint = [&](const std::string& first, const std::string& second) {
    return message_of<DataError>([&] { require_different({folder / first, folder / second}); });
  };
  CHECK(complaint("a", "copy") ==
        text(folder / "copy", ": is the same text as ", folder / "a", "; leave one of them out"));
  CHECK(complaint("link", "b") ==
        text(folder / "b", ": is the same text as ", folder / "link", "; leave one of them out"));
}

TEST_CASE("texts: one book in another encoding, with other line ends or with notices is refused") {
  const TemporaryFolder folder;
  write_file(folder / "a", "caf\xC3\xA9\n\nand tea\n");
  write_file(folder / "cp1252", "caf\xE9\nand tea");
  write_file(folder / "windows",
             "\xEF\xBB\xBF"
             "caf\xC3\xA9\r\n\r\nand tea\r\n");
  write_file(folder / "gutenberg",
             "The Project\n*** START OF THIS PROJECT GUTENBERG EBOOK ***\ncaf\xC3\xA9\nand tea\n"
             "*** END OF THIS PROJECT GUTENBERG EBOOK ***\nlicence\n");
  write_file(folder / "other", "caf\xC3\xA9\nand teas\n");
  write_file(folder / "blank", "\n\n");
  write_file(folder / "blanks", "\n");
  require_different({folder / "a", folder / "other", folder / "blank", folder / "blanks"});
  for (const char* const copy : {"cp1252", "windows", "gutenberg"})
    CHECK(message_of<DataError>([&] {
            require_different({folder / "a", folder / copy});
          }) == text(folder / copy, ": is the same text as ", folder / "a", "; leave one of them out"));
}

TEST_CASE("tokenizer: words between spaces") {
  const std::string line = " a\tman ,  it 's ";
  const auto words = split_words(line);
  CHECK(Words(words.begin(), words.end()) == Words{"a", "man", ",", "it", "'s"});
  CHECK(split_words(" \t ").empty());
}

TEST_CASE("tokenizer: ordinary text") {
  CHECK(tokenize("Two dogs, a cat.") == Words{"two", "dogs", ",", "a", "cat", "."});
  CHECK(tokenize("Don't stop--black-and-white!") == Words{"don't", "stop", "-", "-", "black-and-white", "!"});
  CHECK(tokenize("3.5 of 1,000.") == Words{"3.5", "of", "1,000", "."});
  CHECK(tokenize("'quoted' x' 'y") == Words{"'", "quoted", "'", "x", "'", "'", "y"});
  CHECK(tokenize("\xC3\x89T\xC3\x89 \xE2\x80\x9Cso\xE2\x80\x9D it\xE2\x80\x99s") ==
        Words{"\xC3\xA9t\xC3\xA9", "\xE2\x80\x9C", "so", "\xE2\x80\x9D", "it's"});
  CHECK(tokenize("3 \xC3\x97 \xC3\x9E") == Words{"3", "\xC3\x97", "\xC3\xBE"});  // times is no capital letter
  CHECK(tokenize("").empty());
}

TEST_CASE(
    "tokenizer: Unicode's spaces are no words, nor is the control sign that stands for dots in MR's "
    "Latin-1") {
  for (const char32_t space : {0x85U, 0xA0U, 0x2003U, 0x2028U, 0x2029U, 0x202FU, 0x205FU, 0x3000U}) {
    std::string text = "a problem";
    append_character(text, space);
    CHECK(tokenize(text + "it's") == Words{"a", "problem", "it's"});
    CHECK(tokenize_apart(text + "it's " + text) == Words{"a", "problem", "it", "'s", "a", "problem"});
  }
  CHECK(tokenize(from_latin1("humor\x85it")) == Words{"humor", "it"});
}

TEST_CASE("tokenizer: contractions that are apart already stay whole, however they are written") {
  for (const char* const clitic : {"'s", "'S", "\xE2\x80\x99s"})
    CHECK(tokenize_apart(text("it ", clitic, " so")) == Words{"it", "'s", "so"});
  CHECK(tokenize_apart("they \xE2\x80\x99LL , does N\xE2\x80\x99T") ==
        Words{"they", "'ll", ",", "does", "n't"});
}

TEST_CASE("vocabulary: most frequent first, <eos> and <unk> reserved") {
  WordCounter counter;
  for (const char* word : {"b", "a", "c", "a", "b", "d", "<unk>", "<eos>", "d", "d"}) counter.add(word);
  const Vocabulary vocabulary = counter.most_frequent(3);
  CHECK(vocabulary.size() == 5);
  CHECK(vocabulary.word(0) == "<eos>");
  CHECK(vocabulary.word(2) == "d");
  CHECK(vocabulary.word(3) == "a");
  CHECK(vocabulary.number("b") == 4);
  CHECK(vocabulary.number("c") == Vocabulary::unknown);
  CHECK(vocabulary.sentence(Words{"d", "zebra", "b"}) == std::vector<int>{2, 1, 4, 0});
  CHECK_ERROR(vocabulary.word(5), "vocabulary: there is no word 5 among 5");
  CHECK_ERROR(Vocabulary({"x", "x"}), "vocabulary: the word 'x' comes twice; give each word once");
}

TEST_CASE("batches: padded side by side, with a mask only where something is padded") {
  const std::vector<Sentence> sentences{{7, 0}, {5, 6, 0}, {8, 0}};
  const TokenBatch batch = make_batch(sentences, std::vector<int>{1, 0});
  CHECK(batch.steps == 3);
  CHECK(batch.rows == 2);
  CHECK(std::vector<int>(batch.tokens.begin(), batch.tokens.end()) == std::vector<int>{5, 7, 6, 0, 0, 0});
  CHECK(difference(batch.mask, {1, 1, 1, 1, 1, 0}) == 0);
  CHECK_FALSE(make_batch(sentences, std::vector<int>{0, 2, 0}).mask.defined());
  const TokenBatch last = sentences_of(batch, 1, 2);
  CHECK(last.steps == batch.steps);
  CHECK(last.rows == 1);
  for (size_t t = 0; t < batch.steps; ++t) {
    CHECK(last.tokens[t] == batch.tokens[2 * t + 1]);
    CHECK(last.mask[t] == batch.mask[2 * t + 1]);
  }
  CHECK_ERROR(make_batch(sentences, {}), "batch: of 0 sentences; give at least one");
  CHECK_ERROR(make_batch(std::vector<Sentence>{{1}, {}}, std::vector<int>{0, 1}),
              "batch: sentence 1 has no words; leave it out");
}

TEST_CASE("batches: by length, each sentence once") {
  const std::vector<Sentence> sentences{{1, 1, 1}, {1}, {1, 1}, {1}, {1, 1}};
  const auto batches = batches_by_length(sentences, 2);
  CHECK(batches == std::vector<std::vector<int>>{{1, 3}, {2, 4}, {0}});
  CHECK(batches_by_length({}, 2).empty());
  CHECK_ERROR(batches_by_length(sentences, 0), "batches: of 0 sentences; give a positive size");
}
