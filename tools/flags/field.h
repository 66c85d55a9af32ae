#pragma once
// The settings of a command, each declared once: its flag and help, its presets, its name in config.json and the way
// back from there.
//
//   Fields fields(command);
//   fields.add("--validate-every", every, "updates between validations", {.paper = 1000, .small = 100}).positive();
//
// reads `--validate-every 50`, shows it in --help, takes 1000 or 100 where it is not given, and writes and reads the
// setting "validate_every".

#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "models/run/run_folder.h"
#include "tools/flags/command_line.h"

namespace lamina {

template <class Value>
struct FieldOptions {
  Value paper = {}, small = {};  ///< of the presets, where no flag is given and the default is 0 or empty
  bool required = true;  ///< false: a config.json without it stands for the default, or its preset's value
};

class Fields {
 public:
  explicit Fields(Command& command) : command_(command) {}

  /// Adds a flag that config.json keeps: bool, size_t, double, std::string, or a vector of one of the last three, which
  /// becomes one text, "none,layer". `value` outlives the fields; as it is now it is the default.
  template <class Value>
  Flag add(const std::string& flag, Value& value, const std::string& description,
           const std::type_identity_t<FieldOptions<Value>>& options = {}) {
    keep(name_of_setting(flag.substr(2)), value, options);
    return command_.add(flag, value, description);
  }
  /// The same without a flag.
  template <class Value>
  void keep(const std::string& name, Value& value,
            const std::type_identity_t<FieldOptions<Value>>& options = {.required = false}) {
    fields_.push_back({name, &value, options.paper, options.small, value, options.required});
  }

  bool given(const std::string& flag) const { return command_.given(flag); }
  void fill_in(bool paper) const;

  /// All of them for config.json, but for empty lists, and back: DataError for what is missing or wrong.
  Settings settings() const;
  void read(const Settings& settings) const;

 private:
  template <class... Values>
  struct Kinds {
    using Value = std::variant<Values...>;
    using Place = std::variant<Values*...>;
  };
  using Kind = Kinds<bool, size_t, double, std::string, std::vector<size_t>, std::vector<double>,
                     std::vector<std::string>>;
  struct Field {
    std::string name;
    Kind::Place place;
    Kind::Value paper, small, otherwise;
    bool required;
  };

  Command& command_;
  std::vector<Field> fields_;
};

}  // namespace lamina
