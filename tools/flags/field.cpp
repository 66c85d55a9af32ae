#include "tools/flags/field.h"

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/flags/flag_value.h"

namespace lamina {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& content, const char* what) {
  fail<DataError>("config.json: setting '", name, "' holds '", content, "', which is no ", what,
                  "; restore the value that was written");
}

void read_word(const std::string&, const std::string& word, std::string& value) { value = word; }
void read_word(const std::string& name, const std::string& word, size_t& value) {
  const auto number = number_from<std::int64_t>(word);
  if (!number || *number < 1) refuse(name, word, "whole number above 0");
  value = static_cast<size_t>(*number);
}
void read_word(const std::string& name, const std::string& word, double& value) {
  const auto number = real_number(word);
  if (!number) refuse(name, word, "number");
  value = *number;
}

template <class Value>
void read_setting(const Settings& settings, const std::string& name, bool, Value& value) {
  value = settings.get<Value>(name);
}
void read_setting(const Settings& settings, const std::string& name, bool, size_t& value) {
  const auto number = settings.get<std::int64_t>(name);
  if (number < 0) refuse(name, text(number), "whole number from 0");
  value = static_cast<size_t>(number);
}
template <class Item>
void read_setting(const Settings& settings, const std::string& name, bool required,
                  std::vector<Item>& items) {
  items.clear();
  const auto list = settings.get<std::string>(name);
  if (required && list.empty()) refuse(name, "", "list");
  if (list.empty()) return;
  for (const std::string& word : split(list)) read_word(name, word, items.emplace_back());
}

template <class Value>
void write_setting(Settings& settings, const std::string& name, const Value& value) {
  settings.set(name, value);
}
template <class Item>
void write_setting(Settings& settings, const std::string& name, const std::vector<Item>& items) {
  std::vector<std::string> words;
  for (const Item& item : items)
    if constexpr (std::is_same_v<Item, double>)
      words.push_back(number_text(item));
    else
      words.push_back(text(item));
  if (!words.empty()) settings.set(name, joined(words));
}

}  // namespace

void Fields::fill_in(bool paper) const {
  for (const Field& field : fields_) {
    if (given(flag_of_setting(field.name))) continue;
    std::visit(
        [&]<class Value>(Value* value) {
          if (*value == Value()) *value = std::get<Value>(paper ? field.paper : field.small);
        },
        field.place);
  }
}

Settings Fields::settings() const {
  Settings settings;
  for (const Field& field : fields_)
    std::visit([&](const auto* value) { write_setting(settings, field.name, *value); }, field.place);
  return settings;
}

void Fields::read(const Settings& settings) const {
  const bool paper = settings.word("preset") == "paper";
  for (const Field& field : fields_)
    std::visit(
        [&]<class Value>(Value* value) {
          if (field.required || settings.has(field.name))
            read_setting(settings, field.name, field.required, *value);
          else if (*value = std::get<Value>(field.otherwise); *value == Value())
            *value = std::get<Value>(paper ? field.paper : field.small);
        },
        field.place);
}

}  // namespace lamina
