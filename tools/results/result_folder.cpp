#include "tools/results/result_folder.h"

#include <iostream>

#include "core/files/file.h"
#include "tools/results/aligned_table.h"

namespace lamina {

ResultFolder::ResultFolder(std::string path) : path_(std::move(path)) { make_folder(path_); }

ResultFolder::ResultFolder(const std::string& path, const RunConfig& config) : path_(path) {
  require_place_for(path, config);
  make_folder(path);
  write_config(path, config);
}

void ResultFolder::report(std::string_view markdown) const {
  std::cout << aligned_tables(markdown) << '\n';
  write("summary.md", markdown);
}

void ResultFolder::write(const std::string& name, std::string_view bytes) const {
  const std::string path = path_ + '/' + name;
  write_file(path, bytes);
  std::cout << path << '\n';
}

void ResultFolder::draw(const std::string& name, const std::vector<Panel>& panels) const {
  const std::string path = path_ + '/' + name;
  if (write_figure(path, panels)) std::cout << path << ".svg, " << path << ".png\n";
}

}  // namespace lamina
