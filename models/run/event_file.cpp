#include "models/run/event_file.h"

#include <bit>

#include "core/files/file.h"

namespace lamina {

namespace {

/// The bytes of a whole number, the lowest first.
template <class Whole>
std::string little_endian(Whole value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Whole); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

/// A protobuf varint: seven bits a byte, the lowest first; the top bit says that more follow.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

// The kinds of protobuf fields that occur here; a field begins with its number and its kind.
enum class Wire : std::uint64_t { varint = 0, eight_bytes = 1, counted = 2, four_bytes = 5 };
std::string key(std::uint64_t field, Wire wire) {
  return varint(field << 3 | static_cast<std::uint64_t>(wire));
}

std::string counted_field(std::uint64_t field, std::string_view content) {
  return key(field, Wire::counted) + varint(content.size()) + std::string(content);
}

// Event: wall_time = 1 (double), step = 2 (int64), file_version = 3 (string), summary = 5. Summary: value = 1, repeated.
// Value: tag = 1 (string), simple_value = 2 (float).

std::string event(double time, std::string_view rest) {
  return key(1, Wire::eight_bytes) + little_endian(std::bit_cast<std::uint64_t>(time)) + std::string(rest);
}

std::string value(std::string_view name, double number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return counted_field(1, counted_field(1, name) + key(2, Wire::four_bytes) + little_endian(bits));
}

/// The record of a row.
std::string record_of(const std::vector<std::pair<std::string, double>>& row, double began) {
  double step = 0, time = began;
  std::string values;
  for (const auto& [name, number] : row) {
    if (name == "seconds") time += number;
    if (name == "step")
      step = number;
    else
      values += value(name, number);
  }
  return framed(event(
      time, key(2, Wire::varint) + varint(static_cast<std::uint64_t>(step)) + counted_field(5, values)));
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // x^32 + x^28 + ..., the lowest power in the highest bit
  std::uint32_t rest = 0xffffffff;
  for (const char byte : bytes) {
    rest ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) == 1 ? polynomial : 0);
  }
  return ~rest;
}

std::string framed(std::string_view data) {
  // Rotated and moved, since the checksum of data that hold their own checksum says little.
  const auto masked = [](std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8; };
  const std::string length = little_endian(static_cast<std::uint64_t>(data.size()));
  return length + little_endian(masked(length)) + std::string(data) + little_endian(masked(data));
}

EventFile::EventFile(std::string path, const Table& so_far, double began)
    : path_(std::move(path)), began_(began) {
  std::string content = framed(event(began, counted_field(3, "brain.Event:2")));
  for (const std::vector<double>& numbers : so_far.rows) {
    std::vector<std::pair<std::string, double>> row;
    for (size_t i = 0; i < numbers.size(); ++i) row.emplace_back(so_far.columns[i], numbers[i]);
    content += record_of(row, began);
  }
  write_file(path_, content);
}

void EventFile::append(const std::vector<std::pair<std::string, double>>& row) const {
  append_to_file(path_, record_of(row, began_));
}

}  // namespace lamina
