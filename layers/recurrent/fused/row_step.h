#pragma once
// One normalized step of a cell on the rows of a batch, one row per case, forward beside backward. Whole sequences,
// sessions, and models that feed back between their steps all run this.
//
//   a = N(x part) + condition,  s = N(hidden part)      for cells that normalize jointly  a = N(x part + hidden part)
//   state = cell(a, s, state before)                    for cells with memory             h = output(a, N(c))
//
// The caller forms the summed inputs. The columns of the gates are split in two: to the x part of the first
// `direct` columns it has added the hidden part, W_h h_{t-1}; for the last `kept` columns the hidden part
// stays separate, because a normalization or the cell needs it.
//
// Memory traffic determines the speed. Where rows are normalized separately, gates are not kept: the backward
// pass recomputes them from the summed inputs, which it needs anyway. And the statistics of a row are
// computed one row ahead: the latency of a sum, a square root and a division is hidden behind the work on the
// row before.

#include "layers/recurrent/cell.h"
#include "layers/recurrent/fused/sequence_record.h"
#include "layers/recurrent/fused/step_norm.h"
#include "layers/recurrent/fused/thread_schedule.h"
#include "layers/statistics/row_sums.h"

namespace lamina {

/// A row of numbers per case, at a stride of `stride`.
template <class Number>
struct Rows {
  Number* first = nullptr;
  size_t stride = 0;
  Number* operator[](size_t r) const { return first + r * stride; }
  operator Rows<const Number>() const { return {first, stride}; }
};

struct RowStepOptions {
  const Cell* cell = nullptr;
  StepNormParameters input_norm = {};  ///< over the x part (Eq. 20, 26)
  /// For the simple cell over the sum of both parts (Eq. 4), otherwise over the hidden part.
  StepNormParameters hidden_norm = {};
  StepNormParameters memory_norm = {};  ///< over c in h = o tanh(c) (Eq. 22, 31), for cells with memory
  Tensor condition = {};  ///< [B x gates H], added to the x part of every step after its normalization
  Mode mode = Mode::train;
  bool count_padded = false;         ///< batch norm: padded cases enter the statistics
  real clip = 0;                     ///< bound of dL/d(summed inputs), element by element; 0: none
  SequenceRecord* record = nullptr;  ///< with room for every step; must outlive the backward pass
  size_t record_from = 0;            ///< the index of step 0 in it
};

/// The steps of one pass through time. Copies share the statistics of the normalizations.
class RowStep {
 public:
  RowStep(const RowStepOptions& options, size_t hidden, size_t steps, size_t rows);

  const RowStepOptions& options() const { return options_; }
  size_t hidden() const { return size_; }
  size_t width() const { return width_; }  ///< of summed inputs: gates H
  size_t kept() const { return kept_; }    ///< columns whose hidden part stays separate
  size_t direct() const { return width_ - kept_; }
  bool has_memory() const { return form().memory(); }
  /// Whether every row can go through all steps independently of the others.
  bool by_rows() const { return input_norm_.by_rows() && hidden_norm_.by_rows() && memory_norm_.by_rows(); }
  /// Whether gates need a buffer other than the x part.
  bool gates_apart() const { return input_norm_.active() && !by_rows(); }

  /// The buffers of one step. Those that a normalization over all rows reads are contiguous.
  struct Step {
    size_t t;                    ///< for statistics and the record
    const real* mask = nullptr;  ///< [B]: 0 at padded cases, whose state is carried over; nullptr: no padding
    Rows<real> x;                ///< [gates H] before normalization
    Rows<real> gates;            ///< [gates H] as the cell leaves them; `x` unless gates_apart()
    Rows<real> kept;             ///< [kept] before normalization
    Rows<const real> before_h, before_c;
    Rows<real> h, c;
  };

  /// The gradients of one step.
  struct Gradients {
    Rows<real> x, kept;         ///< out, which may overwrite the summed inputs where by_rows()
    Rows<const real> outside;   ///< of h_t from outside the recurrence, added to `h`; may be null
    Rows<real> h, c;            ///< in: of the state after; out: of that before, without the W_h part
    Rows<real> condition = {};  ///< accumulated, where there is a condition
  };

  /// Scratch memory of the threads; `levels` of sums of gains' and biases' gradients (see RowSums), for the
  /// backward pass.
  struct Workspace {
    Tensor scratch;      ///< a row per thread
    Tensor sums;         ///< [threads x levels x all]
    Tensor dnormalized;  ///< [B x H], of the normalized c
  };
  Workspace workspace(size_t threads, size_t levels = 0) const;

  /// One thread's scratch memory for one row, and its sums.
  struct Desk {
    real *gates, *kept;  ///< [gates H] each
    real *state, *dnormalized;
    RowSums sums;
  };
  Desk desk(Workspace& all, size_t thread) const;

  /// To be called before forward() by who shares the population's statistics with other passes that are under way.
  void open(size_t t);
  void forward(const Step& at, const Share& share, const Desk& own);
  /// Steps from last to first. Afterwards the caller adds d(summed inputs) W_h^T to the gradient of h.
  void backward(const Step& at, const Gradients& d, const Share& share, Desk& own);
  /// Adds the gradients of gains and biases.
  void contribute(const Workspace& all) const;

  /// To be called once all cases have finished a step.
  void finish_forward(size_t t, const real* mask = nullptr) const {
    if (record_.wanted()) record_.finish_forward(t, mask);
  }
  void finish_backward(size_t t, const real* mask = nullptr) const {
    if (record_.wanted()) record_.finish_backward(t, mask);
  }

  /// Visits, matrix by matrix, the data of these rows that the backward pass reads and that no later step has
  /// read, as if rows were contiguous.
  template <class Visit>
  void read_by_backward(const Step& at, Rows<const real> outside, const Range& rows, Visit&& visit) const {
    const auto piece = [&](Rows<const real> all, size_t width) {
      visit(std::span<const real>(all[rows.begin], rows.size() * width));
    };
    piece(at.x, width_);
    piece(at.kept, kept_);
    piece(previous(at), size_);
    if (outside.first != nullptr) piece(outside, size_);
    if (gates_apart()) piece(at.gates, width_);
  }

 private:
  /// The buffers of one row between the cell and the normalizations.
  struct BackRow {
    const real *gates, *kept;
    real *dgates, *dkept;  ///< after normalization
  };

  static bool padded(const Step& at, size_t r) { return at.mask != nullptr && at.mask[r] == 0; }
  /// The mask of the cases that enter batch norm's statistics.
  const real* counted(const Step& at) const { return options_.count_padded ? nullptr : at.mask; }
  const CellForm& form() const { return cell_->form(); }
  bool joint() const { return hidden_norm_.active() && form().joint; }
  /// The number of columns of the gates that the cell gets separately, the last of the kept ones, and of
  /// those before them.
  size_t seen_apart() const { return form().kept_gates * size_; }
  size_t to_be_added() const { return kept_ - seen_apart(); }
  bool computes_gates_again() const { return input_norm_.active() && by_rows(); }
  const Rows<real>& hidden_sums(const Step& at) const { return joint() ? at.gates : at.kept; }
  real* gates_row(const Step& at, size_t r, const Desk& own) const {
    return computes_gates_again() ? own.gates : at.gates[r];
  }
  Rows<const real> previous(const Step& at) const { return has_memory() ? at.before_c : at.before_h; }
  // The offsets of each normalization in a thread's sums, first the gain's and then the bias's.
  size_t sums_of_hidden() const { return 2 * width_; }
  size_t sums_of_memory() const { return 4 * width_; }
  size_t sums_size() const { return 4 * width_ + 2 * size_; }

  void measure_row(const Step& at, size_t r);
  void update_row(const Step& at, size_t r, const Desk& own, real* next) const;
  void emit_row(const Step& at, size_t r, const Desk& own);
  BackRow back_row(const Step& at, const Gradients& d, size_t r, const Desk& own) const;
  void open_row(const Step& at, const Gradients& d, size_t r, const BackRow& row, const Desk& own);
  void close_row(const Step& at, const Gradients& d, size_t r, const BackRow& row, const Desk& own) const;

  RowStepOptions options_;
  const Cell* cell_;
  size_t rows_, size_, width_, kept_;
  StepNorm input_norm_, hidden_norm_, memory_norm_;
  CaseRecord record_;
};

}  // namespace lamina
