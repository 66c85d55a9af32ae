#include "models/handwriting/writing.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/tape.h"
#include "layers/recurrent/step.h"

namespace lamina::handwriting {

namespace {

/// The network, one point at a time.
class Writer {
 public:
  Writer(const Model& model, std::vector<int> text, size_t steps)
      : model_(model),
        text_(std::move(text)),
        lower_(model.lower, {.steps = steps, .rows = 1, .mode = Mode::evaluate}),
        middle_(model.middle, {.steps = steps, .rows = 1, .mode = Mode::evaluate}),
        upper_(model.upper, {.steps = steps, .rows = 1, .mode = Mode::evaluate}),
        first_(lower_.initial()),
        second_(middle_.initial()),
        third_(upper_.initial()),
        w_(Tensor::zeros({1, symbol_count})),
        kappa_(Tensor::zeros({1, model.options().gaussians})) {}

  /// Takes a point and returns the network's output for the next [1 x 6 M + 1].
  Tensor operator()(const Point& point) {
    const Tensor x = Tensor::from({1, 3}, {point.dx, point.dy, point.end});
    first_ = lower_(concatenate({x, w_}, 1), first_);
    parameters_ = model_.window(first_.h);
    Tensor kappa(kappa_.shape()), w(w_.shape());
    phi_.resize(text_.size());
    WindowStep{kappa_.size(), symbol_count, text_}.forward(parameters_.data(), kappa_.data(), kappa.data(),
                                                           w.data(), phi_.data());
    kappa_ = kappa;
    w_ = w;
    second_ = middle_(concatenate({x, first_.h, w_}, 1), second_);
    third_ = upper_(concatenate({x, second_.h, w_}, 1), third_);
    return model_.mixture(concatenate({first_.h, second_.h, third_.h}, 1));
  }

  /// phi(t, u) after the last point.
  const std::vector<real>& window() const { return phi_; }

  /// Whether the window gives more weight to the place after the text than to any character (Graves 2013, Section 5.3).
  bool left_text() const {
    const size_t count = kappa_.size();
    const auto end = static_cast<real>(text_.size());
    real behind = 0;
    for (size_t k = 0; k < count; ++k) {
      const real distance = kappa_[k] - end;
      behind += parameters_[k] * std::exp(-parameters_[count + k] * distance * distance);
    }
    return behind > *std::ranges::max_element(phi_);
  }

 private:
  const Model& model_;
  std::vector<int> text_;
  RecurrentSession lower_, middle_, upper_;
  RecurrentState first_, second_, third_;
  Tensor w_, kappa_, parameters_;
  std::vector<real> phi_;
};

}  // namespace

Writing write(const Model& model, const std::string& text, const WritingOptions& options) {
  if (text.empty()) fail("handwriting: nothing to write; give a text");
  constexpr size_t points_per_character = 60;
  const Tape::Pause pause;
  const Line none{.points = {0, 0, 0}, .text = {}};
  const Line& given = options.prime ? *options.prime : none;
  std::vector<int> symbols = given.text;
  if (options.prime) symbols.push_back(symbol_of(' '));
  const size_t before = symbols.size();
  const std::vector<int> own = symbols_of(text);
  symbols.insert(symbols.end(), own.begin(), own.end());

  const size_t most = options.most_points > 0 ? options.most_points : points_per_character * own.size();
  Writer writer(model, symbols, given.count() + most);
  Tensor output;
  for (size_t i = 0; i < given.count(); ++i)
    output = writer({given.points[3 * i], given.points[3 * i + 1], given.points[3 * i + 2]});

  Writing writing;
  Random random(options.seed);
  real x = 0, y = 0;
  while (writing.points.size() < most && !writing.finished) {
    const Point point = draw_point(output.data(), model.options().components, options.bias, random);
    x += point.dx * model.deviation[0];
    y += point.dy * model.deviation[1];
    writing.points.push_back({static_cast<float>(x), static_cast<float>(y), point.end != 0});
    output = writer(point);
    writing.window.insert(writing.window.end(), writer.window().begin() + static_cast<std::ptrdiff_t>(before),
                          writer.window().end());
    writing.finished = writer.left_text();
  }
  writing.points.back().up = true;
  return writing;
}

}  // namespace lamina::handwriting
