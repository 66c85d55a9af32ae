// Inputs that fuzzing once found (tests/fuzz/found/TARGET/NAME), run through their targets again: a target
// must throw nothing but DataError. Only that is visible here; sanitizers (SANITIZE=1) check the rest too.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "tests/fuzz/targets.h"

using namespace lamina;

TEST_CASE("fuzz: inputs that were found stay harmless") {
  const std::string folder = "tests/fuzz/found";
  size_t replayed = 0;
  for (const std::string& of_target : entries_of(folder)) {
    const std::string name = std::filesystem::path(of_target).filename().string();
    const auto target = std::ranges::find(fuzz::targets(), name, &fuzz::Target::name);
    CAPTURE(name);
    REQUIRE(target != fuzz::targets().end());
    for (const std::string& file : entries_of(of_target)) {
      CAPTURE(file);
      CHECK_NOTHROW(fuzz::run(*target, read_file(file)));
      ++replayed;
    }
  }
  CHECK(replayed >= 4);
}

TEST_CASE("fuzz: no target minds an empty input, a zero byte or the same byte again and again") {
  for (const fuzz::Target& target : fuzz::targets()) {
    CAPTURE(std::string(target.name));
    CHECK_NOTHROW(fuzz::run(target, ""));
    for (const char byte : {'\0', '\n', ' ', ',', '0', '[', '\x80', '\xFF'})
      for (const size_t count : {1u, 100u}) CHECK_NOTHROW(fuzz::run(target, std::string(count, byte)));
  }
}
