// The looks of curves: one colour for each thing that has a name, in figures and page.

#include "tools/results/palette.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "tools/results/norm_table.h"

using namespace lamina;

TEST_CASE("every norm, placement and rival has a colour of its own") {
  std::map<int, std::string> names;
  for (const Look& look : looks()) {
    CHECK_MESSAGE(look.color >= 0, look.norm);
    const bool is_new = names.emplace(look.color, std::string(look.norm)).second;
    CHECK_MESSAGE(is_new, look.norm, " has the colour of ", names[look.color]);
  }
}

TEST_CASE("no two colours of the palette are the same, on white or on dark") {
  std::set<std::string> light, dark;
  for (const Shade& shade : palette) {
    CHECK(light.insert(shade.light).second);
    CHECK(dark.insert(shade.dark).second);
  }
}

TEST_CASE("what is no norm never has the colour of one") {
  std::set<int> norms;
  for (const NormEntry& entry : norm_table) {
    norms.insert(entry.color);
    CHECK_MESSAGE(entry.color < static_cast<int>(first_plain), std::string(entry.name),
                  " needs a shade before first_plain");
  }
  for (size_t i = 0; i < 40; ++i) CHECK_FALSE(norms.contains(plain_color(i)));
}
