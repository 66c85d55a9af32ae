#include "core/distributed/batch_part.h"

#include <algorithm>

#include "core/distributed/group.h"
#include "core/error.h"
#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

bool synchronize_wanted = false;
thread_local bool shared = false;
thread_local BatchPart current;

}  // namespace

namespace distributed {

SharedStep::SharedStep() {
  shared = is_shared();
  current = {};
}

SharedStep::~SharedStep() {
  shared = false;
  current = {};
}

bool in_shared_step() { return shared; }

void synchronize_statistics(bool synchronize) { synchronize_wanted = synchronize; }
bool synchronizes_statistics() { return shared && synchronize_wanted; }

}  // namespace distributed

BatchPart part_of_batch(size_t cases, CaseAxis axis) {
  if (!shared) return {0, cases, cases, axis};
  const distributed::Group& group = distributed::group();
  const size_t rank = group.rank(), ranks = group.size();
  if (cases < ranks)
    fail("a batch of ", cases, " cases for ", ranks, " ranks; take a larger one, or fewer ranks");
  return current = {cases * rank / ranks, cases * (rank + 1) / ranks, cases, axis};
}

BatchPart current_batch_part() { return current; }

Tensor part_of_mean(const Tensor& mean, const BatchPart& part) {
  return part.is_all() ? mean : mean * (static_cast<real>(part.size()) / static_cast<real>(part.whole));
}

/// y = the rows of all ranks;  dx = the own rows of sum over ranks of dy
Tensor gather_rows(const Tensor& x, const BatchPart& part) {
  if (part.is_all()) return x;
  if (x.shape().rank() != 2 || x.rows() != part.size())
    fail("gather_rows: ", x.shape(), " where the part of the batch has ", part.size(), " rows");
  const size_t begin = part.begin * x.columns();
  Tensor y = Tensor::zeros({part.whole, x.columns()});
  std::ranges::copy(x.values(), y.data() + begin);
  distributed::group().sum(y.values());
  return record("gather_rows", y, {x}, [=] {
    Tensor sum(y.shape());
    std::copy_n(y.gradient_data(), y.size(), sum.data());
    distributed::group().sum(sum.values());
    contribute(x, [dy = sum.data() + begin](size_t i) { return dy[i]; });
  });
}

}  // namespace lamina
