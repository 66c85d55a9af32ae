#pragma once
// Ctrl-C in a training run: the step under way ends, the run saves, the program exits with code 130.
//
//   CatchInterrupts catching;
//   while (step < steps && !interrupted()) train_one_step();
//   save();
//   return interrupted() ? interrupted_exit_code : 0;

namespace lamina {

/// What a shell reports for a program that Ctrl-C ended.
inline constexpr int interrupted_exit_code = 130;

/// While one of these lives, the first SIGINT or SIGTERM only makes `interrupted()` true, and the second one
/// kills the program at once. One at a time.
class CatchInterrupts {
 public:
  CatchInterrupts();
  ~CatchInterrupts();
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;
};

/// Whether a SIGINT or SIGTERM came since `CatchInterrupts` began. Costs one load; ask after every step.
bool interrupted();

}  // namespace lamina
