// Work in pieces that ranks divide: every rank has the sums of one, bit for bit.

#include "core/distributed/shared_pieces.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "core/distributed/shared_parameters.h"
#include "tests/check.h"
#include "tests/core/distributed/pretended_rank.h"
#include "tests/core/distributed/rank_threads.h"

using namespace lamina;
using namespace lamina::test;

namespace {

std::array<double, 2> piece(size_t i) { return {1 / (1 + static_cast<double>(i)), static_cast<double>(i)}; }

}  // namespace

TEST_CASE("shared pieces: any number of ranks has the sums of one, bit for bit") {
  for (const size_t pieces : {0U, 1U, 7U}) {
    const auto alone = distributed::sum_of_pieces<2>(pieces, piece);
    for (const size_t ranks : {2U, 3U}) {
      std::vector<std::array<double, 2>> sums(ranks);
      std::vector<size_t> done(ranks);
      on_ranks(ranks, [&] {
        const distributed::SharedWork sharing;
        const size_t rank = distributed::group().rank();
        sums[rank] = distributed::sum_of_pieces<2>(pieces, [&](size_t i) {
          ++done[rank];
          return piece(i);
        });
      });
      size_t all = 0;
      for (size_t rank = 0; rank < ranks; ++rank) {
        CHECK(sums[rank] == alone);
        CHECK(done[rank] <= (pieces + ranks - 1) / ranks);
        all += done[rank];
      }
      CHECK(all == pieces);
    }
  }
}

TEST_CASE("shared pieces: outside of shared work a rank does all") {
  const PretendedRank rank(1, 2);
  std::vector<float> results(3, 9);
  distributed::share_pieces(2, std::span(results), [&](size_t i) { results[i] = 1; });
  CHECK(results == std::vector<float>{1, 1, 0});
  const distributed::SharedWork sharing;
  distributed::share_pieces(2, std::span(results), [&](size_t i) { results[i] = 2; });
  CHECK(results == std::vector<float>{0, 2, 0});
}

TEST_CASE("shared parameters: every rank receives the first one's values and state") {
  std::vector<Parameters> models;
  for (const std::uint64_t seed : {1U, 2U}) {
    Parameters& made = models.emplace_back(seed);
    made.add("x", Tensor::full({3}, static_cast<real>(seed)));
    made.add_state("mean", Tensor::full({2}, static_cast<real>(seed)));
  }
  on_ranks(2, [&] { distributed::broadcast(models[distributed::group().rank()]); });
  for (const Parameters& model : models) {
    CHECK(model.learned()[0].value[2] == 1);
    CHECK(model.state()[0].value[1] == 1);
  }
}
