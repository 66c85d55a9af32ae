#include "models/transformer/data.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/files/folder.h"
#include "models/text/gutenberg.h"
#include "models/text/lines.h"
#include "models/text/stories.h"

namespace lamina::transformer {

namespace {

std::string name_of_file(const std::string& path) { return std::filesystem::path(path).stem().string(); }

/// The plain texts in the folder, or the one that is asked for.
std::vector<std::string> books_in(const std::string& folder, const std::string& book) {
  if (!is_folder(folder))
    fail<DataError>(folder,
                    ": is not a folder; give one that holds books as plain text (*.txt), or leave --data out "
                    "for built-in stories");
  std::vector<std::string> all = texts_below(folder);
  if (all.empty()) fail<DataError>(folder, ": holds no plain text; put books into it as *.txt");
  if (book.empty()) return all;
  std::string names;
  std::vector<std::string> found;
  for (const std::string& path : all) {
    const std::string name = name_of_file(path);
    if (book == name || book == name + ".txt") found.push_back(path);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (found.size() == 1) return found;
  if (!found.empty())
    fail<UsageError>("--book ", book, ": there are ", found[0], " and ", found[1],
                     "; give --data the folder of one");
  fail<UsageError>("--book ", book, ": no such text in ", folder, "; there are ", names);
}

/// The text of a book, its lines ended by "\n". Notices are left out: they are a twentieth of a short book, and all of
/// them would be in the part that tests.
std::string text_of_book(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path);
  std::string text;
  for (const std::string& line : without_notices(lines, path)) text += line + '\n';
  return text;
}

/// Where a text of this many units is cut.
struct Cuts {
  explicit Cuts(size_t count) : train(count / 10 * 9), valid(train + (count - train) / 2) {}
  size_t train, valid;  ///< the ends of two parts; the test goes to the end
};

Data data_of(Unit unit, std::span<const std::string> books, const std::string& called) {
  WordCounter counter;
  std::vector<Cuts> cuts;
  for (const std::string& book : books) {
    size_t count = 0, place = 0;
    for_each_unit(unit, book, [&](std::string_view) { ++count; });
    cuts.emplace_back(count);
    for_each_unit(unit, book, [&](std::string_view each) {
      if (place++ < cuts.back().train) counter.add(each);
    });
  }
  // Words that come once are unknown in training too: a short book would else never train <unk>, which its other parts ask for.
  Data data{.alphabet = {
                unit, unit == Unit::word ? counter.most_frequent(most_words, 2) : counter.most_frequent()}};
  for (size_t i = 0; i < books.size(); ++i) {
    const std::vector<int> numbers = data.alphabet.numbers_of(books[i]);
    const auto begin = numbers.begin();
    const auto train = begin + static_cast<std::ptrdiff_t>(cuts[i].train);
    const auto valid = begin + static_cast<std::ptrdiff_t>(cuts[i].valid);
    data.train.insert(data.train.end(), begin, train);
    data.valid.insert(data.valid.end(), train, valid);
    data.test.insert(data.test.end(), valid, numbers.end());
  }
  data.source =
      text(called, ": ", data.train.size(), ' ', name_of(unit), "s to train on, ", data.valid.size(),
           " to validate, ", data.test.size(), " to test; ", data.alphabet.size() - 2, " different ones");
  if (const auto unknown = std::ranges::count(data.test, Vocabulary::unknown); unknown > 0)
    data.source += text(", and ", unknown, " of the test that are not among them");
  return data;
}

}  // namespace

Data load_books(const std::string& folder, Unit unit, const std::string& book) {
  const std::vector<std::string> paths = books_in(folder, book);
  require_different(paths);
  std::vector<std::string> texts;
  texts.reserve(paths.size());
  for (const std::string& path : paths) texts.push_back(text_of_book(path));
  const std::string called = paths.size() == 1 ? paths.front() : text(paths.size(), " books in ", folder);
  Data data = data_of(unit, texts, called);
  if (std::min(data.valid.size(), data.test.size()) < 2)
    fail<DataError>(called, ": has only ", data.train.size() + data.valid.size() + data.test.size(), ' ',
                    transformer::name_of(unit), "s; give a longer text");
  return data;
}

Data built_in_stories(Unit unit, std::uint64_t seed, size_t stories) {
  std::string told;
  for (size_t i = 0; i < stories; ++i) {
    for (const std::string& sentence : tell_story(seed, i)) told += sentence + ' ';
    told.back() = '\n';
    if (unit == Unit::word) told += '\n';  // a paragraph each
  }
  return data_of(unit, {&told, 1}, text("built-in stories, not a book (seed ", seed, ")"));
}

}  // namespace lamina::transformer
