#pragma once
// The progress of a run. On a terminal, one line that is redrawn in place:
//
//   variant 2/3, epoch 3/20  [===>       ]  31%  loss 0.0712  1:23 left in all
//
// In a pipe or a log file only the lines that the run reports, about one per epoch.

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace lamina {

struct ProgressOptions {
  long total = 0;             // steps of the whole run
  long done = 0;              // of these, steps that an earlier run did (after --resume)
  std::string unit = "step";  // the unit that is counted, in the singular
  // What comes after this run, as a multiple of its own work: the time left is then that of all. Negative: this run is
  // the only one.
  double later = -1;
  bool quiet = false;  // print nothing at all
  // For tests: another stream than standard output, a fixed width in columns instead of the terminal's (0:
  // not a terminal), and another clock, in seconds.
  std::ostream* out = nullptr;
  int width = -1;
  std::function<double()> clock = {};
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  /// Removes the bar, so that an error message starts on a clean line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more step is done. Most calls only count; the clock is read some forty times a second.
  void step() {
    if (++done_ >= next_look_) look();
  }
  /// The same for a step with a loss, of which the bar shows a running mean over some hundred steps.
  void step(double loss);

  /// The text before the bar, for instance the epoch. Shown at the next redraw, and not at all in a pipe.
  void label(std::string_view text) { label_ = text; }

  /// Prints a separate line, above the bar if there is one.
  void line(std::string_view text);

  /// Removes the bar. From then on only lines are printed.
  void finish();

 private:
  void look();
  void draw(double now);
  void erase();
  std::string bar(double now, int width) const;
  double now() const;

  ProgressOptions options_;
  std::ostream& out_;
  std::string label_;
  bool live_;           // a terminal that can redraw a line
  bool drawn_ = false;  // a bar is on the screen now
  long done_;
  long next_look_;  // the value of done_ at which the clock is read again
  long last_look_;
  double last_look_time_;
  double last_draw_ = -1;
  double start_;
  double loss_ = 0, loss_weight_ = 0;  // a mean whose weights fade, and their sum
};

/// "0:07", "12:34", "3:05:09"; "--:--" when unknown.
std::string duration_text(double seconds);

}  // namespace lamina
