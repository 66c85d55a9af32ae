#include "models/run/metrics.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.h"
#include "core/files/file.h"

using namespace lamina;
namespace fs = std::filesystem;

namespace {

/// A file that is removed at the end of the test.
struct ScratchFile {
  std::string path =
      (fs::temp_directory_path() / ("lamina-metrics-" + std::to_string(getpid()) + ".csv")).string();
  ~ScratchFile() { fs::remove(path); }
};

/// An installed one, which the program does not use from here on; nullptr where there is none.
const char* locale_with_comma() {
  for (const char* const name : {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "pt_BR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, name) != nullptr) {
      std::setlocale(LC_NUMERIC, "C");
      return name;
    }
  return nullptr;
}

const std::vector<std::string> columns = {"epoch", "step", "train_nll"};

void append_epochs(MetricsFile& metrics, int first, int last) {
  for (int epoch = first; epoch <= last; ++epoch)
    metrics.append({{"epoch", epoch}, {"step", 430 * epoch}, {"train_nll", std::exp(-epoch)}});
}

}  // namespace

TEST_CASE("metrics read back bit by bit, NaN and infinity too") {
  const ScratchFile file;
  const double third = 1.0 / 3, tiny = 4.9406564584124654e-324;
  MetricsFile metrics(file.path, columns);
  metrics.append({{"epoch", 1}, {"step", 1e15}, {"train_nll", third}});
  metrics.append({{"epoch", tiny}, {"train_nll", -INFINITY}});
  const Table table = read_table(file.path);
  CHECK(table.columns == columns);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == std::vector{1.0, 1e15, third});
  CHECK(table.column("epoch")[1] == tiny);
  CHECK(std::isnan(table.column("step")[1]));
  CHECK(table.column("train_nll")[1] == -INFINITY);
  CHECK(read_file(file.path).find("\n1,1e+15,0.3333333333333333\n") != std::string::npos);
  CHECK(read_file(file.path).find(",nan,") != std::string::npos);
}

TEST_CASE("a resumed run's metrics equal an uninterrupted run's") {
  const ScratchFile file;
  MetricsFile whole(file.path, columns);
  append_epochs(whole, 1, 6);
  const std::string expected = read_file(file.path);

  MetricsFile killed(file.path, columns);
  append_epochs(killed, 1, 4);
  write_file(file.path, read_file(file.path) + "5,21");  // killed while writing
  MetricsFile resumed = MetricsFile::resume(file.path, columns, 3 * 430);
  append_epochs(resumed, 4, 6);
  CHECK(read_file(file.path) == expected);
}

TEST_CASE("resuming starts a file that is missing or without a whole header") {
  const ScratchFile file;
  MetricsFile::resume(file.path, columns, 0);
  CHECK(read_file(file.path) == "epoch,step,train_nll\n");
  write_file(file.path, "epoch,st");
  MetricsFile::resume(file.path, columns, 0);
  CHECK(read_file(file.path) == "epoch,step,train_nll\n");
}

TEST_CASE("a half-written last line is left out, a broken one before it is an error") {
  const ScratchFile file;
  write_file(file.path, "epoch,step,train_nll\r\n1,430,0.5\r\n2,860,0.2");
  CHECK(read_table(file.path).rows == std::vector<std::vector<double>>{{1.0, 430.0, 0.5}});
  write_file(file.path, "epoch,step,train_nll\n1,430\n2,860,0.2\n");
  CHECK_THROWS_WITH_AS(read_table(file.path), doctest::Contains("line 2 has 2 fields and the header 3"),
                       DataError);
  write_file(file.path, "epoch,step,train_nll\n1,430,0.5\n2,x,0.2\n");
  CHECK_THROWS_WITH_AS(read_table(file.path), doctest::Contains("line 3: 'x' is not a number"), DataError);
  write_file(file.path, "");
  CHECK_THROWS_WITH_AS(read_table(file.path), doctest::Contains("no header"), DataError);
}

TEST_CASE("metrics name what is wrong") {
  const ScratchFile file;
  CHECK_THROWS_AS(read_table(file.path + "-missing"), DataError);
  CHECK_THROWS_AS(MetricsFile("/nonexistent-folder/metrics.csv", columns), DataError);
  MetricsFile metrics(file.path, columns);
  CHECK_THROWS_WITH_AS(metrics.append({{"test_nll", 1}}), doctest::Contains("'test_nll' is not a column"),
                       Error);
  CHECK_THROWS_WITH_AS(read_table(file.path).column("loss"), doctest::Contains("no column 'loss'"),
                       DataError);
  CHECK_THROWS_WITH_AS(MetricsFile::resume(file.path, {"epoch", "step"}, 0),
                       doctest::Contains("this version writes epoch,step;"), DataError);
}

TEST_CASE("a header that would read back as other columns is refused") {
  const ScratchFile file;
  const std::vector<std::vector<std::string>> all = {
      {"step", "loss, valid"}, {"step\n"}, {"loss", "step", "loss"}};
  for (const auto& bad : all)
    CHECK_THROWS_WITH_AS(MetricsFile(file.path, bad), doctest::Contains("cannot name a column of"), Error);
  CHECK(!fs::exists(file.path));
}

TEST_CASE("a table whose fields another program has put into quotes has the same columns and rows") {
  const Table table = table_of("metrics.csv", "\"step\",\"train_loss\"\n1,\"0.5\"\n2,0.25\n");
  CHECK(table.columns == std::vector<std::string>{"step", "train_loss"});
  CHECK(table.column("train_loss") == std::vector<double>{0.5, 0.25});
  CHECK(unquoted("\"") == "\"");
  CHECK(unquoted("\"\"").empty());
}

TEST_CASE("a table that a spreadsheet saved has the same columns and rows") {
  const Table table = table_of("metrics.csv",
                               "\xEF\xBB\xBF"
                               "epoch,step\r\n1,430\r\n");
  CHECK(table.columns == std::vector<std::string>{"epoch", "step"});
  CHECK(table.rows == std::vector<std::vector<double>>{{1, 430}});
}

TEST_CASE("a number has a point, also in a program whose locale has a comma" *
          doctest::skip(locale_with_comma() == nullptr)) {
  std::setlocale(LC_NUMERIC, locale_with_comma());
  CHECK(formatted("%.2f", 1.5) == "1.50");
  CHECK(number_text(1.5) == "1.5");
  CHECK(std::string(std::localeconv()->decimal_point) == ",");  // the program keeps its own
  std::setlocale(LC_NUMERIC, "C");
}

TEST_CASE("words are joined by commas and split at them, empty ones too") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a"}, {""}, {"", "a"}, {"", "", "a"}, {"a", "", "b"}, {"a", ""}}) {
    const std::string list = joined(words);
    CAPTURE(list);
    CHECK(split(list) == words);
  }
}

TEST_CASE("a full disk is an error that names the file") {
  if (!fs::exists("/dev/full")) return;
  const ScratchFile file;
  MetricsFile metrics(file.path, columns);
  fs::remove(file.path);
  fs::create_symlink("/dev/full", file.path);
  CHECK_THROWS_WITH_AS(metrics.append({{"epoch", 1}}), doctest::Contains("free some space"), DataError);
}
