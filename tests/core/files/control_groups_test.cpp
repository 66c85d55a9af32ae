#include "core/files/control_groups.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "core/files/file.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

using Paths = std::vector<std::string>;

Paths groups_for(const std::string& controller, const std::string& listed) {
  const TemporaryFolder folder;
  write_file(folder / "cgroup", listed);
  return control_groups(controller, folder / "cgroup", "sys");
}

/// Of a process in the group /a/b of version 1 and /c/d of version 2, with these files below where the groups are.
double quota_with(const std::vector<std::pair<std::string, std::string>>& files) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : files) {
    std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
    write_file(folder / name, content);
  }
  write_file(folder / "cgroup", "4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/c/d\n");
  return cpu_quota(control_groups("cpu", folder / "cgroup", folder.path()));
}

}  // namespace

TEST_CASE("control groups: a process's own and those above it, of both versions") {
  CHECK(groups_for("cpu", "0::/a/b\n") == Paths{"sys/a/b", "sys/a", "sys"});
  CHECK(groups_for("cpu", "0::/\n") == Paths{"sys"});
  const std::string both = "9:name=systemd:/x\n5:cpu,cpuacct:/d:e\n4:memory:/m\n3:cpuset:/s\n0::/\n";
  CHECK(groups_for("cpu", both) == Paths{"sys/cpu/d:e", "sys/cpu", "sys"});
  CHECK(groups_for("memory", both) == Paths{"sys/memory/m", "sys/memory", "sys"});
  CHECK(groups_for("cpu", "nonsense\n\n:\n0::\n0::a/b\n").empty());
  CHECK(control_groups("cpu", "missing", "sys").empty());
}

TEST_CASE("control groups: the least quota of all that hold") {
  CHECK(quota_with({{"c/d/cpu.max", "150000 100000\n"}}) == 1.5);
  CHECK(quota_with({{"c/cpu.max", "50000 100000\n"}}) == 0.5);
  CHECK(quota_with({{"cpu.max", "800000 100000\n"}}) == 8);
  CHECK(quota_with({{"cpu/a/cpu.cfs_quota_us", "250000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}}) == 2.5);
  CHECK(quota_with({{"cpu/a/b/cpu.cfs_quota_us", "250000\n"},
                    {"cpu/a/b/cpu.cfs_period_us", "100000\n"},
                    {"c/d/cpu.max", "max 100000\n"},
                    {"c/cpu.max", "200000 100000\n"}}) == 2);
}

TEST_CASE("control groups: no quota") {
  CHECK(std::isinf(quota_with({})));
  CHECK(std::isinf(quota_with({{"m/cpu.max", "50000 100000\n"}})));  // another process's
  for (const char* const none : {"max 100000\n", "", "max", "0 100000\n", "100000 0\n", "100000\n"})
    CHECK(std::isinf(quota_with({{"c/d/cpu.max", none}})));
  CHECK(std::isinf(
      quota_with({{"cpu/a/b/cpu.cfs_quota_us", "-1\n"}, {"cpu/a/b/cpu.cfs_period_us", "100000\n"}})));
  CHECK(std::isinf(quota_with({{"cpu/a/b/cpu.cfs_quota_us", "100000\n"}})));
}
