// The filter banks of DRAW, and reading and writing through them.

#include "models/draw/attention.h"

#include <array>

#include "core/ops/map.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
namespace d = lamina::draw;

namespace {

/// Foci worth testing, one per case: in the middle; at two borders; outside of the image; with a variance
/// that leaves one pixel, and one that covers everything; with a grid on one spot, and one far wider than the
/// image.
Tensor foci() {
  return Tensor::from({8, 5}, {real(0.1),   real(-0.2), real(0.3),  real(-0.1), real(0.2),   //
                               real(-1),    real(1),    real(0),    real(0),    real(-0.3),  //
                               real(-0.9),  real(0.95), real(-1),   real(-0.5), real(0.1),   //
                               real(2.1),   real(-2.2), real(0.5),  real(-0.4), real(0.4),   //
                               real(0.013), real(0.21), real(-3),   real(-0.6), real(0.2),   //
                               real(0.3),   real(0.1),  real(6),    real(-0.2), real(-0.1),  //
                               real(0.2),   real(-0.1), real(0.4),  real(-6),   real(0),     //
                               real(0.1),   real(0.2),  real(-0.2), real(1.5),  real(0.1)});
}

const std::vector<d::Attention> sizes{{5, 2}, {16, 3}, {19, 5}, {28, 2}, {28, 5}, {1, 1}};

Tensor binary(const Shape& shape, std::uint64_t seed) {
  Tensor x = sample(shape, seed, 0, 1);
  for (real& value : x.values()) value = value < real(0.4) ? real(1) : real(0);
  return x;
}

real* row(Tensor& of, size_t r) { return of.data_unwatched() + r * of.columns(); }

/// The functions of one case as an op on a batch, with gradients.
Tensor read_op(const d::Attention& attention, const Tensor& focus, const Tensor& image,
               const Tensor& canvas) {
  struct Kept {
    Tensor focus, image, error, filters, patch, scratch;
    d::ReadCase at(size_t r) {
      return {.focus = row(focus, r),
              .filters = row(filters, r),
              .image = row(image, r),
              .error = row(error, r),
              .patch = row(patch, r)};
    }
  };
  const size_t rows = image.rows();
  Kept kept{.focus = focus,
            .image = padded(attention, image),
            .error = Tensor({rows, attention.image_size()}),
            .filters = Tensor({rows, attention.filters_size()}),
            .patch = Tensor({rows, 2 * attention.patch()}),
            .scratch = Tensor({attention.scratch_size()})};
  Tensor padded_canvas = padded(attention, canvas);
  for (size_t r = 0; r < rows; ++r) {
    d::make_filters(attention, row(kept.focus, r), row(kept.filters, r));
    d::read_forward(attention, kept.at(r), row(padded_canvas, r), kept.scratch.data());
  }
  const Tensor patch = kept.patch;
  return record("read", patch, {focus, canvas}, [=]() mutable {
    Tensor dfocus(focus.shape()), dcanvas = Tensor::zeros({rows, attention.image_size()});
    for (size_t r = 0; r < rows; ++r)
      d::read_backward(attention, kept.at(r), patch.gradient_data() + r * patch.columns(), row(dfocus, r),
                       row(dcanvas, r), kept.scratch.data());
    contribute(focus, [d = dfocus.data()](size_t i) { return d[i]; });
    const Tensor unpadded = d::unpadded(attention, dcanvas);
    contribute(canvas, [d = unpadded.data()](size_t i) { return d[i]; });
  });
}

Tensor write_op(const d::Attention& attention, const Tensor& focus, const Tensor& patch) {
  Tensor kept_focus = focus, kept_patch = patch, filters({focus.rows(), attention.filters_size()}),
         scratch({attention.scratch_size()});
  for (size_t r = 0; r < focus.rows(); ++r) d::make_filters(attention, row(kept_focus, r), row(filters, r));
  const Tensor added = [&] {
    const Tape::Pause pause;
    return d::write(attention, focus, patch);
  }();
  return record("write", added, {focus, patch}, [=]() mutable {
    Tensor dfocus(focus.shape()), dpatch(patch.shape()), dadded = padded(attention, added.gradient());
    for (size_t r = 0; r < focus.rows(); ++r)
      d::write_backward(
          attention, {.focus = row(kept_focus, r), .filters = row(filters, r), .patch = row(kept_patch, r)},
          row(dadded, r), row(dfocus, r), row(dpatch, r), scratch.data());
    contribute(focus, [d = dfocus.data()](size_t i) { return d[i]; });
    contribute(patch, [d = dpatch.data()](size_t i) { return d[i]; });
  });
}

}  // namespace

TEST_CASE("draw: filters are normalized Gaussians wherever the grid may be") {
  const d::Attention attention{28, 5};
  for (const std::array<double, 3>& place :
       std::vector<std::array<double, 3>>{{0, 0, 0}, {1, -2, 0}, {50, 0, 1}, {0.03, -60, 0}, {0, 60, 2}}) {
    const double centre = place[0], log_variance = place[1], log_stride = place[2];
    CAPTURE(centre);
    CAPTURE(log_variance);
    const std::vector<real> focus{static_cast<real>(centre), static_cast<real>(-centre),
                                  static_cast<real>(log_variance), static_cast<real>(log_stride), 0};
    std::vector<real> filters(attention.filters_size());
    d::make_filters(attention, focus.data(), filters.data());
    for (size_t i = 0; i < 2 * attention.points; ++i) {
      double total = 0;
      for (size_t a = 0; a < attention.width(); ++a) {
        const real value = filters[i * attention.width() + a];
        CHECK((value >= 0 && value <= 1));
        if (a >= attention.side) CHECK(value == 0);
        total += static_cast<double>(value);
      }
      CHECK(total == doctest::Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("draw: the filters' centres and width, by hand") {
  const d::Attention attention{28, 5};
  const std::vector<real> focus{0, 0, 0, 0, 0};  // stride 27 / 4, centre 14.5 counted from 1
  std::vector<real> filters(attention.filters_size());
  d::make_filters(attention, focus.data(), filters.data());
  // mu_3 = 14.5 + 6.75 = 21.25; the pixels 21 and 22 are 0.25 and 0.75 away
  const size_t row = 3 * attention.width();
  CHECK(static_cast<double>(filters[row + 20] / filters[row + 21]) ==
        doctest::Approx(std::exp((0.75 * 0.75 - 0.25 * 0.25) / 2)).epsilon(1e-5));
  const d::Frame frame = d::frame_of(attention, focus.data());
  CHECK(frame.centre_x == doctest::Approx(13.5));
  CHECK(frame.centre_y == doctest::Approx(13.5));
  CHECK(frame.stride == doctest::Approx(6.75));
  CHECK(frame.deviation == doctest::Approx(1));
  const std::vector<real> moved{real(0.2), real(-0.4), std::log(real(4)), std::log(real(0.5)), 0};
  const d::Frame other = d::frame_of(attention, moved.data());
  CHECK(other.centre_x == doctest::Approx(16.4));  // 14.5 * 1.2 - 1
  CHECK(other.centre_y == doctest::Approx(7.7));
  CHECK(other.stride == doctest::Approx(3.375));
  CHECK(other.deviation == doctest::Approx(2));
}

TEST_CASE("draw: reading and writing equal their composed twins") {
  for (const d::Attention& attention : sizes) {
    CAPTURE(attention.side);
    CAPTURE(attention.points);
    const Tensor focus = foci(), image = binary({8, attention.side * attention.side}, 1);
    const Tensor canvas = sample(image.shape(), 2, -2, 2), patch = sample({8, attention.patch()}, 3);
    const double tolerance = sizeof(real) == 8 ? 1e-11 : 2e-4;
    check_twins([&](const auto& in) { return read_op(attention, in[0], image, in[1]); },
                [&](const auto& in) { return d::composed::read(attention, in[0], image, in[1]); },
                {focus, canvas}, tolerance);
    check_twins([&](const auto& in) { return write_op(attention, in[0], in[1]); },
                [&](const auto& in) { return d::composed::write(attention, in[0], in[1]); }, {focus, patch},
                tolerance);
  }
}

TEST_CASE("draw: gradients of reading and writing, at the border and with tiny and huge variance") {
  for (const d::Attention& attention : {d::Attention{6, 2}, d::Attention{9, 3}}) {
    const Tensor image = binary({8, attention.side * attention.side}, 1);
    const Tensor focus = foci(), canvas = sample(image.shape(), 2, -2, 2),
                 patch = sample({8, attention.patch()}, 3);
    constexpr double h = 2e-4;  // a narrow filter has a large curvature
    check_gradients(
        {focus, canvas}, [&] { return weighted(read_op(attention, focus, image, canvas)); }, h);
    check_gradients(
        {focus, patch}, [&] { return weighted(write_op(attention, focus, patch)); }, h);
  }
}

TEST_CASE("draw: foci beyond all bounds give finite numbers") {
  const d::Attention attention{28, 5};
  Tensor focus = Tensor::from({2, 5}, {real(1e4), real(-1e4), -200, -200, 0, 0, 0, 80, 3, 0});
  Tensor canvas = sample({2, 784}, 1);
  focus.require_gradient();
  Tape tape;
  const Tensor patch = read_op(attention, focus, binary({2, 784}, 2), canvas);
  tape.backward(weighted(patch));
  for (const real value : patch.values()) CHECK(std::isfinite(value));
  const Tensor gradient = focus.gradient();
  for (const real value : gradient.values()) CHECK(std::isfinite(value));
}

TEST_CASE("draw: writing without gradients refuses a tape") {
  const Tensor focus = Tensor::zeros({1, 5}).require_gradient(), patch = Tensor::zeros({1, 4});
  CHECK(d::write({4, 2}, focus, patch).columns() == 16);
  const Tape tape;
  CHECK_ERROR(d::write({4, 2}, focus, patch), "draw write: has no gradient; call composed::write on a tape");
}

TEST_CASE("draw: wrong shapes are named") {
  const d::Attention attention{4, 2};
  CHECK_ERROR(
      d::composed::read(attention, Tensor::zeros({3, 4}), Tensor::zeros({3, 16}), Tensor::zeros({3, 16})),
      "draw read: the focus is [3 x 4]; [3 x 5] is needed");
  CHECK_ERROR(d::write(attention, Tensor::zeros({3, 5}), Tensor::zeros({3, 9})),
              "draw write: the patch is [3 x 9]; [3 x 4] is needed");
}
