#include "tools/field.h"

#include <algorithm>

#include "core/error.h"
#include "models/common/metrics.h"
#include "tools/flag_value.h"

namespace lamina {

namespace {

template <class Value>
constexpr bool is_list = false;
template <class Item>
constexpr bool is_list<std::vector<Item>> = true;

[[noreturn]] void refuse(const std::string& name, const std::string& content, const char* what) {
  fail<DataError>("config.json: setting '", name, "' holds '", content, "', which is no ", what,
                  "; restore the value that was written");
}

std::string text_of(const std::string& word) { return word; }
std::string text_of(size_t number) { return text(number); }
std::string text_of(double number) { return number_text(number); }

void read_word(const std::string&, const std::string& word, std::string& value) { value = word; }
void read_word(const std::string& name, const std::string& word, size_t& value) {
  const auto number = whole_number(word);
  if (!number || *number < 1) refuse(name, word, "whole number above 0");
  value = static_cast<size_t>(*number);
}
void read_word(const std::string& name, const std::string& word, double& value) {
  const auto number = real_number(word);
  if (!number) refuse(name, word, "number");
  value = *number;
}

template <class Value>
void write_setting(Settings& settings, const std::string& name, const Value& value) {
  settings.set(name, value);
}
template <class Item>
void write_setting(Settings& settings, const std::string& name, const std::vector<Item>& items) {
  std::vector<std::string> words;
  for (const Item& item : items) words.push_back(text_of(item));
  if (!words.empty()) settings.set(name, joined(words));
}

template <class Value>
void read_setting(const Settings& settings, const std::string& name, Value& value) {
  value = settings.get<Value>(name);
}
template <>
void read_setting(const Settings& settings, const std::string& name, size_t& value) {
  const auto number = settings.get<std::int64_t>(name);
  if (number < 0) refuse(name, text(number), "whole number from 0");
  value = static_cast<size_t>(number);
}
template <class Item>
void read_setting(const Settings& settings, const std::string& name, std::vector<Item>& items) {
  items.clear();
  for (const std::string& word : split(settings.get<std::string>(name)))
    read_word(name, word, items.emplace_back());
}

}  // namespace

template <class Value>
void Fields::keep(const std::string& name, Value& value,
                  const std::type_identity_t<FieldOptions<Value>>& options) {
  fields_.push_back(
      {.fill_in =
           [&value, options](bool paper) {
             if (value == Value()) value = paper ? options.paper : options.small;
           },
       .write = [&value, name](Settings& settings) { write_setting(settings, name, value); },
       .read =
           [&value, name, required = options.required, otherwise = value](const Settings& settings) {
             if (!required && !settings.has(name)) {
               value = otherwise;
               return;
             }
             read_setting(settings, name, value);
             if constexpr (is_list<Value>)
               if (required && value.empty()) refuse(name, "", "list");
           }});
}

template void Fields::keep(const std::string&, bool&, const FieldOptions<bool>&);
template void Fields::keep(const std::string&, size_t&, const FieldOptions<size_t>&);
template void Fields::keep(const std::string&, double&, const FieldOptions<double>&);
template void Fields::keep(const std::string&, std::string&, const FieldOptions<std::string>&);
template void Fields::keep(const std::string&, std::vector<size_t>&,
                           const FieldOptions<std::vector<size_t>>&);
template void Fields::keep(const std::string&, std::vector<double>&,
                           const FieldOptions<std::vector<double>>&);
template void Fields::keep(const std::string&, std::vector<std::string>&,
                           const FieldOptions<std::vector<std::string>>&);

std::string Fields::name_of_flag(const std::string& flag) {
  std::string name = flag.substr(2);
  std::ranges::replace(name, '-', '_');
  return name;
}

void Fields::fill_in(bool paper) {
  for (const Field& field : fields_) field.fill_in(paper);
}

Settings Fields::settings() const {
  Settings settings;
  for (const Field& field : fields_) field.write(settings);
  return settings;
}

void Fields::read(const Settings& settings) {
  for (const Field& field : fields_) field.read(settings);
}

}  // namespace lamina
