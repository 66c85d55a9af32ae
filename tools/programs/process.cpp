#include "tools/programs/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "core/files/file.h"
#include "core/real.h"

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

std::vector<char*> arguments_of(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return arguments;
}

void continue_in_double() {
  if (sizeof(real) == sizeof(double)) return;
  std::istringstream command_line(read_file("/proc/self/cmdline"));
  std::vector<std::string> words;
  for (std::string word; std::getline(command_line, word, '\0');) words.push_back(word);
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("lamina-double").string();
  ::execv(program.c_str(), arguments_of(words).data());  // returns only when it fails
  fail(program, ": is needed for this command, which computes in double; build it with `make`");
}

}  // namespace lamina
