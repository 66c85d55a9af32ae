#pragma once
// The control groups that a process is in: by them Linux, containers and batch systems limit what it may use.

#include <span>
#include <string>
#include <vector>

namespace lamina {

/// The folders of the groups whose limits of the `controller`, "cpu" or "memory", hold for this process: its own and those
/// above, of version 2 and of version 1. Not all need exist. `listed` names the groups, and the folders are below `mounted`.
std::vector<std::string> control_groups(const std::string& controller,
                                        const std::string& listed = "/proc/self/cgroup",
                                        const std::string& mounted = "/sys/fs/cgroup");

/// The time on all cores that these groups may take in a second, in seconds, as `docker run --cpus 1.5` limits it; infinity
/// without a limit.
double cpu_quota(std::span<const std::string> groups);

}  // namespace lamina
