// Optimizers, clipping and schedules, by name. Inputs: the parameters w0, w1, ..., then their gradients step by
// step. Answers: the parameters after the last step.

#include <algorithm>

#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/schedule.h"
#include "optim/sgd.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

/// The parameters of an instruction in one Parameters object.
class Model {
 public:
  explicit Model(const Instruction& in) : in_(in), tensors_(in.size("parameters")) {
    for (size_t i = 0; i < tensors_; ++i) parameters.add("w" + std::to_string(i), in.input(i).copy());
    (void)parameters.values();
  }

  size_t steps() const { return in_.inputs() / tensors_ - 1; }

  /// Writes the gradients of one step where backward() would write them.
  void set_gradients(size_t step) {
    const std::span<real> gradients = parameters.gradients();
    for (size_t i = 0; i < tensors_; ++i)
      std::ranges::copy(in_.input((step + 1) * tensors_ + i).values(),
                        gradients.begin() + static_cast<std::ptrdiff_t>(parameters.offset(i)));
  }

  std::vector<Tensor> values() const {
    std::vector<Tensor> values;
    for (const Parameters::Entry& entry : parameters.learned()) values.push_back(entry.value.copy());
    return values;
  }

  std::vector<Tensor> gradients() const {
    std::vector<Tensor> gradients;
    for (const Parameters::Entry& entry : parameters.learned()) gradients.push_back(entry.value.gradient());
    return gradients;
  }

  Parameters parameters{1};

 private:
  const Instruction& in_;
  size_t tensors_;
};

std::vector<Tensor> run_sgd(const Instruction& in) {
  Model model(in);
  Sgd sgd(model.parameters, {.learning_rate = in.number("learning_rate", 0),
                             .momentum = in.number("momentum", 0),
                             .nesterov = in.flag("nesterov"),
                             .weight_decay = in.number("weight_decay", 0)});
  for (size_t step = 0; step < model.steps(); ++step) {
    model.set_gradients(step);
    sgd.step();
  }
  return model.values();
}

/// "rows", if given, lists for each step which rows of w0 lazy Adam may update.
std::vector<Tensor> run_adam(const Instruction& in) {
  Model model(in);
  Adam adam(model.parameters, {.learning_rate = in.number("learning_rate", 0),
                               .beta1 = in.number("beta1", 0),
                               .beta2 = in.number("beta2", 0),
                               .epsilon = in.number("epsilon", 0),
                               .weight_decay = in.number("weight_decay", 0)});
  std::vector<int> rows;
  if (in.has("rows"))
    adam.update_only(model.parameters.learned()[0].value, [&] { return std::span<const int>(rows); });
  for (size_t step = 0; step < model.steps(); ++step) {
    model.set_gradients(step);
    if (in.has("rows")) rows = in.json().at("rows")[step].get<std::vector<int>>();
    adam.step();
  }
  return model.values();
}

std::vector<Tensor> run_clip(const Instruction& in) {
  Model model(in);
  model.set_gradients(0);
  const real limit = in.number("limit", 1);
  if (in.flag("each")) {
    clip_each_gradient_norm(model.parameters, limit);
    return model.gradients();
  }
  const real norm = clip_gradient_norm(model.parameters, limit);
  std::vector<Tensor> answers = model.gradients();
  answers.push_back(Tensor::full({1}, norm));
  return answers;
}

template <class Schedule>
std::vector<Tensor> rates(const Instruction& in, const Schedule& schedule) {
  std::vector<real> rates;
  for (const int step : in.integers("at")) rates.push_back(schedule.at(static_cast<std::uint64_t>(step)));
  return {Tensor::from({rates.size()}, rates)};
}

}  // namespace

void add_optimizers(Functions& functions) {
  functions["sgd"] = run_sgd;
  functions["adam"] = run_adam;
  functions["clip_gradient_norm"] = run_clip;
  functions["step_schedule"] = [](const Instruction& in) {
    return rates(in, StepSchedule{.initial = in.number("initial", 0),
                                  .factor = in.number("factor", 0),
                                  .interval = in.size("interval", 1)});
  };
  functions["cosine_schedule"] = [](const Instruction& in) {
    return rates(in, CosineSchedule{.initial = in.number("initial", 0),
                                    .final = in.number("final", 0),
                                    .warmup = in.size("warmup"),
                                    .steps = in.size("steps")});
  };
}

}  // namespace lamina::oracle
