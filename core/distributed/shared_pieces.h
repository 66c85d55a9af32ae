#pragma once
// Work in pieces that do not depend on each other, as an evaluation in batches, divided among the ranks.
//
//   const distributed::SharedWork sharing;                                  // all ranks come here together
//   const auto [loss, wrong] = distributed::sum_of_pieces<2>(batches, [&](size_t i) {
//     return std::array{loss_of(batch(i)), wrong_in(batch(i))};             // this rank's batches
//   });
//
// Every rank receives what all pieces have given, and adds it in the order of the pieces: with the same model the sums
// are those of one rank, bit for bit.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace lamina::distributed {

/// While one lives, this thread divides pieces of work with the other ranks. Outside of it each rank does all pieces.
class SharedWork {
 public:
  SharedWork();
  ~SharedWork();
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;
};

/// Whether this thread divides pieces of work.
bool shares_work();

/// Calls piece(i) for those of `pieces` that are this rank's, every size()-th one.
void for_own_pieces(size_t pieces, const std::function<void(size_t)>& piece);

/// The same, where each piece writes numbers of its own into `results`. Afterwards every rank has those of all; what no
/// piece has written is 0.
void share_pieces(size_t pieces, std::span<float> results, const std::function<void(size_t)>& piece);
void share_pieces(size_t pieces, std::span<double> results, const std::function<void(size_t)>& piece);

/// sum_i piece(i), where a piece gives N numbers.
template <size_t N, class Piece>
std::array<double, N> sum_of_pieces(size_t pieces, const Piece& piece) {
  std::vector<double> each(pieces * N);
  share_pieces(pieces, std::span<double>(each), [&](size_t i) {
    const std::array<double, N> numbers = piece(i);
    std::ranges::copy(numbers, each.data() + i * N);
  });
  std::array<double, N> sums{};
  for (size_t i = 0; i < each.size(); ++i) sums[i % N] += each[i];
  return sums;
}

}  // namespace lamina::distributed
