// Every reader of the project with a path that is not a readable file: an immediate error that names the path
// and the remedy.

#include "tests/odd_paths.h"

#include <doctest/doctest.h>

#include <functional>
#include <regex>

#include "core/files/checkpoint.h"
#include "core/files/file.h"
#include "models/attentive_reader/data/book.h"
#include "models/attentive_reader/data/data.h"
#include "models/data/idx.h"
#include "models/data/mnist_data.h"
#include "models/data/npy.h"
#include "models/draw/data.h"
#include "models/evidence/run_end.h"
#include "models/evidence/study/study.h"
#include "models/handwriting/data/iam.h"
#include "models/order_embedding/data.h"
#include "models/recording/record.h"
#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "models/skip_thoughts/corpus.h"
#include "models/skip_thoughts/evaluation/tasks.h"
#include "models/text/lines.h"
#include "models/text/word_vectors.h"
#include "models/transformer/data.h"
#include "tests/check.h"
#include "tests/models/data/npy_files.h"

using namespace lamina;
namespace fs = std::filesystem;

namespace {

using Reader = std::function<void(const std::string& path)>;

struct NamedReader {
  std::string name;
  Reader read;
};

const std::vector<NamedReader> readers{
    {"IDX images", [](const std::string& path) { read_idx_images(path); }},
    {"IDX labels", [](const std::string& path) { read_idx_labels(path); }},
    {".amat", [](const std::string& path) { draw::read_amat(path, 784); }},
    {".npy", [](const std::string& path) { NpyMatrix{path}; }},
    {"lines", [](const std::string& path) { read_lines(path); }},
    {"caption lines", [](const std::string& path) { order_embedding::read_captions(path); }},
    {"pairs", [](const std::string& path) { skip_thoughts::read_pairs(path); }},
    {"word vectors",
     [](const std::string& path) { read_word_vectors(path, [](std::string_view) { return true; }); }},
    {"book", [](const std::string& path) { attentive_reader::read_book(path); }},
    {".question", [](const std::string& path) { attentive_reader::read_question(path); }},
    {"strokes", [](const std::string& path) { handwriting::read_strokes(path); }},
    {"texts", [](const std::string& path) { handwriting::read_texts(path); }},
    {"metrics", [](const std::string& path) { read_table(path); }},
    {"record", [](const std::string& path) { read_record(path); }},
    {"study", [](const std::string& path) { read_study(path); }},
    {"checkpoint", [](const std::string& path) { load_checkpoint(path); }}};

/// A reader of a folder, and a file that it looks for; `prepare` makes everything else that it needs.
struct FolderReader {
  std::string name;
  std::string file;
  Reader read;
  Reader prepare = [](const std::string&) {};
};

void make_sick(const std::string& folder) {
  for (const char* const name : {"SICK_trial.txt", "SICK_test_annotated.txt"})
    write_file(folder + '/' + name, "header\n1\ta\tb\t3\n");
}

void make_coco(const std::string& folder) {
  fs::create_directories(folder + "/images/10crop");
  write_file(folder + "/images/10crop/train.npy", npy_matrix(1, 1, {1}, false, 1));
}

const std::vector<FolderReader> folder_readers{
    {"MNIST", "train-images-idx3-ubyte", [](const std::string& path) { load_mnist(path); },
     [](const std::string& path) { write_file(path + "/train-labels-idx1-ubyte", ""); }},
    {"binary MNIST", "binarized_mnist_train.amat",
     [](const std::string& path) { draw::load_binary_mnist(path); }},
    {"captions", "train.txt", [](const std::string& path) { order_embedding::load_coco(path); }, make_coco},
    {"SICK", "SICK_train.txt", [](const std::string& path) { skip_thoughts::read_sick(path); }, make_sick},
    {"sentiment", "rt-polarity.pos",
     [](const std::string& path) { skip_thoughts::read_classifications(path); }},
    {"books", "a.txt", [](const std::string& path) { skip_thoughts::scan_books(path, 10); }},
    {"novels", "a.txt",
     [](const std::string& path) { transformer::load_books(path, transformer::Unit::character); }},
    {"passages", "passages.tsv", [](const std::string& path) { skip_thoughts::load_books(path); }},
    {"vocabulary", "vocabulary.txt", [](const std::string& path) { skip_thoughts::load_vocabulary(path); }},
    {"questions", "training/1.question",
     [](const std::string& path) { attentive_reader::load_questions(path, 0); },
     [](const std::string& path) { fs::create_directories(path + "/training"); }},
    {"IAM-OnDB", "lineStrokes/a01-01.xml", [](const std::string& path) { handwriting::load_iam(path); },
     [](const std::string& path) {
       fs::create_directories(path + "/lineStrokes");
       fs::create_directories(path + "/ascii");
       write_file(path + "/ascii/a01.txt", "CSR:\n\nwords\n");
     }},
    {"IAM lists", "trainset.txt", [](const std::string& path) { handwriting::load_iam(path); },
     [](const std::string& path) {
       fs::create_directories(path + "/lineStrokes");
       write_file(path + "/lineStrokes/a01-01.xml", "");
       for (const char* const other : {"testset_v", "testset_t", "testset_f"})
         write_file(text(path, '/', other, ".txt"), "");
     }},
    {"run", "config.json", [](const std::string& path) { RunFolder::open(path); }},
    {"run's end", "outcome.json", [](const std::string& path) { read_end(path); }}};

}  // namespace

TEST_CASE("readers: those that headers of models declare are all in this file, and are fuzzed") {
  const std::string here = read_file("tests/models/data/odd_paths_test.cpp"),
                    fuzzed = read_file("tests/fuzz/targets.cpp");
  // Folders of files that are, what study_from() and LineReader read, and a file that only we write.
  const std::string by_others = "read_study( read_end( read_lines( read_sick( read_classifications( ";
  const std::regex space(R"(namespace lamina::(\w+) \{)"),
      reader(R"(\b((?:read|load|scan)_\w+\()const std::string& )");
  size_t found = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator("models")) {
    if (entry.path().extension() != ".h") continue;
    const std::string header = read_file(entry.path().string());
    std::smatch in;
    const std::string where = std::regex_search(header, in, space) ? in[1].str() + "::" : "";
    for (std::sregex_iterator each(header.begin(), header.end(), reader), end; each != end; ++each, ++found) {
      const std::string call = (*each)[1].str();
      CHECK_MESSAGE(test::contains(here, where + call), entry.path().string(), ": ", call);
      if (call.starts_with("read_") && !test::contains(by_others, call + " "))
        CHECK_MESSAGE(test::contains(fuzzed, call), "tests/fuzz/targets.cpp: ", call);
    }
  }
  CHECK(found > 20);
}

TEST_CASE("readers: what is no file is refused at once, by its name") {
  const TemporaryFolder folder;
  for (const OddPath& odd : odd_paths(folder))
    for (const NamedReader& reader : readers) {
      CAPTURE(reader.name);
      CHECK(message_of<DataError>([&] { reader.read(odd.path); }) == text(odd.path, ": ", odd.complaint));
    }
}

TEST_CASE("readers: a folder that holds what is no file is refused, by the file's name") {
  const TemporaryFolder paths;
  for (const OddPath& odd : odd_paths(paths)) {
    if (odd.complaint.find("such file") != std::string::npos ||
        odd.complaint.find("too long") != std::string::npos)
      continue;
    for (const FolderReader& reader : folder_readers) {
      CAPTURE(reader.name);
      CAPTURE(odd.path);
      const TemporaryFolder folder;
      reader.prepare(folder.path());
      fs::create_symlink(odd.path, folder / reader.file);
      CHECK(message_of<DataError>([&] { reader.read(folder.path()); }) ==
            text(folder / reader.file, ": ", odd.complaint));
    }
  }
}

TEST_CASE("readers: a folder that cannot be looked into is refused by its name") {
  const TemporaryFolder odd;
  const std::string loop = odd / "loop", too_long = odd / std::string(300, 'n');
  fs::create_symlink(loop, loop);
  for (const FolderReader& reader : folder_readers) {
    CAPTURE(reader.name);
    for (const std::string& path : {loop, too_long}) {
      const std::string message = message_of<DataError>([&] { reader.read(path); });
      CHECK(message.starts_with(path));
      CHECK(message.find(": cannot be read: ") != std::string::npos);
      CHECK(message.find("; ") != std::string::npos);
    }
  }
}
