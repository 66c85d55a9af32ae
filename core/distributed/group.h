#pragma once
// The processes that train one model together, called ranks as in MPI. Each holds the whole model and computes its part
// of every batch (batch_part.h); sums over all ranks keep the models equal.
//
//   distributed::join(distributed::mpi_group());      // under mpirun; else this process stays alone
//   distributed::group().sum(gradients);              // in place, the same bits on every rank
//
// A process alone is a group of one, in which everything here does nothing. All ranks must make the same calls in the
// same order.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lamina::distributed {

class Group {
 public:
  Group() = default;
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  virtual size_t rank() const { return 0; }
  virtual size_t size() const { return 1; }
  /// The cores of this machine that are this rank's: those it may run on, divided among the ranks that may as well.
  /// 0: a process alone, which has all.
  virtual size_t cores() const { return 0; }
  /// How many machines the ranks run on.
  virtual size_t machines() const { return 1; }

  /// Sums numbers over all ranks, in place. The order of the summands depends on the number of ranks and of numbers
  /// only, so that a run repeats bit for bit.
  virtual void sum(std::span<float> /*values*/) {}
  virtual void sum(std::span<double> /*values*/) {}

  /// The same while this rank goes on: the values may be neither read nor written before finish(). progress() is
  /// called now and then in between.
  virtual void start_sum(std::span<float> /*values*/) {}
  virtual void start_sum(std::span<double> /*values*/) {}
  virtual void progress() {}
  /// Waits for every sum that was started.
  virtual void finish() {}

  /// Every rank receives what rank 0 has.
  virtual void broadcast(std::span<std::byte> /*values*/) {}
  /// Returns once all ranks have called it.
  virtual void barrier() {}

  /// Ends all ranks at once, this one with `code`. Does nothing in a process alone.
  virtual void abort(int /*code*/) {}
};

/// The group that this process belongs to.
Group& group();

/// From here on this process belongs to `joined`; to a group of its own where that is null. Returns what it has left.
std::unique_ptr<Group> join(std::unique_ptr<Group> joined);

/// Whether this is rank 0, which alone writes files and reports.
inline bool is_first() { return group().rank() == 0; }
/// Whether there are other ranks.
inline bool is_shared() { return group().size() > 1; }

/// The text that rank 0 has, on every rank.
std::string broadcast(const std::string& text);

/// The number that each rank gives, by rank.
std::vector<double> gather(double own);

/// Throws UsageError on a rank whose text is not that of rank 0: "settings of rank 2 is not that of rank 0: --lr 0.1,
/// and --lr 0.2". Texts are compared word for word, and the first line that differs is shown. Where some rank throws,
/// the others do not return.
void require_same(const std::string& what, const std::string& own);

/// How many processes mpirun, or another launcher, says it has started; 1 where there is none. And the number of this one.
size_t launched();
size_t launched_rank();

/// The processes that a launcher has started, through MPI. Null where it started one, or there is no launcher. Throws
/// UsageError when it started several and this library was built without MPI.
std::unique_ptr<Group> mpi_group();

/// For --version: "Open MPI 4.1.4", or "no MPI".
std::string mpi_name();

}  // namespace lamina::distributed
