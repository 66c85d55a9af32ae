#pragma once
// Errors are exceptions whose text a user can act on: who noticed, what is wrong, and the remedy.
//
//   fail("matmul: ", a.shape(), " * ", b.shape(), ": inner sizes differ; transpose one of them");
//
// `Error`      a wrong shape or call in a program; also the base class of those below
// `NotFinite`  a NaN or an infinity where a number is needed
// `UsageError` a wrong flag on the command line          (exit code 2)
// `DataError`  a file that is missing, broken or wrong   (exit code 1); the text starts with its name

#include <sstream>
#include <stdexcept>
#include <string>

namespace lamina {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NotFinite : Error {
  using Error::Error;
};
struct UsageError : Error {
  using Error::Error;
};
struct DataError : Error {
  using Error::Error;
};

/// The parts, one after another, formatted as a stream would in the C locale, whatever the program's is: files hold such
/// texts, and others would write 12800 as 12,800.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

/// Throws `Kind` with the parts as its text.
template <class Kind = Error, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Kind(text(parts...));
}

}  // namespace lamina
