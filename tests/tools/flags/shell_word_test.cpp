#include "tools/flags/shell_word.h"

#include <doctest/doctest.h>

using namespace lamina;

TEST_CASE("a word is quoted where a shell might change it") {
  CHECK(shell_word("runs/mnist-layer_1.csv") == "runs/mnist-layer_1.csv");
  CHECK(shell_word("my run") == "'my run'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  for (const char* const word : {"", "$HOME", "a;b", "*", "~", "a\nb", "\"", "\\", "\xc3\xa9"})
    CHECK(shell_word(word) == "'" + std::string(word) + "'");
}
