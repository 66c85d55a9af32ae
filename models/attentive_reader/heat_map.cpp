#include "models/attentive_reader/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "models/run/metrics.h"
#include "models/text/utf8.h"

namespace lamina::attentive_reader {

namespace {

/// From 0 to 1, where 1 is the largest weight of the passage.
double strength(const Reading& reading, size_t word) {
  const double most = *std::ranges::max_element(reading.weights);
  return most > 0 ? reading.weights[word] / most : 0;
}

/// "Oslo" of @entity1; empty when unknown.
std::string name_of_entity(const Question& question, const std::string& entity) {
  for (const auto& [known, name] : question.names)
    if (known == entity) return name;
  return {};
}

std::string with_name(const Question& question, const std::string& entity) {
  const std::string name = name_of_entity(question, entity);
  return name.empty() ? entity : entity + " (" + name + ")";
}

/// Words one after another, with a new line where the next does not fit.
class Paragraph {
 public:
  explicit Paragraph(size_t width) : width_(width) {}

  /// `shown` is the output, with control sequences, for a word of `columns` columns.
  void add(const std::string& shown, size_t columns) {
    if (column_ > 0 && column_ + 1 + columns > width_) {
      text_ += '\n';
      column_ = 0;
    }
    if (column_ > 0) text_ += ' ';
    column_ += columns + (column_ > 0 ? 1 : 0);
    text_ += shown;
  }

  std::string text() const { return text_ + '\n'; }

 private:
  size_t width_, column_ = 0;
  std::string text_;
};

/// A word on red, in five steps of the colour cube from dark to bright; plain where there is little to show.
std::string coloured(const std::string& word, double strength) {
  constexpr std::array<int, 5> reds{52, 88, 124, 160, 196};
  const auto step = static_cast<size_t>(std::lround(strength * reds.size()));
  if (step == 0) return word;
  constexpr int white = 231;
  return text("\033[48;5;", reds.at(step - 1), ";38;5;", white, 'm', word, "\033[0m");
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

constexpr const char* page_head = R"(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Where the reader looked</title>
<style>
:root { color-scheme: light dark; }
body { font: 1.1rem/2 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem; }
.passage span { background: rgb(230 90 0 / calc(var(--w) * 70%)); border-radius: .3em; padding: .15em .2em; }
td { padding-right: 1.5em; } td:nth-child(2) { text-align: right; }
.right { font-weight: bold; }
</style>
)";

}  // namespace

std::string as_text(const Reading& reading, bool colour, size_t width) {
  const Question& question = reading.question;
  Paragraph asked(width), passage(width);
  for (const std::string& word : question.query) asked.add(word, characters_in(word));
  const double share = 1 / static_cast<double>(question.passage.size());
  for (size_t i = 0; i < question.passage.size(); ++i) {
    const std::string& word = question.passage[i];
    const bool marked = !colour && reading.weights[i] > share;
    const std::string plain = marked ? word + formatted("(%.0f%%)", 100 * reading.weights[i]) : word;
    passage.add(colour ? coloured(word, strength(reading, i)) : plain, characters_in(plain));
  }
  std::string out = question.source + "\n\n" + asked.text() + '\n' + passage.text() + '\n';
  for (const auto& [entity, probability] : reading.answers)
    out += (entity == question.answer ? "* " : "  ") + formatted("%5.1f%%  ", 100 * probability) +
           with_name(question, entity) + '\n';
  return out;
}

std::string as_html(const Reading& reading) {
  const Question& question = reading.question;
  std::string out = page_head;
  out += "<p>" + escaped(question.source) + "</p>\n<h1>" + escaped(joined(question.query)) +
         "</h1>\n<p class=\"passage\">\n";
  for (size_t i = 0; i < question.passage.size(); ++i) {
    const std::string& word = question.passage[i];
    const std::string name = name_of_entity(question, word);
    out += "<span style=\"--w:" + formatted("%.3f", strength(reading, i)) + "\" title=\"" +
           escaped(name + (name.empty() ? "" : ": ")) + formatted("%.2f%%", 100 * reading.weights[i]) +
           "\">" + escaped(word) + "</span>\n";
  }
  out += "</p>\n<table>\n";
  for (const auto& [entity, probability] : reading.answers)
    out += text("<tr", entity == question.answer ? " class=\"right\"" : "", "><td>",
                escaped(with_name(question, entity)), "</td><td>", formatted("%.1f%%", 100 * probability),
                "</td></tr>\n");
  return out + "</table>\n<p>In bold the right answer.</p>\n</html>\n";
}

namespace {

/// Words in lines, at places that count characters of a font of one width.
class SvgLines {
 public:
  explicit SvgLines(size_t width) : width_(width) {}

  void add(const std::string& word, double strength) {
    const size_t length = characters_in(word);
    if (column_ > 0 && column_ + length > width_) next_line();
    const size_t x = margin + advance * column_, y = margin + line * row_;
    if (strength > 0)
      out_ += text("<rect x=\"", x - 2, "\" y=\"", y - 14, "\" width=\"", advance * length + 4,
                   "\" height=\"20\" rx=\"4\" fill=\"#e65a00\" fill-opacity=\"",
                   formatted("%.3f", 0.7 * strength), "\"/>\n");
    out_ += text("<text x=\"", x, "\" y=\"", y, "\" textLength=\"", advance * length, "\">", escaped(word),
                 "</text>\n");
    column_ += length + 1;
  }

  void next_line() {
    ++row_;
    column_ = 0;
  }

  std::string picture() const {
    const size_t across = 2 * margin + advance * width_, down = margin + line * (row_ + 1);
    return text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", across, ' ', down, "\" width=\"",
                across, "\" height=\"", down, "\" font-family=\"monospace\" font-size=\"15\">\n",
                "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out_, "</svg>\n");
  }

 private:
  static constexpr size_t margin = 24, advance = 9, line = 26;  // pixels

  size_t width_, row_ = 0, column_ = 0;
  std::string out_;
};

}  // namespace

std::string as_svg(const Reading& reading, size_t width) {
  const Question& question = reading.question;
  SvgLines lines(width);
  for (const std::string& word : question.query) lines.add(word, 0);
  lines.next_line();
  lines.next_line();
  for (size_t i = 0; i < question.passage.size(); ++i) lines.add(question.passage[i], strength(reading, i));
  return lines.picture();
}

}  // namespace lamina::attentive_reader
