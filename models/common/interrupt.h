#pragma once
// Ctrl-C in a training run: the step under way ends, the run saves, the program exits with code 130. So it does
// when it is asked to end in another way (SIGTERM), when its terminal is closed (SIGHUP), and when nobody reads
// its output any more (SIGPIPE).
//
//   CatchInterrupts catching;
//   while (step < steps && !interrupted()) train_one_step();
//   save();
//   return interrupted() ? interrupted_exit_code : 0;

namespace lamina {

/// What a shell reports for a program that Ctrl-C ended.
inline constexpr int interrupted_exit_code = 130;

/// While one of these lives, these signals only make `interrupted()` true. The second SIGINT or SIGTERM kills the
/// program at once; SIGHUP and SIGPIPE never do, since they come more than once. One that was ignored before
/// stays ignored if it is SIGHUP: nohup. One object at a time.
class CatchInterrupts {
 public:
  CatchInterrupts();
  ~CatchInterrupts();
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;
};

/// Whether one of the signals came since `CatchInterrupts` began. Costs one load; ask after every step.
bool interrupted();

}  // namespace lamina
