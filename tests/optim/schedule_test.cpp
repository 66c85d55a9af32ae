// Learning rates over the steps.

#include "optim/schedule.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {
bool near(real value, double expected) {
  return std::fabs(static_cast<double>(value) - expected) <= 8 * ulp * std::fabs(expected);
}
}  // namespace

TEST_CASE("step schedule: falls by the factor after every interval") {
  const StepSchedule schedule{.initial = real(0.8), .factor = real(0.5), .interval = 10};
  CHECK(near(schedule.at(0), 0.8));
  CHECK(near(schedule.at(9), 0.8));
  CHECK(near(schedule.at(10), 0.4));
  CHECK(near(schedule.at(35), 0.1));
  CHECK_ERROR((StepSchedule{.interval = 0}.at(1)),
              "step schedule: an interval of 0 steps; it must be positive");
}

TEST_CASE("cosine schedule: warm-up, middle and end") {
  const CosineSchedule schedule{.initial = 1, .final = real(0.2), .warmup = 4, .steps = 104};
  CHECK(near(schedule.at(0), 0.25));
  CHECK(near(schedule.at(3), 1));
  CHECK(near(schedule.at(4), 1));
  CHECK(near(schedule.at(29), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2));
  CHECK(near(schedule.at(54), 0.6));
  CHECK(schedule.at(104) == real(0.2));
  CHECK(schedule.at(1000000) == real(0.2));
  for (std::uint64_t step = 4; step < 104; ++step) CHECK(schedule.at(step + 1) < schedule.at(step));
}

TEST_CASE("cosine schedule: without warm-up, and with nothing but warm-up") {
  CHECK(near(CosineSchedule{.initial = 1, .steps = 10}.at(0), 1));
  CHECK(near(CosineSchedule{.initial = 1, .steps = 10}.at(5), 0.5));
  const CosineSchedule short_one{.initial = 1, .final = real(0.5), .warmup = 5, .steps = 5};
  CHECK(near(short_one.at(4), 1));
  CHECK(short_one.at(5) == real(0.5));
  CHECK_ERROR((CosineSchedule{.warmup = 6, .steps = 5}.at(0)),
              "cosine schedule: a warm-up of 6 steps in 5; it must end within them");
}
