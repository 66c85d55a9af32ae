// The synthetic pen and its alphabet.

#include "models/data/pen.h"
#include "models/data/letter_strokes.h"
#include "tests/check.h"

using namespace lamina;

TEST_CASE("pen: every printable character has a glyph of sensible size") {
  for (char c = '!'; c <= '~'; ++c) {
    CAPTURE(c);
    REQUIRE(!letters_of(c).empty());
    for (const Letter& letter : letters_of(c)) {
      CHECK(letter.width > 0);
      for (const Stroke& stroke : letter.glyph) {
        CHECK(stroke.size() >= 2);
        for (const StrokePoint& p : stroke) {
          CHECK((p.x > -0.5F && p.x < letter.width + 0.5F));
          CHECK((p.y > -1.2F && p.y < 2.3F));
        }
      }
    }
  }
  CHECK(letters_of(' ').empty());
  CHECK(letters_of('\xe9').empty());
}

TEST_CASE("pen: the same arguments give the same points, others give others") {
  const Hand hand = draw_hand(1, 7);
  const auto a = write_text("the pen", hand, Random(3)), b = write_text("the pen", hand, Random(3));
  const auto other = write_text("the pen", hand, Random(4));
  REQUIRE(a.size() == b.size());
  CHECK(std::ranges::equal(
      a, b, [](const PenPoint& p, const PenPoint& q) { return p.x == q.x && p.y == q.y && p.up == q.up; }));
  CHECK(a[5].x != other[5].x);
}

TEST_CASE("pen: lines of the usual length have some 700 points, evenly in time") {
  double points = 0, longest_step = 0;
  for (std::uint64_t number = 0; number < 20; ++number) {
    const auto line = write_text("the quick brown fox jumps over it", draw_hand(1, number), Random(number));
    points += static_cast<double>(line.size()) / 20;
    CHECK(line.back().up);
    for (size_t i = 1; i < line.size(); ++i)
      if (!line[i - 1].up)
        longest_step = std::max(longest_step, std::hypot(static_cast<double>(line[i].x - line[i - 1].x),
                                                         static_cast<double>(line[i].y - line[i - 1].y)));
  }
  CHECK(points > 600);
  CHECK(points < 850);
  CHECK(longest_step < 0.6);  // no jumps with the pen on the paper
}

TEST_CASE("pen: joined-up hands lift the pen less often") {
  Hand hand = draw_hand(1, 1);
  const auto lifts = [&](bool joins) {
    hand.joins = joins;
    const auto line = write_text("minimum", hand, Random(1));
    return std::ranges::count_if(line, [](const PenPoint& p) { return p.up; });
  };
  CHECK(lifts(true) < lifts(false));
}

TEST_CASE("pen: what it cannot write is left out") {
  CHECK(write_text("", draw_hand(1, 1), Random(1)).empty());
  CHECK(write_text("  \t\xff", draw_hand(1, 1), Random(1)).empty());
}
