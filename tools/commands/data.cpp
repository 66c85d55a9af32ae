// lamina data: makes data sets.

#include <iostream>

#include "models/attentive_reader/data/cloze.h"
#include "tools/commands/commands.h"

namespace lamina {

namespace {

struct ClozeFlags {
  std::vector<std::string> books;
  std::string out;
  size_t seed = 1;
};

void run_cloze(const ClozeFlags& flags) {
  const auto [train, valid, test] =
      attentive_reader::make_cloze(flags.books, flags.out, {.seed = flags.seed});
  std::cout << flags.out << ": " << train << " training, " << valid << " validation and " << test
            << " test questions\n";
}

void add_cloze_command(Command& data) {
  Command& command =
      data.add_command("cloze", "cloze questions for lamina attentive-reader, from books in plain text",
                       "Example: lamina data cloze holmes.txt emma.txt --out data/cloze");
  const auto flags = std::make_shared<ClozeFlags>();
  command.add("BOOK", flags->books, "files, in UTF-8 or Windows-1252").required();
  command.add("--out", flags->out, "folder for training/, validation/ and test/, one .question file each")
      .required();
  command.add("--seed", flags->seed, "of the anonymous numbers").non_negative().show_default();
  command.action([flags] { run_cloze(*flags); });
}

}  // namespace

void add_data_command(Command& program) {
  Command& command = program.add_command("data", "makes data sets; see lamina data --help",
                                         "Example: lamina data cloze holmes.txt emma.txt --out data/cloze");
  command.require_command();
  add_cloze_command(command);
}

}  // namespace lamina
