#include "core/debug/print.h"

#include <algorithm>
#include <locale>
#include <sstream>
#include <string>

namespace lamina {

namespace {

constexpr size_t most_elements = 1000, shown_at_edge = 3, line_width = 79;

class Printer {
 public:
  Printer(std::ostream& out, const Tensor& x)
      : out_(out),
        x_(x),
        format_(out.flags()),
        precision_(out.precision()),
        locale_(out.getloc()),
        elided_(x.size() > most_elements) {
    find_width(0, 0);
  }

  void write() { write_axis(0, 0); }

 private:
  /// visit(index) for each index that is shown along an axis, gap() once between those that are not.
  template <class Visit, class Gap>
  void along(int axis, const Visit& visit, const Gap& gap) const {
    const size_t size = x_.shape()[axis];
    const bool gapped = elided_ && size > 2 * shown_at_edge;
    for (size_t i = 0; i < size; ++i) {
      if (gapped && i == shown_at_edge) {
        gap();
        i = size - shown_at_edge;
      }
      visit(i);
    }
  }

  std::string text_of(real value) const {
    std::ostringstream text;
    text.flags(format_);
    text.precision(precision_);
    text.imbue(locale_);
    text << value;
    return text.str();
  }

  void find_width(int axis, size_t place) {
    if (axis == x_.shape().rank()) {
      width_ = std::max(width_, text_of(x_[place]).size());
      return;
    }
    along(
        axis, [&](size_t i) { find_width(axis + 1, place * x_.shape()[axis] + i); }, [] {});
  }

  void write_axis(int axis, size_t place) {
    const int rank = x_.shape().rank();
    if (axis == rank) return write_number(text_of(x_[place]));
    const bool last = axis == rank - 1;
    const auto depth = static_cast<size_t>(axis) + 1;
    out_ << '[';
    column_ = depth;
    bool first = true;
    const auto separate = [&](size_t width) {
      if (!first && last && column_ + 1 + width <= line_width) {
        out_ << ' ';
        ++column_;
      } else if (!first) {
        const auto lines = static_cast<size_t>(last ? 1 : rank - axis - 1);
        out_ << std::string(lines, '\n') << std::string(depth, ' ');
        column_ = depth;
      }
      first = false;
    };
    along(
        axis,
        [&](size_t i) {
          separate(width_);
          write_axis(axis + 1, place * x_.shape()[axis] + i);
        },
        [&] {
          separate(3);
          out_ << "...";
          column_ += 3;
        });
    out_ << ']';
  }

  void write_number(const std::string& text) {
    out_ << std::string(width_ - text.size(), ' ') << text;
    column_ += width_;
  }

  std::ostream& out_;
  const Tensor& x_;
  std::ios_base::fmtflags format_;
  std::streamsize precision_;
  std::locale locale_;
  bool elided_;
  size_t width_ = 0, column_ = 0;  ///< of a number; on the line so far
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  out << x.shape();
  if (!x.defined()) return out;
  std::ostringstream values;
  values.flags(out.flags());
  values.precision(out.precision());
  values.imbue(out.getloc());
  Printer(values, x).write();
  const std::string found = values.str();
  const bool one_line = found.find('\n') == std::string::npos && x.shape().rank() < 2 &&
                        text(x.shape(), ' ').size() + found.size() <= line_width;
  return out << (one_line ? ' ' : '\n') << found;
}

}  // namespace lamina
