#include "models/lab/growth/early_stopping.h"

#include <string>

#include "models/lab/scale_free_digits.h"

namespace lamina::lab {

std::vector<size_t> spread_updates(size_t steps) {
  std::vector<size_t> at;
  for (size_t ten = 1; ten < steps; ten *= 10)
    for (const size_t each : {ten, 3 * ten})
      if (each < steps) at.push_back(each);
  at.push_back(steps);
  return at;
}

namespace {

constexpr double usual_rate = 0.2;  ///< of equilibrium, where weights hardly grow
constexpr double factors[] = {1, 10, 100};
constexpr Norm norms[] = {Norm::none, Norm::batch, Norm::layer, Norm::weight};

const char* const length = "length";
const char* const angle = "angle of an update";
const char* const training_loss = "training loss";
const char* const test_error = "test error";
const char* const fit = "random labels fitted";

std::string variant_of(Norm norm, double factor, bool held) {
  return text(name_of(norm), " at ", factor, held ? " held" : "");
}

void train_and_note(const NoisyDigits& digits, Norm norm, double factor, bool held, std::uint64_t seed,
                    size_t steps, Notes& notes) {
  ScaleFreeDigits trained(digits.data, norm,
                          {.rate = factor * usual_rate, .held = held, .rate_of_others = usual_rate}, seed);
  const std::string variant = variant_of(norm, factor, held);
  size_t step = 0;
  for (const size_t end : spread_updates(steps)) {
    double turned = 0;
    const auto updates = static_cast<double>(end - step);
    for (; step < end; ++step) {
      const Tensor before = trained.watched().copy();
      trained.train(step);
      turned += mean_angle(before, trained.watched());
    }
    const auto x = static_cast<double>(end);
    notes.add(variant, length, x, trained.relative_length());
    notes.add(variant, angle, x, turned / updates);
    notes.add(variant, training_loss, x, trained.net.score(digits.data.train).nll);
    notes.add(variant, test_error, x, trained.net.score(digits.data.test).error);
    notes.add(variant, fit, x, 1 - trained.net.score(digits.random).error);
  }
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const auto number = static_cast<std::uint64_t>(seed);
  const NoisyDigits digits = noisy_digits(number, quick ? 100 : 10000, quick ? 10 : 1000);
  for (const Norm norm : norms)
    for (const double factor : factors)
      for (const bool held : {false, true})
        train_and_note(digits, norm, factor, held, number, quick ? 100 : 5000, notes);
  return notes.rows();
}

std::string words_of(Norm norm) {
  return norm == Norm::none ? "without normalization" : text("under ", entry_of(norm).title);
}

/// Where theory speaks: at the highest rate, under normalization.
void add_claims_of_growth(Norm norm, std::vector<LabClaim>& claims) {
  const std::string fast = variant_of(norm, 100, false), usual = variant_of(norm, 1, false);
  claims.push_back({.words = text("At 100 times the rate weights become twice as long ", words_of(norm)),
                    .subject = {.variant = fast, .quantity = length},
                    .other = {.is = 1},
                    .direction = Claim::higher,
                    .least = 2,
                    .ratio = true});
  claims.push_back({.words = text("Early stopping: at 100 times the rate the last updates turn weights by "
                                  "less than half the angle of updates 31 to 100 ",
                                  words_of(norm)),
                    .subject = {.variant = fast, .quantity = angle},
                    .other = {.variant = fast, .quantity = angle, .over = LabNumber::at_x, .x = 100},
                    .least = 2,
                    .ratio = true});
  claims.push_back({.words = text("The last updates at 100 times the rate turn weights by less than twice "
                                  "the angle of those at the usual rate ",
                                  words_of(norm)),
                    .subject = {.variant = fast, .quantity = angle},
                    .other = {.variant = usual, .quantity = angle},
                    .least = 0.5,
                    .ratio = true});
}

/// What comes of it, under every norm and without.
void add_claims_of_learning(Norm norm, std::vector<LabClaim>& claims) {
  const auto number = [norm](double factor, bool held, const char* quantity) {
    return LabNumber{.variant = variant_of(norm, factor, held), .quantity = quantity};
  };
  const std::string where = words_of(norm);
  claims.push_back(
      {.words =
           text("At 100 times the rate growing weights end at a lower training loss than held ones ", where),
       .subject = number(100, false, training_loss),
       .other = number(100, true, training_loss),
       .ratio = true});
  claims.push_back({.words = text("Growing weights end at 100 times the rate at less than 1.5 times the "
                                  "training loss of the usual rate ",
                                  where),
                    .subject = number(100, false, training_loss),
                    .other = number(1, false, training_loss),
                    .least = 2. / 3,
                    .ratio = true});
  claims.push_back(
      {.words =
           text("Early stopping: at the usual rate growing weights fit fewer random labels than held ones ",
                where),
       .subject = number(1, false, fit),
       .other = number(1, true, fit)});
  claims.push_back(
      {.words = text("At the usual rate growing weights end at a lower test error than held ones ", where),
       .subject = number(1, false, test_error),
       .other = number(1, true, test_error)});
}

LabChart chart(const std::string& title, const char* quantity, const std::string& y, bool log_y) {
  return {
      .title = title, .quantity = quantity, .x_label = "update", .y_label = y, .log_x = true, .log_y = log_y};
}

std::vector<LabChart> charts() {
  LabChart lengths = chart("Length of growing weights", length, "part of the first", true),
           angles = chart("Angle of an update of growing weights", angle, "degrees", true),
           losses = chart("Training loss at 100 times the rate", training_loss, "nats", true),
           fits = chart("Random labels fitted at the usual rate", fit, "part", false);
  for (const Norm norm : norms) {
    if (norm != Norm::none)
      for (const double factor : {1, 100})
        for (LabChart* const growing : {&lengths, &angles})
          growing->variants.push_back(variant_of(norm, factor, false));
    for (const bool held : {false, true}) {
      losses.variants.push_back(variant_of(norm, 100, held));
      fits.variants.push_back(variant_of(norm, 1, held));
    }
  }
  return {lengths, angles, losses, fits};
}

}  // namespace

Lab early_stopping() {
  std::vector<LabClaim> claims;
  for (const Norm norm : norms) {
    if (norm != Norm::none) add_claims_of_growth(norm, claims);
    add_claims_of_learning(norm, claims);
  }
  return {
      .name = "early-stopping",
      .title = "Whether weights that grow stop learning",
      .sentence =
          "\"The normalization methods, therefore, have an implicit 'early stopping' effect on the weight "
          "vectors and help to stabilize learning towards convergence.\"",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 5.2.2",
      .setting =
          "Built-in digits, 10,000 cases of which a fifth have random labels, two relu layers of 50 units, "
          "batches of 50, 5000 updates of SGD: at 0.2, 2 and 20 for the hidden weights, at 0.2 for all else. "
          "Growing weights are left alone, held ones brought back to their first length after each update. "
          "Watched are the second layer's weight vectors; an angle is the mean over the updates since the "
          "point before. Of the random labels a network gives a tenth by chance.",
      .measure = measure,
      .claims = claims,
      .charts = charts(),
  };
}

}  // namespace lamina::lab
