#include "tools/results/aligned_table.h"

#include <doctest/doctest.h>

using namespace lamina;

TEST_CASE("a table is aligned: words to the left, numbers to the right") {
  CHECK(aligned_tables("before\n\n| variant | test error | seconds |\n|---|---|---|\n"
                       "| layer norm | **1.36%** | 7 |\n| baseline | 12.40% | - |\n\nafter\n",
                       80) ==
        "before\n\n"
        "variant     test error  seconds\n"
        "----------  ----------  -------\n"
        "layer norm       1.36%        7\n"
        "baseline        12.40%        -\n"
        "\nafter\n");
}

TEST_CASE("titles are wrapped where the table is too wide, and never cut") {
  const char* const wide =
      "| | lowest validation error, % | at update |\n|---|---|---|\n| LN-LSTM, gain 1.0 | 27.9 | 400 |\n";
  CHECK(aligned_tables(wide, 40) ==
        "                        lowest\n"
        "                    validation        at\n"
        "                      error, %    update\n"
        "-----------------  -----------  --------\n"
        "LN-LSTM, gain 1.0         27.9       400\n");
  const std::string narrow = aligned_tables(wide, 1);
  CHECK(narrow.find("lowest validation") == std::string::npos);
  CHECK(narrow.find("validation") != std::string::npos);
  CHECK(narrow.find("LN-LSTM, gain 1.0") != std::string::npos);
}

TEST_CASE("columns for which there is no room follow below, behind the first column") {
  CHECK(aligned_tables("| layer | mean | deviation |\n|---|---|---|\n| hidden | 0.25 | 1 |\n| logits | 2 |\n",
                       18) ==
        "layer   mean\n"
        "------  ----\n"
        "hidden  0.25\n"
        "logits     2\n"
        "\n"
        "layer   deviation\n"
        "------  ---------\n"
        "hidden          1\n"
        "logits\n");
}

TEST_CASE("characters are counted, not bytes, and columns with words are words") {
  CHECK(aligned_tables("| δ | norm |\n|---|---|\n| γβ | layer |\n| x | none |\n", 80) ==
        "δ   norm\n--  -----\nγβ  layer\nx   none\n");
}

TEST_CASE("what is no table stays as it is, also without a last line's end") {
  CHECK(aligned_tables("| a bar\n**bold**\nend", 80) == "| a bar\n**bold**\nend");
  CHECK(aligned_tables("", 80).empty());
  CHECK(aligned_tables("| a |\n|---|\n| 1 |", 80) == "a\n-\n1\n");
}
