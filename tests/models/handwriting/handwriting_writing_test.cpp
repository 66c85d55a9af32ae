// Training on a few lines, writing with the trained model, and the pictures.

#include <optional>

#include "core/files/folder.h"
#include "models/handwriting/experiment.h"
#include "models/handwriting/picture.h"
#include "models/handwriting/writing.h"
#include "optim/adam.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace hw = lamina::handwriting;

TEST_CASE("write: the same seed gives the same line, and a prime changes it") {
  Parameters parameters(1);
  const hw::Model model(parameters, {.norm = Norm::layer, .hidden = 10, .gaussians = 2, .components = 2});
  const hw::WritingOptions options{.seed = 5, .most_points = 40};
  const hw::Writing a = hw::write(model, "ab c", options), b = hw::write(model, "ab c", options);
  REQUIRE(a.points.size() == b.points.size());
  CHECK(a.points.size() <= 40);
  CHECK(a.window.size() == 4 * a.points.size());
  CHECK(a.window == b.window);
  CHECK(a.points.back().up);
  hw::WritingOptions primed = options;
  primed.prime = hw::line_of({{0, 0, false}, {1, 1, false}, {3, 0, true}}, "xy");
  const hw::Writing c = hw::write(model, "ab c", primed);
  CHECK(c.window.size() == 4 * c.points.size());
  CHECK(c.points[0].x != a.points[0].x);
  CHECK_ERROR(hw::write(model, "", options), "handwriting: nothing to write; give a text");
}

TEST_CASE("write: the first point is drawn from what the network says after an empty one") {
  Parameters parameters(2);
  const hw::Model model(parameters, {.hidden = 10, .gaussians = 2, .components = 3});
  Tensor deviation = model.deviation;
  deviation[0] = 2, deviation[1] = 3;
  const auto check_first = [&](const Tensor& points, const char* text, const std::optional<hw::Line>& prime) {
    hw::State state;
    const Tensor outputs = model(points, hw::TextBatch({hw::symbols_of(text)}), state);
    Random random(9);
    const hw::Point expected = hw::draw_point(outputs.step(outputs.shape()[0] - 1).data(), 3, 1, random);
    const PenPoint first =
        hw::write(model, "abc", {.bias = 1, .seed = 9, .most_points = 3, .prime = prime}).points[0];
    CHECK(double(first.x) == doctest::Approx(2 * double(expected.dx)).epsilon(1e-4));
    CHECK(double(first.y) == doctest::Approx(3 * double(expected.dy)).epsilon(1e-4));
  };
  check_first(Tensor::zeros({1, 1, 3}), "abc", {});
  const hw::Line prime = hw::line_of({{0, 0, false}, {1, 1, false}, {3, 0, true}}, "xy");
  check_first(Tensor::from({3, 1, 3}, prime.points), "xy abc", prime);  // a space between both texts
}

TEST_CASE("write: ends when the window is nearer to the place after the text than to any character") {
  Parameters parameters(3);
  const hw::Model model(parameters, {.hidden = 10, .gaussians = 1, .components = 2});
  Tensor weight = model.window.weight, bias = model.window.bias;
  std::ranges::fill(weight.values(), real{0});
  bias[0] = 2, bias[1] = -1, bias[2] = std::log(real(0.3));  // alpha, beta, and the way of each point
  const hw::Writing left = hw::write(model, "abc", {});
  CHECK(left.finished);
  CHECK(left.points.size() ==
        8);  // after an empty point and these the window is at 2.7; 3 is behind the text
  bias[2] = -20;
  const hw::Line prime = hw::line_of({{0, 0, false}, {1, 1, true}}, "xyz");
  const hw::Writing stays = hw::write(model, "ab", {.prime = prime});
  CHECK_FALSE(stays.finished);
  CHECK(stays.points.size() == 120);  // 60 a character of the text alone
  CHECK(stays.points.back().up);
}

TEST_CASE("handwriting: models are kept after 200 updates and whenever there are twice as many") {
  const TemporaryFolder scratch;
  const hw::Data data = hw::synthetic_lines(1, 8, 1);
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "handwriting"});
  hw::HandwritingExperiment experiment(data, {.model = {.hidden = 4}, .length = 5}, folder);
  for (const std::uint64_t updates : {0U, 100U, 200U, 250U, 400U, 600U, 800U}) {
    CAPTURE(updates);
    experiment.adam.steps = updates;
    experiment.evaluate(0);
    CHECK(exists(folder.file(hw::stage_file(updates))) ==
          (updates == 200 || updates == 400 || updates == 800));
  }
}

TEST_CASE("pictures: a line of ink, as wide as its text") {
  const auto points = write_text("ink", draw_hand(1, 3), Random(1));
  const Image image = hw::image_of({points, points});
  size_t dark = 0;
  for (const Color& pixel : image.pixels) dark += pixel[0] < 128 ? 1 : 0;
  CHECK(image.width > 30);
  CHECK(image.height > 40);
  CHECK(dark > 200);
  CHECK(dark < image.pixels.size() / 4);
  const std::string svg = hw::svg_of({points, points});
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(std::ranges::count(svg, 'M') ==
        2 * std::ranges::count_if(points, [](const PenPoint& p) { return p.up; }));
}

TEST_CASE("pictures: the window is dark where phi is large") {
  hw::Writing writing;
  writing.points.resize(3);
  writing.window = {1, 0, 0, 1, 0, 1};
  const Image image = hw::window_image_of(writing, "ab");
  CHECK(image.at(image.width - 1, 20)[0] < 60);
  CHECK(image.at(image.width - 1, 4)[0] == 255);
  CHECK(image.at(image.width - 6, 4)[0] < 60);
  const Image of_two = hw::window_image_of(writing, "a\xC3\xA9");  // two characters, three bytes
  CHECK(of_two.height == image.height);
  CHECK(of_two.at(image.width - 1, 20)[0] < 60);
}

TEST_CASE("pictures: however long the writing, they stay of a size that can be looked at") {
  hw::Writing writing;
  const std::string text(1000, 'a');
  writing.points.resize(6000);
  writing.window.assign(writing.points.size() * text.size(), 0);
  writing.window[5999 * text.size()] = 1;  // the last point is on the first letter
  const Image window = hw::window_image_of(writing, text);
  CHECK(window.pixels.size() <= 4120 * 8192);
  CHECK(window.at(window.width - 1, 4)[0] < 60);
  CHECK(window.at(window.width - 3, 4)[0] == 255);
  std::vector<PenPoint> far;
  for (int i = 0; i < 1000; ++i)
    far.push_back({static_cast<float>(i) * 1000, static_cast<float>(i % 2) * 100000, i % 2 == 1});
  far[500].y = 1e8F;
  CHECK(hw::image_of({far}).pixels.size() < (1 << 25));
  far[500].y = 3e38F, far[501].y = -3e38F;
  CHECK(message_of<Error>([&] { hw::image_of({far, far, far}); }).find("too far apart") != std::string::npos);
}

TEST_SUITE_BEGIN("slow");

TEST_CASE("handwriting: ten lines are learned by heart") {
  for (const Norm norm : {Norm::none, Norm::layer}) {
    CAPTURE(std::string(name_of(norm)));
    const hw::Data data = hw::synthetic_lines(1, 10, 1);
    Parameters parameters(1);
    const hw::Model model(parameters, {.norm = norm, .hidden = 48, .gaussians = 3, .components = 4});
    constexpr int steps = 400;
    Adam adam(parameters, {.learning_rate = real(5e-3)});
    std::vector<int> all(10);
    for (int i = 0; i < 10; ++i) all[static_cast<size_t>(i)] = i;
    const hw::Batch batch = hw::make_batch(data.train, all, 60);
    double first = 0, last = 0;
    for (int step = 0; step < steps; ++step) {
      Tape tape;
      const Tensor loss = model.loss(batch);
      tape.backward(loss);
      adam.step();
      last = static_cast<double>(loss.item()) / 10;
      if (step == 0) first = last;
    }
    CAPTURE(last);
    CHECK(first > 60);  // more than a nat per point before training
    CHECK(last < -60);
  }
}

TEST_SUITE_END();
