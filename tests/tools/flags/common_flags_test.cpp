#include "tools/flags/common_flags.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>

using namespace lamina;

TEST_CASE("LAMINA_SMOKE: a number of epochs; unset and empty are none") {
  const char* const given = std::getenv("LAMINA_SMOKE");
  const auto before = given ? std::optional<std::string>(given) : std::nullopt;
  ::unsetenv("LAMINA_SMOKE");
  CHECK(smoke_epochs() == 0);
  ::setenv("LAMINA_SMOKE", "", 1);
  CHECK(smoke_epochs() == 0);
  ::setenv("LAMINA_SMOKE", "3", 1);
  CHECK(smoke_epochs() == 3);
  ::setenv("LAMINA_SMOKE", "yes", 1);
  CHECK(smoke_epochs() == 1);
  if (before)
    ::setenv("LAMINA_SMOKE", before->c_str(), 1);
  else
    ::unsetenv("LAMINA_SMOKE");
}
