// Word vectors in files of word2vec: both formats, and errors for malformed files.

#include "models/text/word_vectors.h"

#include <cstring>

#include "core/files/file.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

bool every(std::string_view) { return true; }

std::string bytes_of(std::initializer_list<float> numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.begin(), bytes.size());
  return bytes;
}

/// Three words of two numbers. `end` follows each vector: the original program writes a newline, others
/// nothing.
std::string binary_file(const std::string& end) {
  return "3 2\nthe " + bytes_of({0.5F, -1}) + end + "New_York " + bytes_of({1e-3F, 2}) + end +
         "caf\xC3\xA9 " + bytes_of({3, 4}) + end;
}

}  // namespace

TEST_CASE("word vectors: text and binary files hold the same") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "vectors";
  constexpr double float_ulp = 0x1p-23;  // binary files hold floats
  const std::vector<real> values{real(0.5), -1, real(1e-3), 2, 3, 4};
  for (const std::string& bytes :
       {binary_file("\n"), binary_file(""), std::string("3 2\nthe 0.5 -1 \nNew_York 1e-3 2\ncaf\xE9 3\t4"),
        std::string("3 2\r\nthe 0.5 -1\r\nNew_York .001 2\r\ncaf\xC3\xA9 3 4\r\n\n")}) {
    write_file(path, bytes);
    const WordVectors vectors = read_word_vectors(path, every);
    CHECK(vectors.width == 2);
    CHECK(vectors.words == std::vector<std::string>{"the", "New_York", "caf\xC3\xA9"});
    CHECK(difference(vectors.values, values) < float_ulp);
  }
}

TEST_CASE("word vectors: only the wanted ones, the first of a word that comes twice") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "vectors";
  write_file(path, "4 1\na 1\nb 2\na 3\nc 4\n");
  const WordVectors vectors = read_word_vectors(path, [](std::string_view word) { return word != "b"; });
  CHECK(vectors.words == std::vector<std::string>{"a", "c"});
  CHECK(vectors.values == std::vector<real>{1, 4});
  CHECK(read_word_vectors(path, [](std::string_view) { return false; }).words.empty());
}

TEST_CASE("word vectors: bad files are named with the place and the remedy") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "vectors";
  const auto complaint = [&](const std::string& bytes) {
    write_file(path, bytes);
    const std::string message = message_of<DataError>([&] { read_word_vectors(path, every); });
    CHECK(message.find('\n') == std::string::npos);
    REQUIRE(message.starts_with(path));
    return message.substr(path.size());
  };
  const std::string remedy =
      "; give a word2vec file, text or binary, whose first line is the number of words and the width";
  for (const char* const header :
       {"the 0.5 -1\n", "3\n", "3 2 1\n", "0 2\n", "3 0\n", "-3 2\n", "3 999999\n", "\n"})
    CHECK(complaint(header) == ":1: is not the first line of word vectors" + remedy);
  CHECK(complaint("2 2\na 1 2\nb 1\n") == ":3: is not a word and 2 finite numbers" + remedy);
  CHECK(complaint("2 2\na 1 2 3\nb 1 2\n") == ":2: is not a word and 2 finite numbers" + remedy);
  for (const char* const number : {"x", "1,5", "nan", "1e400", "1x"})
    CHECK(complaint(text("1 1\na ", number, "\n")) == ":2: is not a word and 1 finite numbers" + remedy);
  CHECK(complaint("2 1\n\na 1\n") == ":2: is not a word and 1 finite numbers" + remedy);
  CHECK(complaint("3 1\na 1\n") == ": ends after 1 of the 3 words of its first line; download it again");
  CHECK(complaint("1 1\na 1\nb 2\n") == ": holds more than the 1 words of its first line; download it again");
  const std::string whole = binary_file("\n");
  CHECK(complaint(whole.substr(0, whole.size() - 2)) ==
        ": ends after 2 of the 3 words of its first line; download it again");
  CHECK(complaint("9223372036854775807 2" + whole.substr(3)) ==
        ": ends after 3 of the 9223372036854775807 words of its first line; download it again");
  CHECK(complaint("1 2\na " + bytes_of({1, std::numeric_limits<float>::infinity()})) ==
        ": number 2 of word 1 is not finite; download it again");
}

TEST_CASE("word vectors: damaged files are refused in one line or read") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "vectors";
  Random random(5);
  for (const std::string& whole : {binary_file("\n"), std::string("3 2\nthe 0.5 -1\nof 1 2\nto 3 4\n")})
    for (int i = 0; i < 500; ++i) {
      put(path, mutated(whole, 8, random));
      const std::string message = message_of<DataError>([&] {
        const WordVectors vectors = read_word_vectors(path, every);
        CHECK(vectors.values.size() == vectors.words.size() * vectors.width);
      });
      CHECK(message.find('\n') == std::string::npos);
    }
}
