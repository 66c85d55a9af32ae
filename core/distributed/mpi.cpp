// The group of the processes that mpirun started. `make MPI=1` compiles the first half, which needs MPI 3; without it
// the library has no MPI in it.

#include "core/distributed/group.h"
#include "core/error.h"

#ifdef LAMINA_MPI

// Not the C++ bindings of MPI 2, which bring a library of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace lamina::distributed {

namespace {

/// The most numbers in one call: MPI counts in int.
constexpr size_t most_at_once = size_t{1} << 28;

MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

/// The cores that this process may run on, one number a core: 1 or 0.
std::vector<float> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<float> allowed(CPU_SETSIZE);
  for (size_t core = 0; core < allowed.size(); ++core) allowed[core] = CPU_ISSET(core, &set) ? 1 : 0;
  return allowed;
}

class MpiGroup final : public Group {
 public:
  MpiGroup() {
    int provided = 0, rank = 0, size = 1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<size_t>(rank);
    size_ = static_cast<size_t>(size);
    MPI_Comm_dup(MPI_COMM_WORLD, &started_);
    look_at_machine();
  }
  ~MpiGroup() override {
    finish();
    MPI_Comm_free(&started_);
    MPI_Finalize();
  }

  size_t rank() const override { return rank_; }
  size_t size() const override { return size_; }
  size_t cores() const override { return cores_; }
  size_t machines() const override { return machines_; }

  void sum(std::span<float> values) override { sum_now(values); }
  void sum(std::span<double> values) override { sum_now(values); }
  void start_sum(std::span<float> values) override { start(values, started_, requests_); }
  void start_sum(std::span<double> values) override { start(values, started_, requests_); }

  void progress() override {
    if (requests_.empty()) return;
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) requests_.clear();
  }

  void finish() override { wait(requests_); }

  void broadcast(std::span<std::byte> values) override {
    for (size_t begin = 0; begin < values.size(); begin += most_at_once) {
      const std::span<std::byte> part = values.subspan(begin, std::min(most_at_once, values.size() - begin));
      std::vector<MPI_Request> request(1);
      MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD, request.data());
      wait(request);
    }
  }

  void barrier() override {
    std::vector<MPI_Request> request(1);
    MPI_Ibarrier(MPI_COMM_WORLD, request.data());
    wait(request);
  }

  void abort(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  template <class Number>
  static void start(std::span<Number> values, MPI_Comm among, std::vector<MPI_Request>& requests) {
    for (size_t begin = 0; begin < values.size(); begin += most_at_once) {
      const std::span<Number> part = values.subspan(begin, std::min(most_at_once, values.size() - begin));
      requests.emplace_back();
      MPI_Iallreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), type_of(Number{}), MPI_SUM,
                     among, &requests.back());
    }
  }

  template <class Number>
  static void sum_now(std::span<Number> values) {
    std::vector<MPI_Request> requests;
    start(values, MPI_COMM_WORLD, requests);
    wait(requests);
  }

  /// Waits without keeping a core busy for long: another rank, or an evaluation that this one waits for, may need it.
  static void wait(std::vector<MPI_Request>& requests) {
    using namespace std::chrono_literals;
    constexpr int tries_at_full_speed = 100, tries_with_others = 10000;
    int done = requests.empty() ? 1 : 0;
    for (int tries = 0; done == 0; tries = std::min(tries + 1, tries_with_others)) {
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0 || tries < tries_at_full_speed) continue;
      if (tries < tries_with_others)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(100us);
    }
    requests.clear();
  }

  void look_at_machine() {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    const std::vector<float> own = allowed_cores();
    std::vector<float> sharing = own;
    MPI_Allreduce(MPI_IN_PLACE, sharing.data(), static_cast<int>(sharing.size()), MPI_FLOAT, MPI_SUM,
                  machine);
    float cores = 0;
    for (size_t core = 0; core < own.size(); ++core)
      if (own[core] > 0) cores += 1 / sharing[core];
    constexpr float rounding = 0.01F;
    cores_ = std::max<size_t>(1, static_cast<size_t>(cores + rounding));
    int local_rank = 0;
    MPI_Comm_rank(machine, &local_rank);
    int first_of_machine = local_rank == 0 ? 1 : 0, machines = 0;
    MPI_Allreduce(&first_of_machine, &machines, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    machines_ = static_cast<size_t>(machines);
    MPI_Comm_free(&machine);
  }

  size_t rank_ = 0, size_ = 1, cores_ = 1, machines_ = 1;
  MPI_Comm started_ =
      MPI_COMM_NULL;  ///< where sums that were started meet: others may come in between on some ranks
  std::vector<MPI_Request> requests_;  ///< of those
};

}  // namespace

std::unique_ptr<Group> mpi_group() { return launched() > 1 ? std::make_unique<MpiGroup>() : nullptr; }

/// Up to the first comma: what follows is how it was built.
std::string mpi_name() {
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(name, &length);
  std::string all(name, static_cast<size_t>(length));
  all.resize(std::min(all.find_first_of(",\n"), all.size()));
  if (all.starts_with("Open MPI v")) all.erase(std::strlen("Open MPI "), 1);
  return all;
}

}  // namespace lamina::distributed

#else

namespace lamina::distributed {

std::unique_ptr<Group> mpi_group() {
  if (launched() > 1)
    fail<UsageError>(
        "started as one of ", launched(),
        " processes, but built without MPI, so that each would train alone; install MPI (Debian: "
        "libopenmpi-dev) and run make again, or start it without mpirun");
  return nullptr;
}

std::string mpi_name() { return "no MPI"; }

}  // namespace lamina::distributed

#endif
