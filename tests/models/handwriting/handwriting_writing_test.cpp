// Training on a few lines, writing with the trained model, and the pictures.

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
  hw::State state;
  const Tensor output = model(Tensor::zeros({1, 1, 3}), hw::TextBatch({hw::symbols_of("abc")}), state);
  Random random(9);
  const hw::Point expected = hw::draw_point(output.data(), 3, 1, random);
  const hw::Writing writing = hw::write(model, "abc", {.bias = 1, .seed = 9, .most_points = 3});
  CHECK(double(writing.points[0].x) == doctest::Approx(double(expected.dx)).epsilon(1e-4));
  CHECK(double(writing.points[0].y) == doctest::Approx(double(expected.dy)).epsilon(1e-4));
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
    CAPTURE(name_of(norm));
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
