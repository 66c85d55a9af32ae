// Attention as text and as a page.

#include "models/attentive_reader/heat_map.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
namespace ar = lamina::attentive_reader;

namespace {

ar::Reading reading() {
  return {.question = {.source = "a <book>",
                       .passage = {"@entity0", "saw", "<b>", "@entity1", "."},
                       .query = {"@placeholder", "saw", "\"it\""},
                       .answer = "@entity1",
                       .names = {{"@entity1", "Tom & Co"}}},
          .weights = {0.3, 0.05, 0.05, 0.6, 0},
          .answers = {{"@entity1", 0.75}, {"@entity0", 0.25}}};
}

}  // namespace

TEST_CASE("heat map: plain text has the weights that are more than a word's share") {
  CHECK(ar::as_text(reading(), false) ==
        "a <book>\n\n@placeholder saw \"it\"\n\n@entity0(30%) saw <b> @entity1(60%) .\n\n"
        "*  75.0%  @entity1 (Tom & Co)\n   25.0%  @entity0\n");
  for (size_t width : {1u, 21u}) {
    const std::string narrow = ar::as_text(reading(), false, width);
    CHECK(contains(narrow, "@entity0(30%)"));
    CHECK(contains(narrow, width == 1 ? "saw\n<b>\n" : "saw <b>\n"));
  }
}

TEST_CASE("heat map: in colour the most important word is brightest, the others by their share of it") {
  const std::string text = ar::as_text(reading(), true);
  CHECK(contains(text, "\033[48;5;196;38;5;231m@entity1\033[0m"));
  CHECK(contains(text, "\033[48;5;124;38;5;231m@entity0\033[0m saw <b> "));
  CHECK_FALSE(contains(text, "%) "));
}

TEST_CASE("heat map: the page is escaped and needs nothing else") {
  const std::string page = ar::as_html(reading());
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(contains(page, "a &lt;book&gt;"));
  CHECK(contains(page, "<span style=\"--w:1.000\" title=\"Tom &amp; Co: 60.00%\">@entity1</span>"));
  CHECK(contains(page, "<span style=\"--w:0.083\" title=\"5.00%\">&lt;b&gt;</span>"));
  CHECK(contains(page, "&quot;it&quot;"));
  CHECK(contains(page, "<tr class=\"right\"><td>@entity1 (Tom &amp; Co)</td><td>75.0%</td></tr>"));
  CHECK(contains(page, "color-scheme: light dark"));
  for (const char* outside : {"http", "<script", "<link"}) CHECK_FALSE(contains(page, outside));
}

TEST_CASE("heat map: the picture is escaped, breaks its lines, and marks words by their weight") {
  const std::string picture = ar::as_svg(reading(), 21);
  CHECK(picture.starts_with("<svg xmlns="));
  CHECK(contains(picture, ">&lt;b&gt;</text>"));
  CHECK(contains(picture, "fill-opacity=\"0.700\""));  // the most important word
  CHECK_FALSE(contains(picture, "<b>"));
  const auto height = [](const std::string& svg) { return std::stoi(svg.substr(svg.find("height=\"") + 8)); };
  CHECK(height(picture) > height(ar::as_svg(reading(), 80)));
}
