#include "tests/models/data/idx_files.h"

#include <doctest/doctest.h>
#include <zlib.h>

namespace lamina {

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  constexpr int gzip_format = 15 + 16;
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  std::string source = bytes;  // zlib's input is not const
  stream.next_in = reinterpret_cast<Bytef*>(source.data());
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace lamina
