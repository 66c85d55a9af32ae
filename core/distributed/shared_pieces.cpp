#include "core/distributed/shared_pieces.h"

#include "core/distributed/group.h"

namespace lamina::distributed {

namespace {

thread_local bool sharing = false;

/// What other ranks write stays 0 here, so that the sum over ranks is each one's number.
template <class Number>
void gather(size_t pieces, std::span<Number> results, const std::function<void(size_t)>& piece) {
  std::ranges::fill(results, Number{0});
  for_own_pieces(pieces, piece);
  if (sharing) group().sum(results);
}

}  // namespace

SharedWork::SharedWork() { sharing = is_shared(); }
SharedWork::~SharedWork() { sharing = false; }

bool shares_work() { return sharing; }

void for_own_pieces(size_t pieces, const std::function<void(size_t)>& piece) {
  const size_t first = sharing ? group().rank() : 0, ranks = sharing ? group().size() : 1;
  for (size_t i = first; i < pieces; i += ranks) piece(i);
}

void share_pieces(size_t pieces, std::span<float> results, const std::function<void(size_t)>& piece) {
  gather(pieces, results, piece);
}
void share_pieces(size_t pieces, std::span<double> results, const std::function<void(size_t)>& piece) {
  gather(pieces, results, piece);
}

}  // namespace lamina::distributed
