#include "models/data/mnist_data.h"

#include <filesystem>
#include <span>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/files/folder.h"
#include "core/math/random.h"
#include "models/data/digits.h"
#include "models/data/idx.h"

namespace lamina {

namespace {

constexpr size_t valid_count = 5000;
constexpr const char* remedy =
    "download MNIST's four files (train- and t10k-, images-idx3-ubyte.gz and labels-idx1-ubyte.gz), for "
    "example from "
    "https://ossci-datasets.s3.amazonaws.com/mnist/, or leave --data out for the built-in digits";

/// The file of that name, compressed or not.
std::string find(const std::filesystem::path& folder, const std::string& name) {
  for (const std::string& spelling : {name, name + ".gz"})
    if (std::string path = (folder / spelling).string(); exists(path)) return path;
  fail<DataError>((folder / name).string(), ": not found, nor ", name, ".gz; ", remedy);
}

struct Cases {
  IdxImages images;
  std::vector<int> labels;
};

Cases read_cases(const std::string& folder, const std::string& prefix) {
  const std::string image_file = find(folder, prefix + "-images-idx3-ubyte");
  const std::string label_file = find(folder, prefix + "-labels-idx1-ubyte");
  Cases cases{read_idx_images(image_file), read_idx_labels(label_file)};
  const IdxImages& images = cases.images;
  if (images.rows != digit_side || images.columns != digit_side) {
    fail<DataError>(image_file, ": its images are ", images.rows, " x ", images.columns,
                    " pixels, not 28 x 28; ", remedy);
  }
  if (images.count != cases.labels.size()) {
    fail<DataError>(image_file, ": holds ", images.count, " images, but ", label_file, " holds ",
                    cases.labels.size(), " labels; they are from different data sets: ", remedy);
  }
  return cases;
}

/// The cases from `begin` up to `end`.
DigitSplit split_of(const Cases& cases, size_t begin, size_t end) {
  DigitSplit split;
  split.pixels.resize((end - begin) * digit_pixels);
  const std::uint8_t* bytes = &cases.images.pixels[begin * digit_pixels];
  for (size_t i = 0; i < split.pixels.size(); ++i) split.pixels[i] = static_cast<real>(bytes[i]) / 255;
  split.labels.assign(cases.labels.begin() + static_cast<std::ptrdiff_t>(begin),
                      cases.labels.begin() + static_cast<std::ptrdiff_t>(end));
  return split;
}

std::string sizes(const MnistData& data) {
  return text(data.train.count(), " training, ", data.valid.count(), " validation and ", data.test.count(),
              " test cases");
}

/// The pixels as `Number`; when they are of that type already, without a copy.
template <class Number>
std::vector<Number> pixels_as(std::vector<float>&& pixels) {
  if constexpr (std::is_same_v<Number, float>) {
    return std::move(pixels);
  } else {
    return {pixels.begin(), pixels.end()};
  }
}

DigitSplit drawn(size_t count, std::uint64_t seed, std::uint64_t first_index) {
  Digits digits = draw_digits(count, seed, first_index);
  return {pixels_as<real>(std::move(digits.pixels)), std::move(digits.labels)};
}

/// The cases of a split that `chosen` names, in its order.
DigitSplit chosen_of(const DigitSplit& split, std::span<const int> chosen) {
  DigitSplit some;
  some.pixels.reserve(chosen.size() * digit_pixels);
  for (const int i : chosen) {
    const auto image = std::span(split.pixels).subspan(static_cast<size_t>(i) * digit_pixels, digit_pixels);
    some.pixels.insert(some.pixels.end(), image.begin(), image.end());
    some.labels.push_back(split.labels[static_cast<size_t>(i)]);
  }
  return some;
}

}  // namespace

MnistData load_mnist(const std::string& folder) {
  if (!is_folder(folder)) fail<DataError>(folder, ": is not a folder; ", remedy);
  MnistData data;
  {
    const Cases cases = read_cases(folder, "train");  // 47 MB of bytes, released before the test file is read
    const size_t count = cases.labels.size();
    if (count <= valid_count) {
      fail<DataError>(find(folder, "train-images-idx3-ubyte"), ": holds ", count,
                      " images, of which the last ", valid_count,
                      " are for validation: none is left for training; ", remedy);
    }
    data.train = split_of(cases, 0, count - valid_count);
    data.valid = split_of(cases, count - valid_count, count);
  }
  const Cases cases = read_cases(folder, "t10k");
  data.test = split_of(cases, 0, cases.labels.size());
  data.source = text("MNIST files in ", folder, ": ", sizes(data));
  return data;
}

void train_on_some(MnistData& data, size_t count, std::uint64_t seed) {
  constexpr std::uint64_t choice_stream =
      0x736f6d65;  // apart from the order of the batches and from everything else
  const size_t all = data.train.count();
  if (count == 0 || count > all)
    fail<UsageError>("--train-on ", count, ": there are ", all, " training cases; choose 1 to ", all);
  const std::vector<int> order = Random(seed, choice_stream).permutation(all);
  data.train = chosen_of(data.train, std::span(order).first(count));
  data.source += text("; trained on ", count, " of the training cases (seed ", seed, ")");
}

MnistData synthetic_mnist(std::uint64_t seed, size_t train, size_t valid, size_t test) {
  constexpr std::uint64_t apart = std::uint64_t{1} << 40;  // more images than any run draws
  MnistData data;
  data.train = drawn(train, seed, 0);
  data.valid = drawn(valid, seed, apart);
  data.test = drawn(test, seed, 2 * apart);
  data.source = text("built-in synthetic digits, not MNIST (seed ", seed, "): ", sizes(data));
  return data;
}

}  // namespace lamina
