#include "tools/report/found/pictures.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"
#include "tools/report/exhibits/exhibits.h"

namespace lamina {

namespace {

namespace fs = std::filesystem;

constexpr size_t most_bytes = size_t{2} << 20;

/// The data as an address, when they are what the name says; else the problem.
FoundPicture picture_from(const std::string& name, const std::string& bytes) {
  const bool png = name.ends_with(".png");
  if (png ? !bytes.starts_with("\x89PNG\r\n\x1a\n") : bytes.find("<svg") == std::string::npos)
    return {.file = name, .problem = png ? "is no PNG picture" : "is no SVG picture"};
  return {.file = name,
          .source = (png ? "data:image/png;base64," : "data:image/svg+xml;base64,") + base64(bytes)};
}

FoundPicture read_picture(const fs::path& file) {
  const std::string name = file.filename().string();
  try {
    return picture_from(name, read_file(file.string(), most_bytes));
  } catch (const Error& error) {
    return {.file = name, .problem = text("cannot be read (", error.what(), ')')};
  }
}

}  // namespace

bool fits(const PicturePlan& plan, const std::string& file) {
  const size_t star = plan.file.find('*');
  if (star == std::string::npos) return file == plan.file;
  return file.size() >= plan.file.size() && file.starts_with(plan.file.substr(0, star)) &&
         file.ends_with(plan.file.substr(star + 1));
}

bool fits(const std::vector<PicturePlan>& plans, const std::string& file) {
  return std::ranges::any_of(plans, [&](const PicturePlan& plan) { return fits(plan, file); });
}

std::vector<FoundPicture> pictures_in(const std::string& folder) {
  const auto is_shown = [](const std::string& name) {
    return std::ranges::any_of(exhibits(),
                               [&](const Exhibit& exhibit) { return fits(exhibit.pictures, name); });
  };
  std::vector<fs::path> files;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, ignored), end;
       entry != end; entry.increment(ignored))
    if (is_shown(entry->path().filename().string())) files.push_back(entry->path());
  std::ranges::sort(files);
  std::vector<FoundPicture> pictures;
  pictures.reserve(files.size());
  for (const fs::path& file : files) pictures.push_back(read_picture(file));
  return pictures;
}

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string code;
  code.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;  // three bytes, the first one on top
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) code += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return code;
}

}  // namespace lamina
