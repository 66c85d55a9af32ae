#pragma once
// Word vectors in a file of word2vec (Mikolov et al. 2013), text or binary:
//
//   both     a first line with two numbers: words, width
//   text     word ' ' number ' ' ... number '\n'
//   binary   word ' ' and `width` float32, little endian; a '\n' before the next word is skipped

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/real.h"

namespace lamina {

struct WordVectors {
  size_t width = 0;
  std::vector<std::string> words = {};  ///< UTF-8, each once
  std::vector<real> values = {};        ///< [words x width]
};

/// Reads the vectors of those words for which `wanted` holds, for a repeated word the first. The file may be
/// larger than the memory. Throws DataError, naming the file, the line (text) or the word's number (binary),
/// and the remedy, when it is missing, cut off, longer than its first line says, of another format, or holds
/// a number that is not finite; of the numbers only those of wanted words are looked at.
WordVectors read_word_vectors(const std::string& path,
                              const std::function<bool(std::string_view word)>& wanted);

}  // namespace lamina
