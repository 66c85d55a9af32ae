#pragma once
// A synthetic world, for use without COCO: scenes, five people's descriptions of each, and a camera's
// features of it.
//
// A scene is somebody who does something, mostly to or beside something else, somewhere, perhaps with a thing
// in hand: "two old women paint a red boat at the beach". People see all of it, not always correctly, and
// mention a part: the first most of it, the last little and in general words ("a person paints a vehicle").
// So captions of one image lie at several levels of the order, many fit other images too, and word order
// matters, since anybody can do anything to anybody, sometimes in the passive voice.
//
// The camera: every word in its role has a fixed random direction in feature space, words of one kind lie
// near each other, and the image is max(0, sum of directions + noise), scaled to length 1.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lamina::order_embedding {

inline constexpr std::size_t captions_per_image = 5;

struct WorldPart {
  std::size_t count = 0, features = 0;
  std::vector<float> images;          ///< [count x features], rows of length 1
  std::vector<std::string> captions;  ///< [count x 5], the most detailed of an image first
};

/// The scenes first_index, ..., first_index + count - 1 of the endless sequence `seed`, each a function of
/// seed and index alone. The directions depend on the seed, so all parts of one sequence show the same world.
WorldPart draw_world(std::size_t count, std::size_t features, std::uint64_t seed,
                     std::uint64_t first_index = 0);

}  // namespace lamina::order_embedding
