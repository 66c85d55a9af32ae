#include "core/files/control_groups.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace lamina {

namespace {

/// Whether one of "cpu,cpuacct" is this controller.
bool is_among(const std::string& controllers, const std::string& controller) {
  return (',' + controllers + ',').find(',' + controller + ',') != std::string::npos;
}

/// Time in a period, both in microseconds, as a share: "150000 100000" is 1.5. Infinity for what says no such thing: version 2
/// says "max", and version 1 -1.
double share_in(std::istream&& line) {
  double time = 0, period = 0;
  const bool limited = line >> time >> period && time > 0 && period > 0;
  return limited ? time / period : std::numeric_limits<double>::infinity();
}

/// Empty where there is none.
std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<std::string> control_groups(const std::string& controller, const std::string& listed,
                                        const std::string& mounted) {
  std::vector<std::string> all;
  std::ifstream lines(listed);
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/a/b", of version 2 "0::/a/b"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !is_among(controllers, controller)) continue;
    std::string root = mounted;
    if (!controllers.empty()) root.append("/").append(controller);
    for (std::string group = line.substr(second + 1); group.size() > 1; group.resize(group.rfind('/')))
      all.push_back(root + group);
    all.push_back(root);  // a container may see its own group there
  }
  return all;
}

double cpu_quota(std::span<const std::string> groups) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& group : groups)
    for (const std::string& line :
         {first_line_of(group + "/cpu.max"),
          first_line_of(group + "/cpu.cfs_quota_us") + ' ' + first_line_of(group + "/cpu.cfs_period_us")})
      least = std::min(least, share_in(std::istringstream(line)));
  return least;
}

}  // namespace lamina
