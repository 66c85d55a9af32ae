#include "tools/report/page.h"

#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"

namespace lamina {

namespace {

void replace_once(std::string& page, const std::string& place, const std::string& content) {
  const size_t at = page.find(place);
  if (at == std::string::npos) fail("report: the page has no ", place, "; make it again with make report");
  page.replace(at, place.size(), content);
}

}  // namespace

std::string beside_page(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "report" / name).string();
}

std::string read_page() {
  const std::string file = beside_page("page.html");
  if (!std::filesystem::exists(file))
    fail<DataError>(file, ": has not been made yet; run make report once (it takes uPlot from npm)");
  return read_file(file);
}

std::string embeddable(const Json& document) {
  std::string bytes = document.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  for (size_t at = 0; (at = bytes.find('<', at)) != std::string::npos;) bytes.replace(at, 1, "\\u003c");
  return bytes;
}

std::string fill_page(std::string page, const Json& document, bool live) {
  if (live) replace_once(page, "connect-src 'none'", "connect-src 'self'");
  Json content = document;
  content["live"] = live;
  replace_once(page, "\"@DATA@\"", embeddable(content));
  return page;
}

}  // namespace lamina
