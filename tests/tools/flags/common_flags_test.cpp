#include "tools/flags/common_flags.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("fields: a flag that is given counts, also where it says 0; what is not given is the preset's") {
  const auto noise_of = [](const std::vector<const char*>& words) {
    Command command("copy", "for tests");
    Fields fields(command);
    double noise = 0;
    fields.add("--noise", noise, "share", {.paper = 0.5, .small = 0.1}).range(0, 1);
    command.action([&] {
      fields.fill_in(true);
      return 0;
    });
    CHECK(command.run(static_cast<int>(words.size()), words.data()) == 0);
    return noise;
  };
  CHECK(noise_of({"copy"}) == 0.5);
  CHECK(noise_of({"copy", "--noise", "0"}) == 0);
  CHECK(noise_of({"copy", "--noise", "0.25"}) == 0.25);
}

TEST_CASE("fields: what an older config.json lacks is the default, or that of the run's preset") {
  Command command("copy", "for tests");
  Fields fields(command);
  size_t cases = 0, every = 3;
  fields.keep("every", every);
  every = 9;
  fields.keep("cases", cases, {.paper = 6400, .small = 640, .required = false});
  for (const auto& [preset, expected] : {std::pair("paper", 6400), {"small", 640}}) {
    Settings older;
    older.set("preset", std::string(preset));
    fields.read(older);
    CHECK(cases == static_cast<size_t>(expected));
    CHECK(every == 3);
  }
  Settings newer;
  newer.set("cases", std::int64_t{0});
  fields.read(newer);
  CHECK(cases == 0);
}
