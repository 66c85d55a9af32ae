#include "models/lab/statistics/features.h"

#include <cmath>
#include <optional>

#include "core/ops.h"
#include "core/tape.h"
#include "layers/linear.h"
#include "layers/norms/normalization.h"
#include "optim/adam.h"
#include "optim/schedule.h"

namespace lamina::lab {

namespace {

constexpr size_t units = 32, batch = 50;

/// The norm in one place, with what is around it.
struct PlacedNorm {
  PlacedNorm(Parameters& parameters, const std::string& name, const FeatureScheme& scheme, size_t features)
      : norm(parameters, name, {.norm = scheme.norm, .features = features}),
        then(parameters, name + "_batch",
             {.norm = scheme.then_batch ? Norm::batch : Norm::none, .features = features}) {
    if (scheme.bias_in_front) front = parameters.add(name + "_front", Tensor::zeros({features}));
  }

  Tensor operator()(const Tensor& a, Mode mode) {
    return then(norm(front.defined() ? a + front : a, mode), mode);
  }

  Tensor front;
  Normalization norm, then;
};

/// A relu network with two hidden layers. Where its hidden units are normalized, a layer is Eq. 5: no bias of its own.
struct FeatureModel {
  FeatureModel(Parameters& parameters, const FeatureScheme& scheme, NormPlace place, size_t inputs) {
    const bool hidden = place == NormPlace::hidden, bias = !hidden || scheme.norm == Norm::none;
    first.emplace(parameters, "first", LinearOptions{.input = inputs, .output = units, .bias = bias});
    second.emplace(parameters, "second", LinearOptions{.input = units, .output = units, .bias = bias});
    last.emplace(parameters, "last", LinearOptions{.input = units, .output = 1});
    if (!hidden) input_norm.emplace(parameters, "input_norm", scheme, inputs);
    if (hidden) first_norm.emplace(parameters, "first_norm", scheme, units);
    if (hidden) second_norm.emplace(parameters, "second_norm", scheme, units);
  }

  Tensor operator()(const Tensor& x, Mode mode) {
    const auto normalized = [mode](std::optional<PlacedNorm>& norm, const Tensor& a) {
      return norm ? (*norm)(a, mode) : a;
    };
    Tensor h = normalized(input_norm, x);
    h = relu(normalized(first_norm, (*first)(h)));
    h = relu(normalized(second_norm, (*second)(h)));
    return (*last)(h);
  }

  std::optional<Linear> first, second, last;
  std::optional<PlacedNorm> input_norm, first_norm, second_norm;
};

const std::vector<FeatureScheme>& schemes() {
  static const std::vector<FeatureScheme> all{
      {.name = "none"},
      {.name = "batch", .norm = Norm::batch},
      {.name = "layer", .norm = Norm::layer},
      {.name = "layer without gain and bias", .norm = Norm::layer_simple},
      {.name = "layer with a bias in front", .norm = Norm::layer, .bias_in_front = true},
      {.name = "layer then batch", .norm = Norm::layer, .then_batch = true},
      {.name = "none of features alike", .alike = true},
      {.name = "layer of features alike", .norm = Norm::layer, .alike = true},
      {.name = "layer with a bias in front of features alike",
       .norm = Norm::layer,
       .bias_in_front = true,
       .alike = true},
  };
  return all;
}

std::string quantity_of(NormPlace place) {
  return place == NormPlace::input ? "error with norm of the input" : "error with norm of the hidden units";
}

/// The test error at the learning rate that is best on other cases.
double best_error(const FeatureScheme& scheme, NormPlace place, const People& train, const People& valid,
                  const People& test, FeatureRun run) {
  FeatureErrors best{.valid = INFINITY, .test = INFINITY};
  for (const double rate : {0.003, 0.01, 0.03}) {
    run.learning_rate = rate;
    const FeatureErrors errors = train_on_features(scheme, place, train, valid, test, run);
    if (errors.valid < best.valid) best = errors;
  }
  return best.test;
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const FeatureRun run{.epochs = quick ? 1U : 60U, .seed = static_cast<std::uint64_t>(seed)};
  for (const size_t people : {1U, 2U, 4U, 8U}) {
    Random random(run.seed, people);
    const People train = draw_people(quick ? 200 : 2000, people, random);
    const People valid = draw_people(quick ? 100 : 1000, people, random);
    const People test = draw_people(quick ? 100 : 2000, people, random);
    for (const FeatureScheme& scheme : schemes())
      for (const NormPlace place : {NormPlace::input, NormPlace::hidden})
        notes.add(scheme.name, quantity_of(place), static_cast<double>(3 * people),
                  best_error(scheme, place, train, valid, test, run));
  }
  return notes.rows();
}

}  // namespace

double unexplained(const Tensor& prediction, const Tensor& y) {
  double mean = 0, deviation = 0, error = 0;
  for (size_t i = 0; i < y.size(); ++i) mean += static_cast<double>(y[i]) / static_cast<double>(y.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const auto t = static_cast<double>(y[i]), p = static_cast<double>(prediction[i]);
    deviation += (t - mean) * (t - mean);
    error += (t - p) * (t - p);
  }
  return error / deviation;
}

FeatureErrors train_on_features(const FeatureScheme& scheme, NormPlace place, const People& train,
                                const People& valid, const People& test, const FeatureRun& run) {
  const auto seen = [&](const People& people) { return scheme.alike ? alike(people.x) : people.x; };
  const Tensor x = seen(train);
  const size_t cases = x.rows(), steps = run.epochs * (cases / batch);
  Parameters parameters(run.seed);
  FeatureModel model(parameters, scheme, place, x.columns());
  Adam adam(parameters, {});
  const CosineSchedule schedule{.initial = static_cast<real>(run.learning_rate), .steps = steps};
  Random random(run.seed, 1000);
  for (size_t epoch = 0, step = 0; epoch < run.epochs; ++epoch) {
    const std::vector<int> order = random.permutation(cases);
    for (size_t begin = 0; begin + batch <= cases; begin += batch, ++step) {
      const std::span<const int> chosen(order.data() + begin, batch);
      adam.options.learning_rate = schedule.at(step);
      Tape tape;
      tape.backward(mean_squared_error(model(gather(x, chosen), Mode::train), gather(train.y, chosen)));
      adam.step();
    }
  }
  return {.valid = unexplained(model(seen(valid), Mode::evaluate), valid.y),
          .test = unexplained(model(seen(test), Mode::evaluate), test.y)};
}

namespace {

std::vector<LabClaim> features_claims() {
  using enum NormPlace;
  const auto number = [](const std::string& variant, NormPlace place, double features) {
    return LabNumber{
        .variant = variant, .quantity = quantity_of(place), .over = LabNumber::at_x, .x = features};
  };
  /// That the error of one is lower, `ratio` times.
  const auto lower = [](const std::string& words, const LabNumber& subject, const LabNumber& other,
                        double ratio = 1) {
    return LabClaim{.words = words, .subject = subject, .other = other, .least = ratio, .ratio = true};
  };
  return {
      lower("Of age, gender and height on the input, layer norm loses what batch norm keeps: ten times the "
            "error",
            number("batch", input, 3), number("layer", input, 3), 10),
      lower("Of 24 such features on the input as well", number("batch", input, 24),
            number("layer", input, 24), 10),
      lower("On the hidden units, layer norm of age, gender and height has ten times batch norm's error",
            number("batch", hidden, 3), number("layer", hidden, 3), 10),
      lower("On the hidden units, layer norm is better than no norm", number("layer", hidden, 3),
            number("none", hidden, 3)),
      lower("On the input, the gain and bias halve layer norm's error", number("layer", input, 3),
            number("layer without gain and bias", input, 3), 2),
      lower("On the input, a bias in front of the norm halves its error",
            number("layer with a bias in front", input, 3), number("layer", input, 3), 2),
      lower("On the hidden units, a bias in front of the norm halves its error",
            number("layer with a bias in front", hidden, 3), number("layer", hidden, 3), 2),
      lower("On the input, batch norm after it halves its error", number("layer then batch", input, 3),
            number("layer", input, 3), 2),
      lower("Features alike in scale halve layer norm's error on three inputs",
            number("layer of features alike", input, 3), number("layer", input, 3), 2),
      lower("Layer norm of three inputs alike still has ten times the error of no norm",
            number("none of features alike", input, 3), number("layer of features alike", input, 3), 10),
      lower("Layer norm of 24 inputs alike has less than three times the error of no norm",
            number("layer of features alike", input, 24), number("none of features alike", input, 24),
            1.0 / 3),
      lower("On the hidden units, of features alike, layer norm has less than 1.5 times the error of no norm",
            number("layer of features alike", hidden, 3), number("none of features alike", hidden, 3),
            1 / 1.5)};
}

}  // namespace

Lab features() {
  const auto chart = [](const std::string& title, NormPlace place) {
    return LabChart{.title = title,
                    .quantity = quantity_of(place),
                    .x_label = "features",
                    .y_label = "test error / variance",
                    .log_y = true,
                    .variants = {"none", "batch", "layer", "layer then batch", "layer of features alike",
                                 "none of features alike"}};
  };
  return {
      .name = "features",
      .title = "Layer norm across inputs of unlike kinds",
      .sentence =
          "Layer norm takes all features of a case as alike. \"If the input features are concatenated with "
          "multiple different features such as age, gender and height, and then directly calculate the norm "
          "within the sample, there will be great problems.\"",
      .source =
          "Batch normalization and layer normalization (a web page on both), on layer normalization, item 3",
      .setting =
          "Age in years, gender as 0 or 1 and height in centimetres of one, two, four or eight people "
          "predict a made-up score to which each of the three matters. Relu network with two hidden layers "
          "of 32, normalized on the input or on the hidden units; 2,000 cases, 60 epochs of Adam, the best "
          "of three learning rates by other cases. \"Alike\": the same features with mean 0 and deviation 1.",
      .measure = measure,
      .claims = features_claims(),
      .charts = {chart("Norm of the input", NormPlace::input),
                 chart("Norm of the hidden units", NormPlace::hidden)},
  };
}

}  // namespace lamina::lab
