// The program of one target: libFuzzer's own flags, and the target's name in LAMINA_FUZZ. With --list as its
// only argument it lists all targets and the maximum size of their inputs in bytes.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/targets.h"

using namespace lamina::fuzz;

namespace {

const Target* chosen = nullptr;

int list() {
  for (const Target& target : targets()) std::printf("%s %u\n", target.name, target.longest);
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(const int* count, char*** arguments) {
  if (*count == 2 && std::strcmp((*arguments)[1], "--list") == 0) std::exit(list());
  const char* const name = std::getenv("LAMINA_FUZZ");
  for (const Target& target : targets())
    if (name != nullptr && std::strcmp(target.name, name) == 0) chosen = &target;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "LAMINA_FUZZ=%s: no such target; --list names them\n", name == nullptr ? "" : name);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}
