// Symbols, built-in lines, batches, and the reader of IAM-OnDB's files.

#include <filesystem>
#include <set>

#include "models/handwriting/data/data.h"
#include "models/handwriting/data/iam.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace hw = lamina::handwriting;

namespace {

const char* const small_line =
    "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<WhiteboardCaptureSession><WhiteboardDescription/>"
    "<StrokeSet><Stroke colour=\"black\"><Point x=\"10\" y=\"20\" time=\"1.5\"/><Point x=\"13\" y=\"24\" "
    "time=\"1.6\"/></Stroke><Stroke><Point x=\"20\" y=\"20\" time=\"2\"/></Stroke></StrokeSet>"
    "</WhiteboardCaptureSession>";

/// A folder like IAM-OnDB's.
class IamFolder {
 public:
  /// A form of text number i by this writer, with two lines.
  void add(size_t i, char writer = 'u') const {
    const std::string name = text("a0", i / 10, "-00", i % 10, writer);
    const std::string inner = name.substr(0, 3) + "/" + name.substr(0, 7) + "/";
    for (const char* const top : {"lineStrokes/", "ascii/"})
      std::filesystem::create_directories(folder_.path() + "/" + top + inner);
    put(folder_.path() + "/ascii/" + inner + name + ".txt",
        "OCR:\n\nxx\n\nCSR:\n\nOne line\nanother, longer\n");
    for (const int line : {1, 2})
      put(folder_.path() + "/lineStrokes/" + inner + name + "-0" + std::to_string(line) + ".xml", small_line);
  }
  std::string path() const { return folder_.path(); }
  /// Moves all of it into a folder of this name below, whose path is returned.
  std::string moved_to(const std::string& name) const {
    const std::string inner = folder_ / name;
    std::filesystem::create_directories(inner);
    for (const char* const top : {"lineStrokes", "ascii"})
      std::filesystem::rename(folder_ / top, inner + "/" + top);
    return inner;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("handwriting: 57 symbols, each its own") {
  CHECK(hw::alphabet().size() + 1 == hw::symbol_count);
  std::set<int> seen;
  for (const char c : hw::alphabet()) seen.insert(hw::symbol_of(c));
  CHECK(seen.size() == 56);
  CHECK(*seen.begin() == 1);
  CHECK(*seen.rbegin() == 56);
  for (const char c : {'7', '!', '\n', '\xe9'}) CHECK(hw::symbol_of(c) == hw::unknown_symbol);
}

TEST_CASE("handwriting: a character of several bytes is one symbol, as its byte in Latin-1 is") {
  const std::vector<int> once{hw::symbol_of('a'), hw::unknown_symbol, hw::symbol_of('z')};
  for (const char* const text : {"a\xC3\xA9z", "a\xE9z", "a\xE2\x80\x9Dz", "a7z"})
    CHECK(hw::symbols_of(text) == once);
}

TEST_CASE("handwriting: built-in lines repeat, are normalized, and no test text or hand is trained on") {
  const hw::Data data = hw::synthetic_lines(3, 120, 40), again = hw::synthetic_lines(3, 120, 40);
  CHECK(data.train[7].points == again.train[7].points);
  double squares[2] = {}, sums[2] = {}, count = 0, letters = 0;
  std::set<std::vector<int>> texts;
  for (const hw::Line& line : data.train) {
    texts.insert(line.text);
    letters += static_cast<double>(line.text.size());
    count += static_cast<double>(line.count());
    for (size_t i = 0; i < line.points.size(); ++i)
      if (i % 3 < 2) {
        sums[i % 3] += double(line.points[i]);
        squares[i % 3] += double(line.points[i]) * double(line.points[i]);
      }
  }
  for (const size_t axis : {size_t{0}, size_t{1}})
    CHECK(squares[axis] / count - std::pow(sums[axis] / count, 2) == doctest::Approx(1).epsilon(1e-3));
  CHECK(letters / 120 > 20);
  for (const hw::Line& line : data.test) CHECK(!texts.contains(line.text));
  CHECK(contains(data.source, "not IAM-OnDB"));
  // Every tenth hand writes test lines, and no others.
  const auto check_hands = [&](const std::vector<hw::Line>& lines, std::uint64_t part) {
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string text;
      for (const int symbol : lines[i].text) text += hw::alphabet().at(static_cast<size_t>(symbol) - 1);
      Random own = Random(3, 0x6c696e65).split(part).split(i);
      const std::uint32_t tens = 10 * own.below(10), hand = part == 1 ? tens : tens + 1 + own.below(9);
      hw::Line expected = hw::line_of(write_text(text, draw_hand(3, hand), own.split(0)), text);
      for (size_t k = 0; k < expected.points.size(); k += 3) {
        expected.points[k] /= data.deviation_x;
        expected.points[k + 1] /= data.deviation_y;
      }
      CHECK(lines[i].points == expected.points);
    }
  };
  check_hands(data.train, 0);
  check_hands(data.test, 1);
}

TEST_CASE("handwriting: batches are cut and padded") {
  const auto line = [](size_t count) {
    std::vector<PenPoint> points;
    for (size_t i = 0; i < count; ++i) points.push_back({static_cast<float>(i * i), 2, i + 1 == count});
    return hw::line_of(points, "ab");
  };
  const std::vector<hw::Line> lines{line(3), line(6)};
  const std::vector<int> both{1, 0};
  const hw::Batch batch = hw::make_batch(lines, both, 4);
  CHECK(batch.points.shape() == Shape{5, 2, 3});
  CHECK(difference(batch.mask, {1, 1, 1, 1, 1, 0, 1, 0}) == 0);
  CHECK(difference(batch.points.step(0), {0, 0, 0, 0, 0, 0}) == 0);
  CHECK(difference(batch.points.step(2), {3, 0, 0, 3, 0, 1}) == 0);
  CHECK(difference(batch.points.step(4), {7, 0, 0, 0, 0, 0}) == 0);
  CHECK(batch.texts.rows() == 2);
  CHECK(hw::make_batch(lines, both, 100).mask.shape() == Shape{5, 2});
  CHECK_ERROR(line(1), "handwriting: a line of 1 points; two are needed");
}

TEST_CASE("IAM: strokes and texts of a folder, split by its lists of forms") {
  const IamFolder folder;
  for (size_t i = 0; i < 12; ++i) folder.add(i);
  CHECK(contains(hw::load_iam(folder.path()).source, "22 training lines, 2 test lines (every tenth text"));
  put(folder.path() + "/trainset.txt", "a00-000u\n a00-001u \r\n");
  put(folder.path() + "/testset_v.txt",
      "\xEF\xBB\xBF"
      "a00-002u\n");
  put(folder.path() + "/testset_t.txt", "a00-003u\n");
  put(folder.path() + "/testset_f.txt", "\n");
  const hw::Data data = hw::load_iam(folder.path());
  CHECK(data.train.size() == 6);
  CHECK(data.test.size() == 2);
  CHECK(data.test[0].text == hw::symbols_of("One line"));
  CHECK(data.test[1].text == hw::symbols_of("another, longer"));
  CHECK(data.train[0].count() == 3);
  CHECK(data.train[0].points[5] == 1);  // the second point ends a stroke
  CHECK(data.train[0].points[3] * data.deviation_x == doctest::Approx(3));
  CHECK(contains(data.source, "16 left out; texts without strokes: 0"));
  const std::string line = folder.path() + "/lineStrokes/a00/a00-002/a00-002u-02.xml";
  CHECK(hw::text_of(line) == "another, longer");

  const std::string copy = folder.path() + "/lineStrokes/a00/a00-000/a00-000u-01 (copy).xml";
  std::filesystem::copy(folder.path() + "/lineStrokes/a00/a00-000/a00-000u-01.xml", copy);
  CHECK(hw::load_iam(folder.path()).train.size() == 6);
  std::filesystem::remove(copy);
  put(folder.path() + "/testset_f.txt", "a00-001u\na00-002u\n");
  CHECK(error_of([&] { hw::load_iam(folder.path()); }) ==
        text(folder.path(), "/testset_f.txt: has the form a00-002u to train with, and ", folder.path(),
             "/testset_v.txt has it too; get the lists again"));
}

TEST_CASE("IAM: without lists the forms of one text stay on one side") {
  const IamFolder folder;
  for (size_t i = 0; i < 10; ++i)
    for (const char writer : {'u', 'w', 'z'}) {
      folder.add(i, writer);
      put(text(folder.path(), "/ascii/a00/a00-00", i, "/a00-00", i, writer, ".txt"),
          text("CSR:\n", std::string(i + 1, 'x'), "\n", std::string(i + 1, 'y'), "\n"));
    }
  const hw::Data data = hw::load_iam(folder.path());
  CHECK(data.test.size() == 2 * 3);
  std::set<std::vector<int>> trained;
  for (const hw::Line& line : data.train) trained.insert(line.text);
  for (const hw::Line& line : data.test) CHECK(!trained.contains(line.text));
}

TEST_CASE("IAM: some of its lists without the others are refused") {
  const IamFolder folder;
  for (size_t i = 0; i < 10; ++i) folder.add(i);
  put(folder.path() + "/testset_v.txt", "a00-002u\n");
  CHECK(error_of([&] { hw::load_iam(folder.path()); }) ==
        text(folder.path(), "/trainset.txt: not found, but ", folder.path(),
             "/testset_v.txt; get all four lists, or remove those"));
}

TEST_CASE("IAM: texts without strokes, lines without text, and lines that are joined by %") {
  const IamFolder folder;
  for (size_t i = 0; i < 11; ++i) folder.add(i);
  const std::string texts = folder.path() + "/ascii/a00/a00-";
  std::filesystem::remove_all(folder.path() + "/lineStrokes/a00/a00-004");
  put(texts + "005/a00-005u.txt", "CSR:\n\nthe only line\n");
  put(texts + "006/a00-006u.txt", "CSR:\n\na line %%%%%%%%%%% and at 4% another%%%%\n");
  const hw::Data data = hw::load_iam(folder.path());
  CHECK(contains(data.source,
                 "17 training lines, 2 test lines (every tenth text: there are no lists), 1 left out; texts "
                 "without strokes: 1"));
  CHECK(hw::read_texts(texts + "006/a00-006u.txt") ==
        std::vector<std::string>{"a line", "and at 4% another"});
}

TEST_CASE("IAM: the folder may lie in one that is called as one of its own") {
  const IamFolder folder;
  for (size_t i = 0; i < 10; ++i) folder.add(i);
  const std::string inner = folder.moved_to("data/lineStrokes/iam");
  CHECK(contains(hw::load_iam(inner).source, "18 training lines, 2 test lines"));
  CHECK(hw::text_of(inner + "/lineStrokes/a00/a00-002/a00-002u-02.xml") == "another, longer");
}

TEST_CASE("IAM: what the pen wrote is read again") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/line.xml";
  const auto points = write_text("to and fro", draw_hand(1, 2), Random(1));
  hw::write_strokes(file, points, "to and fro");
  const auto read = hw::read_strokes(file);
  REQUIRE(read.size() == points.size());
  for (size_t i = 0; i < read.size(); ++i) {
    CHECK(std::fabs(read[i].x - 100 * points[i].x) < 0.51F);
    CHECK(read[i].up == points[i].up);
  }
  CHECK(hw::text_of(file) == "to and fro");
}

TEST_CASE("IAM: broken files are named with a remedy") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/a01-000u-01.xml";
  const auto error = [&](const std::string& content) {
    put(file, content);
    return error_of([&] { hw::read_strokes(file); });
  };
  CHECK(contains(error("<Stroke><Point x="), file + ": is not XML ("));
  CHECK(contains(error(""), file + ": is not XML ("));
  CHECK(error("<!DOCTYPE a [<!ENTITY b \"c\">]><Stroke><Point x=\"1\" y=\"&b;\"/></Stroke>") ==
        file + ": has a DOCTYPE, which can define entities and is refused; remove it");
  CHECK(error("<StrokeSet><Stroke></Stroke></StrokeSet>") ==
        file + ": has no points; remove the file, or get it again");
  CHECK(contains(error("<Stroke><Point x=\"1\" y=\"1\"/></Stroke>"), "a single point"));
  for (const char* const number : {"", "nan", "1e99", "two", "3x"})
    CHECK(error(text("<Stroke><Point x=\"1\" y=\"", number, "\"/></Stroke>")) ==
          text(file, ": stroke 1 has a point whose y is '", number, "', not a number; get the file again"));
  CHECK(contains(error_of([&] { hw::text_of(file); }), "a01-000u-01.txt: does not exist; put the text of "));
  const std::string words = folder.path() + "/words.txt";
  put(words, "no mark\n");
  CHECK(contains(error_of([&] { hw::read_texts(words); }), words + ": has no line 'CSR:'"));
  CHECK(contains(error_of([&] { hw::load_iam(folder.path()); }), ": no lineStrokes/**/*.xml in it"));
}

TEST_CASE("IAM: damaged files give points or one of these errors") {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/line.xml";
  Random random(1);
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    put(file, mutated(small_line, 40, random));
    try {
      const size_t count = hw::read_strokes(file).size();
      CHECK(count >= 2);
      ++read;
    } catch (const DataError& problem) {
      CHECK(contains(problem.what(), file));
    }
  }
  CHECK(read > 10);
  CHECK(read < 990);
}
