// The `lamina` command: one subcommand per experiment. Exit codes: 0 done, 1 bad data, 2 bad usage, 130
// stopped by Ctrl-C after saving.

#include <sys/mman.h>
#include <unistd.h>

#include <iostream>
#include <string_view>

#include "core/distributed/group.h"
#include "core/error.h"
#include "core/gemm/gemm.h"
#include "core/version.h"
#include "models/terminal/terminal.h"
#include "tools/commands/commands.h"
#include "tools/flags/documents.h"
#include "tools/flags/training/command_times.h"
#include "tools/flags/wrapped_text.h"
#include "tools/programs/process.h"

namespace {

using namespace lamina;

/// For people in two columns; in a pipe one line each, with a tab.
void list_commands(const Command& program) {
  for (const Command& command : program.commands()) {
    if (command.name() == "list") continue;
    if (redraws())
      std::cout << help_entry(command.name(), command.description(), static_cast<size_t>(terminal_width()));
    else
      std::cout << command.name() << '\t' << command.description() << '\n';
  }
}

/// OpenBLAS takes two buffers of 128 MB while it is being loaded (as measured on two cores), and where there is
/// no room for them asks for ever. So the room is tried out before, by a function that runs ahead of every
/// library's own start. No sanitizer has started then either.
__attribute__((no_sanitize("address", "undefined"))) void require_room_for_openblas(int, char**, char**) {
  constexpr size_t buffer = size_t{262} << 20;  // both, and a little for what is loaded beside them
  void* const room =
      ::mmap(nullptr, buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    ::munmap(room, buffer);
    return;
  }
  constexpr std::string_view complaint =
      "lamina: not enough memory for OpenBLAS's buffers of 256 MB; raise the limit (ulimit -v)\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, complaint.data(), complaint.size());
  ::_exit(1);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = require_room_for_openblas;

}  // namespace

int main(int argc, char** argv) {
  prepare_process();
  Command program("lamina",
                  "Lamina: every experiment of \"Layer Normalization\" (Ba, Kiros and Hinton 2016).");
  program.require_command();
  program.add_version(text("lamina ", version, ", commit ", commit(), ", ",
                           sizeof(real) == 4 ? "float" : "double", ", ", gemm_backend(), ", ",
                           distributed::mpi_name()));
  program.footer(text(times_are, "\n\nExample: lamina mnist --norm none,batch,layer"));
  for (const auto add : add_commands) add(program);
  program.add_command("list", "lists the commands; in a pipe, one per line").action([&] {
    list_commands(program);
  });
  Command& completion =
      program.add_command("completion", "a script that completes commands and flags in bash and zsh",
                          "Example: lamina completion > ~/.local/share/bash-completion/completions/lamina");
  completion.action([&] { std::cout << bash_completion(program); });
  Command& manual =
      program.add_command("manual", "the manual page", "Example: lamina manual > lamina.1; man ./lamina.1");
  manual.action([&] { std::cout << manual_page(program, text("lamina ", version)); });
  program.annotate(time_of);
  return program.run(argc, argv);
}
