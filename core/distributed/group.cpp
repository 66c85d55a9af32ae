#include "core/distributed/group.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lamina::distributed {

namespace {

Group alone;
std::unique_ptr<Group>& joined_group() {
  static std::unique_ptr<Group> joined;
  return joined;
}

/// The first of these environment variables that is a whole number, or `otherwise`.
size_t number_in_environment(std::initializer_list<const char*> names, size_t otherwise) {
  for (const char* const name : names)
    if (const char* const digits = std::getenv(name); digits != nullptr && *digits != '\0') {
      char* end = nullptr;
      const unsigned long value = std::strtoul(digits, &end, 10);
      if (*end == '\0') return value;
    }
  return otherwise;
}

/// The line of a text in which it first differs from another one.
std::string_view first_difference(std::string_view text, std::string_view other) {
  const size_t same = static_cast<size_t>(
      std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first - text.begin());
  const size_t before = same == 0 ? text.npos : text.rfind('\n', same - 1);
  const size_t begin = before == text.npos ? 0 : before + 1;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return line.empty() ? "nothing" : line;
}

}  // namespace

Group& group() {
  Group* const joined = joined_group().get();
  return joined != nullptr ? *joined : alone;
}

std::unique_ptr<Group> join(std::unique_ptr<Group> joined) {
  return std::exchange(joined_group(), std::move(joined));
}

std::string broadcast(const std::string& text) {
  if (!is_shared()) return text;
  std::uint64_t size = text.size();
  group().broadcast(std::as_writable_bytes(std::span(&size, 1)));
  std::string received = text;
  received.resize(size);
  group().broadcast(std::as_writable_bytes(std::span(received)));
  return received;
}

std::vector<double> gather(double own) {
  std::vector<double> all(group().size());
  all[group().rank()] = own;
  group().sum(std::span(all));
  return all;
}

void require_same(const std::string& what, const std::string& own) {
  const std::string first = broadcast(own);
  const std::vector<double> differ = gather(first != own ? 1 : 0);
  if (first != own)
    fail<UsageError>(what, " of rank ", group().rank(),
                     " is not that of rank 0: ", first_difference(own, first), ", and ",
                     first_difference(first, own), "; start all ranks alike");
  // The others wait here for the end that the error brings, and so leave nothing behind of a run that never began.
  if (std::ranges::find(differ, 1) != differ.end()) gather(0);
}

// Open MPI; Hydra (MPICH, Intel MPI) and Slurm's own; Slurm through PMIx.
size_t launched() {
  const size_t count = number_in_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0);
  if (count > 0) return count;
  return std::getenv("PMIX_RANK") != nullptr ? number_in_environment({"SLURM_STEP_NUM_TASKS"}, 1) : 1;
}

size_t launched_rank() { return number_in_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }

}  // namespace lamina::distributed
