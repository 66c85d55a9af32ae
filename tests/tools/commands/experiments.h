#pragma once
// The experiments: the commands that train, which can be resumed.

#include <string>
#include <vector>

#include "tools/commands/commands.h"

namespace lamina::test {

inline std::vector<std::string> experiments() {
  Command program("lamina", "for tests");
  for (const auto add : add_commands) add(program);
  std::vector<std::string> names;
  for (const Command& command : program.commands())
    if (command.has("--resume")) names.push_back(command.name());
  return names;
}

}  // namespace lamina::test
