#include "../judge.h"

#include "exercises.h"
using namespace lamina;
using course::compare, course::equal, course::Numbers, course::numbers;

// --- softmax_loss

LossAndGradient by_library(Tensor logits, std::span<const int> labels) {
  logits.require_gradient();
  Tape tape;
  const Tensor loss = cross_entropy(logits, labels);
  tape.backward(loss);
  return {loss.item(), logits.gradient()};
}

std::string wrong_softmax_loss() {
  const std::vector<int> labels = {2, 0, 1, 1};
  const Tensor z = uniform(3)({4, 3}, Random(1)), p = softmax(z);
  const LossAndGradient right = by_library(z.copy(), labels);
  Tensor one_hot = Tensor::zeros({4, 3});
  for (size_t r = 0; r < 4; ++r) one_hot.at(r, labels[r]) = 1;

  const LossAndGradient yours = softmax_loss(z, labels);
  const double largest = mean(max(z, 1)).item();
  std::string wrong =
      compare("loss", {yours.loss}, {right.loss},
              {{{right.loss - largest},
                "your loss lacks the largest logit that was subtracted: log sum e^z = m + log sum e^(z - m)"},
               {{-sum(z * one_hot).item() / 4}, "your loss is minus the logit; it is -log of the softmax"},
               {{-right.loss}, "your loss has the wrong sign: it is -log p"},
               {{right.loss * 4}, "your loss is the sum over the cases; it is their mean"}});
  if (wrong.empty())
    wrong = compare(
        "gradient", numbers(yours.dlogits), numbers(right.dlogits),
        {{numbers(p / 4), "your gradient is the softmax: it lacks the 1 that is subtracted at the label"},
         {numbers(p - one_hot), "your gradient is that of the sum over the cases; the loss is their mean"},
         {numbers((one_hot - p) / 4), "your gradient has the wrong sign: it is p - y"}});
  if (!wrong.empty()) return wrong;
  for (const real far : {1000, -1000}) {
    const LossAndGradient shifted = softmax_loss(z + far, labels);
    const std::string around = text(" for logits around ", far);
    if (!std::isfinite(shifted.loss))
      return "your loss is no number" + around +
             (far > 0 ? ": e^1000 is infinite; subtract the largest logit first"
                      : ": all e^z are zero; subtract the largest logit first");
    wrong = compare("loss" + around, {shifted.loss}, {right.loss});
    if (wrong.empty()) wrong = compare("gradient" + around, numbers(shifted.dlogits), numbers(right.dlogits));
    if (!wrong.empty()) return wrong;
  }
  // Each case has a largest logit of its own, which may be far from the other cases' and from its label's.
  const Tensor z_apart = Tensor::from({2, 3}, {-1000, 0, 1000, 1, 2, 3});
  for (const std::vector<int>& of : {std::vector<int>{2, 0}, std::vector<int>{0, 0}}) {
    const LossAndGradient apart = softmax_loss(z_apart, of), right_apart = by_library(z_apart.copy(), of);
    const bool loss_is_right = equal({apart.loss}, {right_apart.loss});
    if (of[0] == 0 && !loss_is_right)
      return "your loss is wrong for a label whose logit is far below the largest: its share is 0, which has "
             "no logarithm; take m + log sum e^(z - m) - z_l";
    if (!loss_is_right || !equal(numbers(apart.dlogits), numbers(right_apart.dlogits)))
      return "your loss or gradient is wrong where a case has logits far from each other: subtract the "
             "largest of each case, not another number";
  }
  return "";
}

// --- train_epoch

/// What the model was asked, and how often the weight moved.
struct Epoch {
  std::vector<Numbers> batches;
  size_t steps = 0;
  double loss = 0, weight = 0;
};

/// One weight, y = w x, and an optimizer that notes its steps.
template <class Train>
Epoch run(const Train& train) {
  Epoch epoch;
  Parameters parameters(/*seed=*/1);
  const Tensor w = parameters.add("w", Tensor::from({}, {0.5}));
  Sgd sgd(parameters, {.learning_rate = 0.01});
  epoch.loss = train(
      [&](const Tensor& x) {
        epoch.batches.push_back(numbers(x));
        return x * w;
      },
      sgd);
  epoch.steps = sgd.steps;
  epoch.weight = w.item();
  return epoch;
}

std::string wrong_train_epoch() {
  Tensor x({10, 1}), y({10, 1});
  for (size_t i = 0; i < 10; ++i) {
    x[i] = static_cast<real>(i) + 1;
    y[i] = 3 - static_cast<real>(i % 3);
  }
  const std::vector<int> order = {3, 8, 1, 0, 9, 6, 2, 7, 5, 4};
  const Epoch yours =
      run([&](const Model& model, Optimizer& sgd) { return train_epoch(x, y, order, 4, model, sgd); });
  double mean_of_batches = 0;
  const auto epoch_of = [&](const Tensor& targets, bool mean_loss) {
    return run([&](const Model& model, Optimizer& sgd) {
      double sum = 0;
      mean_of_batches = 0;
      for (size_t begin = 0; begin < 10; begin += 4) {
        const size_t cases = std::min<size_t>(4, 10 - begin);
        Tape tape;
        const Tensor loss = mean_squared_error(model(gather(x, std::span(order).subspan(begin, cases))),
                                               targets.slice(begin, begin + cases));
        tape.backward(mean_loss ? loss : loss * static_cast<real>(cases));
        sgd.step();
        sum += loss.item() * static_cast<real>(cases);
        mean_of_batches += loss.item() / 3;
      }
      return sum / 10;
    });
  };
  const double by_other_targets = epoch_of(y, true).weight,
               by_sums = epoch_of(gather(y, order), false).weight;
  const Epoch right = epoch_of(gather(y, order), true);
  if (yours.batches.empty()) return "is not written yet: the model is never asked";
  Numbers seen;
  for (const Numbers& batch : yours.batches) seen.insert(seen.end(), batch.begin(), batch.end());
  if (yours.batches.size() > 3)
    return text("your epoch asks the model ", yours.batches.size(),
                " times; with 10 cases in batches of 4 there are 3 batches");
  if (seen.size() > 10) return "your batches reach beyond the last case";
  if (seen.size() < 10)
    return text("your epoch leaves out the last ", 10 - seen.size(),
                " of 10 cases, which do not fill a batch");
  if (seen == numbers(x)) return "your epoch takes the cases as they lie in x; it must follow the order";
  if (yours.batches != right.batches)
    return text("your first batch has ", yours.batches[0].size(),
                " cases of 4, or they are not those of the order");
  if (yours.steps != 3)
    return text("your epoch makes ", yours.steps, yours.steps == 1 ? " step" : " steps",
                " of the optimizer; with 10 cases in batches of 4 there are 3");
  std::string wrong =
      compare("weight after the epoch", {yours.weight}, {right.weight},
              {{{by_other_targets}, "your epoch takes the inputs in the order, but not the targets"},
               {{by_sums}, "your steps go along the gradient of a batch's sum; the loss is its mean"}});
  if (!wrong.empty()) return wrong;
  wrong = compare(
      "mean", {yours.loss}, {right.loss},
      {{{mean_of_batches},
        "your mean takes the last batch, which is smaller, as seriously as the others: weigh each "
        "by its cases"},
       {{mean_of_batches * 3 / 10}, "your sum adds the batches' means; multiply each by its number of cases"},
       {{right.loss * 10}, "your mean is a sum"}});
  if (!wrong.empty()) return wrong;
  try {
    const Epoch even =
        run([&](const Model& model, Optimizer& sgd) { return train_epoch(x, y, order, 5, model, sgd); });
    if (even.batches.size() == 2) return "";
    return text("your epoch has ", even.batches.size(), " batches of 10 cases, 5 at a time; there are 2");
  } catch (const Error& error) {
    return text("with 10 cases in batches of 5, which leave no rest, your epoch fails: ", error.what());
  }
}

// --- EarlyStopping

/// "improved" as + and -, up to where it stops.
std::string story(int patience, const Numbers& losses) {
  EarlyStopping rule(patience);
  std::string told;
  for (const double loss : losses) {
    told += rule.improved(loss) ? '+' : '-';
    if (rule.stop()) return told + "!";
  }
  return told;
}

std::string wrong_early_stopping() {
  const std::string plain = story(3, {5, 4, 6, 5.5, 3, 7, 7, 7, 7, 7});
  if (plain == "----------") return "is not written yet: no loss is an improvement";
  if (plain == "++-++---!")
    return "your rule compares with the loss before; it must compare with the lowest so far";
  if (story(3, {5, 4, 6, 5.5, 5}).find('+', 2) != std::string::npos)
    return "your rule compares with the loss before; it must compare with the lowest so far";
  if (story(3, {5, 6, 4, 6, 3, 6, 2, 6, 1, 6}).ends_with('!'))
    return "your rule does not begin to count anew after an improvement";
  if (plain == "++--+----!")
    return "your rule stops one loss too late: after patience + 1 that are not lower";
  if (plain == "++--+--!") return "your rule stops one loss too early: after patience - 1 that are not lower";
  if (plain == "++--+-----") return "your rule never stops";
  if (plain != "++--+---!")
    return "with losses 5 4 6 5.5 3 7 7 7 and a patience of 3 your rule says " + plain + ", not ++--+---!";
  const std::string equal_losses = story(2, {5, 5, 5, 5}), not_numbers = story(2, {5, NAN, NAN, 4});
  if (equal_losses != "+--!")
    return equal_losses[1] == '+' ? "your rule takes an equal loss for an improvement"
                                  : "your rule does not count an equal loss, which is not lower";
  if (not_numbers != "+--!")
    return std::string("your rule ") +
           (not_numbers[1] == '+' ? "takes NaN for an improvement"
                                  : "does not count NaN, which is not lower") +
           ": loss >= best_ is false for it, and so is loss < best_";
  return "";
}

int main() {
  course::exercise("softmax_loss", wrong_softmax_loss);
  course::exercise("train_epoch", wrong_train_epoch);
  course::exercise("early_stopping", wrong_early_stopping);
  return course::verdict();
}
