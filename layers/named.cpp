#include "layers/named.h"

#include <typeinfo>

namespace lamina::detail {

void fail_in_layer(const std::string& name, const Error& error) {
  if (typeid(error) != typeid(Error)) throw;
  const std::string what = error.what();
  const size_t end = what.find(':');
  if (end == std::string::npos || what.substr(0, end).find('\'') != std::string::npos) throw;
  fail(what.substr(0, end), " '", name, "'", what.substr(end));
}

}  // namespace lamina::detail
