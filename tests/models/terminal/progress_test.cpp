#include "models/terminal/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <vector>

using namespace lamina;

namespace {

/// Every redraw: the text between a carriage return and the code that clears the rest of the line.
std::vector<std::string> redraws(const std::string& output) {
  std::vector<std::string> bars;
  for (size_t at = output.find('\r'); at != std::string::npos; at = output.find('\r', at + 1))
    if (const size_t end = output.find("\x1b[K", at); end > at + 1)
      bars.push_back(output.substr(at + 1, end - at - 1));
  return bars;
}

/// A clock that a test advances, and that counts how often it is read.
struct Clock {
  double seconds = 100;
  long reads = 0;
};

struct Terminal {
  std::ostringstream out;
  Clock clock;
  Progress progress;
  Terminal(long total, int width, long done = 0, double later = -1)
      : progress({.total = total, .done = done, .later = later, .out = &out, .width = width, .clock = [this] {
                    ++clock.reads;
                    return clock.seconds;
                  }}) {}
  void run(long steps, double seconds_each) {
    for (long i = 0; i < steps; ++i) {
      clock.seconds += seconds_each;
      progress.step();
    }
  }
};

}  // namespace

TEST_CASE("the bar shows part, rate and time left") {
  Terminal terminal(1000, 80);
  terminal.progress.label("layer, epoch 2/4");
  terminal.run(500, 0.01);
  const std::string bar = redraws(terminal.out.str()).back();
  CHECK(bar.starts_with("layer, epoch 2/4  [====="));
  CHECK(bar.find("100 steps/s") != std::string::npos);
  CHECK((bar.find(" 49%") != std::string::npos || bar.find(" 50%") != std::string::npos));
  CHECK(bar.find("0:05 left") != std::string::npos);
}

TEST_CASE("the time left is that of all runs, in units of this one") {
  Terminal terminal(1000, 80, 0, 2.5);
  terminal.run(500, 0.01);  // 5 s left here, and 25 s for the others
  CHECK(redraws(terminal.out.str()).back().find("0:30 left in all") != std::string::npos);
  Terminal last(1000, 80, 0, 0);
  last.run(500, 0.01);
  CHECK(redraws(last.out.str()).back().find("0:05 left in all") != std::string::npos);
}

TEST_CASE("the bar shows a mean of the latest losses") {
  Terminal terminal(10000, 80);
  const auto steps = [&](long count, double loss) {
    for (long i = 0; i < count; ++i) {
      terminal.clock.seconds += 0.01;
      terminal.progress.step(loss);
    }
  };
  steps(1, 3);
  CHECK(redraws(terminal.out.str()).back().find("  loss 3  ") != std::string::npos);
  steps(2000, 1.5);  // the first loss has faded
  CHECK(redraws(terminal.out.str()).back().find("  loss 1.5  ") != std::string::npos);
}

TEST_CASE("in 80 columns all numbers stand beside a bar") {
  Terminal terminal(100000, 80, 0, 2);
  terminal.progress.label("variant 2/3, epoch 12/60");
  for (int i = 0; i < 300; ++i) {
    terminal.clock.seconds += 0.05;
    terminal.progress.step(0.071234);
  }
  const std::string bar = redraws(terminal.out.str()).back();
  CHECK(bar.starts_with("variant 2/3, epoch 12/60  ["));
  CHECK(bar.find("  loss 0.07123  ") != std::string::npos);
  CHECK(bar.ends_with(" left in all"));
}

TEST_CASE("steps of an earlier run count for the part, not for the rate") {
  Terminal terminal(1000, 80, 800);
  terminal.run(100, 0.1);
  const std::string bar = redraws(terminal.out.str()).back();
  CHECK(bar.find("10.0 steps/s") != std::string::npos);
  CHECK((bar.find(" 89%") != std::string::npos || bar.find(" 90%") != std::string::npos));
}

TEST_CASE("the bar is redrawn ten times a second at most and the clock is seldom read") {
  Terminal terminal(2000000, 80);
  terminal.run(1000000, 1e-5);  // ten seconds
  const size_t draws = redraws(terminal.out.str()).size();
  CHECK(draws <= 101);
  CHECK(draws >= 60);
  CHECK(terminal.clock.reads < 500);
}

TEST_CASE("the bar follows when steps become slow") {
  Terminal terminal(1000000, 80);
  terminal.run(1000, 1e-5);
  const size_t before = redraws(terminal.out.str()).size();
  terminal.run(3000, 0.05);
  CHECK(redraws(terminal.out.str()).size() > before + 100);
}

TEST_CASE("the bar never reaches the terminal's last column") {
  for (int width = 1; width <= 200; ++width) {
    CAPTURE(width);
    Terminal terminal(100000, width);
    terminal.progress.label("batch, epoch 12/60");
    terminal.run(300, 0.05);
    for (const std::string& bar : redraws(terminal.out.str()))
      CHECK(bar.size() < static_cast<size_t>(std::max(width, 2)));
  }
}

TEST_CASE("a line stands above the bar, which comes back and goes at the end") {
  Terminal terminal(100, 80);
  terminal.run(10, 0.2);
  terminal.progress.line("epoch 1: test error 2.1%");
  const std::string output = terminal.out.str();
  const size_t line = output.find("\r\x1b[Kepoch 1: test error 2.1%\n\r");
  CHECK(line != std::string::npos);
  terminal.progress.finish();
  CHECK(terminal.out.str().ends_with("\r\x1b[K"));
  terminal.run(10, 0.2);
  CHECK(terminal.out.str().ends_with("\r\x1b[K"));
}

TEST_CASE("a pipe gets the reported lines only") {
  Terminal terminal(100, 0);
  terminal.run(50, 1);
  terminal.progress.line("epoch 1");
  terminal.run(50, 1);
  terminal.progress.finish();
  CHECK(terminal.out.str() == "epoch 1\n");
  CHECK(terminal.clock.reads <= 1);
}

TEST_CASE("quiet is silent") {
  std::ostringstream out;
  {
    Progress progress({.total = 10, .quiet = true, .out = &out, .width = 80});
    for (int i = 0; i < 10; ++i) progress.step();
    progress.line("epoch 1");
  }
  CHECK(out.str().empty());
}

TEST_CASE("durations read like a clock") {
  CHECK(duration_text(6.6) == "0:07");
  CHECK(duration_text(59.6) == "1:00");
  CHECK(duration_text(754) == "12:34");
  CHECK(duration_text(11109) == "3:05:09");
  CHECK(duration_text(1.0 / 0.0) == "--:--");
}
