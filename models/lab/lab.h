#pragma once
// A lab: a sentence that is said about normalization, and a short experiment that shows whether it holds.
//
// A lab measures one seed at a time and says all that it saw in rows. Table, figure and verdicts are made from the rows
// of several seeds, and so can be made again from a file of them without measuring.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/evidence/claim.h"

namespace lamina::lab {

/// A number that was measured. Not finite where a training diverged, or never came to what is counted.
struct Observation {
  std::int64_t seed = 0;
  std::string variant = {};   ///< what is compared: "layer", "batch with moving averages"; no commas
  std::string quantity = {};  ///< "test error"
  double x = 0;               ///< of a curve; 0 for a single number
  double value = 0;

  bool operator==(const Observation&) const = default;
};

/// One number for each seed: what the quantity of a variant comes to over x.
struct LabNumber {
  enum Over { last, first, lowest, highest, mean, at_x };
  std::string variant = {}, quantity = {};
  /// x rises; `last` is also the single number of a quantity that has one. What is not finite counts as above all others:
  /// `lowest` is that of the rest, and where it is there, there is no `highest`.
  Over over = last;
  double x = 0;                   ///< of at_x
  std::optional<double> is = {};  ///< in place of all this a number that is known: {.is = 1e-12}
};

struct LabClaim {
  std::string words = {};
  LabNumber subject = {}, other = {};
  Claim::Direction direction = Claim::lower;  ///< of the subject; not `faster`
  double least = 0;                           ///< difference that is claimed at least, or ratio (0: 1, any)
  bool ratio = false;
  bool for_the_better = true;  ///< that the subject does what it does: says who is ahead where some diverged
  std::string_view without = "diverged";  ///< what a training without a number did; a literal
  /// Of what is exact: holds when it is so in each seed, does not hold when it is so in none, else cannot be told. No
  /// interval is made, as rounding errors are no sample of anything.
  bool in_each_seed = false;
};

/// A quantity against x: the median of the seeds for each variant, and their range as a band.
struct LabChart {
  std::string title = {}, quantity = {}, x_label = {}, y_label = {};
  bool log_x = false, log_y = false;
  std::vector<std::string> variants = {};  ///< empty: all that have the quantity
};

struct Lab {
  std::string name = {}, title = {};  ///< "train-test", "Batch norm in training and in use"
  std::string sentence = {};          ///< that is tested: in our words, or a short quotation
  std::string source = {};            ///< document and section
  std::string setting = {};           ///< how it is measured: task, model, sizes; a sentence or two
  bool in_double = false;             ///< compares what float cannot tell apart

  /// All rows of one seed, with `seed` as theirs, from that seed alone; in a process with one thread. `quick`: within
  /// two seconds, the same rows of less data and fewer steps, which show that it works and nothing else.
  std::vector<Observation> (*measure)(std::int64_t seed, bool quick) = nullptr;

  std::vector<LabClaim> claims = {};
  std::vector<LabChart> charts = {};
};

/// Collects the rows of a seed.
///
///   Notes notes(seed);
///   notes.add("layer", "test error", epoch, error);
///   return notes.rows();
class Notes {
 public:
  explicit Notes(std::int64_t seed) : seed_(seed) {}

  void add(const std::string& variant, const std::string& quantity, double x, double value) {
    rows_.push_back({seed_, variant, quantity, x, value});
  }
  void add(const std::string& variant, const std::string& quantity, double value) {
    add(variant, quantity, 0, value);
  }
  void add(const std::vector<Observation>& rows) { rows_.insert(rows_.end(), rows.begin(), rows.end()); }

  const std::vector<Observation>& rows() const { return rows_; }

 private:
  std::int64_t seed_;
  std::vector<Observation> rows_;
};

}  // namespace lamina::lab
