#pragma once
// A locale in which 1234.5 is 1.234,5, for streams that begin while it lives: as in programs that take over the user's.

#include <locale>
#include <string>

namespace lamina::test {

class OtherLocale {
 public:
  OtherLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new Points))) {}
  OtherLocale(const OtherLocale&) = delete;
  OtherLocale& operator=(const OtherLocale&) = delete;
  ~OtherLocale() { std::locale::global(before_); }

 private:
  struct Points : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

}  // namespace lamina::test
