#include "tools/flags/documents.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "core/error.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

// --- The manual page

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

/// The command, then its own commands; `path` is the words that call it.
std::string section(const Command& command, const std::string& path) {
  std::string page = text(".SS ", literal(path), '\n', literal(command.description()), '\n');
  for (const FlagView& flag : command.flags()) page += flag_entry(flag);
  if (!command.footer().empty()) page += text(".PP\n.nf\n", literal(command.footer()), "\n.fi\n");
  for (const Command& inner : command.commands()) page += section(inner, path + ' ' + inner.name());
  return page;
}

// --- Completion

/// The cases of the script's three questions.
struct Cases {
  std::string descend;  ///< which command a word leads to
  std::string values;   ///< what may stand behind a flag
  std::string words;    ///< what may stand elsewhere
};

/// `path` is the words that call the command, without the program's name: "attentive-reader show".
void add(const Command& command, const std::string& path, Cases& cases) {
  std::string words;
  for (const Command& inner : command.commands()) {
    const std::string inner_path = path + (path.empty() ? "" : " ") + inner.name();
    words += inner.name() + ' ';
    cases.descend += text("      '", path, '|', inner.name(), "') command='", inner_path, "' ;;\n");
    add(inner, inner_path, cases);
  }
  for (const FlagView& flag : command.flags()) {
    if (!flag.name.starts_with("--")) continue;
    words += flag.name + ' ';
    if (!flag.choices.empty())
      cases.values += text("    '", path, '|', flag.name, "') words='",
                           joined(flag.choices, std::identity(), " "), "' ;;\n");
    else if (flag.takes_value)
      cases.values += text("    '", path, '|', flag.name, "') return ;;\n");
  }
  cases.words += text("      '", path, "') words='", words, "' ;;\n");
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

std::string bash_completion(const Command& program) {
  Cases cases;
  add(program, "", cases);
  const std::string name = program.name();
  return text("# Completes the command line of ", name, " in bash and zsh; `", name,
              " completion` made it.\n"
              "[ -z \"${ZSH_VERSION-}\" ] || { autoload -U +X bashcompinit && bashcompinit; }\n\n_",
              name,
              "() {\n"
              "  local command= words= i before=${COMP_WORDS[COMP_CWORD-1]} word=${COMP_WORDS[COMP_CWORD]}\n"
              "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
              "    case \"$command|${COMP_WORDS[i]}\" in\n",
              cases.descend,
              "    esac\n"
              "  done\n"
              "  COMPREPLY=()\n"
              "  case \"$command|$before\" in\n",
              cases.values,
              "    *)\n"
              "      case \"$command\" in\n",
              cases.words,
              "      esac ;;\n"
              "  esac\n"
              "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
              "}\n"
              "complete -o default -F _",
              name, ' ', name, '\n');
}

}  // namespace lamina
