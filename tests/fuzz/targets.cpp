#include "tests/fuzz/targets.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/files/checkpoint.h"
#include "models/attentive_reader/data/book.h"
#include "models/data/idx.h"
#include "models/data/npy.h"
#include "models/draw/data.h"
#include "models/evidence/study/study.h"
#include "models/handwriting/data/iam.h"
#include "models/order_embedding/data.h"
#include "models/recording/record.h"
#include "models/run/metrics.h"
#include "models/skip_thoughts/evaluation/tasks.h"
#include "models/skip_thoughts/triples.h"
#include "models/text/sentences.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"
#include "models/text/word_vectors.h"
#include "models/training/training.h"
#include "tests/fuzz/input_file.h"
#include "tools/flags/training/common_flags.h"
#include "tools/report/document.h"
#include "tools/report/exhibits/exhibits.h"

namespace lamina::fuzz {

namespace {

/// Aborts unless an invariant of the target holds.
void require(bool holds) {
  if (!holds) std::abort();
}

constexpr size_t few = 4;  // limit for what a target reads when an input can request any number

void npy(std::string_view bytes) {
  const NpyMatrix matrix(file_with(bytes));
  std::vector<real> row(matrix.columns());
  for (size_t i = 0; i < std::min(matrix.rows(), few); ++i) matrix.copy_row(i, row.data());
}

void question(std::string_view bytes) {
  const attentive_reader::Question read = attentive_reader::read_question(file_with(bytes));
  relevant_sentences(read, 2);
  to_text(read);
}

/// Reads a corpus as training does, with batches of two.
void read_corpus(const skip_thoughts::Corpus& corpus) {
  for (size_t i = 0; i < std::min(corpus.passages.size(), few); ++i) corpus.read(i);
  skip_thoughts::Triples triples(corpus, {.batch = 2, .pool = 8});
  triples.batch(0);
  triples.batch(triples.steps_per_epoch());
  triples.held_out();
}

void corpus(std::string_view bytes) {
  static const InputFolder folder;
  folder.put("a.txt", bytes);
  read_corpus(skip_thoughts::scan_books(folder.path(), 100));
}

/// The file with the positions of the passages in the books; a book of 128 bytes is at book_path.
void passages(std::string_view bytes) {
  constexpr const char* book_path = "/proc/self/fd/200";
  static const InputFolder folder;
  static const bool prepared = [] {
    std::string book;
    while (book.size() < 128) book += "A b c.  D e f!\n\n";
    const int number = ::memfd_create("book", MFD_CLOEXEC);
    folder.put("vocabulary.txt", "a\nb\nc\n");
    return ::write(number, book.data(), book.size()) == 128 && ::dup2(number, 200) == 200;
  }();
  require(prepared && ::access(book_path, R_OK) == 0);
  folder.put("passages.tsv", bytes);
  read_corpus(skip_thoughts::load_books(folder.path()));
}

void vocabulary(std::string_view bytes) {
  static const InputFolder folder;
  folder.put("vocabulary.txt", bytes);
  const Vocabulary words = skip_thoughts::load_vocabulary(folder.path());
  for (int i = 0; i < static_cast<int>(words.size()); ++i) require(words.number(words.word(i)) == i);
}

void utf8(std::string_view bytes) {
  std::string characters;
  for (std::string_view rest = bytes; !rest.empty();) append_character(characters, take_character(rest));
  require(is_utf8(characters));
  require(!is_utf8(bytes) || characters == bytes);
  require(is_utf8(from_latin1(bytes)));
  require(is_utf8(from_windows_1252(bytes)));
}

void sentences(std::string_view bytes) {
  size_t last = 0;
  for (const std::string_view sentence : split_sentences(bytes)) {
    const auto begin = static_cast<size_t>(sentence.data() - bytes.data());
    require(!sentence.empty() && begin >= last && begin + sentence.size() <= bytes.size());
    last = begin + sentence.size();
  }
}

void words(std::string_view bytes) {
  const auto none_empty = [](const auto& all) {
    require(std::ranges::none_of(all, [](const auto& word) { return word.empty(); }));
  };
  none_empty(split_words(bytes));
  none_empty(words_as_written(bytes));
  none_empty(tokenize_apart(bytes));
}

void word_vectors(std::string_view bytes) {
  const WordVectors read =
      read_word_vectors(file_with(bytes), [](std::string_view word) { return word.size() < 8; });
  require(read.values.size() == read.words.size() * read.width);
}

std::string valid_config() {
  return R"({"experiment":"mnist","variant":"","settings":{},"lamina":"1","scalar":"float","threads":1,)"
         R"("backend":""})";
}

/// A file of parameters that must fit a model, as `state` and model.safetensors must.
void state(std::string_view bytes) {
  static const InputFolder folder;
  static Parameters parameters(1);
  static const RunFolder run = [] {
    folder.put("config.json", valid_config());
    parameters.add("weight", Tensor({2, 2}));
    parameters.add("bias", Tensor({2}));
    return RunFolder::open(folder.path());
  }();
  folder.put("state", bytes);
  load_model(run, parameters, "state");
  number_kept(run, "state", "step", 0);
}

void config(std::string_view bytes) {
  static const InputFolder folder;
  folder.put("config.json", bytes);
  Command command("mnist", "for tests");
  CommonFlags flags(command, {"none"}, {});
  flags.fields.read(RunFolder::open(folder.path()).config().settings);
}

/// A study that was read has runs with names and flags, and is what is kept of it.
void study(std::string_view bytes) {
  const Study read = study_from("study.json", bytes);
  for (const StudyRun& run : read.runs()) require(!run.name.empty() && !read.flags_of(run).empty());
  merged_with_kept(read, 0, "kept.json", kept_of(read, 0));
}

void metrics(std::string_view bytes) {
  const Table table = read_table(file_with(bytes));
  require(table.column(table.columns.front()).size() == table.rows.size());
}

void csv(std::string_view bytes) {
  const Csv read = parse_csv(bytes);
  for (const auto& row : read.rows) {
    require(row.size() == read.columns.size());
    for (const std::string& field : row) number_in(field);
  }
}

/// The document of a report on one run, lab or study; the first byte selects an exhibit that shows it, the rest is each of
/// its files.
void report(std::string_view bytes) {
  if (bytes.empty()) return;
  const Exhibit& exhibit = exhibits()[static_cast<unsigned char>(bytes[0]) % exhibits().size()];
  FoundRun run{.path = "run"};
  if (!exhibit.study.empty()) {
    run.study = FoundStudy{.experiment = exhibit.experiment, .name = exhibit.study};
  } else if (!exhibit.experiment.empty()) {
    run.config = RunConfig{.experiment = exhibit.experiment, .variant = "layer"};
    run.config->settings.set("norm", "layer");
  }
  const Csv rows = parse_csv(bytes.substr(1));
  for (const Exhibit& each : exhibits())
    if (each.experiment == exhibit.experiment && each.study == exhibit.study) run.files[each.file] = rows;
  Findings found;
  found.runs.push_back(std::move(run));
  require(make_document(found).is_object());
}

void bench(std::string_view bytes) { require(speed_exhibit({file_with(bytes)}).is_object()); }

constexpr unsigned few_characters = 32, line = 128, page = 2048;

constexpr std::array all{
    Target{"idx_images", [](std::string_view bytes) { read_idx_images(file_with(bytes)); }, line},
    Target{"idx_labels", [](std::string_view bytes) { read_idx_labels(file_with(bytes)); }, line},
    Target{"amat", [](std::string_view bytes) { draw::read_amat(file_with(bytes), 4); }, line},
    Target{"npy", npy, line},
    Target{"captions", [](std::string_view bytes) { order_embedding::read_captions(file_with(bytes)); },
           line},
    Target{"sick", [](std::string_view bytes) { skip_thoughts::read_pairs(file_with(bytes)); }, line},
    Target{"question", question, page},
    Target{"iam_strokes", [](std::string_view bytes) { handwriting::read_strokes(file_with(bytes)); }, page},
    Target{"iam_texts", [](std::string_view bytes) { handwriting::read_texts(file_with(bytes)); }, line},
    Target{"book", [](std::string_view bytes) { names_of(attentive_reader::read_book(file_with(bytes))); },
           page},
    Target{"corpus", corpus, page},
    Target{"passages", passages, line},
    Target{"vocabulary", vocabulary, line},
    Target{"utf8", utf8, few_characters},
    Target{"sentences", sentences, page},
    Target{"words", words, line},
    Target{"word_vectors", word_vectors, line},
    Target{"checkpoint", [](std::string_view bytes) { load_checkpoint(file_with(bytes)); }, page},
    Target{"state", state, page},
    Target{"config", config, page},
    Target{"study", study, page},
    Target{"metrics", metrics, line},
    Target{"record", [](std::string_view bytes) { read_record(file_with(bytes)); }, line},
    Target{"csv", csv, line},
    Target{"report", report, page},
    Target{"bench", bench, page}};

}  // namespace

std::span<const Target> targets() { return all; }

void run(const Target& target, std::string_view bytes) {
  try {
    target.read(bytes);
  } catch (const DataError&) {  // the expected error for a broken file
  }
}

}  // namespace lamina::fuzz
