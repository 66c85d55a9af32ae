#include "models/training/training_ranks.h"

#include <span>
#include <string>

#include "core/distributed/group.h"
#include "core/distributed/shared_parameters.h"
#include "core/error.h"
#include "core/math/digest.h"

namespace lamina {

namespace {

void broadcast(std::span<real> values) { distributed::group().broadcast(std::as_writable_bytes(values)); }

template <class Number>
void broadcast(Number& number) {
  distributed::group().broadcast(std::as_writable_bytes(std::span(&number, 1)));
}

bool is_due(std::uint64_t steps_done, std::uint64_t every) { return every > 0 && steps_done % every == 0; }

}  // namespace

RankSteps::RankSteps(Parameters& parameters, Optimizer& optimizer, GradientsRead read)
    : read_(read),
      optimizer_(optimizer),
      model_(parameters, optimizer.state()),
      gradients_(parameters, distributed::smallest_bucket, model_.sum()),
      exchanged_(2) {
  if (distributed::is_shared()) broadcast(read_);
  if (model_.sum() != nullptr)
    optimizer.update_part(model_.own_part(), [this](Range range) { gradients_.sum_here(range); });
}

bool RankSteps::are_read(std::uint64_t steps_done) const {
  return read_.always || is_due(steps_done, read_.rows) || is_due(steps_done, read_.record);
}

RankSteps::Step::Step(RankSteps& steps, std::uint64_t steps_done) : steps_(steps), steps_done_(steps_done) {
  using enum distributed::SumsAre;
  steps_.gradients_.begin(steps_.are_read(steps_done) ? complete : left_to_the_update);
}

RankSteps::~RankSteps() { optimizer_.update_part(distributed::all_parameters); }

void RankSteps::Step::forward_done(double loss, bool interrupted) {
  steps_.exchanged_[0] = loss;
  steps_.exchanged_[1] = interrupted ? 1 : 0;
  distributed::group().start_sum(std::span(steps_.exchanged_));
}

void RankSteps::Step::backward_done() { steps_.gradients_.finish(); }

void RankSteps::Step::parameters_read() {
  if (steps_.read_.always || is_due(steps_done_, steps_.read_.record)) steps_.model_.meet();
}

void share_state(Parameters& parameters, Optimizer& optimizer, Position& position) {
  if (!distributed::is_shared()) return;
  broadcast(position.step);
  broadcast(position.loss_sum);
  broadcast(position.reported);
  broadcast(optimizer.steps);
  std::uint64_t missed = optimizer.missed.size();
  broadcast(missed);
  optimizer.missed.resize(missed);
  distributed::group().broadcast(std::as_writable_bytes(std::span(optimizer.missed)));
  distributed::broadcast(parameters);
  for (auto [name, value] : optimizer.state()) broadcast(value.values());
}

void require_equal_parameters(Parameters& parameters, std::uint64_t step) {
  if (!distributed::is_shared()) return;
  const std::uint64_t own = digest_of(std::as_bytes(parameters.values()));
  std::uint64_t first = own;
  broadcast(first);
  if (first != own)
    fail<DataError>("its parameters differ from those of rank 0 after step ", step,
                    "; look for faulty memory and for different CPUs or libraries, then go on with --resume");
}

}  // namespace lamina
