#include "models/data/npy.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lamina {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr const char* save_again = "; save it again with numpy.save";

/// The content of the header.
struct Header {
  std::string type;
  bool fortran = false;
  std::vector<size_t> shape;
};

/// Reads the dictionary character by character; errors name the byte of the file.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view file, size_t begin, size_t end)
      : path_(path), text_(file.substr(0, end)), at_(begin) {}

  Header parse() {
    Header header;
    bool typed = false, ordered = false, shaped = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !typed) {
        header.type = quoted();
        typed = true;
      } else if (key == "fortran_order" && !ordered) {
        header.fortran = truth();
        ordered = true;
      } else if (key == "shape" && !shaped) {
        header.shape = sizes();
        shaped = true;
      } else {
        broken();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!typed || !ordered || !shaped) broken();
    return header;
  }

 private:
  [[noreturn]] void broken() const {
    fail<DataError>(path_, ": its header cannot be understood at byte ", at_, save_again);
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char wanted) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) broken();
  }
  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect(quote);
    const size_t end = text_.find(quote, at_);
    if (end == text_.npos) broken();
    std::string inside(text_.substr(at_, end - at_));
    at_ = end + 1;
    return inside;
  }
  bool truth() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    broken();
  }
  std::vector<size_t> sizes() {
    std::vector<size_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  size_t number() {
    constexpr size_t most = std::numeric_limits<std::uint32_t>::max();
    skip_spaces();
    size_t value = 0, digits = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
      value = 10 * value + static_cast<size_t>(text_[at_] - '0');
      if (value > most) broken();
    }
    if (digits == 0) broken();
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers this way
    return value;
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_;
};

/// Where the header begins and ends in the file.
std::pair<size_t, size_t> header_range(const std::string& path, std::string_view bytes) {
  if (!bytes.starts_with(magic))
    fail<DataError>(path, ": is not a .npy file (it does not begin with 93 'NUMPY')", save_again);
  const auto byte = [&](size_t i) -> size_t {
    if (i >= bytes.size())
      fail<DataError>(path, ": ends within its header, at byte ", bytes.size(), "; download it again");
    return static_cast<unsigned char>(bytes[i]);
  };
  const size_t version = byte(6), minor = byte(7);
  if (version < 1 || version > 3 || minor != 0)
    fail<DataError>(path, ": is .npy version ", version, ".", minor, ", and only 1.0, 2.0 and 3.0 are known",
                    save_again);
  const size_t width = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = width; i-- > 0;) length = length << 8 | byte(8 + i);
  const size_t begin = 8 + width;
  if (length > 0) byte(begin + length - 1);
  return {begin, begin + length};
}

}  // namespace

NpyMatrix::NpyMatrix(const std::string& path) : file_(path), path_(path) {
  const std::string_view bytes = file_.bytes();
  const auto [begin, end] = header_range(path, bytes);
  const Header header = HeaderParser(path, bytes, begin, end).parse();
  if (header.type != "<f4" && header.type != "<f8")
    fail<DataError>(path, ": holds numbers of type '", header.type,
                    "', and '<f4' or '<f8' is needed; save array.astype('<f4') with numpy.save");
  if (header.shape.size() != 2)
    fail<DataError>(
        path, ": has ", header.shape.size(),
        " axes, and [images, features] are needed; save array.reshape(images, -1) with numpy.save");
  if (header.fortran)
    fail<DataError>(path, ": is in Fortran order; save numpy.ascontiguousarray(array) with numpy.save");
  rows_ = header.shape[0];
  columns_ = header.shape[1];
  doubles_ = header.type == "<f8";
  if (rows_ == 0 || columns_ == 0)
    fail<DataError>(path, ": is an array of ", rows_, " x ", columns_, " numbers, which is nothing",
                    save_again);
  // Both sizes are below 2^32: times the 8 bytes of a number the product may overflow 64 bits, the quotient
  // cannot.
  const size_t size = doubles_ ? 8 : 4, held = bytes.size() - end;
  if (held / size / columns_ < rows_)
    fail<DataError>(path, ": ends after ", held, " bytes of its ", rows_, " x ", columns_, " numbers of ",
                    size, " bytes; download it again");
  if (held != rows_ * columns_ * size)
    fail<DataError>(path, ": goes on behind its ", rows_, " x ", columns_, " numbers, at byte ",
                    end + rows_ * columns_ * size, "; download it again");
  numbers_ = bytes.data() + end;
}

void NpyMatrix::copy_row(size_t row, real* to) const {
  const auto copy_as = [&]<class Number>(Number) {
    const char* const from = numbers_ + row * columns_ * sizeof(Number);
    if constexpr (std::is_same_v<Number, real>) {
      std::memcpy(to, from, columns_ * sizeof(real));
    } else {
      for (size_t i = 0; i < columns_; ++i) {
        Number number;
        std::memcpy(&number, from + i * sizeof(Number), sizeof(Number));
        to[i] = static_cast<real>(number);
      }
    }
  };
  if (doubles_)
    copy_as(double{});
  else
    copy_as(float{});
  for (size_t i = 0; i < columns_; ++i)
    if (!std::isfinite(to[i]))
      fail<DataError>(path_, ": row ", row, ", column ", i, " is ", to[i], ", not a finite number",
                      save_again);
}

std::string npy_bytes(const Tensor& matrix) {
  constexpr size_t before = 10, unit = 64;  // the numbers begin at a multiple of 64 bytes
  std::string header = text("{'descr': '<f", sizeof(real), "', 'fortran_order': False, 'shape': (",
                            matrix.rows(), ", ", matrix.columns(), "), }");
  header.append(unit - 1 - (before + header.size()) % unit, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += {1, 0, static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(matrix.data()), matrix.size() * sizeof(real));
  return bytes;
}

}  // namespace lamina
