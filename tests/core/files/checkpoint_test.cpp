// Which types of safetensors files can be read; damaged files are in tests/models/data/damaged_files_test.cpp.

#include "core/files/checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/files/file.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// A file with one tensor of `count` numbers after the F32 tensor "first" [1], which holds 7.
std::string file_with(const std::string& type, size_t count, const std::string& bytes) {
  const std::string begin = R"({"first":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"other":{"dtype":")";
  const std::string header = begin + type + R"(","shape":[)" + std::to_string(count) +
                             R"(],"data_offsets":[4,)" + std::to_string(4 + bytes.size()) + "]}}";
  const std::uint64_t length = header.size();
  const float seven = 7;
  std::string file(sizeof length + header.size() + sizeof seven, ' ');
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + sizeof length, header.data(), header.size());
  std::memcpy(file.data() + sizeof length + header.size(), &seven, sizeof seven);
  return file + bytes;
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

}  // namespace

TEST_CASE("checkpoint: floating-point numbers of any width are converted") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  const auto read = [&](const std::string& type, size_t count, const std::string& bytes) {
    write_file(path, file_with(type, count, bytes));
    const Checkpoint checkpoint = load_checkpoint(path);
    REQUIRE(checkpoint.tensors.size() == 2);
    CHECK(checkpoint.find("first")->item() == 7);
    return *checkpoint.find("other");
  };
  CHECK(difference(read("F64", 2, bytes_of<double>({0.5, -3})), {0.5, -3}) == 0);
  CHECK(difference(read("F32", 2, bytes_of<float>({0.5F, -3})), {0.5, -3}) == 0);
  // One, minus two, the largest, the smallest normal, the smallest of all, and zero.
  const Tensor half =
      read("F16", 6, bytes_of<std::uint16_t>({0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x8000}));
  CHECK(identical(half, Tensor::from({6}, {1, -2, 65504, real(0x1p-14), real(0x1p-24), 0})));
  CHECK(difference(read("F16", 1, bytes_of<std::uint16_t>({0x3555})), {0.333251953125}) == 0);
  CHECK(difference(read("BF16", 3, bytes_of<std::uint16_t>({0x3F80, 0xC000, 0x3EAB})),
                   {1, -2, 0.333984375}) == 0);
  CHECK(difference(read("F8_E5M2", 3, bytes_of<std::uint8_t>({0x3C, 0xC0, 0x01})), {1, -2, 0x1p-16}) == 0);
  CHECK(difference(read("F8_E4M3", 4, bytes_of<std::uint8_t>({0x38, 0xC0, 0x7E, 0x01})),
                   {1, -2, 448, 0x1p-9}) == 0);
  const Tensor odd = read("F16", 3, bytes_of<std::uint16_t>({0x7C00, 0xFC00, 0x7E00}));
  CHECK(odd[0] == std::numeric_limits<real>::infinity());
  CHECK(odd[1] == -std::numeric_limits<real>::infinity());
  CHECK(std::isnan(odd[2]));
  CHECK(std::isnan(read("F8_E4M3", 1, bytes_of<std::uint8_t>({0xFF}))[0]));
}

TEST_CASE("checkpoint: numbers too large for float are refused there, not made infinite") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  for (const double number : {1e39, -1e300, 3.4e38, -std::numeric_limits<double>::infinity()}) {
    CAPTURE(number);
    write_file(path, file_with("F64", 2, bytes_of<double>({1, number})));
    const std::string error = error_of([&] { load_checkpoint(path); });
    if (sizeof(real) == sizeof(double) || std::isinf(number) || number == 3.4e38) {
      CHECK(error.empty());
      CHECK((*load_checkpoint(path).find("other"))[1] == static_cast<real>(number));
    } else {
      CHECK(error ==
            path +
                ": 'other' holds numbers too large for float; load it in a program built with REAL=double");
    }
  }
}

TEST_CASE("checkpoint: whole numbers are refused with the right remedy, or skipped") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  write_file(path, file_with("I64", 1, bytes_of<std::int64_t>({1000})));
  CHECK_ERROR(load_checkpoint(path),
              path +
                  ": 'other' is of the type I64, not of floating-point numbers; leave it out "
                  "of the file, or load that with OtherTypes::skip");
  const Checkpoint checkpoint = load_checkpoint(path, OtherTypes::skip);
  REQUIRE(checkpoint.tensors.size() == 1);
  CHECK(checkpoint.find("first")->item() == 7);
  for (const std::string type : {"U8", "BOOL", "I8"}) {
    write_file(path, file_with(type, 3, "abc"));
    CHECK(load_checkpoint(path, OtherTypes::skip).tensors.size() == 1);
  }
  write_file(path, file_with("I64", 2, "abcdefgh"));  // skipped, but checked
  CHECK(
      contains(error_of([&] { load_checkpoint(path, OtherTypes::skip); }), "'other' lies outside the file"));
  write_file(path, file_with("C64", 1, "abcdefgh"));
  CHECK_ERROR(load_checkpoint(path),
              path +
                  ": 'other' is of the type 'C64', which is unknown here; convert it to F32 "
                  "before it is saved");
}

TEST_CASE("checkpoint: tensors are found whatever their order, and come back sorted by name") {
  const TemporaryFolder folder;
  const Checkpoint made{
      .tensors = {{"b", Tensor::full({1}, 1)}, {"c", Tensor::full({1}, 2)}, {"a", Tensor::full({1}, 3)}},
      .metadata = {}};
  save_checkpoint(folder / "model.safetensors", made);
  const Checkpoint loaded = load_checkpoint(folder / "model.safetensors");
  CHECK(std::ranges::is_sorted(loaded.tensors, {}, &Checkpoint::Entry::name));
  for (const Checkpoint* const each : {&made, &loaded}) {
    for (const auto& [name, value] : {std::pair("b", 1), std::pair("c", 2), std::pair("a", 3)}) {
      REQUIRE(each->find(name) != nullptr);
      CHECK(each->find(name)->item() == static_cast<real>(value));
    }
    CHECK(each->find("bb") == nullptr);
  }
}

TEST_CASE("checkpoint: what a header cannot hold is refused, and nothing is written") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  const Tensor x = Tensor::ones({2});
  const auto error = [&](const Checkpoint& checkpoint) {
    return error_of([&] { save_checkpoint(path, checkpoint); });
  };
  CHECK(error({.tensors = {{"caf\xe9", x}}, .metadata = {}}) ==
        path + ": cannot be written: the name \"caf\xef\xbf\xbd\" is not UTF-8; convert it");
  for (const auto& [key, value] : {std::pair("key", "\xff"), std::pair("\xff", "value")})
    CHECK(error({.tensors = {}, .metadata = {{key, value}}}) ==
          path + ": cannot be written: the metadata \"\xef\xbf\xbd\" is not UTF-8; convert it");
  for (const bool with_metadata : {true, false}) {
    Checkpoint checkpoint{.tensors = {{"__metadata__", x}}, .metadata = {}};
    if (with_metadata) checkpoint.metadata["key"] = "value";
    CHECK(error(checkpoint) == "checkpoint: the name '__metadata__' is the format's own; choose another one");
  }
  CHECK(folder.size() == 0);
  CHECK(error({.tensors = {{"caf\xc3\xa9", x}}, .metadata = {{"\xc3\xa9", "\xc3\xa9"}}}).empty());
  const Checkpoint again = load_checkpoint(path);
  CHECK(identical(*again.find("caf\xc3\xa9"), x));
  CHECK(again.metadata.at("\xc3\xa9") == "\xc3\xa9");
}

TEST_CASE("checkpoint: an absurd shape without elements is an error that names the file") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  const std::string header = R"({"w":{"dtype":"F32","shape":[1152921504606846976,0],"data_offsets":[0,0]}})";
  const std::uint64_t length = header.size();
  write_file(path, std::string(reinterpret_cast<const char*>(&length), sizeof length) + header);
  CHECK_ERROR(
      load_checkpoint(path),
      path + ": not a usable checkpoint: 'w' is absurdly large; use a file written by a finished save");
}
