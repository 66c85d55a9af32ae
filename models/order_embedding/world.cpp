#include "models/order_embedding/world.h"

#include <array>
#include <cmath>
#include <string_view>

#include "core/math/random.h"
#include "core/threads/parallel.h"

namespace lamina::order_embedding {

namespace {

// The difficulty of the task; chosen so that R@1 of a trained model lies between 20 and 70.
constexpr float camera_noise = 14;  // deviation in every feature, where a direction has 1
constexpr float kinship = 0.8F;     // correlation of the directions of two words of one kind is its square
constexpr float blurred = 0.1F;     // chance that something appears in the image as another of its kind
constexpr float misseen = 0.1F;     // chance that somebody mistakes a thing for another of its kind
// The chance of every part of the scene to be mentioned, caption by caption.
constexpr std::array<float, captions_per_image> details{0.8F, 0.7F, 0.6F, 0.45F, 0.3F};

struct Word {
  std::string_view singular, plural;
};

/// Things of one kind, and the words for the kind.
struct Kind {
  Word general;
  std::array<Word, 6> words;
};

constexpr std::array<Kind, 8> kinds{{
    {{"person", "people"},
     {{{"man", "men"},
       {"woman", "women"},
       {"girl", "girls"},
       {"boy", "boys"},
       {"player", "players"},
       {"chef", "chefs"}}}},
    {{"animal", "animals"},
     {{{"dog", "dogs"},
       {"cat", "cats"},
       {"horse", "horses"},
       {"cow", "cows"},
       {"sheep", "sheep"},
       {"elephant", "elephants"}}}},
    {{"bird", "birds"},
     {{{"duck", "ducks"},
       {"goose", "geese"},
       {"parrot", "parrots"},
       {"owl", "owls"},
       {"pigeon", "pigeons"},
       {"swan", "swans"}}}},
    {{"vehicle", "vehicles"},
     {{{"car", "cars"},
       {"bus", "buses"},
       {"truck", "trucks"},
       {"train", "trains"},
       {"boat", "boats"},
       {"bicycle", "bicycles"}}}},
    {{"meal", "meals"},
     {{{"pizza", "pizzas"},
       {"sandwich", "sandwiches"},
       {"cake", "cakes"},
       {"salad", "salads"},
       {"soup", "soups"},
       {"omelette", "omelettes"}}}},
    {{"toy", "toys"},
     {{{"ball", "balls"},
       {"kite", "kites"},
       {"doll", "dolls"},
       {"balloon", "balloons"},
       {"robot", "robots"},
       {"frisbee", "frisbees"}}}},
    {{"seat", "seats"},
     {{{"chair", "chairs"},
       {"bench", "benches"},
       {"sofa", "sofas"},
       {"stool", "stools"},
       {"armchair", "armchairs"},
       {"swing", "swings"}}}},
    {{"tool", "tools"},
     {{{"hammer", "hammers"},
       {"shovel", "shovels"},
       {"broom", "brooms"},
       {"ladder", "ladders"},
       {"rope", "ropes"},
       {"bucket", "buckets"}}}},
}};

/// What one does to another: "chases", "chase", "chased".
struct Verb {
  std::string_view singular, plural, passive;
};
constexpr std::array<Verb, 12> verbs{{{"chases", "chase", "chased"},
                                      {"watches", "watch", "watched"},
                                      {"follows", "follow", "followed"},
                                      {"pushes", "push", "pushed"},
                                      {"pulls", "pull", "pulled"},
                                      {"carries", "carry", "carried"},
                                      {"paints", "paint", "painted"},
                                      {"guards", "guard", "guarded"},
                                      {"washes", "wash", "washed"},
                                      {"lifts", "lift", "lifted"},
                                      {"circles", "circle", "circled"},
                                      {"touches", "touch", "touched"}}};

constexpr std::array<std::string_view, 16> attributes{"red",   "blue",  "green",   "yellow", "white", "black",
                                                      "brown", "pink",  "big",     "small",  "old",   "new",
                                                      "wet",   "dirty", "striped", "shiny"};
constexpr std::array<std::string_view, 12> places{
    "in the park",  "on the street", "at the beach", "in a kitchen", "on a roof",     "in the snow",
    "under a tree", "by the river",  "in a garden",  "on a bridge",  "in the desert", "near a tower"};
constexpr std::array<std::string_view, 3> counts{"a", "two", "three"};

/// Something with its attributes. Numbers are positions in the tables above.
struct Thing {
  size_t kind, word, attribute, count;
};

struct Scene {
  Thing subject, object, extra;
  size_t verb = 0, place = 0;
  bool has_object = false, has_extra = false;
};

size_t below(Random& random, size_t n) { return random.below(static_cast<std::uint32_t>(n)); }
bool chance(Random& random, float probability) { return static_cast<float>(random.uniform()) < probability; }

Thing draw_thing(Random& random) {
  return {.kind = below(random, kinds.size()),
          .word = below(random, kinds[0].words.size()),
          .attribute = below(random, attributes.size()),
          .count = chance(random, 0.7F) ? 0 : 1 + below(random, 2)};
}

Scene draw_scene(Random& random) {
  Scene scene{.subject = draw_thing(random), .object = draw_thing(random), .extra = draw_thing(random)};
  scene.verb = below(random, verbs.size());
  scene.place = below(random, places.size());
  scene.has_object = chance(random, 0.85F);
  scene.has_extra = chance(random, 0.35F);
  return scene;
}

// --- What people say

/// Somebody who describes a scene and mentions each part of it with this probability.
class Describer {
 public:
  Describer(Random& random, float detail) : random_(random), detail_(detail) {}

  std::string operator()(const Scene& scene) {
    const std::string subject = phrase(scene.subject);
    const bool many = scene.subject.count > 0;
    const bool with_object = scene.has_object && chance(random_, 0.25F + detail_);
    const std::string place = mentioned() ? " " + std::string(places[scene.place]) : "";
    const std::string extra = scene.has_extra && mentioned() ? " with " + phrase(scene.extra) : "";
    const Verb& verb = verbs[scene.verb];
    if (!with_object) return subject + extra + place;
    const std::string object = phrase(scene.object);
    if (chance(random_, 0.2F))
      return object + (scene.object.count > 0 ? " are " : " is ") + std::string(verb.passive) + " by " +
             subject + extra + place;
    return subject + extra + " " + std::string(many ? verb.plural : verb.singular) + " " + object + place;
  }

 private:
  bool mentioned() { return chance(random_, detail_); }

  /// "two red dogs", or "some animals" where little is said.
  std::string phrase(const Thing& thing) {
    const Kind& kind = kinds[thing.kind];
    const size_t seen = chance(random_, misseen) ? below(random_, kind.words.size()) : thing.word;
    const Word& word = chance(random_, (1 - detail_) / 2) ? kind.general : kind.words[seen];
    const bool many = thing.count > 0;
    const std::string number(many && !mentioned() ? "some" : counts[thing.count]);
    std::string name(many ? word.plural : word.singular);
    if (mentioned()) name = std::string(attributes[thing.attribute]) + " " + name;
    const bool vowel = std::string_view("aeio").find(name.front()) != std::string_view::npos;
    return number + (!many && vowel ? "n " : " ") + name;
  }

  Random& random_;
  float detail_;
};

// --- What the camera sees

enum Role : std::uint64_t { subject_role, object_role, extra_role, verb_role, place_role, roles };

/// Holds the fixed directions of all words in all roles.
class Camera {
 public:
  Camera(size_t features, std::uint64_t seed) : features_(features), directions_(slots * features) {
    constexpr std::uint64_t own_stream = 0x63616d657261;  // apart from the scenes'
    const Random random = Random(seed, own_stream);
    std::vector<real> own(features), shared(features);
    for (size_t slot = 0; slot < slots; ++slot) {
      random.split(slot).fill_normal(own.data(), features, 0, 1);
      const size_t role = slot / per_role, kind = slot % per_role / kinds[0].words.size();
      const bool is_thing = kind < kinds.size();
      const float common = is_thing ? kinship : 0;
      if (is_thing)
        random.split(slots + role * kinds.size() + kind).fill_normal(shared.data(), features, 0, 1);
      for (size_t d = 0; d < features; ++d)
        directions_[slot * features + d] = std::sqrt(1 - common * common) * static_cast<float>(own[d]) +
                                           common * static_cast<float>(shared[d]);
    }
  }

  void look(const Scene& scene, Random& random, float* image) const {
    std::vector<real> seen(features_);
    random.fill_normal(seen.data(), features_, 0, static_cast<real>(camera_noise));
    const auto add = [&](size_t slot) {
      const float* const direction = &directions_[slot * features_];
      for (size_t d = 0; d < features_; ++d) seen[d] += static_cast<real>(direction[d]);
    };
    const auto seen_as = [&](size_t one, size_t of) {
      return chance(random, blurred) ? below(random, of) : one;
    };
    const auto add_thing = [&](Role role, const Thing& thing) {
      const size_t first = role * per_role;
      add(first + thing.kind * kinds[0].words.size() + seen_as(thing.word, kinds[0].words.size()));
      add(first + words + seen_as(thing.attribute, attributes.size()));
      add(first + words + attributes.size() + thing.count);
    };
    add_thing(subject_role, scene.subject);
    if (scene.has_object) {
      add_thing(object_role, scene.object);
      add(verb_role * per_role + words + seen_as(scene.verb, verbs.size()));
    }
    if (scene.has_extra) add_thing(extra_role, scene.extra);
    add(place_role * per_role + words + seen_as(scene.place, places.size()));
    double square = 0;
    for (real& value : seen) {
      value = value < 0 ? 0 : value;
      square += static_cast<double>(value * value);
    }
    const double scale = square == 0 ? 0 : 1 / std::sqrt(square);
    for (size_t d = 0; d < features_; ++d)
      image[d] = static_cast<float>(static_cast<double>(seen[d]) * scale);
  }

 private:
  static constexpr size_t words = kinds.size() * kinds[0].words.size();
  static constexpr size_t per_role = words + attributes.size() + counts.size();
  static constexpr size_t slots = roles * per_role;

  size_t features_;
  std::vector<float> directions_;  // [slots x features]
};

}  // namespace

WorldPart draw_world(size_t count, size_t features, std::uint64_t seed, std::uint64_t first_index) {
  WorldPart part{.count = count,
                 .features = features,
                 .images = std::vector<float>(count * features),
                 .captions = std::vector<std::string>(count * captions_per_image)};
  const Camera camera(features, seed);
  parallel_for(count, 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Random random(seed, first_index + i);
      const Scene scene = draw_scene(random);
      for (size_t k = 0; k < captions_per_image; ++k)
        part.captions[i * captions_per_image + k] = Describer(random, details[k])(scene);
      camera.look(scene, random, &part.images[i * features]);
    }
  });
  return part;
}

}  // namespace lamina::order_embedding
