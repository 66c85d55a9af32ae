#include "tools/study/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include "core/files/control_groups.h"

namespace lamina {

namespace {

constexpr std::size_t spare = std::size_t{256} << 20;  ///< for everything else that runs
constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

/// The number at the beginning of a file; unknown when there is none ("max").
std::size_t number_in_file(const std::string& path) {
  std::size_t number = 0;
  return std::ifstream(path) >> number ? number : unknown;
}

/// A line of a file of names and numbers: "MemAvailable:  123 kB", "inactive_file 456".
std::size_t number_named(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  std::size_t number = 0;
  for (std::string line; file >> word && std::getline(file, line);)
    if (word == name) return std::sscanf(line.c_str(), "%zu", &number) == 1 ? number : unknown;
  return unknown;
}

/// The names of a control group's files, and of the line with the pages of files that were read lately, which are given back
/// when they are needed.
struct GroupFiles {
  const char *limit, *used, *cache;
};
constexpr auto versions =
    std::to_array<GroupFiles>({{"memory.max", "memory.current", "inactive_file"},
                               {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}});

/// What is left of the group's limit.
std::size_t left_in(const std::string& group, const GroupFiles& files) {
  const std::size_t limit = number_in_file(group + '/' + files.limit),
                    used = number_in_file(group + '/' + files.used);
  if (limit == unknown || used == unknown) return unknown;
  const std::size_t cache = number_named(group + "/memory.stat", files.cache);
  return limit - std::min(limit, used - (cache == unknown ? 0 : std::min(cache, used)));
}

}  // namespace

std::size_t available_memory() {
  const std::size_t kilobytes = number_named("/proc/meminfo", "MemAvailable:");
  std::size_t available = kilobytes == unknown ? unknown : kilobytes << 10;
  for (const std::string& group : control_groups("memory"))
    for (const GroupFiles& files : versions) available = std::min(available, left_in(group, files));
  return available;
}

bool fits_beside(std::span<const RunMemory> at_work, std::size_t peak, bool measured, std::size_t available) {
  if (at_work.empty()) return true;
  if (peak == 0) return false;  // the first has only just begun
  std::size_t needed = peak + spare;
  for (const RunMemory& run : at_work) needed += run.peak - std::min(run.peak, run.now);
  return (measured ? needed : 4 * needed) <= available;
}

}  // namespace lamina
