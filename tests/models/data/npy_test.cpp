// The .npy reader.

#include "models/data/npy.h"

#include <cmath>
#include <cstring>

#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/models/data/npy_files.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// The error for reading `bytes`, without the file's name, with which it must begin.
std::string complaint(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  put(path, bytes);
  const std::string message = message_of<DataError>([&] { NpyMatrix{path}; });
  CHECK(message.starts_with(path + ": "));
  CHECK(message.find('\n') == std::string::npos);
  return message.substr(std::min(message.size(), path.size() + 2));
}

std::string dictionary(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

}  // namespace

TEST_CASE("npy: float32 and float64 in versions 1.0 to 3.0") {
  const TemporaryFolder folder;
  const std::vector<double> numbers{1, -2, 0.5, 4, 5, 6.25};
  for (const bool doubles : {false, true})
    for (const int version : {1, 2, 3}) {
      put(folder / "a.npy", npy_matrix(2, 3, numbers, doubles, version));
      const NpyMatrix matrix(folder / "a.npy");
      CHECK(matrix.rows() == 2);
      CHECK(matrix.columns() == 3);
      std::vector<real> row(3);
      matrix.copy_row(1, row.data());
      CHECK(row == std::vector<real>{4, 5, real(6.25)});
      matrix.copy_row(0, row.data());
      CHECK(row == std::vector<real>{1, -2, real(0.5)});
    }
}

TEST_CASE("npy: other spellings of the header, and numbers at odd addresses") {
  const std::string content(8, '\0');
  const TemporaryFolder folder;
  for (const std::string header :
       {"{'shape': (1, 2), 'fortran_order': False, 'descr': '<f4'}",
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(1,2)}",
        "{ 'descr' : '<f4', 'fortran_order' : False , 'shape' : ( 1L , 2L ) , }   \n"}) {
    put(folder / "a.npy", npy_file(header, content, 1));
    CHECK(NpyMatrix(folder / "a.npy").columns() == 2);
  }
}

TEST_CASE("npy: errors name the file, the trouble and the remedy") {
  const std::string good = npy_matrix(2, 3, {1, 2, 3, 4, 5, 6}, false, 1), eight(8, '\0');
  const TemporaryFolder folder;
  CHECK(message_of<DataError>([&] { NpyMatrix{folder / "none"}; }) ==
        folder / "none" + ": cannot be read: No such file or directory; check the name");
  CHECK(complaint("") ==
        "is not a .npy file (it does not begin with 93 'NUMPY'); save it again with numpy.save");
  CHECK(complaint("PK\x03\x04") ==
        "is not a .npy file (it does not begin with 93 'NUMPY'); save it again with numpy.save");
  CHECK(complaint(good.substr(0, 7)) == "ends within its header, at byte 7; download it again");
  CHECK(complaint(good.substr(0, 50)) == "ends within its header, at byte 50; download it again");
  CHECK(complaint(good.substr(0, good.size() - 1)) ==
        "ends after 23 bytes of its 2 x 3 numbers of 4 bytes; download it again");
  CHECK(complaint(good + "x") ==
        text("goes on behind its 2 x 3 numbers, at byte ", good.size(), "; download it again"));
  CHECK(complaint(npy_file(dictionary("<f4", "True", "(1, 2)"), eight, 1)) ==
        "is in Fortran order; save numpy.ascontiguousarray(array) with numpy.save");
  CHECK(
      complaint(npy_file(dictionary(">f4", "False", "(1, 2)"), eight, 1)) ==
      "holds numbers of type '>f4', and '<f4' or '<f8' is needed; save array.astype('<f4') with numpy.save");
  CHECK(complaint(npy_file(dictionary("<i8", "False", "(1, 1)"), eight, 1))
            .starts_with("holds numbers of type '<i8'"));
  CHECK(complaint(npy_file(dictionary("<f4", "False", "(2,)"), eight, 1)) ==
        "has 1 axes, and [images, features] are needed; save array.reshape(images, -1) with numpy.save");
  CHECK(complaint(npy_file(dictionary("<f4", "False", "(0, 4)"), "", 1)) ==
        "is an array of 0 x 4 numbers, which is nothing; save it again with numpy.save");
  CHECK(complaint(npy_file(dictionary("<f4", "False", "(1, 2)"), eight, 4)) ==
        "is .npy version 4.0, and only 1.0, 2.0 and 3.0 are known; save it again with numpy.save");
  CHECK(complaint(npy_file("{'descr': '<f4', 'shape': (1, 2)}", eight, 1))
            .starts_with("its header cannot be understood at byte 43; "));
  CHECK(complaint(npy_file("{'descr': [('a', '<f4')]}", eight, 1))
            .starts_with("its header cannot be understood at byte 20; "));
}

TEST_CASE("npy: absurd promises") {
  const std::string eight(8, '\0');
  for (const char* shape : {"(4294967295, 4294967295)", "(4294967295, 2)", "(1, 4294967295)"}) {
    CHECK(complaint(npy_file(dictionary("<f8", "False", shape), eight, 1)).starts_with("ends after 8 bytes"));
    CHECK(complaint(npy_file(dictionary("<f4", "False", shape), eight, 2)).starts_with("ends after 8 bytes"));
  }
  CHECK(complaint(npy_file(dictionary("<f4", "False", "(99999999999999999999, 1)"), eight, 1))
            .starts_with("its header cannot be understood"));
  std::string huge = npy_file(dictionary("<f4", "False", "(1, 2)"), eight, 2);
  huge.replace(8, 4, "\xFF\xFF\xFF\xFF");
  CHECK(complaint(huge).starts_with("ends within its header"));
}

TEST_CASE("npy: a number that is not finite is refused with its place") {
  const TemporaryFolder folder;
  std::vector<real> row(3);
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)})
    for (const bool doubles : {false, true}) {
      put(folder / "a.npy", npy_matrix(2, 3, {1, 2, 3, 4, 5, bad}, doubles, 1));
      const NpyMatrix matrix(folder / "a.npy");
      matrix.copy_row(0, row.data());
      CHECK(message_of<DataError>([&] {
              matrix.copy_row(1, row.data());
            }).starts_with(text(folder / "a.npy", ": row 1, column 2 is ")));
    }
}

TEST_CASE("npy: mutations are read whole or refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "mutant";
  Random random(2016);
  int parsed = 0, refused = 0;
  for (const bool doubles : {false, true})
    for (const int version : {1, 2, 3}) {
      const std::string original = npy_matrix(3, 4, std::vector<double>(12, 1.5), doubles, version);
      for (int i = 0; i < 500; ++i) {
        const std::string bytes = mutated(original, 80, random);
        put(path, bytes);
        try {
          const NpyMatrix matrix(path);
          std::vector<real> row(matrix.columns());
          for (size_t r = 0; r < matrix.rows(); ++r) matrix.copy_row(r, row.data());
          REQUIRE(matrix.rows() * matrix.columns() * 4 <= bytes.size());
          ++parsed;
        } catch (const DataError& error) {
          REQUIRE(std::string(error.what()).starts_with(path + ": "));
          ++refused;
        }
      }
    }
  // Both kinds of outcome must have been exercised.
  CHECK(parsed > 100);
  CHECK(refused > 1000);
}
