#include "models/transformer/writing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "models/text/vocabulary.h"

namespace lamina::transformer {

namespace {

constexpr std::uint64_t token_stream = 0x746f6b656e;  // draws of tokens stand apart from everything else

/// Reads a text and keeps what the model needs of it to go on.
class Reader {
 public:
  explicit Reader(Model& model) : model_(model), caches_(model.caches()) {}

  /// Reads more tokens; the logits of what comes after the last [vocabulary].
  std::span<const real> read(std::span<const int> tokens) {
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    const size_t most = model_.options().length;
    if (text_.size() <= most) return logits_after(tokens);
    text_.erase(text_.begin(), text_.end() - static_cast<std::ptrdiff_t>((most + 1) / 2));
    for (KeyValueCache& cache : caches_) cache.reset();
    return logits_after(text_);
  }

 private:
  std::span<const real> logits_after(std::span<const int> tokens) {
    logits_ = model_.next(tokens, caches_);
    return std::as_const(logits_).values().last(logits_.columns());
  }

  Model& model_;
  Caches caches_;
  std::vector<int> text_;  ///< what the caches hold
  Tensor logits_;
};

/// The `most` likeliest of the tokens that may come, likeliest first, the lower number first where two are as likely.
std::vector<int> candidates(std::span<const real> logits, size_t most) {
  constexpr size_t first = static_cast<size_t>(Vocabulary::unknown) + 1;
  std::vector<int> tokens(logits.size() - std::min(first, logits.size()));
  std::iota(tokens.begin(), tokens.end(), static_cast<int>(first));
  const size_t count = most == 0 ? tokens.size() : std::min(most, tokens.size());
  std::ranges::partial_sort(tokens, tokens.begin() + static_cast<std::ptrdiff_t>(count), [&](int a, int b) {
    const real of_a = logits[static_cast<size_t>(a)], of_b = logits[static_cast<size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  });
  tokens.resize(count);
  return tokens;
}

}  // namespace

int draw_token(std::span<const real> logits, const WritingOptions& options, Random& random) {
  const std::vector<int> tokens = candidates(logits, options.temperature == 0 ? 1 : options.top_k);
  const auto draw =
      static_cast<double>(random.uniform());  // also where it is not needed: the same draws follow
  if (tokens.empty()) fail("transformer: no token to draw from ", logits.size(), " logits");
  if (options.temperature == 0) return tokens.front();
  const auto logit = [&](int token) { return static_cast<double>(logits[static_cast<size_t>(token)]); };
  std::vector<double> sums;  // of exp(logit / temperature), which the likeliest token's is 1 of
  for (const int token : tokens) {
    const double share = std::exp((logit(token) - logit(tokens.front())) / options.temperature);
    sums.push_back(share + (sums.empty() ? 0 : sums.back()));
  }
  const auto place = std::ranges::upper_bound(sums, draw * sums.back());
  return tokens[std::min(static_cast<size_t>(place - sums.begin()), tokens.size() - 1)];
}

std::vector<int> write(Model& model, std::span<const int> prompt, const WritingOptions& options) {
  const size_t most = model.options().length;
  if (prompt.empty()) fail("transformer: the prompt is empty; give at least one token");
  if (prompt.size() > most)
    fail("transformer: a prompt of ", prompt.size(), " tokens, but the model sees at most ", most,
         "; give a shorter one");
  Random random(options.seed, token_stream);
  Reader reader(model);
  std::vector<int> written;
  std::span<const real> logits = reader.read(prompt);
  while (written.size() < options.length) {
    written.push_back(draw_token(logits, options, random));
    if (written.size() < options.length) logits = reader.read({&written.back(), 1});
  }
  return written;
}

}  // namespace lamina::transformer
