#include "tools/flags/suggestion.h"

#include <doctest/doctest.h>

using namespace lamina;

TEST_CASE("the distance of words counts letters that are added, missing, replaced or exchanged") {
  CHECK(typing_distance("mnist", "mnist") == 0);
  CHECK(typing_distance("mnits", "mnist") == 1);
  CHECK(typing_distance("mnst", "mnist") == 1);
  CHECK(typing_distance("mniist", "mnist") == 1);
  CHECK(typing_distance("mmist", "mnist") == 1);
  CHECK(typing_distance("", "draw") == 4);
  CHECK(typing_distance("draw", "") == 4);
  CHECK(typing_distance("kitten", "sitting") == 3);
}

TEST_CASE("the closest name is suggested when it is close") {
  const std::vector<std::string> names{"mnist", "draw", "attentive-reader", "graph"};
  CHECK(suggestion("mnits", names) == "; did you mean mnist?");
  CHECK(suggestion("atentive-raeder", names) == "; did you mean attentive-reader?");
  CHECK(suggestion("grpah", names) == "; did you mean graph?");
  CHECK(suggestion("x", names).empty());
  CHECK(suggestion("mnist", {}).empty());
  CHECK(suggestion("drw", names) == "; did you mean draw?");
  CHECK(suggestion("banana", names).empty());
}
