#include "tools/programs/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace lamina {

void prepare_process() {
  // open() takes the lowest free number, so the first one that is not a standard stream says that none is free.
  int number = 0;
  while (number >= 0 && number <= STDERR_FILENO) number = ::open("/dev/null", O_RDONLY);
  if (number > STDERR_FILENO) ::close(number);
  std::signal(SIGXFSZ, SIG_IGN);
}

void silence_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

}  // namespace lamina
