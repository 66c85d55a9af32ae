// Lamina's side of the table of small batches (small_case.h), on one thread.
//
//   echo 0.1 facts | build/bench_small --case lstm_b4

#include "core/error.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/recurrent.h"
#include "models/convnet/model.h"
#include "models/mnist/model.h"
#include "tools/bench/timed_steps.h"
#include "tools/peers/small_case.h"

namespace {

using namespace lamina;
using bench::Small;
using bench::SmallCase;

TrainingStep step_of(const SmallCase& chosen) {
  const size_t batch = chosen.batch;
  if (chosen.model == "mlp") return classifier_step<mnist::Model, mnist::ModelOptions>({.batch = batch});
  if (chosen.model == "convnet")
    return classifier_step<convnet::Model, convnet::ModelOptions>({.batch = batch});
  if (chosen.model == "lstm") return recurrent_step<Lstm>({.batch = batch});
  if (chosen.model == "gru") return recurrent_step<Gru>({.batch = batch});
  if (chosen.model == "transformer")
    return language_model_step(
        {.norm = Norm::layer, .layers = 2, .width = 64, .heads = 4, .length = 64, .batch = batch});
  fail<UsageError>("no model '", chosen.model, "'; there are mlp, convnet, lstm, gru and transformer");
}

Small make(const SmallCase& chosen) {
  set_threads(1);
  const TrainingStep step = step_of(chosen);
  const size_t parameters = step.parameters->count();
  if (!chosen.trains) return {step.use, parameters};
  return {with_update(step), parameters};
}

}  // namespace

int main(int argc, char** argv) { return bench::run_small(argc, argv, make); }
