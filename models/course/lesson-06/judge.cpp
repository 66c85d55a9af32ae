#include "../judge.h"

#include "exercises.h"
using namespace lamina;
using course::compare, course::equal, course::Mistake, course::numbers;

Tensor uniform_numbers(const Shape& shape, std::uint64_t seed, real low, real high) {
  return uniform(1)(shape, Random(seed)) * ((high - low) / 2) + (high + low) / 2;
}

/// What is wrong with the derivative of a vector that every case has read; `each` are the cases' contributions.
std::string wrong_sum(const std::string& what, const Tensor& yours, const Tensor& each,
                      const std::string& reason, const std::vector<Mistake>& mistakes) {
  const std::vector<Tensor> of_cases = {each, each.step(0), each.step(each.rows() - 1)};
  for (const Tensor& some : of_cases)
    if (equal(numbers(yours), numbers(some)))
      return "your " + what + " lacks the sum over the cases" + reason;
  if (equal(numbers(yours), numbers(mean_rows(each))))
    return "your " + what + " is the mean over the cases; it is the sum";
  if (yours.size() == each.rows())
    return "your " + what + " sums over the units; it must sum over the cases, and have a number per unit";
  return compare(what, numbers(yours), numbers(sum_rows(each)), mistakes);
}

std::string wrong_layer_norm_backward() {
  const size_t cases = 6, units = 5;
  Tensor a = uniform_numbers({cases, units}, 1, -2, 3), gain = uniform_numbers({units}, 2, 0.5, 2);
  Tensor bias = uniform_numbers({units}, 3, -1, 1);
  const Tensor dy = uniform_numbers({cases, units}, 4, -1, 2);
  const real epsilon = 0.1;  // large enough to see where it is missing
  const LayerNormGradients yours = layer_norm_backward(a, gain, dy, epsilon);

  const Tensor c = a - mean_columns(a), sigma = sqrt(mean_columns(square(c)) + epsilon), n = c / sigma;
  std::string wrong = wrong_sum("d(bias)", yours.dbias, dy, ": every case has read the same bias", {});
  if (wrong.empty())
    wrong = wrong_sum(
        "d(gain)", yours.dgain, dy * n, "",
        {{numbers(sum_rows(dy)), "your d(gain) is that of the bias: it lacks the factor (a - mu) / sigma"},
         {numbers(sum_rows(dy * a)), "your d(gain) has a where (a - mu) / sigma belongs"},
         {numbers(sum_rows(dy * c)), "your d(gain) lacks the division by sigma"}});
  if (!wrong.empty()) return wrong;

  for (Tensor* input : {&a, &gain, &bias}) input->require_gradient();
  Tape tape;
  tape.backward(layer_norm(a, gain, bias, epsilon), dy);  // the library's
  const auto by_formula = [&](const Tensor& dn) {
    return numbers((dn - mean_columns(dn) - n * mean_columns(dn * n)) / sigma);
  };
  const Tensor dn = dy * gain.detach();
  const auto by_lines = [&](const Tensor& dsigma) {
    const Tensor dc = dn / sigma + dsigma / sigma * c / static_cast<real>(units);
    return numbers(dc - mean_columns(dc));
  };
  return compare(
      "d(a)", numbers(yours.da), numbers(a.gradient()),
      {{by_formula(dy), "your d(a) lacks the gain: y = gain n + bias, so the derivative for n is gain dy"},
       {numbers(dn - mean_columns(dn) - n * mean_columns(dn * n)), "your d(a) lacks the division by sigma"},
       {numbers(dn / sigma),
        "your d(a) takes mu and sigma for constants: it lacks the two terms with a mean"},
       {numbers((dn - mean_columns(dn)) / sigma),
        "your d(a) takes sigma for a constant: it lacks the term with n"},
       {numbers((dn - n * mean_columns(dn * n)) / sigma),
        "your d(a) takes mu for a constant: it lacks the mean of the derivative"},
       {numbers(gain.detach() * (dy - mean_columns(dy) - n * mean_columns(dy * n)) / sigma),
        "your d(a) multiplies by the gain last; the means are of gain dy"},
       {numbers((dn - mean_columns(dn) - gain.detach() * n * mean_columns(dn * gain.detach() * n)) / sigma),
        "your d(a) has gain n where n belongs: y of the lesson's formula is before the gain"},
       {numbers((dn - sum_columns(dn) - n * sum_columns(dn * n)) / sigma),
        "your d(a) has sums where means belong: divide by the number of units"},
       {by_lines(-sum(dn * c) / square(sigma)),
        "your d(sigma) sums over the whole batch; every case has a sigma of its own"},
       {numbers((dn - mean(dn) - n * mean(dn * n)) / sigma),
        "your d(a) takes its means over the whole batch; every case has its own"},
       {numbers((dn - mean_rows(dn) - n * mean_rows(dn * n)) / sigma),
        "your d(a) takes its means over the cases (mean_rows); they are over the units (mean_columns)"}});
}

std::string wrong_normalize_batch() {
  const Tensor a = uniform_numbers({6, 4}, 5, -1, 4), mean_before = uniform_numbers({4}, 6, -1, 1);
  const Tensor variance_before = uniform_numbers({4}, 7, 0.5, 3);
  const real momentum = 0.2, epsilon = 0.01;
  const Tensor mu = mean_rows(a), variance = mean_rows(square(a - mu));
  const Tensor by_batch = (a - mu) / sqrt(variance + epsilon);
  const Tensor by_running = (a - mean_before) / sqrt(variance_before + epsilon);
  const auto moved = [&](const Tensor& before, const Tensor& batch, real share) {
    return numbers((1 - share) * before + share * batch);
  };

  RunningStatistics running{mean_before.copy(), variance_before.copy()};
  std::string wrong = compare(
      "output in training", numbers(normalize_batch(a, running, Mode::train, momentum, epsilon)),
      numbers(by_batch),
      {{numbers(by_running),
        "in training your output is normalized by the running statistics; it must be by the batch's"},
       {numbers(layer_norm_simple(a, epsilon)),
        "in training your output is normalized over the units of each case: that is layer norm"},
       {numbers((a - mu) / (variance + epsilon)),
        "in training your output is divided by the variance; it must be by its square root"},
       {numbers((a - ((1 - momentum) * mean_before + momentum * mu)) /
                sqrt((1 - momentum) * variance_before + momentum * variance + epsilon)),
        "in training your output is normalized by the running statistics after they moved; it must be by the "
        "batch's"},
       {numbers((a - mu) / (sqrt(variance) + epsilon)), "in training your epsilon is outside of the root"},
       {numbers((a - mu) / sqrt(variance * 6 / 5 + epsilon)),
        "in training your variance is divided by the number of cases less one; divide by their number"}});
  if (wrong.empty())
    wrong = compare(
        "running mean", numbers(running.mean), moved(mean_before, mu, momentum),
        {{numbers(mean_before), "your running mean does not move in training"},
         {moved(mean_before, mu, 1 - momentum),
          "your running mean keeps the share that the batch must have: running = (1 - momentum) running "
          "+ momentum batch"}});
  if (wrong.empty())
    wrong = compare("running variance", numbers(running.variance), moved(variance_before, variance, momentum),
                    {{numbers(variance_before), "your running variance does not move in training"},
                     {moved(variance_before, mean_rows(square(a - running.mean)), momentum),
                      "your running variance is around the running mean; it must be around the batch's"},
                     {moved(variance_before, variance * 6 / 5, momentum),
                      "your running variance averages that of the number of cases less one; divide by their "
                      "number"},
                     {moved(variance_before, sqrt(variance), momentum),
                      "your running variance averages the deviation; it must average its square"}});
  if (!wrong.empty()) return wrong;

  running = {mean_before.copy(), variance_before.copy()};
  wrong =
      compare("output in evaluation", numbers(normalize_batch(a, running, Mode::evaluate, momentum, epsilon)),
              numbers(by_running),
              {{numbers((a - mean_before) / (sqrt(variance_before) + epsilon)),
                "in evaluation your epsilon is outside of the root"},
               {numbers(by_batch),
                "in evaluation your output is normalized by the batch's statistics; it must be "
                "by the running ones"}});
  if (!wrong.empty()) return wrong;
  if (numbers(running.mean) != numbers(mean_before))
    return "your running mean moves in evaluation; only training may move it";
  if (numbers(running.variance) != numbers(variance_before))
    return "your running variance moves in evaluation; only training may move it";
  return "";
}

std::string wrong_fold_batch_norm() {
  const Tensor weight = uniform_numbers({3, 3}, 8, -1, 2), bias = uniform_numbers({3}, 9, -1, 2);
  const Tensor gain = uniform_numbers({3}, 10, 0.5, 2), shift = uniform_numbers({3}, 11, -1, 2);
  const RunningStatistics running{uniform_numbers({3}, 12, -1, 2), uniform_numbers({3}, 13, 0.5, 3)};
  const real epsilon = 0.1;
  const Folded yours = fold_batch_norm(weight, bias, gain, shift, running, epsilon);
  const Tensor deviation = sqrt(running.variance + epsilon), factor = gain / deviation;
  const std::string wrong = compare(
      "weight", numbers(yours.weight), numbers(weight * factor),
      {{numbers(weight / deviation), "your weight lacks the gain"},
       {numbers(weight * gain / square(deviation)),
        "your weight is divided by the variance; it must be by its square root"},
       {numbers(weight * gain / (sqrt(running.variance) + epsilon)),
        "your weight has the epsilon outside of the root"},
       {numbers(weight * gain / sqrt(running.variance)), "your weight lacks the epsilon beside the variance"},
       {numbers(weight * factor.reshape({3, 1})),
        "your weight has its rows multiplied; the unit's weights are a column"},
       {numbers(weight),
        "your weight is unchanged; it must be multiplied by gain / sqrt(variance + epsilon)"}});
  if (!wrong.empty()) return wrong;
  const Tensor fewer = weight.slice(0, 2);
  if (!equal(numbers(fold_batch_norm(fewer, bias, gain, shift, running, epsilon).weight),
             numbers(fewer * factor)))
    return "your weight is right for as many inputs as units, not for fewer";
  return compare(
      "bias", numbers(yours.bias), numbers((bias - running.mean) * factor + shift),
      {{numbers(bias * factor + shift), "your bias lacks the running mean"},
       {numbers(shift - running.mean * factor),
        "your bias lacks the layer's own bias, which is multiplied as the weights are"},
       {numbers(bias - running.mean * factor + shift),
        "in your bias the layer's own bias is added as it is; it is multiplied as the weights are"},
       {numbers(bias * factor - running.mean + shift),
        "in your bias the running mean is subtracted as it is; it is multiplied as the weights are"},
       {numbers((bias - running.mean) * factor), "your bias lacks batch norm's own bias, shift"},
       {numbers((bias + running.mean) * factor + shift),
        "in your bias the running mean has the wrong sign"}});
}

std::string wrong_rms_norm_invariances() {
  const Tensor x = uniform_numbers({8, 5}, 14, -1, 1), w = uniform_numbers({5, 6}, 15, -1, 1);
  Tensor first_unit = Tensor::ones({6}), first_case = Tensor::ones({8, 1});
  first_unit[0] = first_case[0] = 3;
  const auto layer = [](const Tensor& inputs, const Tensor& weights) {
    return rms_norm(matmul(inputs, weights), Tensor::ones({6}), /*epsilon=*/0);
  };
  struct Experiment {
    const char* name;
    Tensor changed;
    const char* reason;
  };
  const Experiment experiments[] = {
      {"delta W", layer(x, 3 * w), "a and sqrt(mean(a^2)) grow by the same factor"},
      {"W + gamma", layer(x, w + uniform_numbers({5, 1}, 16, -1, 1)), "without a mean nothing removes gamma"},
      {"delta w_1", layer(x, w * first_unit),
       "all units are divided by one number, to which w_1 contributes"},
      {"delta X", layer(3 * x, w), "every case is divided by its own scale"},
      {"X + shift", layer(x + uniform_numbers({5}, 17, -1, 1), w),
       "without a mean nothing removes the shift"},
      {"delta x_1", layer(x * first_case, w), "every case is divided by its own scale"}};
  const std::array<bool, 6> yours = rms_norm_invariances();
  if (yours == std::array<bool, 6>{}) return "is not written yet: it says that every output changes";
  for (size_t i = 0; i < 6; ++i) {
    const bool same = equal(numbers(experiments[i].changed), numbers(layer(x, w)));
    if (yours[i] == same) continue;
    return experiments[i].name +
           std::string(same ? ": you say that the output changes, but it stays the same: "
                            : ": you say that the output stays the same, but it changes: ") +
           experiments[i].reason;
  }
  return "";
}

int main() {
  course::exercise("layer_norm_backward", wrong_layer_norm_backward);
  course::exercise("normalize_batch", wrong_normalize_batch);
  course::exercise("fold_batch_norm", wrong_fold_batch_norm);
  course::exercise("rms_norm_invariances", wrong_rms_norm_invariances);
  return course::verdict();
}
