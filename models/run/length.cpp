#include "models/run/length.h"

#include <cstdint>
#include <optional>
#include <string>

#include "core/files/number.h"

namespace lamina {

namespace {

constexpr double most = 0x1p53;  ///< up to which a double holds every whole number

/// Of a flag's text, which may be "2e4"; nothing where there is no such setting.
std::optional<double> number_in(const Settings& settings, const char* name) {
  return number_from<double>(settings.word(name));
}

}  // namespace

bool may_become_longer(const Settings& began) {
  const std::string decay = began.word("decay");
  return decay.empty() || decay == "none";
}

Settings longer_than(const Settings& began, const Settings& asked) {
  const char* const length = number_in(began, "updates").value_or(0) > 0 ? "updates" : "epochs";
  const auto before = number_in(began, length), now = number_in(asked, length);
  Settings longer;
  if (before && now && *now > *before && *now < most && may_become_longer(began) &&
      number_in(began, "smoke").value_or(0) == 0)
    longer.set(length, static_cast<std::int64_t>(*now));
  return longer;
}

}  // namespace lamina
