#include "models/lab/growth/equilibrium.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "models/analysis/geometry.h"
#include "models/evidence/interval.h"
#include "models/lab/scale_free_digits.h"

namespace lamina::lab {

namespace {

/// 1 - (1 - r d)^2: the share of the squared length that a decay takes.
double share_of_decay(double rate, double decay) { return 2 * rate * decay - rate * decay * rate * decay; }

}  // namespace

double resting_length_of_sgd(const UpdateMoments& moments, double rate, double decay) {
  return std::pow(moments.product / share_of_decay(rate, decay), 0.25);
}
double resting_length_of_adam(const UpdateMoments& moments, double rate, double decay, double momentum) {
  return std::sqrt((1 + momentum) / (1 - momentum) * moments.squared_update / share_of_decay(rate, decay));
}

void UpdateWatch::add(const Tensor& before, const Tensor& after) {
  const std::vector<double> lengths = lengths_of(before, by_column_),
                            moved = lengths_of(after - before * static_cast<real>(shrink_), by_column_);
  sums_.resize(lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    const double squared = moved[i] * moved[i];
    sums_[i].length += lengths[i];
    sums_[i].squared_update += squared;
    sums_[i].product += squared * lengths[i] * lengths[i];
  }
  ++updates_;
}

std::vector<UpdateMoments> UpdateWatch::means() const {
  std::vector<UpdateMoments> means = sums_;
  for (auto& [length, squared_update, product] : means) {
    length /= updates_;
    squared_update /= updates_;
    product /= updates_;
  }
  return means;
}

namespace {

constexpr size_t training_cases = 10000;
constexpr double sgd_rate = 0.2, sgd_decay = 0.01, adam_rate = 2e-3, adam_decay = 1;
constexpr double momentum = 0.9;  ///< Adam's beta1

const char* const length = "length";
const char* const angle = "angle of an update";
const char* const test_loss = "test loss";
const char* const over_theory = "length over theory";
const char* const over_sum = "growth over the sum of squared updates";
const char* const resting = "resting length";
const char* const slope = "power of rate / 2 decay";

struct Way {
  const char* name;
  WeightTraining training;
};
constexpr Way ways[] = {{" with SGD", {.rate = sgd_rate}},
                        {" with SGD and decay", {.rate = sgd_rate, .decay = sgd_decay}},
                        {" with SGD held", {.rate = sgd_rate, .held = true}},
                        {" with Adam", {.adam = true, .rate = adam_rate}},
                        {" with Adam and decay", {.adam = true, .rate = adam_rate, .decay = adam_decay}},
                        {" with Adam held", {.adam = true, .rate = adam_rate, .held = true}}};
constexpr Norm norms[] = {Norm::batch, Norm::layer, Norm::weight};

std::string variant_of(Norm norm, const Way& way) { return std::string(name_of(norm)) + way.name; }

/// The rest that theory gives from the updates of the last fifth, beside the length there: median ratio over the vectors, of which some may be
/// dead.
double over_resting_length(const UpdateWatch& last, const WeightTraining& way) {
  std::vector<double> ratios;
  for (const UpdateMoments& moments : last.means())
    ratios.push_back(moments.length / (way.adam
                                           ? resting_length_of_adam(moments, way.rate, way.decay, momentum)
                                           : resting_length_of_sgd(moments, way.rate, way.decay)));
  return median_of(ratios);
}

/// (norm2(w)^2 - norm2(w_0)^2) / sum of norm2(u)^2, over all vectors: 1 where every update is at a right angle to w.
double growth_over_sum(const Tensor& first, const Tensor& now, const UpdateWatch& all, double updates) {
  const auto squared = [](const Tensor& w) { return std::pow(lengths_of(w, false).front(), 2); };
  double sum = 0;
  for (const UpdateMoments& moments : all.means()) sum += moments.squared_update * updates;
  return (squared(now) - squared(first)) / sum;
}

/// The mean length in the last fifth of the training.
double train_and_note(const MnistData& data, Norm norm, const Way& way, std::uint64_t seed, size_t steps,
                      Notes* notes) {
  const WeightTraining& training = way.training;
  ScaleFreeDigits trained(data, norm, training, seed);
  const Tensor first = trained.watched().copy();
  const std::string variant = variant_of(norm, way);
  UpdateWatch all(training.rate, training.decay, trained.by_column), last = all;
  const size_t period = steps / 10, last_begins = steps - steps / 5;
  double turned = 0;
  for (size_t step = 0; step < steps; ++step) {
    const Tensor before = trained.watched().copy();
    trained.train(step);
    const Tensor after = trained.watched();
    all.add(before, after);
    if (step >= last_begins) last.add(before, after);
    turned += mean_angle(before, after);
    if (notes == nullptr || (step + 1) % period != 0) continue;
    const auto x = static_cast<double>(step + 1);
    notes->add(variant, length, x, trained.relative_length());
    notes->add(variant, angle, x, turned / static_cast<double>(period));
    notes->add(variant, test_loss, x, trained.net.score(data.test).nll);
    turned = 0;
  }
  if (notes != nullptr && training.decay > 0)
    notes->add(variant, over_theory, over_resting_length(last, training));
  if (notes != nullptr && training.decay == 0 && !training.held)
    notes->add(variant, over_sum, growth_over_sum(first, trained.watched(), all, static_cast<double>(steps)));
  std::vector<double> lengths;
  for (const UpdateMoments& moments : last.means()) lengths.push_back(moments.length);
  return moments_of(lengths).mean;
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const auto number = static_cast<std::uint64_t>(seed);
  const MnistData data = noisy_digits(number, quick ? 100 : training_cases, quick ? 10 : 1000).data;
  const size_t steps = quick ? 10 : 3000;
  for (const Norm norm : norms) {
    for (const Way& way : ways) train_and_note(data, norm, way, number, steps, &notes);
    std::vector<double> ratios, lengths;
    for (const double decay : {0.01, 0.02, 0.04}) {
      const Way way{.name = "", .training = {.rate = sgd_rate, .decay = decay}};
      ratios.push_back(sgd_rate / (2 * decay));
      lengths.push_back(train_and_note(data, norm, way, number, steps, nullptr));
      notes.add(name_of(norm), resting, ratios.back(), lengths.back());
    }
    notes.add(name_of(norm), slope, analysis::log_log_slope(ratios, lengths));
  }
  return notes.rows();
}

std::vector<LabClaim> equilibrium_claims() {
  const auto number = [](const std::string& variant, const char* quantity,
                         LabNumber::Over over = LabNumber::last) {
    return LabNumber{.variant = variant, .quantity = quantity, .over = over};
  };
  std::vector<LabClaim> claims;
  for (const Norm norm : norms) {
    const std::string n = name_of(norm), title = entry_of(norm).title;
    claims.push_back(
        {.words = text("SGD without decay: under ", title, " weights are longer at the end than at first"),
         .subject = number(n + " with SGD", length),
         .other = {.is = 1},
         .direction = Claim::higher});
    claims.push_back(
        {.words = text("Early stopping: under ", title,
                       " the last updates of SGD turn weights by less than half the first ones' angle"),
         .subject = number(n + " with SGD", angle),
         .other = number(n + " with SGD", angle, LabNumber::first),
         .least = 2,
         .ratio = true});
    claims.push_back(
        {.words = text("Under ", title, " growing weights end at a lower test loss than held ones (SGD)"),
         .subject = number(n + " with SGD", test_loss),
         .other = number(n + " with SGD held", test_loss)});
    for (const char* const way : {" with SGD and decay", " with Adam and decay"}) {
      claims.push_back({.words = text("Under ", title, way, " the length comes to more than 0.9 of theory's"),
                        .subject = number(n + way, over_theory),
                        .other = {.is = 0.9},
                        .direction = Claim::higher,
                        .in_each_seed = true});
      claims.push_back({.words = text("Under ", title, way, " it comes to less than 1.1 of theory's"),
                        .subject = number(n + way, over_theory),
                        .other = {.is = 1.1},
                        .in_each_seed = true});
    }
  }
  return claims;
}

}  // namespace

Lab equilibrium() {
  const auto chart = [](const std::string& title, const char* quantity, const std::string& y, bool held) {
    LabChart all{.title = title, .quantity = quantity, .x_label = "update", .y_label = y, .log_y = true};
    for (const Norm norm : {Norm::batch, Norm::layer})
      for (const Way& way : ways)
        if (!way.training.adam && (held || !way.training.held)) all.variants.push_back(variant_of(norm, way));
    return all;
  };
  return {
      .name = "equilibrium",
      .title = "How long weights become, and the learning rate that this amounts to",
      .sentence =
          "\"The norm of the weight vector effectively controls the learning rate\"; normalization has \"an "
          "implicit early stopping effect on the weight vectors\" through their growth.",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 5.2.2",
      .setting =
          "Built-in digits, 10,000 cases of which a fifth have random labels so that gradients do not "
          "vanish, two relu layers of 50 units, batches of 50, 3000 updates: SGD at 0.2 with decay 0 or "
          "0.01, Adam at 0.002 with decay 0 or 1, of the hidden weights alone. Held weights are brought back "
          "to their first length after each update. Watched are the second layer's weight vectors, under "
          "layer norm its matrix. Theory's length is that at which growth and decay balance, from the "
          "updates of the last fifth.",
      .measure = measure,
      .claims = equilibrium_claims(),
      .charts = {chart("Length of the weights with SGD", length, "part of the first", false),
                 chart("Angle of an update with SGD", angle, "degrees", true),
                 {.title = "Length at rest with SGD",
                  .quantity = resting,
                  .x_label = "rate / 2 decay",
                  .y_label = "length",
                  .log_x = true,
                  .log_y = true}},
  };
}

}  // namespace lamina::lab
