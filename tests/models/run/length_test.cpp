// How long a run may become.

#include "models/run/length.h"

#include <doctest/doctest.h>

using namespace lamina;

namespace {

template <class... Values>
Settings settings(const Values&... values) {
  Settings all;
  (all.set(values.first, values.second), ...);
  return all;
}

using Number = std::pair<const char*, int>;
using Word = std::pair<const char*, const char*>;

}  // namespace

TEST_CASE("length: a run goes on for longer by what it ends by, and by nothing else") {
  const auto longer = [](const Settings& began, const Settings& asked) {
    const Settings all = longer_than(began, asked);
    return all.entries().empty() ? "" : all.entries()[0].first + ' ' + all.word(all.entries()[0].first);
  };
  const Settings epochs = settings(Number{"epochs", 3}, Number{"updates", 0});
  const Settings updates = settings(Number{"epochs", 3}, Number{"updates", 200});
  CHECK(longer(settings(Number{"epochs", 3}), settings(Number{"epochs", 5})) == "epochs 5");
  CHECK(longer(epochs, settings(Number{"epochs", 5}, Number{"lr", 1})) == "epochs 5");
  CHECK(longer(epochs, settings(Number{"updates", 5})).empty());
  CHECK(longer(updates, settings(Number{"epochs", 5})).empty());
  CHECK(longer(updates, settings(Number{"epochs", 5}, Word{"updates", "4e2"})) == "updates 400");

  CHECK(longer(epochs, settings(Number{"epochs", 3})).empty());
  CHECK(longer(epochs, settings(Number{"epochs", 2})).empty());
  CHECK(longer(epochs, {}).empty());
  CHECK(longer({}, settings(Number{"epochs", 5})).empty());
  for (const char* const no_length : {"1e300", "nan", "inf", "many"})
    CHECK(longer(epochs, settings(Word{"epochs", no_length})).empty());
}

TEST_CASE(
    "length: not where the learning rate falls towards the end, nor where LAMINA_SMOKE cut the run down") {
  const Settings asked = settings(Number{"epochs", 5});
  const auto may = [&](const Settings& began) { return !longer_than(began, asked).entries().empty(); };
  CHECK(may(settings(Number{"epochs", 3}, Word{"decay", "none"}, Number{"smoke", 0})));
  CHECK_FALSE(may(settings(Number{"epochs", 3}, Word{"decay", "cosine"})));
  CHECK_FALSE(may(settings(Number{"epochs", 3}, Number{"smoke", 3})));
}
