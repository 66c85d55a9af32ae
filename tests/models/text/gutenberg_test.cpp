#include "models/text/gutenberg.h"

#include <algorithm>

#include "core/error.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// What both functions leave of a file, which must be the same.
std::string left_of(const std::string& file) {
  std::vector<std::string> lines;
  for (size_t at = 0, end = 0; at < file.size(); at = end + 1) {
    end = std::min(file.find('\n', at), file.size());
    lines.push_back(file.substr(at, end - at));
  }
  std::string left;
  for (const std::string& line : without_notices(lines, "book.txt")) left += line + '\n';
  const auto [begin, end] = without_notices(file, "book.txt");
  CHECK(file.substr(begin, end - begin) == left);
  return left;
}

}  // namespace

TEST_CASE("Project Gutenberg: the text between the notices, or all up to where one is missing") {
  CHECK(left_of("notice\n*** START OF IT ***\na\nb\n*** END OF IT ***\nlicense\n") == "a\nb\n");
  CHECK(left_of("*** START OF IT ***\na\nEnd of Project Gutenberg's A\nb\n*** END OF IT ***\n") == "a\n");
  CHECK(left_of("a\n*** END OF IT ***\nlicense\n") == "a\n");
  CHECK(left_of("notice\n*** START OF IT ***\na\n") == "a\n");
  CHECK(left_of("a\nb\n") == "a\nb\n");
  CHECK(left_of("*** START OF IT ***\n*** END OF IT ***\n").empty());
  CHECK(left_of("").empty());
}

TEST_CASE("Project Gutenberg: a mark may stand behind a byte order mark") {
  const std::string file = "\xEF\xBB\xBF*** START OF IT ***\na\n*** END OF IT ***\nlicense\n";
  const auto [begin, end] = without_notices(file, "book.txt");
  CHECK(file.substr(begin, end - begin) == "a\n");
}

TEST_CASE("Project Gutenberg: marks as older books have them") {
  CHECK(left_of("notice\n***START OF THE BOOK***\na\nb\n***END OF THE BOOK***\nlicense\n") == "a\nb\n");
  for (const std::string end :
       {"End of The Project Gutenberg Etext of A", "End of this Project Gutenberg book"})
    CHECK(left_of("*** START OF IT ***\na\n" + end + "\n*** END OF IT ***\n") == "a\n");
  const std::string others = "*** STARTED\nEnd of a Project Gutenberg\nEnd of the line\n****START OF\n";
  CHECK(left_of(others) == others);
}

TEST_CASE("Project Gutenberg: the small print of the oldest books, before the text or behind it") {
  const std::string small_print = "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nlawyers\n";
  const std::string text = "a\n" + std::string(200, 'b') + "\n" + std::string(9, '\n');
  for (const std::string mark : {"*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n",
                                 "*END THE SMALL PRINT! FOR PUBLIC DOMAIN EBOOKS*Ver.02/11/02*END*\n"}) {
    CHECK(left_of("notice\n" + small_print + mark + text + "End of Project Gutenberg's A\n") == text);
    CHECK(left_of(small_print + mark + "*** START OF IT ***\n" + text) == text);
    CHECK(left_of(text + "End of Project Gutenberg's A\n" + small_print + mark) == text);
    CHECK(left_of(text + small_print + mark) == text + small_print + mark);
  }
}

TEST_CASE("Project Gutenberg: several books in one file are refused, none is left out silently") {
  const std::string book = "*** START OF IT ***\na\n*** END OF IT ***\nlicense\n", both = book + book;
  const std::vector<std::string> lines = {"*** START OF IT ***", "a", "*** END OF IT ***",
                                          "*** START OF IT ***", "b", "*** END OF IT ***"};
  const std::string said =
      "two.txt: holds several books of Project Gutenberg; put each into a file of its own";
  CHECK(message_of<DataError>([&] { without_notices(both, "two.txt"); }) == said);
  CHECK(message_of<DataError>([&] { without_notices(lines, "two.txt"); }) == said);
  const std::string old =
      "*END*THE SMALL PRINT! FOR\n" + std::string(99, 'a') + "\nEnd of Project Gutenberg's A\n";
  CHECK(message_of<DataError>([&] { without_notices(old + old, "two.txt"); }) == said);
  const std::string no_end = "*** START OF IT ***\na\n" + book;
  CHECK(message_of<DataError>([&] { without_notices(no_end, "two.txt"); }) == said);
}
