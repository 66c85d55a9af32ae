#include "tools/flags/wrapped_text.h"

#include <doctest/doctest.h>

using namespace lamina;

using Lines = std::vector<std::string>;

TEST_CASE("words are put in lines, lists are broken behind their commas, and what is longer stays whole") {
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("one two three", 100) == Lines{"one two three"});
  CHECK(wrapped("none,batch,layer or all, in turn", 11) ==
        Lines{"none,batch,", "layer or", "all, in", "turn"});
  CHECK(wrapped("incomprehensible if so", 5) == Lines{"incomprehensible", "if so"});
  CHECK(wrapped("δ γ β", 3) == Lines{"δ γ", "β"});
  CHECK(wrapped("", 5) == Lines{""});
}

TEST_CASE("an entry of help has two columns, and in a narrow terminal one below the other") {
  CHECK(help_entry("--seed INT=1", "of all random numbers that there are anywhere in it", 70) ==
        "  --seed INT=1                of all random numbers that there are\n"
        "                              anywhere in it\n");
  CHECK(help_entry("--norm TEXT:{layer,none,batch,weight}", "which", 70) ==
        "  --norm TEXT:{layer,none,batch,weight}\n"
        "                              which\n");
  CHECK(help_entry("--norm TEXT:{layer,none,batch,weight}", "which one it is", 24) ==
        "  --norm\n"
        "      TEXT:{layer,none,\n"
        "      batch,weight}\n"
        "      which one it is\n");
  CHECK(help_entry("--verbose", "", 80) == "  --verbose\n");
}
