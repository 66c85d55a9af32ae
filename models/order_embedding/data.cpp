#include "models/order_embedding/data.h"

#include <algorithm>
#include <memory>
#include <span>

#include "core/error.h"
#include "core/files/folder.h"
#include "models/data/npy.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"

namespace lamina::order_embedding {

namespace {

constexpr const char* remedy =
    "take the files of Vendrov et al. (COCO captions and 10-crop features), or leave --data out for the "
    "built-in world";

CaptionSplit read_split(const std::string& folder, const std::string& name, size_t& features) {
  const std::string text_file = folder + "/" + name + ".txt",
                    image_file = folder + "/images/10crop/" + name + ".npy";
  for (const std::string& file : {text_file, image_file})
    if (!exists(file)) fail<DataError>(file, ": not found; ", remedy);
  const auto matrix = std::make_shared<const NpyMatrix>(image_file);
  CaptionSplit split{.images = matrix->rows(), .captions = read_captions(text_file)};
  if (split.captions.size() != captions_per_image * split.images)
    fail<DataError>(text_file, ":", split.captions.size(), ": ends after ", split.captions.size(),
                    " captions, and the ", split.images, " images of ", image_file, " have ",
                    captions_per_image * split.images, ", five each; ", remedy);
  if (features != 0 && matrix->columns() != features)
    fail<DataError>(image_file, ": has ", matrix->columns(),
                    " features an image, and those of the training images ", features,
                    "; take all from the same network");
  features = matrix->columns();
  split.copy_features = [matrix](size_t image, real* to) { matrix->copy_row(image, to); };
  return split;
}

CaptionSplit split_of(WorldPart part) {
  CaptionSplit split{.images = part.count, .captions = std::move(part.captions)};
  split.copy_features =
      [features = part.features, images = std::make_shared<const std::vector<float>>(std::move(part.images))](
          size_t image, real* to) { std::copy_n(images->data() + image * features, features, to); };
  return split;
}

/// Makes the vocabulary and turns all captions into numbers.
void number_words(Data& data) {
  WordCounter counter;
  const auto count = [&](std::span<const std::string> captions) {
    for (const std::string& caption : captions)
      for (const std::string_view word : split_words(caption)) counter.add(word);
  };
  count(data.train.captions);
  count(std::span(data.valid.captions)
            .first(captions_per_image * std::min(searched_images, data.valid.images)));
  data.vocabulary = counter.most_frequent();
  for (CaptionSplit* const split : {&data.train, &data.valid, &data.test}) {
    split->sentences.reserve(split->captions.size());
    for (const std::string& caption : split->captions)
      split->sentences.push_back(data.vocabulary.sentence(split_words(caption)));
  }
}

std::string sizes_of(const Data& data) {
  return text(data.train.images, " training, ", data.valid.images, " validation and ", data.test.images,
              " test images of ", data.features, " features, ", data.vocabulary.size(), " words");
}

}  // namespace

std::vector<std::string> read_captions(const std::string& path) {
  std::vector<std::string> captions = read_lines(path);
  for (size_t i = 0; i < captions.size(); ++i)
    if (split_words(captions[i]).empty())  // it would shift all later captions to another image
      fail<DataError>(path, ":", i + 1, ": is an empty line; every line is a caption, five for each image");
  return captions;
}

Data load_coco(const std::string& folder) {
  if (!is_folder(folder)) fail<DataError>(folder, ": is not a folder; ", remedy);
  Data data;
  data.train = read_split(folder, "train", data.features);
  data.valid = read_split(folder, "val", data.features);
  data.test = read_split(folder, "test", data.features);
  number_words(data);
  data.source = text("captions and image features in ", folder, ": ", sizes_of(data));
  return data;
}

Data synthetic_coco(std::uint64_t seed, const WorldSizes& sizes) {
  constexpr std::uint64_t apart = std::uint64_t{1} << 40;  // more scenes than any run draws
  Data data;
  data.features = sizes.features;
  data.train = split_of(draw_world(sizes.train, sizes.features, seed, 0));
  data.valid = split_of(draw_world(sizes.valid, sizes.features, seed, apart));
  data.test = split_of(draw_world(sizes.test, sizes.features, seed, 2 * apart));
  number_words(data);
  data.source = text("built-in synthetic scenes, not COCO (seed ", seed, "): ", sizes_of(data));
  return data;
}

}  // namespace lamina::order_embedding
