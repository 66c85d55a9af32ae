// lamina data: makes data sets.

#include <iostream>

#include "models/attentive_reader/cloze.h"
#include "tools/commands.h"

namespace lamina {

namespace {

struct ClozeFlags {
  std::vector<std::string> books;
  std::string out;
  std::int64_t seed = 1;
};

int run_cloze(const ClozeFlags& flags) {
  const auto [train, valid, test] =
      attentive_reader::make_cloze(flags.books, flags.out, {.seed = static_cast<std::uint64_t>(flags.seed)});
  std::cout << flags.out << ": " << train << " training, " << valid << " validation and " << test
            << " test questions\n";
  return 0;
}

void add_cloze_command(CLI::App& data, Action& action) {
  CLI::App* const command =
      data.add_subcommand("cloze", "cloze questions for lamina attentive-reader, from books in plain text");
  command->footer("Example: lamina data cloze holmes.txt emma.txt --out data/cloze");
  const auto flags = std::make_shared<ClozeFlags>();
  command->add_option("BOOK", flags->books, "files, in UTF-8 or Latin-1")->required();
  command
      ->add_option("--out", flags->out,
                   "folder for training/, validation/ and test/, one .question file each")
      ->required();
  command->add_option("--seed", flags->seed, "of the anonymous numbers")->capture_default_str();
  command->callback([flags, &action] { action = [flags] { return run_cloze(*flags); }; });
}

}  // namespace

void add_data_command(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("data", "makes data sets; see lamina data --help");
  command->require_subcommand(1);
  command->footer("Example: lamina data cloze holmes.txt emma.txt --out data/cloze");
  add_cloze_command(*command, action);
}

}  // namespace lamina
