// Files that look valid but are not: they must be refused before they cost memory, time or a wrong result.

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>
#include <thread>

#include "core/files/checkpoint.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/attentive_reader/data/cloze.h"
#include "models/data/idx.h"
#include "models/handwriting/data/iam.h"
#include "models/run/run_folder.h"
#include "models/skip_thoughts/corpus.h"
#include "models/skip_thoughts/evaluation/tasks.h"
#include "tests/check.h"
#include "tests/child.h"
#include "tests/models/data/idx_files.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/common_flags.h"

using namespace lamina;
using namespace lamina::test;
namespace fs = std::filesystem;

namespace {

std::string config_with(const std::string& threads, const std::string& settings) {
  return R"({"experiment": "mnist", "variant": "", "settings": {)" + settings +
         R"(}, "lamina": "1", "scalar": "float", "threads": )" + threads + R"(, "backend": ""})";
}

std::string complaint_about_config(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder / "config.json", bytes);
  const std::string message = message_of<DataError>([&] { RunFolder::open(folder.path()); });
  const std::string path = folder / "config.json: ";
  return message.starts_with(path) ? message.substr(path.size()) : message;
}

/// A safetensors file with this header and this many bytes after it.
std::string safetensors(const std::string& header, size_t bytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8)
    file.push_back(static_cast<char>(std::uint64_t{header.size()} >> shift & 0xff));
  return file + header + std::string(bytes, '\0');
}

std::string tensor(const std::string& name, size_t numbers, size_t begin, size_t end) {
  return text('"', name, R"(":{"dtype":"F32","shape":[)", numbers, R"(],"data_offsets":[)", begin, ',', end,
              "]}");
}

std::string complaint_about_checkpoint(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder / "state", bytes);
  std::string message = message_of<DataError>([&] { load_checkpoint(folder / "state"); });
  const std::string before = folder / "state: not a usable checkpoint: ",
                    behind = "; use a file written by a finished save";
  if (!message.starts_with(before) || !message.ends_with(behind)) return message;
  return message.substr(before.size(), message.size() - before.size() - behind.size());
}

std::string long_book(size_t chapters) {
  std::string book;
  for (size_t i = 1; i <= chapters; ++i)
    book += text("CHAPTER ", i,
                 "\n\nAt noon Anna met Boris by the mill. Then Clara came with Anna and Mr. Dmitri Orlov. "
                 "They said that Boris had gone home. Nobody saw Dmitri Orlov again.\n\n");
  return book;
}

}  // namespace

TEST_CASE("damaged: numbers that do not fit are refused where config.json is read") {
  const auto threads = [](const std::string& number) {
    return complaint_about_config(config_with(number, ""));
  };
  const std::string wrong =
      "is damaged ('threads' is no whole number from -2147483648 to 2147483647); restore it or start a new "
      "run "
      "in another folder";
  CHECK(threads("2").empty());
  for (const char* const number :
       {"18446744073709551615", "2147483648", "-2147483649", "1e300", "1.5", "\"2\"", "null", "[[2]]"})
    CHECK(threads(number) == wrong);
  CHECK(complaint_about_config(config_with("1", R"("seed": 9223372036854775807)")).empty());
  CHECK(complaint_about_config(config_with("1", R"("seed": 9223372036854775808)"))
            .starts_with("is damaged ('seed' is no whole number from"));
  CHECK(
      complaint_about_config(std::string(2 << 20, ' ')).starts_with("cannot be read: it has more than the"));
}

TEST_CASE("damaged: a batch in config.json that is no number") {
  Command command("mnist", "for tests");
  CommonFlags flags(command, {"none", "layer"}, {});
  flags.fields.fill_in(true);
  Settings settings = flags.fields.settings();
  flags.fields.read(settings);
  for (const char* const batch : {"abc", "128,abc", "0", "99999999999999999999", "12 ", "-1", "1,", ","}) {
    settings.set("batch", batch);
    CHECK(message_of<DataError>([&] {
            flags.fields.read(settings);
          }).starts_with("config.json: setting 'batch' holds '"));
  }
}

TEST_CASE("damaged: a gain in config.json that is no number") {
  const TemporaryFolder folder;
  Command command("attentive-reader", "for tests");
  CommonFlags flags(command, {"layer"}, {.batch = 64});
  flags.fields.fill_in(true);
  Settings settings = flags.fields.settings();
  for (const auto& [name, value] : {std::pair("updates", 2), {"validate_every", 1}, {"sentences", 4}})
    settings.set(name, value);
  for (const auto& [name, value] : {std::pair("answers", "entities"), {"padding", "zeros"}, {"gain", "abc"}})
    settings.set(name, std::string(value));
  {
    RunFolder::create(folder / "run",
                      {.experiment = "attentive-reader", .variant = "layer", .settings = settings});
  }
  Command program("lamina", "for tests");
  add_attentive_reader_command(program);
  const std::string out = folder / "run";
  const std::vector<const char*> arguments{"lamina", "attentive-reader", "--resume", "--out", out.c_str()};
  std::ostringstream said;
  std::streambuf* const screen = std::cerr.rdbuf(said.rdbuf());
  const int code = program.run(static_cast<int>(arguments.size()), arguments.data());
  std::cerr.rdbuf(screen);
  CHECK(code == 1);
  CHECK(
      said.str().ends_with("lamina: config.json: setting 'gain' holds 'abc', which is no number; restore the "
                           "value that was written\n"));
}

TEST_CASE("damaged: a setting that is not UTF-8 is refused before there is a folder") {
  const TemporaryFolder folder;
  RunConfig config{.experiment = "mnist"};
  config.settings.set("data", "da\xFFta");
  CHECK(message_of<UsageError>([&] { RunFolder::create(folder / "run", config); }) ==
        "--data da\xFFta: is not valid UTF-8, and config.json must hold it; rename it or link to it");
  CHECK(folder.size() == 0);
}

TEST_CASE("damaged: a checkpoint's header") {
  const auto nested = [](const std::string& before, const std::string& behind) {
    return before + std::string(100'000, '[') + std::string(100'000, ']') + behind;
  };
  CHECK(complaint_about_checkpoint(
            safetensors(nested(R"({"a":{"dtype":)", R"(,"shape":[1],"data_offsets":[0,4]}})"), 4)) ==
        "'a' has a dtype that is no text");
  CHECK(complaint_about_checkpoint(
            safetensors(nested(R"({"a":{"dtype":"F32","shape":)", R"(,"data_offsets":[0,4]}})"), 4)) ==
        "'a' has a size that is no whole number");
  CHECK(complaint_about_checkpoint(safetensors(nested("", ""), 4)) == "its header is not JSON");
}

TEST_CASE("damaged: a checkpoint's tensors must follow each other without holes") {
  const auto complaint = [](const std::vector<std::string>& tensors, size_t bytes) {
    std::string header = "{";
    for (const std::string& each : tensors) header += (header.size() == 1 ? "" : ",") + each;
    return complaint_about_checkpoint(safetensors(header + "}", bytes));
  };
  CHECK(complaint({tensor("b", 1, 0, 4), tensor("a", 2, 4, 12), tensor("none", 0, 4, 4)}, 12).empty());
  CHECK(complaint({tensor("a", 1, 0, 4), tensor("b", 1, 0, 4)}, 4) ==
        "'b' does not begin where the tensor before it ends");
  CHECK(complaint({tensor("a", 2, 0, 8), tensor("b", 1, 4, 8)}, 8) ==
        "'b' does not begin where the tensor before it ends");
  CHECK(complaint({tensor("a", 1, 0, 4), tensor("b", 1, 8, 12)}, 12) ==
        "'b' does not begin where the tensor before it ends");
  CHECK(complaint({tensor("a", 1, 0, 4)}, 8) == "it goes on behind its last tensor");
  CHECK(complaint({tensor("a", 1, 4, 8)}, 8) == "'a' does not begin where the tensor before it ends");
}

TEST_CASE("damaged: compressed files that unpack to a thousand times their size") {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  write_file(path, gzipped(idx_header({0x801, (1 << 24) + 1})));
  CHECK(
      message_of<DataError>([&] { read_idx_labels(path); }) ==
      path +
          ": its header promises 16777217 labels, which is more than this program reads; download it again");
  constexpr size_t bomb = size_t{80} << 20;  // in 80 kB
  write_file(path, gzipped(idx_header({0x803, bomb / 1024, 32, 32}) + std::string(bomb, '\0')));
  CHECK(message_of<DataError>([&] { read_idx_images(path); }) ==
        path + ": unpacks to more than 64 times its size, as no real file does; download it again");
}

TEST_CASE("damaged: passages without sentences, or with more than the book has bytes") {
  const TemporaryFolder folder;
  write_file(folder / "book.txt", "One. Two. Three.\n");
  write_file(folder / "vocabulary.txt", "one\n");
  const std::string book = text("book\t17\t", folder / "book.txt", '\n');
  const auto complaint = [&](const std::string& passages) {
    write_file(folder / "passages.tsv", book + passages);
    return message_of<DataError>([&] { skip_thoughts::load_books(folder.path()); });
  };
  CHECK(complaint("passage\t0\t0\t3\t1\n").empty());
  for (const char* const passage :
       {"passage\t0\t0\t0\t0\n", "passage\t0\t0\t18\t1\n", "passage\t0\t16\t2\t0\n", "passage\t0\t0\t3\t3\n"})
    CHECK(complaint(passage) == folder / "passages.tsv:2: is broken; start a new run");
}

TEST_CASE("damaged: pen points beyond any tablet") {
  const TemporaryFolder folder;
  write_file(folder / "a.xml", R"(<S><Stroke><Point x="1" y="2"/><Point x="1e38" y="2"/></Stroke></S>)");
  CHECK(message_of<DataError>([&] { handwriting::read_strokes(folder / "a.xml"); }) ==
        folder / "a.xml: stroke 1 has a point whose x is '1e38', beyond any tablet; get the file again");
}

TEST_CASE("damaged: a class of sentiment without sentences") {
  const TemporaryFolder folder;
  for (const char* const name : {"rt-polarity.pos", "rt-polarity.neg", "custrev.pos", "subj.subjective",
                                 "subj.objective", "mpqa.pos", "mpqa.neg"})
    write_file(folder / name, "good\n");
  write_file(folder / "custrev.neg", " \n\n");
  CHECK(message_of<DataError>([&] { skip_thoughts::read_classifications(folder.path()); }) ==
        folder / "custrev.neg: holds no sentences; download it again");
}

TEST_CASE("damaged: cloze questions that were not all written are no data set") {
  const TemporaryFolder folder;
  write_file(folder / "book.txt", long_book(1000));
  const auto make = [&] { return attentive_reader::make_cloze({folder / "book.txt"}, folder / "out"); };
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    make();
    ::_exit(0);
  }
  while (!fs::exists(folder / "out")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK_FALSE(exists(folder / "out/training"));
  const auto counts = make();
  CHECK(counts.test > 100);
  CHECK(entries_of(folder / "out/test").size() == counts.test);
  CHECK(entries_of(folder / "out") ==
        std::vector<std::string>{folder / "out/test", folder / "out/training", folder / "out/validation"});

  write_file(folder / "short.txt", long_book(3));
  CHECK_FALSE(message_of<DataError>([&] {
                attentive_reader::make_cloze({folder / "short.txt"}, folder / "other");
              }).empty());
  CHECK(entries_of(folder / "other").empty());
}
