// The group of the processes that mpirun started. `make MPI=1` compiles the first half, which needs MPI 3; without it
// the library has no MPI in it.

#include "core/distributed/group.h"
#include "core/distributed/machine/waiting.h"
#include "core/error.h"

#ifdef LAMINA_MPI

// Not the C++ bindings of MPI 2, which bring a library of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace lamina::distributed {

namespace {

/// The most bytes in one broadcast: MPI counts in int.
constexpr size_t most_bytes = size_t{1} << 28;

/// The most numbers in sums under way: MPI holds a copy of them.
constexpr size_t most_at_once = size_t{1} << 20;

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
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED)
      fail<UsageError>(
          "this MPI serves the first thread of a process only; install one that serves any, one at a time");
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
  void start_sum(std::span<float> values) override { queue(values); }
  void start_sum(std::span<double> values) override { queue(values); }

  void progress() override {
    if (under_way_.empty()) return;
    int done = 0;
    MPI_Testall(static_cast<int>(under_way_.size()), under_way_.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) return;
    under_way_.clear();
    start_more();
  }

  void finish() override {
    while (!under_way_.empty()) {
      wait(under_way_);
      start_more();
    }
    queue_.clear();
    next_ = 0;
  }

  void broadcast(std::span<std::byte> values) override {
    for (size_t begin = 0; begin < values.size(); begin += most_bytes) {
      const std::span<std::byte> part = values.subspan(begin, std::min(most_bytes, values.size() - begin));
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
  /// Numbers to be summed in one call.
  struct Piece {
    void* values;
    size_t count;
    MPI_Datatype type;
  };

  /// body(piece) for each piece of the values.
  template <class Number, class Body>
  static void for_each_piece(std::span<Number> values, const Body& body) {
    for (size_t begin = 0; begin < values.size(); begin += most_at_once) {
      const std::span<Number> part = values.subspan(begin, std::min(most_at_once, values.size() - begin));
      body(Piece{part.data(), part.size(), type_of(Number{})});
    }
  }

  static void start(const Piece& piece, MPI_Comm among, std::vector<MPI_Request>& requests) {
    requests.emplace_back();
    MPI_Iallreduce(MPI_IN_PLACE, piece.values, static_cast<int>(piece.count), piece.type, MPI_SUM, among,
                   &requests.back());
  }

  template <class Number>
  static void sum_now(std::span<Number> values) {
    for_each_piece(values, [](const Piece& piece) {
      std::vector<MPI_Request> request;
      start(piece, MPI_COMM_WORLD, request);
      wait(request);
    });
  }

  template <class Number>
  void queue(std::span<Number> values) {
    for_each_piece(values, [this](const Piece& piece) { queue_.push_back(piece); });
    if (under_way_.empty()) start_more();
  }

  /// The next pieces, as many as may be under way together.
  void start_more() {
    for (size_t numbers = 0; next_ < queue_.size(); ++next_) {
      numbers += queue_[next_].count;
      if (numbers > most_at_once) return;
      start(queue_[next_], started_, under_way_);
    }
  }

  static void wait(std::vector<MPI_Request>& requests) {
    int done = requests.empty() ? 1 : 0;
    for (Waiting another; done == 0; another())
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
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
      MPI_COMM_NULL;          ///< where sums that were started meet: others may come in between on some ranks
  std::vector<Piece> queue_;  ///< of those sums, in the order in which they were started
  size_t next_ = 0;           ///< the first that is not under way yet
  std::vector<MPI_Request> under_way_;
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
