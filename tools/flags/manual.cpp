#include "tools/flags/manual.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"

namespace lamina {

namespace {

/// Text as roff shows it literally: no line of it is a request.
std::string literal(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool begins_line = safe.empty() || safe.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
  }
  return safe;
}

std::string upper_case(std::string word) {
  std::ranges::transform(word, word.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return word;
}

std::string flag_entry(const FlagView& flag) {
  const std::string kind = flag.kind.empty() ? "" : " \\fI" + literal(flag.kind) + "\\fR";
  const std::string otherwise = flag.otherwise.empty() ? "" : " [" + flag.otherwise + "]";
  return text(".TP\n\\fB", literal(flag.name), "\\fR", kind, '\n', literal(flag.description + otherwise),
              '\n');
}

std::string footer_of(const Command& command) {
  return command.footer().empty() ? "" : text(".PP\n.nf\n", literal(command.footer()), "\n.fi\n");
}

/// The command, then its own commands; `path` is the words that call it.
std::string section(const Command& command, const std::string& path) {
  std::string page = text(".SS ", literal(path), '\n', literal(command.description()), '\n');
  for (const FlagView& flag : command.flags()) page += flag_entry(flag);
  page += footer_of(command);
  for (const Command& inner : command.commands()) page += section(inner, path + ' ' + inner.name());
  return page;
}

}  // namespace

std::string manual_page(const Command& program, const std::string& version) {
  const std::string name = program.name();
  std::string page =
      text(".TH ", upper_case(name), " 1 \"\" \"", literal(version), "\" \"User Commands\"\n.SH NAME\n", name,
           " \\- ", literal(program.description()), "\n.SH SYNOPSIS\n.B ", name,
           "\n.I COMMAND\n[flags]\n.br\n.B ", name, "\n.I COMMAND\n\\-\\-help\n.SH COMMANDS\n");
  for (const Command& command : program.commands()) page += section(command, name + ' ' + command.name());
  return page + ".SH EXAMPLES\n.nf\n" + literal(program.footer()) + "\n.fi\n";
}

}  // namespace lamina
