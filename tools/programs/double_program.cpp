#include "tools/programs/double_program.h"

#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/file.h"
#include "core/real.h"

namespace lamina {

void continue_in_double() {
  if (sizeof(real) == sizeof(double)) return;
  std::istringstream command_line(read_file("/proc/self/cmdline"));
  std::vector<std::string> words;
  for (std::string word; std::getline(command_line, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("lamina-double").string();
  execv(program.c_str(), arguments.data());  // returns only when it fails
  fail(program, ": is needed for this command, which computes in double; build it with `make`");
}

}  // namespace lamina
