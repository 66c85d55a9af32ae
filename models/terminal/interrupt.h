#pragma once
// Ctrl-C in a training run: the current step finishes, the run saves, the program exits with code 130. The
// same happens on a request to terminate (SIGTERM), when the terminal is closed (SIGHUP), and when nothing
// reads the output any more (SIGPIPE).
//
//   CatchInterrupts catching;
//   while (step < steps && !interrupted()) train_one_step();
//   save();
//   return interrupted() ? interrupted_exit_code : 0;

namespace lamina {

/// What a shell reports for a program that Ctrl-C ended.
inline constexpr int interrupted_exit_code = 130;

/// While one of these lives, these signals only make `interrupted()` true. The second SIGINT or SIGTERM kills
/// the program at once; SIGHUP and SIGPIPE never do, since they come more than once. A SIGHUP that was
/// ignored before (nohup) stays ignored; an ignored SIGINT is caught. Within one, further ones change nothing: a request
/// lasts until the outermost ends, so a loop over trainings makes one and asks before each.
class CatchInterrupts {
 public:
  CatchInterrupts();
  ~CatchInterrupts();
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;
};

/// Whether one of the signals has arrived since the outermost `CatchInterrupts` was made. Costs one load; check after every
/// step.
bool interrupted();

}  // namespace lamina
