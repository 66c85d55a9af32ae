#include "tools/study/memory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

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

/// The folder of this process's control group (version 2): the line "0::/name" of /proc/self/cgroup.
std::string control_group() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  return "/sys/fs/cgroup";
}

/// What is left of the group's limit. Pages of files that were read lately are given back when they are needed.
std::size_t left_in(const std::string& group) {
  const std::size_t limit = number_in_file(group + "/memory.max"),
                    used = number_in_file(group + "/memory.current");
  if (limit == unknown || used == unknown) return unknown;
  const std::size_t cache = number_named(group + "/memory.stat", "inactive_file");
  return limit - std::min(limit, used - (cache == unknown ? 0 : std::min(cache, used)));
}

}  // namespace

std::size_t available_memory() {
  const std::size_t kilobytes = number_named("/proc/meminfo", "MemAvailable:");
  std::size_t available = kilobytes == unknown ? unknown : kilobytes << 10;
  // The limit of a group above this one counts as well.
  for (std::string group = control_group(); group.starts_with("/sys/fs/cgroup");
       group = group.substr(0, group.rfind('/')))
    available = std::min(available, left_in(group));
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
