// Several ranks without MPI: a group that says which rank this is, and adds nothing.

#include "core/distributed/group.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/distributed/batch_part.h"
#include "core/math/random_part.h"
#include "core/ops.h"
#include "core/tape.h"
#include "tests/check.h"
#include "tests/core/distributed/pretended_rank.h"
#include "tests/core/distributed/rank_threads.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("distributed: a process alone is rank 0 of 1") {
  CHECK(distributed::is_first());
  CHECK_FALSE(distributed::is_shared());
  CHECK(distributed::broadcast("text") == "text");
  CHECK(distributed::gather(3) == std::vector<double>{3});
  const distributed::SharedStep step;
  CHECK(part_of_batch(7).is_all());
  const Tensor x = Tensor::ones({2, 3});
  CHECK(gather_rows(x, part_of_batch(2)).storage() == x.storage());
  CHECK(part_of_mean(x, part_of_batch(2)).storage() == x.storage());
}

TEST_CASE("distributed: the parts of a batch follow each other and differ by at most one case") {
  for (const size_t cases : {4U, 5U, 11U, 128U}) {
    size_t end = 0;
    for (size_t rank = 0; rank < 4; ++rank) {
      const PretendedRank pretended(rank, 4);
      CHECK(part_of_batch(cases).is_all());  // outside of a shared step
      const distributed::SharedStep step;
      const BatchPart part = part_of_batch(cases);
      CHECK(part.begin == end);
      CHECK(part.size() >= cases / 4);
      CHECK(part.size() <= cases / 4 + 1);
      CHECK(part.whole == cases);
      end = part.end;
    }
    CHECK(end == cases);
  }
  const PretendedRank pretended(1, 4);
  const distributed::SharedStep step;
  CHECK_ERROR(part_of_batch(3), "a batch of 3 cases for 4 ranks; take a larger one, or fewer ranks");
}

TEST_CASE("distributed: ranks draw their parts of one dropout mask, whichever axis the cases are along") {
  for (const CaseAxis where : {CaseAxis::first, CaseAxis::last_but_one}) {
    const int axis = where == CaseAxis::first ? 0 : 1;
    Random whole_noise(5);
    const Tensor ones = Tensor::ones({6, 7, 5}), whole = dropout(ones, real(0.4), whole_noise);
    for (size_t rank = 0; rank < 3; ++rank) {
      const PretendedRank pretended(rank, 3);
      const distributed::SharedStep step;
      const BatchPart part = part_of_batch(ones.shape()[axis], where);
      Random noise(5);
      const Tensor own = dropout(slice(ones, axis, part.begin, part.end), real(0.4), noise);
      CHECK(std::ranges::equal(own.values(), slice(whole, axis, part.begin, part.end).values()));
      CHECK(noise.bits() == Random(whole_noise).bits());  // as much was used up
    }
  }
  const PretendedRank pretended(0, 3);
  const distributed::SharedStep step;
  part_of_batch(6);
  Random noise(5);
  CHECK_ERROR(dropout(Tensor::ones({6, 4}), real(0.5), noise),
              "dropout: [6 x 4] has not the 2 cases of this rank's part of the batch along axis 0; tell "
              "part_of_batch() "
              "where they are");
}

TEST_CASE("random: any part of a fill is the same numbers") {
  Random random(9);
  random.bits();
  std::vector<real> whole(1000), part(1000);
  const Random before = random;
  random.fill_uniform(whole.data(), whole.size(), -1, 1);
  for (const size_t first : {0U, 1U, 2U, 3U, 5U, 64U, 998U})
    for (const size_t count : {1U, 2U, 3U, 300U}) {
      const size_t fits = std::min<size_t>(count, whole.size() - first);
      fill_uniform_part(before, first, part.data(), fits, -1, 1);
      CHECK(std::equal(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(fits),
                       whole.begin() + static_cast<std::ptrdiff_t>(first)));
    }
}

TEST_CASE("distributed: the summands of a mean, and gathered rows, have the whole's gradients") {
  Tensor x = sample({5, 3}, 1).require_gradient();
  {
    Tape tape;
    tape.backward(mean(square(x)));
  }
  const Tensor wanted = x.gradient();
  x.clear_gradient();
  double total = 0;
  for (size_t rank = 0; rank < 2; ++rank) {
    const PretendedRank pretended(rank, 2);
    const distributed::SharedStep step;
    const BatchPart part = part_of_batch(5);
    Tape tape;
    const Tensor loss = part_of_mean(mean(square(slice(x, 0, part.begin, part.end))), part);
    total += static_cast<double>(loss.item());
    tape.backward(loss);
  }
  CHECK(total == doctest::Approx(static_cast<double>(mean(square(x.detach())).item())));
  for (size_t i = 0; i < x.size(); ++i)
    CHECK(static_cast<double>(x.gradient()[i]) == doctest::Approx(static_cast<double>(wanted[i])));
}

TEST_CASE(
    "distributed: each rank's share of a loss of all gathered rows sends every row its whole gradient") {
  const auto pairs = [](const Tensor& x) { return mean(square(matmul(x, x, {.b = Transpose::yes}))); };
  const Tensor whole = leaf({5, 3}, 1);
  {
    Tape tape;
    tape.backward(pairs(whole));
  }
  const Tensor wanted = whole.gradient();
  for (const size_t ranks : {2U, 3U})
    on_ranks(ranks, [&] {
      const distributed::SharedStep step;
      const BatchPart part = part_of_batch(5);
      const Tensor own = sample({5, 3}, 1).slice(part.begin, part.end).copy().require_gradient();
      Tape tape;
      const Tensor all = gather_rows(own, part);
      CHECK(identical(all, whole));
      tape.backward(part_of_mean(pairs(all), part));
      CHECK(difference(own.gradient(), wanted.slice(part.begin, part.end)) < 1e3 * ulp);
    });
}

TEST_CASE("distributed: a rank that was started with something else names the first difference") {
  const PretendedRank pretended(2, 3, "--lr 1\n--batch 4");
  distributed::require_same("a flag", "--lr 1\n--batch 4");
  CHECK_ERROR(distributed::require_same("a flag", "--lr 1\n--batch 8"),
              "a flag of rank 2 is not that of rank 0: --batch 8, and --batch 4; start all ranks alike");
}

TEST_CASE("distributed: what launchers say") {
  const auto said = [](const char* variable, const char* value) {
    ::setenv(variable, value, 1);
    const size_t count = distributed::launched();
    ::unsetenv(variable);
    return count;
  };
  CHECK(said("OMPI_COMM_WORLD_SIZE", "4") == 4);
  CHECK(said("PMI_SIZE", "3") == 3);
  CHECK(said("PMI_SIZE", "nonsense") == 1);
  CHECK(distributed::launched() == 1);
}
