#pragma once
// One pass through all glimpses of a batch: what forward (glimpses.cpp) keeps for backward
// (glimpses_backward.cpp).

#include <algorithm>
#include <array>

#include "core/gemm/gemm.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/fused/row_step.h"
#include "models/draw/glimpses.h"

namespace lamina::draw {

class GlimpsePass {
 public:
  GlimpsePass(const GlimpseSizes& sizes, const GlimpseWeights& weights, const Tensor& images,
              const Tensor& noise, bool recording);

  Glimpses forward();
  void backward(const Glimpses& result);

 private:
  /// The columns of a row of the trace. Each state is followed by its 1.
  struct Columns {
    explicit Columns(const GlimpseSizes& sizes)
        : h_dec(sizes.latent),
          glimpse(h_dec + sizes.hidden + 1),
          h_enc(glimpse + sizes.read_inputs()),
          end(h_enc + sizes.hidden + 1) {}
    size_t z = 0, h_dec, glimpse, h_enc, end;
  };

  /// A window of the trace times a weight.
  struct Product {
    Tensor weight;
    size_t from;   ///< first column of the window
    size_t later;  ///< 1: the window is in the row of the next glimpse, which holds this one's states
    Tensor out;    ///< results, then in place their gradients [slots x B x outputs]
    PackedMatrix packed = {};
  };

  /// An LSTM.
  struct Unit {
    Product gates;
    size_t h;  ///< column of its state in the trace
    RowStep step;
    Tensor c;        ///< c_{t-1} in slot t [slots x B x H]
    Tensor dc = {};  ///< [B x H]
    RowStep::Workspace workspace = {};
  };

  Product product(const Tensor& weight, size_t from, size_t later) const;
  Unit unit(const std::string& name, const Tensor& weight, size_t from, size_t h,
            const StepNormParameters& norm) const;
  Tensor for_all_slots(size_t columns) const { return Tensor({slots_, rows_, columns}); }
  std::array<Unit*, 2> units() { return {&encoder_, &decoder_}; }
  std::array<Product*, 5> products() { return {&encoder_.gates, &decoder_.gates, &latent_, &write_, &read_}; }

  /// Slot t holds glimpse t; without a tape there are only two, used alternately.
  real* at(Tensor& of, size_t t, size_t r) const {
    return of.data() + (t % slots_ * rows_ + r) * of.columns();
  }
  real* row(Tensor& of, size_t r) const { return of.data() + r * of.columns(); }
  real* trace(size_t t, size_t r, size_t column) { return at(trace_, t, r) + column; }

  void pack(Transpose op);
  size_t shares() const { return shares_of(rows_, least_rows); }
  size_t scratch_size() const { return std::max(reading_.scratch_size(), writing_.scratch_size()); }
  ReadCase read_case(size_t t, size_t r);
  WriteCase write_case(size_t t, size_t r);

  void start(size_t r);
  void multiply(Product& product, size_t t, const Range& rows);
  void look(size_t t, size_t r, real* scratch);
  RowStep::Step step_at(Unit& unit, size_t t);
  void step(Unit& unit, size_t t, const Share& share);
  void sample(size_t t, size_t r);
  void draw(size_t t, size_t r, real* scratch);

  void start_backward(const Glimpses& result);
  void backward_rows(const Share& share, const real* dkl, real* scratch);
  void draw_backward(size_t t, size_t r, real* scratch);
  void step_backward(Unit& unit, size_t t, const Share& share);
  void sample_backward(size_t t, size_t r, real dkl);
  void look_backward(size_t t, size_t r, real* scratch);
  void multiply_backward(Product& product, size_t t, const Range& rows, bool accumulate);

  static constexpr size_t least_rows = 4;  // per thread

  GlimpseSizes sizes_;
  Attention reading_, writing_;
  size_t rows_, slots_;
  Columns columns_;
  Tensor noise_;
  Tensor images_;  ///< with padded rows [B x image_size]
  Tensor trace_;   ///< [slots x B x columns.end]
  Unit encoder_, decoder_;
  Product latent_, write_, read_;
  Tensor read_filters_, write_filters_;  ///< [slots x B x filters_size]
  Tensor errors_;                        ///< x - sigmoid(c_{t-1}), with padded rows [slots x B x image_size]
  Tensor canvas_;                        ///< c_t, then its gradient, with padded rows [B x image_size]
  Tensor kl_;                            ///< [B]
  Tensor drow_;                          ///< gradient of the current row of the trace [B x columns.end]
};

}  // namespace lamina::draw
