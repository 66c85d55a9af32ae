#pragma once
// Matrices in NumPy's .npy format, versions 1.0 to 3.0.
//
//   93 'NUMPY' | version: 2 bytes | length of the header: 2 bytes, from version 2.0 on 4, little endian |
//   header, a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (113287, 4096), } |
//   numbers

#include <string>

#include "core/files/mapped_file.h"
#include "core/tensor.h"

namespace lamina {

/// A matrix of float32 or float64 numbers in a file that stays on disk: rows are read on request, so files
/// may be larger than the memory.
class NpyMatrix {
 public:
  /// Throws DataError, which names the file, the byte where damage begins, and the remedy, when it is
  /// missing, cut off, too long, of another format, not a matrix, in Fortran order, or of another number
  /// type.
  explicit NpyMatrix(const std::string& path);

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }

  /// Writes columns() numbers to `to`. DataError, which names file, row and column, for one that is not finite as `real`.
  void copy_row(size_t row, real* to) const;

 private:
  MappedFile file_;
  std::string path_;
  size_t rows_ = 0, columns_ = 0;
  bool doubles_ = false;           ///< float64, otherwise float32
  const char* numbers_ = nullptr;  ///< unaligned
};

/// A matrix as the bytes of a .npy file, version 1.0, numbers of type `real`.
std::string npy_bytes(const Tensor& matrix);

}  // namespace lamina
