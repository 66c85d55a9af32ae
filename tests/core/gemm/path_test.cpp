// Which path a shape takes, as core/gemm/README.md says.

#include <doctest/doctest.h>

#include <array>

#include "core/gemm/kernel.h"

using namespace lamina;
using namespace lamina::product_kernels;

namespace {

Product product_of(size_t m, size_t n, size_t k, Transpose a = Transpose::no, Transpose b = Transpose::no) {
  return {.m = m,
          .n = n,
          .k = k,
          .a_op = a,
          .b_op = b,
          .a = nullptr,
          .lda = a == Transpose::yes ? m : k,
          .b = nullptr,
          .ldb = b == Transpose::yes ? k : n,
          .c = {nullptr, n, 1},
          .addend = {}};
}

Path path_of(Product q) { return choose_path(q); }

bool blas_has_wider_vectors() { return blas_vector_bytes() > vector_bytes || vector_bytes == 16; }

}  // namespace

TEST_CASE("gemm: the path of a product depends on its shape" * doctest::skip(blas_has_wider_vectors())) {
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  CHECK(path_of(product_of(128, 1000, 784)) == Path::blocked);
  CHECK(path_of(product_of(784, 1000, 128, yes)) == Path::blocked);
  // few rows, or a short k
  CHECK(path_of(product_of(4, 1000, 1000)) == Path::stream);
  CHECK(path_of(product_of(5, 1000, 1000)) == Path::blocked);
  CHECK(path_of(product_of(1000, 1000, 8, yes)) == Path::stream);
  CHECK(path_of(product_of(1000, 1000, 9, yes)) == Path::blocked);
  // b transposed: at most 128 rows, a of 192 Ki numbers, and k at least four times the rows; with 16 registers 48 and 96 Ki
  constexpr bool many_registers = vector_registers == 32;
  constexpr size_t rows = many_registers ? 128 : 48, numbers = (many_registers ? 192 : 96) * 1024;
  CHECK(path_of(product_of(rows, 1000, 1000, no, yes)) == Path::dot);
  CHECK(path_of(product_of(rows + 1, 1000, 1000, no, yes)) == Path::blocked);
  CHECK(path_of(product_of(rows, 1000, numbers / rows, no, yes)) == Path::dot);
  CHECK(path_of(product_of(rows, 1000, numbers / rows + 1, no, yes)) == Path::blocked);
  CHECK(path_of(product_of(rows, 1000, 4 * rows - 1, no, yes)) == Path::blocked);
  CHECK(path_of(product_of(4, 1000, 1000, no, yes)) == Path::dot);
  // with 16 registers narrow rows do not stream: 64 columns are needed per row, or 32 per step of k
  const Path narrow = many_registers ? Path::stream : Path::blocked;
  CHECK(path_of(product_of(4, 256, 1000)) == Path::stream);
  CHECK(path_of(product_of(4, 255, 1000)) == narrow);
  CHECK(path_of(product_of(1000, 256, 8, yes)) == Path::stream);
  CHECK(path_of(product_of(1000, 255, 8, yes)) == narrow);
}

TEST_CASE("gemm: a narrow product becomes that of its transposed matrices" *
          doctest::skip(blas_has_wider_vectors())) {
  Product narrow = product_of(128, lanes / 2, 1000);
  CHECK(choose_path(narrow) == Path::dot);
  CHECK(narrow.m == lanes / 2);
  CHECK(narrow.n == 128);
  CHECK(narrow.c.row == 1);
  Product wide = product_of(128, 4 * lanes + lanes / 2, 1000);  // fills nine tenths
  CHECK(choose_path(wide) == Path::blocked);
  CHECK(wide.m == 128);
}

TEST_CASE("gemm: OpenBLAS gets no sizes and strides that it cannot count") {
  constexpr size_t most = (size_t{1} << 31) - 1;
  for (const auto& [m, n, k] :
       {std::array{most + 1, size_t{2048}, size_t{2048}}, std::array{size_t{2048}, most + 1, size_t{2048}},
        std::array{size_t{2048}, size_t{2048}, most + 1}})
    CHECK(path_of(product_of(m, n, k)) == Path::blocked);
  Product columns_of_wide = product_of(2048, 2048, 2048);
  columns_of_wide.lda = most + 1;
  CHECK(path_of(columns_of_wide) == Path::blocked);
  const bool blas = blas_is_faster(2048, 2048, most);
  CHECK(path_of(product_of(2048, 2048, most)) == (blas ? Path::blas : Path::blocked));
}

TEST_CASE("gemm: OpenBLAS serves large products where its vectors are as wide") {
  const bool as_wide = blas_vector_bytes() >= vector_bytes;
  CHECK((path_of(product_of(1536, 1536, 1536)) == Path::blas) == as_wide);
  CHECK((path_of(product_of(1535, 1536, 1536)) == Path::blas) == blas_has_wider_vectors());
}
