#include "models/handwriting/data/iam.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/files/number.h"
#include "models/text/utf8.h"

namespace lamina::handwriting {

namespace {

namespace fs = std::filesystem;

constexpr const char* lists[] = {"trainset.txt", "testset_v.txt", "testset_t.txt", "testset_f.txt"};
constexpr size_t test_list = 1;
constexpr float largest_coordinate = 1e6F;  // tablets have some ten thousand units
constexpr size_t largest_file = size_t{1} << 26;
constexpr size_t texts_per_test_text = 10;  // where there are no lists

std::string trimmed(std::string_view line) {
  const char* const blanks = " \t\r";
  const size_t begin = line.find_first_not_of(blanks);
  if (begin == line.npos) return {};
  return std::string(line.substr(begin, line.find_last_not_of(blanks) + 1 - begin));
}

std::vector<std::string> lines_of(const std::string& file) {
  const std::string content = read_file(file, largest_file);
  std::istringstream in{std::string(without_byte_order_mark(content))};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(trimmed(line));
  return lines;
}

/// Form and line of "a01-000u-01": "a01-000u" and 1; line 0 when the name is of another kind.
std::pair<std::string, size_t> form_and_line(const fs::path& strokes) {
  const std::string stem = strokes.stem().string();
  const size_t dash = stem.find_last_of('-');
  if (dash == std::string::npos) return {stem, 0};
  return {stem.substr(0, dash), number_from<size_t>(std::string_view(stem).substr(dash + 1)).value_or(0)};
}

/// What the forms of one text have in common: a01-000u, a01-000w and a01-000z are a01-000 from three writers.
std::string text_name(std::string form) {
  const size_t digit = form.find_last_of("0123456789");
  if (digit != form.npos) form.resize(digit + 1);
  return form;
}

/// Where the text of a file of strokes is in an IAM folder: the same path under ascii/. The folder itself may lie in one
/// called lineStrokes.
fs::path text_file_of(const fs::path& strokes) {
  const fs::path folder = strokes.parent_path();
  std::vector<fs::path> parts(folder.begin(), folder.end());
  const auto last = std::find(parts.rbegin(), parts.rend(), "lineStrokes");
  if (last != parts.rend()) *last = "ascii";
  fs::path ascii;
  for (const fs::path& part : parts) ascii /= part;
  return ascii / (form_and_line(strokes).first + ".txt");
}

/// The list that each form belongs to; nothing where there are no lists.
std::map<std::string, size_t> read_lists(const fs::path& folder) {
  std::vector<std::string> found, missing;
  for (const char* const list : lists) {
    const std::string file = (folder / list).string();
    (exists(file) ? found : missing).push_back(file);
  }
  if (found.empty()) return {};
  if (!missing.empty())
    fail<DataError>(missing.front(), ": not found, but ", found.front(),
                    "; get all four lists, or remove those");
  std::map<std::string, size_t> list_of_form;
  for (size_t list = 0; list < found.size(); ++list)
    for (const std::string& form : lines_of(found[list]))
      if (const size_t other = form.empty() ? list : list_of_form.try_emplace(form, list).first->second;
          (other == test_list) != (list == test_list))
        fail<DataError>(found[list], ": has the form ", form, " to ", list == test_list ? "test" : "train",
                        " with, and ", found[other], " has it too; get the lists again");
  return list_of_form;
}

/// The files below a folder, which need not exist.
std::vector<std::string> files_in(const std::string& folder, const char* ending) {
  return is_folder(folder) ? files_below(folder, ending) : std::vector<std::string>();
}

/// The attribute `name` of a point in stroke number `stroke`.
float coordinate(const pugi::xml_node& point, const char* name, size_t stroke, const std::string& file) {
  const std::string_view value = point.attribute(name).value();
  const float number = number_from<float>(value).value_or(std::numeric_limits<float>::quiet_NaN());
  const auto refuse = [&](const char* why) {
    fail<DataError>(file, ": stroke ", stroke, " has a point whose ", name, " is '", value, "', ", why,
                    "; get the file again");
  };
  if (!std::isfinite(number)) refuse("not a number");
  if (std::abs(number) > largest_coordinate) refuse("beyond any tablet");
  return number;
}

/// How many texts have no strokes. There are such forms in the original: of 13,049 lines it has the strokes of 12,195.
std::ptrdiff_t texts_without_strokes(const fs::path& folder, const std::set<fs::path>& used_texts) {
  return std::ranges::count_if(files_in((folder / "ascii").string(), ".txt"),
                               [&](const std::string& file) { return !used_texts.contains(file); });
}

/// Appends the texts in a line, of which there is usually one. A form of the original, a08-551z, has eleven % where a
/// line ends.
void add_texts(std::string_view line, std::vector<std::string>& texts) {
  while (!line.empty()) {
    const size_t end = std::min(line.find("%%"), line.size());
    if (std::string text = trimmed(line.substr(0, end)); !text.empty()) texts.push_back(std::move(text));
    line.remove_prefix(std::min(line.find_first_not_of('%', end), line.size()));
  }
}

}  // namespace

std::vector<PenPoint> read_strokes(const std::string& file) {
  const std::string content = read_file(file, largest_file);
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(content.data(), content.size(), pugi::parse_default | pugi::parse_doctype);
  for (const pugi::xml_node& node : document)
    if (node.type() == pugi::node_doctype)
      fail<DataError>(file, ": has a DOCTYPE, which can define entities and is refused; remove it");
  if (!result)
    fail<DataError>(file, ": is not XML (", result.description(), " at byte ", result.offset,
                    "); get the file again");
  std::vector<PenPoint> points;
  size_t number = 0;
  for (const pugi::xpath_node& stroke : document.select_nodes("//Stroke")) {
    const size_t before = points.size();
    ++number;
    for (const pugi::xml_node& point : stroke.node().children("Point"))
      points.push_back({coordinate(point, "x", number, file), coordinate(point, "y", number, file), false});
    if (points.size() > before) points.back().up = true;
  }
  if (points.size() < 2)
    fail<DataError>(file, ": has ", points.empty() ? "no points" : "a single point",
                    "; remove the file, or get it again");
  return points;
}

std::vector<std::string> read_texts(const std::string& file) {
  const std::vector<std::string> lines = lines_of(file);
  const auto mark = std::ranges::find(lines, "CSR:");
  if (mark == lines.end())
    fail<DataError>(file, ": has no line 'CSR:', after which the text stands; get it again");
  std::vector<std::string> texts;
  for (auto line = mark + 1; line != lines.end(); ++line) add_texts(*line, texts);
  return texts;
}

std::string text_of(const std::string& strokes_file) {
  const fs::path strokes = strokes_file, beside = fs::path(strokes).replace_extension(".txt");
  const fs::path of_form = text_file_of(strokes);
  if (of_form.parent_path() != strokes.parent_path() && exists(of_form.string())) {
    const std::vector<std::string> texts = read_texts(of_form.string());
    const size_t number = form_and_line(strokes).second;
    if (number >= 1 && number <= texts.size()) return texts[number - 1];
    fail<DataError>(of_form.string(), ": has no line ", number, " for ", strokes_file, "; get it again");
  }
  if (!exists(beside.string()))
    fail<DataError>(beside.string(), ": does not exist; put the text of ", strokes_file, " into it");
  const std::vector<std::string> lines = lines_of(beside.string());
  if (lines.empty() || lines[0].empty())
    fail<DataError>(beside.string(), ": is empty; put the text of ", strokes_file, " into it");
  return lines[0];
}

void write_strokes(const std::string& file, const std::vector<PenPoint>& points, const std::string& text) {
  constexpr float units = 100;  // of the tablet, for the height of a small letter
  constexpr float interval = 0.01F;
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<WhiteboardCaptureSession>\n  <StrokeSet>\n";
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == 0 || points[i - 1].up) out << "    <Stroke>\n";
    out << "      <Point x=\"" << std::lround(units * points[i].x) << "\" y=\""
        << std::lround(units * points[i].y) << "\" time=\"" << static_cast<float>(i) * interval << "\"/>\n";
    if (points[i].up || i + 1 == points.size()) out << "    </Stroke>\n";
  }
  out << "  </StrokeSet>\n</WhiteboardCaptureSession>\n";
  write_file(file, out.str());
  write_file(fs::path(file).replace_extension(".txt").string(), text + '\n');
}

Data load_iam(const std::string& folder) {
  const std::vector<std::string> files = files_in((fs::path(folder) / "lineStrokes").string(), ".xml");
  if (files.empty())
    fail<DataError>(folder,
                    ": no lineStrokes/**/*.xml in it; give the folder with IAM-OnDB's lineStrokes and ascii");
  const std::map<std::string, size_t> list_of_form = read_lists(folder);
  Data data;
  std::map<fs::path, std::vector<std::string>> texts;
  std::set<fs::path> used;
  std::map<std::string, size_t> places;  // of texts, in order of appearance
  size_t without_text = 0;
  for (const std::string& file : files) {
    const auto [form, number] = form_and_line(file);
    const fs::path text_file = text_file_of(file);
    if (!texts.contains(text_file)) texts[text_file] = read_texts(text_file.string());
    used.insert(text_file);
    const std::vector<std::string>& of_form = texts[text_file];
    const std::vector<PenPoint> points = read_strokes(file);
    const auto listed = list_of_form.find(form);
    const size_t place = places.try_emplace(text_name(form), places.size()).first->second;
    if (number < 1 || number > of_form.size() || (!list_of_form.empty() && listed == list_of_form.end())) {
      ++without_text;
      continue;
    }
    const bool test = list_of_form.empty() ? place % texts_per_test_text == texts_per_test_text - 1
                                           : listed->second == test_list;
    (test ? data.test : data.train).push_back(line_of(points, of_form[number - 1]));
  }
  if (data.train.empty() || data.test.empty())
    fail<DataError>(folder, ": ", data.train.size(), " training and ", data.test.size(),
                    " test lines; both are needed, get the whole of lineStrokes and ascii");
  normalize(data);
  data.source =
      text("IAM-OnDB in ", folder, ": ", data.train.size(), " training lines, ", data.test.size(),
           " test lines", list_of_form.empty() ? " (every tenth text: there are no lists)" : "", ", ",
           without_text, " left out; texts without strokes: ", texts_without_strokes(folder, used));
  return data;
}

}  // namespace lamina::handwriting
