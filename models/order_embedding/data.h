#pragma once
// Images, as features of another network, and five captions for each: COCO in the files of Vendrov et al., or
// the synthetic world instead.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/real.h"
#include "models/order_embedding/world.h"
#include "models/text/batches.h"
#include "models/text/vocabulary.h"

namespace lamina::order_embedding {

/// Per search by caption: the first ones for validation, each part of the test images.
inline constexpr size_t searched_images = 1000;

struct CaptionSplit {
  size_t images = 0;
  std::function<void(size_t image, real* to)> copy_features = {};  ///< writes Data::features numbers
  std::vector<std::string> captions = {};                          ///< [images x 5] as they were written
  std::vector<Sentence> sentences = {};                            ///< the same as numbers of words
};

struct Data {
  CaptionSplit train, valid, test;
  size_t features = 0;  ///< of every image
  Vocabulary vocabulary;
  std::string source;  ///< one line for the log: what the data are, and whether they are real
};

/// Reads a file with one caption per line. DataError, naming the file and the line, for an empty one.
std::vector<std::string> read_captions(const std::string& path);

/// Reads {train,val,test}.txt, one tokenized caption per line and five lines per image, and
/// images/10crop/{train,val,test}.npy [images x features], from a folder. The vocabulary is all words of the
/// training captions and of those that validation searches, as in the public code. Throws DataError, naming the
/// file, the line and the remedy, when a file is missing or broken, a line is empty, there are not five captions
/// per image, or the splits' features differ in width.
Data load_coco(const std::string& folder);

struct WorldSizes {
  size_t train = 12800, valid = 1000, test = 5000, features = 4096;
};

/// The synthetic world. The splits are separate parts of the sequence `seed`: changing the size of one
/// changes nothing in the others.
Data synthetic_coco(std::uint64_t seed, const WorldSizes& sizes = {});

}  // namespace lamina::order_embedding
