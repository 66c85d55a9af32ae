// What the headers that include many must have: a new op, layer or optimizer that is forgotten there compiles in its own
// test, and in no program.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// All headers of a folder and below it, but for those of these folders.
std::vector<std::string> headers_of(const std::string& folder, const std::vector<std::string>& but = {}) {
  std::vector<std::string> all = files_below(folder, ".h");
  for (const std::string& other : but)
    std::erase_if(all, [&](const std::string& file) { return file.starts_with(other); });
  return all;
}

/// The file includes every header, but for those that others include or that are the library's own.
void check_included(const std::string& file, const std::vector<std::string>& headers,
                    std::vector<std::string> without) {
  const std::string included = read_file(file);
  for (const std::string& header : headers)
    if (std::erase_if(without, [&](const std::string& each) { return each == header; }) == 0)
      CHECK_MESSAGE(contains(included, '"' + header + '"'), file, " does not include ", header);
  for (const std::string& header : without) CHECK_MESSAGE(false, "there is no ", header);
}

}  // namespace

TEST_CASE("headers: core/ops.h has every op") {
  check_included(
      "core/ops.h", headers_of("core/ops"),
      {"core/ops/batched_matmul.h", "core/ops/broadcast.h", "core/ops/map.h",
       "core/ops/attention/few_queries.h", "core/ops/attention/head.h", "core/ops/attention/rows.h",
       "core/ops/attention/scores.h", "core/ops/attention/sizes.h", "core/ops/images/patches.h",
       "core/ops/images/pool_rows.h", "core/ops/reduce/axis.h", "core/ops/reduce/axis_options.h"});
}

TEST_CASE("headers: every op is compared with PyTorch") {
  std::string answers;
  for (const std::string& file : files_below("tests/oracle/answers", ".cpp")) answers += read_file(file);
  const std::string without = "huber mean_squared_error ";  // compared in tests/core/ops/loss
  const std::regex op(R"(\nTensor (\w+)\()");
  const std::string ops = read_file("core/ops.h");
  for (const std::string& header : headers_of("core/ops")) {
    if (!contains(ops, '"' + header + '"')) continue;
    const std::string text = read_file(header);
    for (std::sregex_iterator each(text.begin(), text.end(), op), end; each != end; ++each) {
      const std::string name = (*each)[1].str();
      if (contains(without, name + ' ')) continue;
      CHECK_MESSAGE(std::regex_search(answers, std::regex("\\b" + name + "\\b")),
                    "tests/oracle/answers has no ", name, " of ", header);
    }
  }
}

TEST_CASE("headers: lamina.h has every layer and every optimizer") {
  check_included(
      "lamina.h", headers_of("layers", {"layers/recurrent/", "layers/statistics/"}),
      {"layers/named.h", "layers/norms/variants/dyt.h", "layers/norms/variants/parameter_free_norm.h"});
  check_included("lamina.h", headers_of("optim"), {});
}

TEST_CASE("headers: what must hold for every layer is tested of every layer") {
  check_included("tests/layers/every_layer.h",
                 headers_of("layers", {"layers/norms/", "layers/recurrent/", "layers/statistics/"}),
                 {"layers/dropout.h", "layers/initializers.h", "layers/mode.h", "layers/named.h",
                  "layers/attention/key_value_cache.h", "layers/attention/multi_head_attention.h",
                  "layers/attention/positions.h"});
}
