#include "models/skip_thoughts/triples.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/math/random.h"

namespace lamina::skip_thoughts {

namespace {

// Independent streams of random numbers.
constexpr std::uint64_t deal_stream = 0x6465616c, order_stream = 0x6f72646572, pool_stream = 0x706f6f6c;

}  // namespace

Triples::Triples(const Corpus& corpus, const TripleOptions& options) : corpus_(corpus), options_(options) {
  const std::vector<int> dealt = Random(options.seed, deal_stream).permutation(corpus.passages.size());
  const size_t held_out = std::clamp<size_t>(dealt.size() / 20, 1, most_held_out);
  size_t in_pool = 0, middles = 0;
  const auto close_pool = [&] {
    steps_.push_back(middles / options.batch);
    steps_per_epoch_ += steps_.back();
    in_pool = middles = 0;
  };
  for (const int passage : dealt) {
    if (held_out_.size() < held_out && corpus.triples[static_cast<size_t>(passage)] > 0) {
      held_out_.push_back(passage);
      continue;
    }
    if (in_pool == 0) pools_.emplace_back();
    pools_.back().push_back(passage);
    in_pool += corpus.passages[static_cast<size_t>(passage)];
    middles += corpus.triples[static_cast<size_t>(passage)];
    if (in_pool >= options.pool) close_pool();
  }
  if (in_pool > 0) close_pool();
  if (steps_per_epoch_ == 0)
    fail<DataError>(corpus.source, ": is too short for a batch of ", options.batch,
                    " sentences and their neighbours; add books or choose a smaller --batch");
}

size_t Triples::Pool::longest(int middle) const {
  const auto at = sentences.begin() + middle;
  return std::max({(at - 1)->size(), at->size(), (at + 1)->size()});
}

Neighbours Triples::Pool::neighbours(std::span<const int> chosen) const {
  std::vector<int> before, after;
  for (const int middle : chosen) {
    before.push_back(middle - 1);
    after.push_back(middle + 1);
  }
  return {.previous = make_batch(sentences, before),
          .current = make_batch(sentences, chosen),
          .next = make_batch(sentences, after)};
}

Triples::Pool Triples::read(std::span<const int> passages) const {
  Pool pool;
  for (const int passage : passages) {
    std::vector<Sentence> more = corpus_.read(static_cast<size_t>(passage));
    const size_t first = pool.sentences.size();
    std::ranges::move(more, std::back_inserter(pool.sentences));
    for (size_t middle = first + 1; middle + 1 < pool.sentences.size(); ++middle)
      if (pool.longest(static_cast<int>(middle)) <= too_many_words)  // <eos> is one of them
        pool.middles.push_back(static_cast<int>(middle));
  }
  return pool;
}

/// Reads a pool and puts its sentences into the order of the epoch.
void Triples::open(std::uint64_t epoch, size_t number) {
  if (open_epoch_ != epoch || open_pool_ != number || open_.sentences.empty()) {
    open_ = read(pools_[number]);
    open_epoch_ = epoch;
    open_pool_ = number;
    Random random = Random(options_.seed, order_stream).split(epoch).split(number);
    if (open_.middles.size() < steps_[number] * options_.batch)
      fail<DataError>(corpus_.source, ": has changed since it was counted; start a new run");
    random.permute(open_.middles);
    open_.middles.resize(steps_[number] * options_.batch);  // the rest differs from epoch to epoch
    std::ranges::stable_sort(open_.middles, {}, [&](int middle) { return open_.longest(middle); });
    std::vector<int> shuffled;
    for (const int batch : random.permutation(steps_[number])) {
      const auto begin = open_.middles.begin() + batch * static_cast<std::ptrdiff_t>(options_.batch);
      shuffled.insert(shuffled.end(), begin, begin + static_cast<std::ptrdiff_t>(options_.batch));
    }
    open_.middles = std::move(shuffled);
  }
}

Neighbours Triples::batch(std::uint64_t step) { return batch(step, {0, options_.batch, options_.batch}); }

Neighbours Triples::batch(std::uint64_t step, const BatchPart& part) {
  const std::uint64_t epoch = step / steps_per_epoch_;
  std::uint64_t within = step % steps_per_epoch_;
  for (const int pool : Random(options_.seed, pool_stream).split(epoch).permutation(pools_.size())) {
    const std::uint64_t steps = steps_[static_cast<size_t>(pool)];
    if (within < steps) {
      open(epoch, static_cast<size_t>(pool));
      break;
    }
    within -= steps;
  }
  return open_.neighbours(
      std::span(open_.middles).subspan(within * options_.batch + part.begin, part.size()));
}

std::vector<Neighbours> Triples::held_out() const {
  Pool pool = read(held_out_);
  std::ranges::stable_sort(pool.middles, {}, [&](int middle) { return pool.longest(middle); });
  std::vector<Neighbours> batches;
  for (size_t begin = 0; begin < pool.middles.size(); begin += options_.batch)
    batches.push_back(pool.neighbours(
        std::span(pool.middles).subspan(begin, std::min(options_.batch, pool.middles.size() - begin))));
  return batches;
}

}  // namespace lamina::skip_thoughts
