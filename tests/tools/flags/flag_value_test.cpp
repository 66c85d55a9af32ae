#include "tools/flags/flag_value.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "core/files/number.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

std::string complaint(const std::string& word, const WholeRange& range) {
  return message_of<UsageError>([&] { read_number(word, range); });
}
std::string complaint(const std::string& word, const RealRange& range) {
  return message_of<UsageError>([&] { read_number(word, range); });
}

}  // namespace

TEST_CASE("a number of the command line is decimal and nothing else") {
  CHECK(number_from<std::int64_t>("-12") == -12);
  CHECK(number_from<std::int64_t>("010") == 10);  // not octal
  CHECK(number_from<std::int64_t>("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* word : {"", " 1", "1 ", "0x10", "1e3", "1.5", "+", "-", "--1", "1,2", "1'000", "one",
                           "nan", "inf", "9223372036854775808", "-9223372036854775809",
                           "18446744073709551616", "99999999999999999999999999999999"})
    CHECK_MESSAGE(!number_from<std::int64_t>(word), word);
  CHECK(real_number("0.25") == 0.25);
  CHECK(real_number("-1e-3") == -1e-3);
  for (const char* word : {"", " 1", "1 ", "0x10", "0x1p3", "nan", "NaN", "-nan", "inf", "-Infinity", "1e400",
                           "1e-400", "1,5", "1e", "e1", ".", "1.2.3"})
    CHECK_MESSAGE(!real_number(word), word);
}

TEST_CASE("a number out of range is refused with the range") {
  CHECK(read_number("1", WholeRange{.least = 1, .most = 9}) == 1);
  CHECK(read_number("9", WholeRange{.least = 1, .most = 9}) == 9);
  CHECK(complaint("10", WholeRange{.least = 1, .most = 9}) == "10 is not a whole number from 1 to 9");
  CHECK(complaint("0x1", WholeRange{.least = 1, .most = 9}) == "0x1 is not a whole number from 1 to 9");
  CHECK(complaint("18446744073709551616", WholeRange{.least = 0}) ==
        "18446744073709551616 is too large; give a whole number from 0 up");
  CHECK(complaint("-1", WholeRange{.least = 1}) == "-1 is not a whole number from 1 up");
  CHECK(complaint("x", WholeRange{}) == "x is not a whole number");
  CHECK(complaint("x", WholeRange{.most = 3}) == "x is not a whole number of at most 3");
  CHECK(read_number("20", RealRange{.least = 0, .most = 20}) == 20);
  CHECK(complaint("nan", RealRange{.least = 0, .most = 20}) == "nan is not a number from 0 to 20");
  CHECK(complaint("0", RealRange{.least = least_positive}) == "0 is not a number above 0");
  CHECK(complaint("2", RealRange{.least = least_positive, .most = 1}) ==
        "2 is not a number above 0 and at most 1");
  CHECK(complaint("abc", RealRange{}) == "abc is not a number");
  CHECK(complaint("1e39", RealRange{.least = least_positive}).starts_with("1e39 is not a number above 0"));
  CHECK(complaint("1e-39", RealRange{.least = least_positive}).starts_with("1e-39 is not a number above 0"));
}

TEST_CASE("a word that is not among the choices: the closest one is named") {
  const FlagRules norm{.choices = {"layer", "none"}};
  CHECK(message_of<UsageError>([&] { checked_words({"lyaer"}, norm); }) ==
        "lyaer not in {layer,none}; did you mean layer?");
  CHECK(message_of<UsageError>([&] { checked_words({"instance"}, norm); }) == "instance not in {layer,none}");
}

TEST_CASE("lists are taken apart at commas, and no place in them is empty") {
  const FlagRules list{.separated_by_commas = true}, word;
  CHECK(checked_words({"a,b", "c"}, list) == std::vector<std::string>{"a", "b", "c"});
  CHECK(checked_words({"a,b"}, word) == std::vector<std::string>{"a,b"});
  for (const char* given : {",", "a,", ",a", "a,,b"})
    CHECK(message_of<UsageError>([&] {
            checked_words({given}, list);
          }).ends_with("an empty place between its commas"));
  CHECK(message_of<UsageError>([&] { checked_words({""}, word); }).starts_with("the value is empty"));
}

TEST_CASE("a word is quoted where a shell might change it") {
  CHECK(shell_word("runs/mnist-layer_1.csv") == "runs/mnist-layer_1.csv");
  CHECK(shell_word("my run") == "'my run'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  for (const char* const word : {"", "$HOME", "a;b", "*", "~", "a\nb", "\"", "\\", "\xc3\xa9"})
    CHECK(shell_word(word) == "'" + std::string(word) + "'");
}
