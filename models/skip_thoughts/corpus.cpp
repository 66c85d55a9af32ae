#include "models/skip_thoughts/corpus.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/files_read.h"
#include "core/files/folder.h"
#include "core/files/mapped_file.h"
#include "models/text/gutenberg.h"
#include "models/text/sentences.h"
#include "models/text/stories.h"
#include "models/text/tokenizer.h"

namespace lamina::skip_thoughts {

namespace {

namespace files = std::filesystem;

constexpr const char* vocabulary_file = "/vocabulary.txt";
constexpr const char* passages_file = "/passages.tsv";

/// Where a passage begins, and how many sentences and triples it has.
struct Place {
  size_t book = 0, byte = 0, sentences = 0, triples = 0;
};

/// Counts triples of consecutive sentences that are all short enough.
class TripleCounter {
 public:
  void add(size_t words) {
    short_ones_ = words < too_many_words ? short_ones_ + 1 : 0;
    triples_ += short_ones_ >= 3;
  }
  size_t triples() const { return triples_; }

 private:
  size_t short_ones_ = 0, triples_ = 0;
};

struct Book {
  std::string path;
  size_t bytes = 0;
  PartOfText text = {};  ///< without Project Gutenberg's notices, which are the same in every book
};

Book book_at(const std::string& path) {
  const MappedFile file(path);
  return {path, file.bytes().size(), without_notices(file.bytes(), path)};
}

std::vector<Book> books_in(const std::string& folder) {
  if (!is_folder(folder))
    fail<DataError>(folder,
                    ": is not a folder; give one that holds books as plain text (*.txt), or leave "
                    "--data out for built-in stories");
  const std::vector<std::string> paths = texts_below(folder);
  require_different(paths);
  std::vector<Book> books(paths.size());
  std::ranges::transform(paths, books.begin(), book_at);
  if (books.empty()) fail<DataError>(folder, ": holds no plain text; put books into it as *.txt");
  std::ranges::sort(books, {}, &Book::path);
  return books;
}

/// Calls body(words) for every sentence of the paragraphs from `begin` on until it returns false.
template <class Body>
void for_each_sentence(std::string_view paragraph, const Body& body) {
  for (const std::string_view sentence : split_sentences(paragraph))
    if (const auto words = words_of(sentence); !words.empty()) body(words);
}

/// Counts the words of a book and cuts it into passages, which begin and end with paragraphs.
void scan(size_t number, const Book& book, WordCounter& counter, std::vector<Place>& places) {
  ParagraphReader reader(book.path, book.text.begin, book.text.end);
  std::string paragraph;
  Place place{.book = number, .byte = reader.position()};
  TripleCounter triples;
  const auto close = [&] {
    place.triples = triples.triples();
    places.push_back(place);
    place = {.book = number, .byte = reader.position()};
    triples = {};
  };
  while (reader.next(paragraph)) {
    for_each_sentence(paragraph, [&](const std::vector<std::string>& words) {
      ++place.sentences;
      triples.add(words.size());
      for (const std::string& word : words) counter.add(word);
    });
    if (place.sentences >= passage_sentences) close();
  }
  if (place.sentences > 0) close();
}

std::vector<Sentence> read_passage(const Book& book, const Place& place, const Vocabulary& vocabulary) {
  std::vector<Sentence> sentences;
  ParagraphReader reader(book.path, place.byte, book.text.end);
  std::string paragraph;
  while (sentences.size() < place.sentences && reader.next(paragraph))
    for_each_sentence(paragraph, [&](const auto& words) { sentences.push_back(vocabulary.sentence(words)); });
  if (sentences.size() != place.sentences)
    fail<DataError>(book.path, ": changed while it was read; start a new run");
  return sentences;
}

/// path, bytes | number of the book, byte, sentences, triples: a line each.
std::string table_of(const std::vector<Book>& books, const std::vector<Place>& places) {
  std::string lines;
  for (const Book& book : books) lines += text("book\t", book.bytes, '\t', book.path, '\n');
  for (const Place& place : places)
    lines +=
        text("passage\t", place.book, '\t', place.byte, '\t', place.sentences, '\t', place.triples, '\n');
  return lines;
}

Corpus corpus_of(Vocabulary words, std::vector<Book> book_list, std::vector<Place> place_list) {
  const auto vocabulary = std::make_shared<const Vocabulary>(words);
  const auto books = std::make_shared<const std::vector<Book>>(std::move(book_list));
  const auto places = std::make_shared<const std::vector<Place>>(std::move(place_list));
  Corpus corpus{.vocabulary = std::move(words),
                .read =
                    [=](size_t passage) {
                      const Place& place = (*places)[passage];
                      return read_passage((*books)[place.book], place, *vocabulary);
                    },
                .save =
                    [=](const std::string& folder) {
                      save_vocabulary(*vocabulary, folder);
                      write_file(folder + passages_file, table_of(*books, *places));
                    }};
  for (const Place& place : *places) {
    corpus.passages.push_back(place.sentences);
    corpus.triples.push_back(place.triples);
  }
  corpus.source = text(books->size(), " books, the first ", books->front().path, ": ", corpus.sentences(),
                       " sentences, ", corpus.vocabulary.size(), " words");
  return corpus;
}

/// The lines of a file that a run has written, which is not among the data that it was trained on. Byte for byte: names of
/// files need not be UTF-8.
std::vector<std::string> lines_of_run(const std::string& path) {
  const FilesRead apart;
  std::istringstream content(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(content, line);) lines.push_back(line);
  return lines;
}

/// The fields of a line of table_of as numbers, the last one as text.
struct Fields {
  std::vector<size_t> numbers;
  std::string last;
};

Fields fields_of(const std::string& path, size_t line, std::string_view rest, size_t count) {
  const auto broken = [&] {
    fail<DataError>(path, ":", line, ": is broken; delete the file and resume, or start a new run");
  };
  Fields fields;
  for (size_t i = 0; i < count; ++i) {
    size_t value = 0, digits = 0;
    for (; digits < std::min<size_t>(rest.size(), 18) && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
      value = 10 * value + static_cast<size_t>(rest[digits] - '0');
    if (digits == 0) broken();
    fields.numbers.push_back(value);
    rest.remove_prefix(digits);
    if (i + 1 < count || !rest.empty()) {
      if (!rest.starts_with('\t')) broken();
      rest.remove_prefix(1);
    }
  }
  fields.last = rest;
  return fields;
}

}  // namespace

size_t Corpus::sentences() const { return std::accumulate(passages.begin(), passages.end(), size_t{0}); }

std::vector<std::string> words_of(std::string_view sentence) {
  std::string line(sentence);
  std::ranges::replace(line, '\n', ' ');
  return tokenize_apart(line);
}

Corpus scan_books(const std::string& folder, size_t most_words) {
  std::vector<Book> books = books_in(folder);
  WordCounter counter;
  std::vector<Place> places;
  for (size_t i = 0; i < books.size(); ++i) scan(i, books[i], counter, places);
  return corpus_of(counter.most_frequent(most_words), std::move(books), std::move(places));
}

Corpus load_books(const std::string& run_folder) {
  const std::string path = run_folder + passages_file;
  std::vector<Book> books;
  std::vector<Place> places;
  const std::vector<std::string> lines = lines_of_run(path);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.starts_with("book\t")) {
      const Fields fields = fields_of(path, i + 1, line.substr(5), 1);
      std::error_code missing;
      if (files::file_size(fields.last, missing) != fields.numbers[0] || missing)
        fail<DataError>(fields.last, ": is missing or has changed since ", path,
                        " was written; put it back or start a new run");
      books.push_back(book_at(fields.last));
    } else {
      const Fields fields =
          fields_of(path, i + 1, line.substr(std::min(line.find('\t'), line.size() - 1) + 1), 4);
      places.push_back({fields.numbers[0], fields.numbers[1], fields.numbers[2], fields.numbers[3]});
      // Every sentence has at least one byte, and the middle of a triple is never a passage's first or last
      // sentence.
      const auto& [book, byte, sentences, triples] = places.back();
      if (book >= books.size() || byte >= books[book].bytes || sentences == 0 ||
          sentences > books[book].bytes - byte || triples >= sentences)
        fail<DataError>(path, ":", i + 1, ": is broken; start a new run");
    }
  }
  if (places.empty()) fail<DataError>(path, ": is empty; delete the file and resume, or start a new run");
  return corpus_of(load_vocabulary(run_folder), std::move(books), std::move(places));
}

Vocabulary load_vocabulary(const std::string& run_folder) {
  std::vector<std::string> words = lines_of_run(run_folder + vocabulary_file);
  try {
    return Vocabulary(words);
  } catch (const Error& error) {
    fail<DataError>(run_folder, vocabulary_file, ": ", error.what());
  }
}

void save_vocabulary(const Vocabulary& vocabulary, const std::string& run_folder) {
  std::string lines;
  for (size_t i = 2; i < vocabulary.size(); ++i) lines += vocabulary.word(static_cast<int>(i)) + '\n';
  write_file(run_folder + vocabulary_file, lines);
}

Corpus synthetic_stories(std::uint64_t seed, size_t stories) {
  WordCounter counter;
  auto numbered = std::make_shared<std::vector<std::vector<Sentence>>>();
  std::vector<std::vector<std::string>> told;
  for (size_t i = 0; i < stories; ++i) told.push_back(tell_story(seed, i));
  for (const auto& story : told)
    for (const std::string& sentence : story)
      for (const std::string& word : words_of(sentence)) counter.add(word);
  constexpr size_t all = 10000;
  Corpus corpus{.vocabulary = counter.most_frequent(all)};
  for (const auto& story : told) {
    if (numbered->empty() || numbered->back().size() >= passage_sentences) numbered->emplace_back();
    for (const std::string& sentence : story)
      numbered->back().push_back(corpus.vocabulary.sentence(words_of(sentence)));
  }
  for (const auto& passage : *numbered) {
    corpus.passages.push_back(passage.size());
    TripleCounter triples;
    for (const Sentence& sentence : passage) triples.add(sentence.size() - 1);
    corpus.triples.push_back(triples.triples());
  }
  corpus.read = [numbered](size_t passage) { return (*numbered)[passage]; };
  corpus.save = [words = corpus.vocabulary](const std::string& folder) { save_vocabulary(words, folder); };
  corpus.source = text("built-in stories, not books (seed ", seed, "): ", stories, " stories, ",
                       corpus.sentences(), " sentences, ", corpus.vocabulary.size(), " words");
  return corpus;
}

}  // namespace lamina::skip_thoughts
