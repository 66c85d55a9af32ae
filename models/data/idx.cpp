#include "models/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/files/file.h"

namespace lamina {

namespace {

using std::size_t;
using std::uint32_t;
using std::uint8_t;

constexpr uint32_t image_magic = 0x00000803, label_magic = 0x00000801;

// The bytes of a file, decompressed if they are a gzip stream. zlib detects that by the content and passes
// other files through.
class ByteStream {
 public:
  explicit ByteStream(const std::string& path) : path_(path) {
    Descriptor file = open_to_read(path);
    file_bytes_ = size_of(path, file);
    stream_ = gzdopen(file.number(), "rb");
    if (stream_ == nullptr) fail<DataError>(path, ": cannot be read: out of memory; close other programs");
    file.release();  // the stream closes it
  }
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ~ByteStream() { gzclose(stream_); }

  /// Reads up to `count` bytes; fewer only when the file ends.
  size_t read(uint8_t* bytes, size_t count) {
    const int received = gzread(stream_, bytes, static_cast<unsigned>(count));
    const int system_error = errno;
    int error = Z_OK;
    std::string reason = gzerror(stream_, &error);
    if (const size_t colon = reason.find(": "); colon != reason.npos)
      reason.erase(0, colon + 2);  // "<fd:3>: "
    if (error == Z_ERRNO)
      fail<DataError>(path_, ": cannot be read: ", std::strerror(system_error), "; check the disk");
    // A stream that stops early is an error too, which zlib reports only here.
    if (error != Z_OK && error != Z_STREAM_END) {
      fail<DataError>(path_, ": is damaged (gzip: ", reason, "); download it again");
    }
    return static_cast<size_t>(received);
  }

  /// The largest plausible size: gzip shrinks real files to a tenth, and a decompression bomb to a
  /// thousandth.
  size_t plausible_bytes() const { return std::max(size_t{1} << 26, 64 * file_bytes_); }

 private:
  const std::string& path_;
  gzFile stream_;
  size_t file_bytes_ = 0;
};

const char* kind_of(uint32_t magic) {
  if (magic == image_magic) return "an IDX image file";
  if (magic == label_magic) return "an IDX label file";
  return "something else";
}

/// Reads the magic number and `dimensions` sizes.
template <size_t dimensions>
std::array<size_t, dimensions> read_header(ByteStream& stream, const std::string& path, uint32_t magic) {
  std::array<uint8_t, 4 * (dimensions + 1)> bytes{};
  const size_t received = stream.read(bytes.data(), bytes.size());
  if (received == 0) fail<DataError>(path, ": is empty; download it again");
  const auto number = [&](size_t index) {
    const uint8_t* b = &bytes[4 * index];
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | uint32_t{b[3]};
  };
  if (received >= 4 && number(0) != magic) {
    fail<DataError>(path, ": is ", kind_of(number(0)), ", not ", kind_of(magic),
                    "; check which file goes under which name, or download it again");
  }
  if (received < bytes.size()) fail<DataError>(path, ": ends within its header; download it again");
  std::array<size_t, dimensions> sizes;
  for (size_t i = 0; i < dimensions; ++i) sizes[i] = number(i + 1);
  return sizes;
}

/// Reads the `promised` bytes after the header, and checks that nothing follows them.
std::vector<uint8_t> read_content(ByteStream& stream, const std::string& path, size_t promised) {
  std::vector<uint8_t> bytes;
  // A header may be wrong: the buffer doubles as the bytes arrive, instead of being allocated in advance.
  while (bytes.size() < promised) {
    const size_t used = bytes.size();
    if (used >= stream.plausible_bytes())
      fail<DataError>(path,
                      ": unpacks to more than 64 times its size, as no real file does; download it again");
    const size_t wanted =
        std::min({promised - used, stream.plausible_bytes() - used, std::max<size_t>(used, 1 << 20)});
    bytes.reserve(used + wanted);  // exactly; resize alone might double
    bytes.resize(used + wanted);
    const size_t received = stream.read(bytes.data() + used, wanted);
    if (received < wanted) {
      fail<DataError>(path, ": ends after ", used + received, " of the ", promised,
                      " bytes that its header promises; download it again");
    }
  }
  // Asking for one byte more also makes zlib verify the checksum at the end of the stream.
  uint8_t surplus;
  if (stream.read(&surplus, 1) != 0) {
    fail<DataError>(path, ": holds more than the ", promised,
                    " bytes that its header promises; download it again");
  }
  return bytes;
}

constexpr size_t largest_side = 4096;
constexpr size_t most_bytes = size_t{1} << 30;
constexpr size_t most_labels = size_t{1} << 24;

}  // namespace

IdxImages read_idx_images(const std::string& path) {
  ByteStream stream(path);
  const auto [count, rows, columns] = read_header<3>(stream, path, image_magic);
  const bool too_large = rows > largest_side || columns > largest_side ||
                         count * std::max<size_t>(rows * columns, 1) > most_bytes;
  if (count * rows * columns == 0 || too_large) {
    fail<DataError>(path, ": its header promises ", count, " images of ", rows, " x ", columns,
                    " pixels, which is ", too_large ? "more than this program reads (1 GiB)" : "nothing",
                    "; download it again");
  }
  IdxImages images{count, rows, columns, {}};
  images.pixels = read_content(stream, path, count * rows * columns);
  return images;
}

std::vector<int> read_idx_labels(const std::string& path, int classes) {
  ByteStream stream(path);
  const auto [count] = read_header<1>(stream, path, label_magic);
  if (count == 0 || count > most_labels) {
    fail<DataError>(path, ": its header promises ", count, " labels, which is ",
                    count > 0 ? "more than this program reads" : "nothing", "; download it again");
  }
  const std::vector<uint8_t> bytes = read_content(stream, path, count);
  std::vector<int> labels(bytes.begin(), bytes.end());
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](int label) { return label >= classes; });
  if (wrong != labels.end()) {
    fail<DataError>(path, ": label number ", wrong - labels.begin() + 1, " of ", count, " is ", *wrong,
                    ", where 0 to ", classes - 1,
                    " is expected; this file belongs to another data set or is damaged");
  }
  return labels;
}

}  // namespace lamina
