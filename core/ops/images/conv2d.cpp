// How a convolution becomes a matrix product without a matrix of patches is in core/gemm/gathered_tile.h. Here it
// is applied three times:
//
//   y  = patches(x) W                     rows: windows,  summed over taps
//   dW = patches(x)^T dy                  rows: taps,     summed over windows
//   dx = patches(dy, spread out) W'       rows: pixels,   summed over taps
//
// The third is a convolution again: dx at a pixel collects from every window that covered it. The
// derivatives dy, laid out with stride - 1 zeros between them and K - 1 - padding around, are the image,
// and W' is W with its window turned by 180 degrees and its channels exchanged.
//
// Each image is first copied into a frame of zeros that is small enough for the first or second level cache,
// so that no window has to check for the border. Rows of taps that meet nothing but the frame are left out:
// with 14 x 14 images, 5 x 5 kernels and padding 2 that saves a twelfth. Threads take images.

#include "core/ops/images/conv2d.h"

#include <algorithm>
#include <utility>

#include "core/gemm/gathered_tile.h"
#include "core/math/sum.h"
#include "core/ops.h"
#include "core/ops/images/patches.h"
#include "core/ops/map.h"

namespace lamina {

using namespace product_kernels;

namespace {

struct ConvSizes {
  size_t images, height, width, channels;       // of x
  size_t kernel_height, kernel_width, outputs;  // of the weight
  size_t stride, padding;
  size_t out_height, out_width;  // of y

  size_t windows() const { return out_height * out_width; }
  size_t taps() const { return kernel_height * kernel_width * channels; }
};

ConvSizes sizes_of(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Conv2dGeometry& geometry) {
  const Shape &image = x.shape(), &kernel = weight.shape();
  if (image.rank() != 4 || kernel.rank() != 4)
    fail("conv2d: images ", image, ", weight ", kernel,
         "; [N x height x width x channels] and [height x width x channels x outputs] are needed");
  if (image[3] != kernel[2])
    fail("conv2d: images ", image, " have ", image[3], " channels, the weight ", kernel, " is for ",
         kernel[2], layout_hint(image, kernel[2]));
  if (bias.defined() && bias.shape() != Shape{kernel[3]})
    fail("conv2d: the bias is ", bias.shape(), ", the weight ", kernel, " has ", kernel[3], " outputs");
  const auto [stride, padding] = geometry;
  if (stride == 0)
    fail("conv2d: stride 0 for images ", image, " and weight ", kernel, "; it must be positive");
  if (padding > Shape::max_size)
    fail("conv2d: a padding of ", padding, " for images ", image, ", most likely a negative number");
  if (kernel[0] == 0 || kernel[1] == 0 || kernel[0] > image[1] + 2 * padding ||
      kernel[1] > image[2] + 2 * padding)
    fail("conv2d: the kernel ", kernel[0], " x ", kernel[1], " does not fit into images ", image,
         " with padding ", padding, "; it must be at least 1 x 1 and at most ", image[1] + 2 * padding, " x ",
         image[2] + 2 * padding);
  return {.images = image[0],
          .height = image[1],
          .width = image[2],
          .channels = image[3],
          .kernel_height = kernel[0],
          .kernel_width = kernel[1],
          .outputs = kernel[3],
          .stride = stride,
          .padding = padding,
          .out_height = (image[1] + 2 * padding - kernel[0]) / stride + 1,
          .out_width = (image[2] + 2 * padding - kernel[1]) / stride + 1};
}

/// The tile's second matrix [rows x columns], panel after panel.
struct Panels {
  size_t rows, columns;
  Tensor packed;

  real* at(size_t column) { return packed.data() + column * rows; }
  const real* at(size_t column) const { return packed.data() + column * rows; }
};

Panels make_panels(size_t rows, size_t columns) {
  return {rows, columns, Tensor({(columns + panel_columns - 1) / panel_columns, rows, panel_columns})};
}

Panels pack_weight(const Tensor& weight, const ConvSizes& s) {
  Panels panels = make_panels(s.taps(), s.outputs);
  for (size_t j = 0; j < s.outputs; j += panel_columns)
    pack_panel(Transpose::no, s.taps(), std::min(panel_columns, s.outputs - j), weight.data() + j, s.outputs,
               panels.at(j));
  return panels;
}

/// W': the window turned around, inputs and outputs exchanged.
Panels pack_turned_weight(const Tensor& weight, const ConvSizes& s) {
  const size_t places = s.kernel_height * s.kernel_width;
  Panels panels = make_panels(places * s.outputs, s.channels);
  for (size_t j = 0; j < s.channels; j += panel_columns)
    for (size_t place = 0; place < places; ++place)
      pack_panel(Transpose::yes, s.outputs, std::min(panel_columns, s.channels - j),
                 weight.data() + ((places - 1 - place) * s.channels + j) * s.outputs, s.outputs,
                 panels.at(j) + place * s.outputs * panel_columns);
  return panels;
}

/// The unit of work: one image, or a range of its rows of windows.
struct Piece {
  size_t image, begin, end;
};

// Purposes of scratch memory.
struct FrameOfImage;
struct PanelOfDerivatives;

/// How the images are shared out: in whole images when they divide among the threads, otherwise each is cut
/// into as many pieces as there are threads.
struct Sharing {
  size_t images, rows, cuts, shares;
};

/// `rows` of windows in an image, with `work` multiply-adds each.
Sharing share_out(size_t images, size_t rows, size_t work_per_row) {
  constexpr size_t worth_a_share = 100000;  // multiply-adds
  const auto team = static_cast<size_t>(threads());
  const size_t cuts = images % team == 0 ? 1 : team;
  const size_t grain = grain_of(rows * work_per_row / cuts, worth_a_share);
  return {images, rows, cuts, shares_of(images * cuts, grain)};
}

/// Calls body(piece, frame, share) for all images, each in its frame, in parallel when there is enough to do.
template <class Body>
void for_each_framed(const real* x, const Frame& frame, const Sharing& sharing, const Body& body) {
  const size_t area = frame.image_height * frame.image_width * frame.channels;
  const size_t rows = sharing.rows, cuts = sharing.cuts, shares = sharing.shares;
  const size_t pieces = sharing.images * cuts;
  for_each_share(shares, [=, &frame, &body](size_t share) {
    real* const framed = scratch<FrameOfImage>(frame.size());
    std::fill_n(framed, frame.size(), real{0});  // once: each image overwrites the one before
    const Range range = part_of(pieces, share, shares);
    for (size_t i = range.begin; i < range.end; ++i) {
      frame.put(x + i / cuts * area, framed);
      body(Piece{i / cuts, rows * (i % cuts) / cuts, rows * (i % cuts + 1) / cuts}, framed, share);
    }
  });
}

/// y[images x windows x columns] (+)= patches * weight (+ bias)
void correlate(const real* x, size_t images, const Patches& patches, const Panels& weight, const real* bias,
               real* y, bool add) {
  const size_t outputs = weight.columns, width = patches.columns;
  const auto multiply = [&](const real* framed, real* image, size_t row, size_t end) {
    const auto [first, last] = patches.useful_taps(row);
    const size_t tap = first * patches.taps_in_a_row(), count = (last - first) * patches.taps_in_a_row();
    real* const to = image + row * width * outputs;
    for (size_t j = 0; j < outputs; j += panel_columns) {
      const real* const addend = add ? to + j : bias != nullptr ? bias + j : nullptr;
      multiply_gathered((end - row) * width, std::min(panel_columns, outputs - j), count,
                        {framed, patches.windows.data() + row * width, patches.taps.data() + tap},
                        weight.at(j) + tap * panel_columns, to + j, outputs, addend, add ? outputs : 0);
    }
  };
  for_each_framed(x, patches.frame, share_out(images, patches.rows, width * weight.rows * outputs),
                  [&](const Piece& piece, const real* framed, size_t) {
                    real* const image = y + piece.image * patches.rows * width * outputs;
                    for (size_t row = piece.begin, end = 0; row < piece.end; row = end) {
                      end = row + 1;  // as many rows as use the same taps
                      while (end < piece.end && patches.useful_taps(end) == patches.useful_taps(row)) ++end;
                      multiply(framed, image, row, end);
                    }
                  });
}

Frame frame_of_x(const ConvSizes& s) {
  const auto padding = static_cast<std::ptrdiff_t>(s.padding);
  return {.height = s.height + 2 * s.padding,
          .width = s.width + 2 * s.padding,
          .channels = s.channels,
          .image_height = s.height,
          .image_width = s.width,
          .top = padding,
          .left = padding,
          .spacing = 1};
}

Patches patches_of_x(const ConvSizes& s) {
  return make_patches(frame_of_x(s), s.out_height, s.out_width, s.stride, s.kernel_height, s.kernel_width);
}

void contribute_input(const Tensor& x, const Tensor& weight, const real* dy, const ConvSizes& s) {
  if (!x.needs_gradient()) return;
  const auto margin = [&](size_t kernel) {
    return static_cast<std::ptrdiff_t>(kernel) - 1 - static_cast<std::ptrdiff_t>(s.padding);
  };
  const Frame frame = {.height = s.height + s.kernel_height - 1,
                       .width = s.width + s.kernel_width - 1,
                       .channels = s.outputs,
                       .image_height = s.out_height,
                       .image_width = s.out_width,
                       .top = margin(s.kernel_height),
                       .left = margin(s.kernel_width),
                       .spacing = s.stride};
  const Patches patches = make_patches(frame, s.height, s.width, 1, s.kernel_height, s.kernel_width);
  const GradientSink sink = x.gradient_sink();
  correlate(dy, s.images, patches, pack_turned_weight(weight, s), nullptr, sink.values, sink.add);
}

/// dW and dbias: every share sums over its images, then the sums are added in the order of the shares.
void contribute_weight(const Tensor& x, const Tensor& weight, const Tensor& bias, const real* dy,
                       const ConvSizes& s) {
  if (!weight.needs_gradient() && !bias.needs_gradient()) return;
  const Patches patches = patches_of_x(s);
  const Sharing sharing = share_out(s.images, s.out_height, s.out_width * s.taps() * s.outputs);
  const size_t rows = s.taps() + 1;  // the last one is the bias
  // Taking tap rows one at a time allows windows to be skipped; rows that are too short are faster together.
  const bool by_row = patches.taps_in_a_row() >= max_tile_rows;
  const size_t steps = by_row ? s.kernel_height : 1, tile = s.taps() / steps;
  Tensor sums = Tensor::zeros({sharing.shares, rows, s.outputs});
  const auto add_piece = [&](const Piece& piece, const real* framed, real* sum) {
    const size_t width = s.out_width, count = (piece.end - piece.begin) * width;
    const real* const from = dy + (piece.image * s.windows() + piece.begin * width) * s.outputs;
    real* const panel = scratch<PanelOfDerivatives>(count * panel_columns);
    for (size_t j = 0; j < s.outputs; j += panel_columns) {
      const size_t columns = std::min(panel_columns, s.outputs - j);
      pack_panel(Transpose::no, count, columns, from + j, s.outputs, panel);
      for (size_t u = 0; u < steps; ++u) {
        const auto [begin, end] =
            by_row ? patches.useful_windows(u, piece.begin, piece.end) : std::pair(piece.begin, piece.end);
        real* const to = sum + u * tile * s.outputs + j;
        multiply_gathered(tile, columns, (end - begin) * width,
                          {framed, patches.taps.data() + u * tile, patches.windows.data() + begin * width},
                          panel + (begin - piece.begin) * width * panel_columns, to, s.outputs, to,
                          s.outputs);
      }
      real* const bias_sum = sum + s.taps() * s.outputs + j;
      if (bias.needs_gradient())
        add_column_sums(count, 0, columns, bias_sum, [=](size_t i) {
          return [window = panel + i * panel_columns](size_t c) { return window[c]; };
        });
    }
  };
  for_each_framed(x.data(), patches.frame, sharing,
                  [&, all = sums.data()](const Piece& piece, const real* framed, size_t share) {
                    add_piece(piece, framed, all + share * rows * s.outputs);
                  });
  const auto total = [=, all = sums.data(), shares = sharing.shares](size_t i) {
    real sum = 0;
    for (size_t t = 0; t < shares; ++t) sum += all[t * rows * s.outputs + i];
    return sum;
  };
  contribute(weight, total);
  contribute(bias, [=](size_t o) { return total(s.taps() * s.outputs + o); });
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dGeometry& geometry) {
  const ConvSizes s = sizes_of(x, weight, bias, geometry);
  Tensor y({s.images, s.out_height, s.out_width, s.outputs});
  correlate(x.data(), s.images, patches_of_x(s), pack_weight(weight, s),
            bias.defined() ? bias.data() : nullptr, y.data(), false);
  return record({"conv2d", OpKind::product}, y, {x, weight, bias}, [=] {
    contribute_weight(x, weight, bias, y.gradient_data(), s);
    contribute_input(x, weight, y.gradient_data(), s);
  });
}

namespace composed {

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dGeometry& geometry) {
  const ConvSizes s = sizes_of(x, weight, bias, geometry);
  // A table of all pixels, followed by one of zeros that stands for every place outside.
  const size_t pixels = s.images * s.height * s.width;
  const Tensor table = concatenate({x.reshape({pixels, s.channels}), Tensor::zeros({1, s.channels})}, 0);
  std::vector<int> places;
  for (size_t n = 0; n < s.images; ++n)
    for (size_t window = 0; window < s.windows(); ++window)
      for (size_t tap = 0; tap < s.kernel_height * s.kernel_width; ++tap) {
        const size_t i = window / s.out_width * s.stride + tap / s.kernel_width - s.padding;
        const size_t j = window % s.out_width * s.stride + tap % s.kernel_width - s.padding;
        const bool inside = i < s.height && j < s.width;  // below 0 they wrap around and are large
        places.push_back(static_cast<int>(inside ? (n * s.height + i) * s.width + j : pixels));
      }
  const Tensor patches = gather(table, places).reshape({s.images * s.windows(), s.taps()});
  return linear(patches, weight.reshape({s.taps(), s.outputs}), bias)
      .reshape({s.images, s.out_height, s.out_width, s.outputs});
}

}  // namespace composed

}  // namespace lamina
