#include "models/terminal/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>

#include "core/error.h"
#include "models/run/metrics.h"
#include "models/terminal/terminal.h"

namespace lamina {

namespace {

constexpr double seconds_between_draws = 0.1;
constexpr double seconds_between_looks = 0.025;
constexpr double loss_fades = 0.99;  // a step

/// Three digits, as more would be unreadable and flicker: "0.52", "21.4", "215", "12400".
std::string rate_text(double rate) {
  return formatted(rate < 9.995 ? "%.2f" : rate < 99.95 ? "%.1f" : "%.0f", rate);
}

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e8) return "--:--";
  const long whole = std::lround(seconds);
  char text[32];
  if (whole < 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      out_(options_.out ? *options_.out : std::cout),
      live_(!options_.quiet && options_.total > 0 && (options_.width < 0 ? redraws() : options_.width > 0)),
      done_(options_.done),
      next_look_(live_ ? done_ + 1 : std::numeric_limits<long>::max()),
      last_look_(done_),
      last_look_time_(now()),
      start_(last_look_time_) {}

Progress::~Progress() { finish(); }

double Progress::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Progress::step(double loss) {
  loss_ = loss_fades * loss_ + loss;
  loss_weight_ = loss_fades * loss_weight_ + 1;
  step();
}

void Progress::look() {
  const double time = now();
  // The clock is next read after as many steps as fit in its interval at the current speed, and at most twice
  // as many as last time, so that one fast step after a slow start does not delay it too long.
  const double speed = static_cast<double>(done_ - last_look_) / std::max(time - last_look_time_, 1e-9);
  const long ahead = std::lround(std::min(speed * seconds_between_looks, 1e6));
  next_look_ = done_ + std::clamp(ahead, 1L, 2 * (done_ - last_look_));
  last_look_ = done_;
  last_look_time_ = time;
  if (time - last_draw_ >= seconds_between_draws || last_draw_ < 0) draw(time);
}

void Progress::draw(double time) {
  last_draw_ = time;
  const int width = options_.width > 0 ? options_.width : terminal_width();
  // "\x1b[K" clears what a longer line left. The last column stays free: some terminals wrap there.
  out_ << '\r' << bar(time, width - 1) << "\x1b[K" << std::flush;
  drawn_ = true;
}

/// The whole line in at most `width` columns: what does not fit is dropped, the least useful first.
std::string Progress::bar(double time, int width) const {
  const auto room = static_cast<size_t>(std::max(width, 0));
  const double fraction =
      std::clamp(static_cast<double>(done_) / static_cast<double>(options_.total), 0.0, 1.0);
  // The average over the run includes evaluation and saving, as the estimate of the time left requires.
  const double rate = static_cast<double>(done_ - options_.done) / std::max(time - start_, 1e-9);
  const bool only = options_.later < 0;
  const double left = (static_cast<double>(options_.total - done_) +
                       std::max(options_.later, 0.0) * static_cast<double>(options_.total)) /
                      rate;

  char percent[8];
  std::snprintf(percent, sizeof percent, "%3.0f%%", std::floor(100 * fraction));
  constexpr size_t smallest_bar = 10, largest_bar = 40;
  std::string front = label_.empty() ? "" : label_ + "  ";
  const std::string loss = loss_weight_ > 0 ? "  loss " + formatted("%.4g", loss_ / loss_weight_) : "";
  const std::string speed = "  " + rate_text(rate) + ' ' + options_.unit + "s/s";
  const std::string time_left = "  " + duration_text(std::max(left, 0.0)) + (only ? " left" : " left in all");
  // The speed gives way to a bar, the bar to the loss, and both to the time left.
  std::string numbers = percent;
  if (numbers.size() + loss.size() + time_left.size() <= room) numbers += loss;
  if (front.size() + smallest_bar + 4 + numbers.size() + speed.size() + time_left.size() <= room)
    numbers += speed;
  if (numbers.size() + time_left.size() <= room) numbers += time_left;
  if (front.size() + numbers.size() > room) front.clear();
  const size_t taken = front.size() + numbers.size() + 4;  // brackets and two blanks
  if (taken + smallest_bar > room) return (front + numbers).substr(0, room);
  const size_t cells = std::min(room - taken, largest_bar);
  const auto full = static_cast<size_t>(std::floor(fraction * static_cast<double>(cells)));
  std::string filled(full, '=');
  if (full < cells) filled += '>';
  filled.resize(cells, ' ');
  return front + '[' + filled + "]  " + numbers;
}

void Progress::erase() {
  if (drawn_) out_ << "\r\x1b[K";
  drawn_ = false;
}

void Progress::line(std::string_view text) {
  if (options_.quiet) return;
  const bool redraw = drawn_;
  erase();
  out_ << text << '\n' << std::flush;
  if (redraw) draw(now());
}

void Progress::finish() {
  erase();
  if (!options_.quiet) out_ << std::flush;
  live_ = false;
  next_look_ = std::numeric_limits<long>::max();
}

}  // namespace lamina
