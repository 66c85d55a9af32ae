// Lesson 9: attention and its gradient, pre-LN and post-LN before training, and a Transformer that writes.
#include <lamina.h>
#include <lamina/train.h>

#include <cmath>
#include <cstdio>
#include <limits>
using namespace lamina;

constexpr size_t width = 32, length = 64;  // of the stream; of a text, in letters
const std::string alphabet = " .abcdefghijklmnopqrstuvwxyz";
const Initializer draw = normal(1);  // mean 0 and deviation 1

real largest(const Tensor& x) { return max(abs(x).reshape({x.size()}), 0).item(); }
/// [T x T], added to the scores: query i sees key j if 0 <= i - j < window.
Tensor mask(size_t size, size_t window) {
  Tensor m = Tensor::full({size, size}, -std::numeric_limits<real>::infinity());
  for (size_t i = 0; i < size; ++i)
    for (size_t j = i < window ? 0 : i + 1 - window; j <= i; ++j) m.at(i, j) = 0;
  return m;
}

/// Products of random queries of d numbers with 16 keys each; softmax over the keys, and the mean of its slopes p (1 - p).
void why_the_root(size_t d) {
  const Tensor s = sum_columns(draw({2000, 1, d}, Random(1)) * draw({2000, 16, d}, Random(2)));
  std::printf("d %4zu: deviation %4.1f; largest share, slope: ", d, std::sqrt(mean_square(s).item()));
  const Tensor p = softmax(s, 1), scaled = softmax(s / std::sqrt(real(d)), 1);
  std::printf("%.2f, %.3f, scaled %.2f, %.3f\n", mean(max(p, 1)).item(), mean(p * (1 - p)).item(),
              mean(max(scaled, 1)).item(), mean(scaled * (1 - scaled)).item());
  Image image(/*columns=*/320, /*lines=*/160, {});  // 16 rows of shares; on the right scaled
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i].fill(std::uint8_t(255 * (i / 160 % 2 ? scaled : p)[i / 3200 * 16 + i / 10 % 16]));
  write_png("shares.png", image);
}

/// One causal head by its formulas, forward and backward, and by the library.
void one_head(size_t t, size_t d) {
  const real scale = 1 / std::sqrt(real(d));
  const Tensor q = draw({t, d}, Random(3)), k = draw({t, d}, Random(4)), v = draw({t, d}, Random(5));
  const Tensor p = softmax(scale * matmul(q, transpose(k)) + mask(t, t)), y = matmul(p, v);
  const Tensor dy = draw({t, d}, Random(6)), dp = matmul(dy, transpose(v));
  const Tensor ds = p * (dp - sum_columns(p * dp)), dv = matmul(transpose(p), dy);
  const Tensor dq = scale * matmul(ds, k), dk = scale * matmul(transpose(ds), q);
  for (size_t i = 0; i < p.size(); ++i) std::printf("%6.2f%s", p[i], i % t + 1 < t ? "" : "\n");
  Tape tape;
  Tensor qkv = concatenate({q, k, v}, 1);
  const Tensor library = self_attention(qkv.require_gradient().reshape({1, t, 3 * d}), 1, {.causal = true});
  tape.backward(library, dy.reshape({1, t, d}));
  std::printf("largest difference of y %.4f, of the gradients %.4f\n",
              largest(y - library.detach().reshape(y.shape())),
              largest(concatenate({dq, dk, dv}, 1) - qkv.gradient()));
}

struct Model {
  Model(std::uint64_t seed, size_t depth, Placement placement)
      : weights(seed),
        options{.width = width, .heads = 4, .placement = placement, .causal = true},
        letters(weights, "letters", {.entries = alphabet.size(), .width = width, .initial = normal(0.7)}),
        positions(weights, "positions", {.entries = length, .width = width, .initial = normal(0.7)}),
        norm(norm_after_blocks(weights, "norm", options)),
        output(weights, "output", {.input = width, .output = alphabet.size()}) {
    for (size_t l = 0; l < depth; ++l) blocks.emplace_back(weights, std::to_string(l), options);
  }
  /// Texts of `length` letters -> logits of the letter after each [texts x length x letters].
  Tensor operator()(const std::vector<int>& text, const AttentionOptions& seen = {}) {
    stream = letters(text).reshape({text.size() / length, length, width}) + positions.table();
    for (TransformerBlock& block : blocks) stream = block(stream, Mode::train, seen);
    return output(norm(stream, Mode::train));
  }
  Parameters weights;
  TransformerBlockOptions options;
  Embedding letters, positions;
  Normalization norm;
  Linear output;
  std::vector<TransformerBlock> blocks;
  Tensor stream;  // after the last block
};

/// Stories: their letters, the letter after each, and the places before the owner's second name.
struct Stories {
  Stories(size_t count, Random random) {
    const auto one = [&](std::vector<const char*> of) { return of[random.below(unsigned(of.size()))]; };
    for (size_t n = 0; n < count; ++n) {
      const auto owner = one({"anna", "bert", "cleo", "dora", "emil"}), look = one({"red", "old", "new"});
      const auto thing = one({"hat", "ball", "coat", "lamp"}), who = one({"paul", "rosa", "tom", "vera"});
      const std::string story = text(". ", owner, " lost a ", look, " ", thing, ". ", who, " found the ",
                                     thing, " and gave it to ", owner, std::string(length, '.'));
      names.push_back(int(n * length + story.find(" to ") + 3));
      for (size_t i = 0; i < length; ++i) letters.push_back(int(alphabet.find(story[i])));
      for (size_t i = 1; i <= length; ++i) next.push_back(int(alphabet.find(story[i])));
    }
  }
  std::vector<int> letters, next, names;
};

/// The norm of the gradient of the weights that end a block, before training; the mean of five seeds.
void gradients(Placement placement, size_t depth) {
  real first = 0, last = 0, stream = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Model model(seed, depth, placement);
    const Stories stories(/*count=*/8, Random(seed));
    Tape tape;
    tape.backward(cross_entropy(model(stories.letters), stories.next));
    for (const size_t l : {size_t{0}, depth - 1}) {
      const Tensor w = model.weights.learned()[model.weights.named(text(l, ".outer.weight")).front()].value;
      (l == 0 ? first : last) += std::sqrt(sum(square(w.gradient())).item()) / 5;
    }
    stream += mean_square(model.stream.detach()).item() / 5;
  }
  std::printf("%-4s, blocks %2zu: gradient in the first %.2f, in the last %.2f; square of the stream %.1f\n",
              name_of(placement), depth, first, last, stream);
}

/// Learns from ever new stories; each position sees `window` letters, its own included. With all it writes one.
void train(std::uint64_t seed, size_t window) {
  Model model(seed, /*depth=*/2, Placement::pre);
  Adam adam(model.weights, {.learning_rate = 5e-3});
  const AttentionOptions seen = {.mask = mask(length, window)};
  for (unsigned step = 0; step < 300; ++step) {
    const Stories stories(/*count=*/8, Random(seed, step));
    Tape tape;
    tape.backward(cross_entropy(model(stories.letters, seen), stories.next));
    adam.step();
  }
  const Stories stories(/*count=*/100, Random(seed, 300));
  const Tensor logits = model(stories.letters, seen).reshape({100 * length, alphabet.size()});
  real share = 0, loss = cross_entropy(logits, stories.next).item();
  const Tensor p = softmax(logits);
  for (const int i : stories.names) share += p.at(i, stories.next[size_t(i)]) / 100;
  std::printf("sees %2zu letters: loss %.3f, share of the owner %.2f\n", window, loss, share);
  if (window < length) return;
  std::vector<int> letters(length, 1);  // dots: nothing depends on the later ones
  for (size_t i = 0; i + 1 < length; ++i) {
    const Tensor next = softmax(model(letters)).step(0).step(i);
    size_t letter = 0;
    for (real rest = Random(seed, 400 + i).uniform(); (rest -= next[letter]) > 0 && letter < 27;) ++letter;
    std::printf(i + 2 < length ? "%c" : "%c\n", alphabet[size_t(letters[i + 1] = int(letter))]);
  }
}

int main() {
  set_threads(1);
  for (const size_t d : {4u, 64u, 1024u}) why_the_root(d);
  one_head(/*t=*/5, /*d=*/8);
  for (const size_t depth : {2u, 8u, 32u})
    gradients(Placement::post, depth), gradients(Placement::pre, depth);
  for (const size_t window : {length, size_t{8}})
    for (const std::uint64_t seed : {1u, 2u, 3u}) train(seed, window);
}
