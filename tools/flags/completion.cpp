#include "tools/flags/completion.h"

#include "core/error.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

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
