#include "tools/results/result_folder.h"

#include <iostream>
#include <utility>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "tools/results/aligned_table.h"

namespace lamina {

ResultFolder::ResultFolder(std::string path) : path_(std::move(path)) { make_folder(path_); }

ResultFolder::ResultFolder(const std::string& path, RunConfig config)
    : path_(path), config_(std::move(config)) {
  require_place_for(path, *config_);
  make_folder(path);
  // Measuring takes minutes, at whose end nobody wants to hear that the folder cannot be written to.
  if (const std::string before = path + "/config.json"; exists(before))
    write_file(before, read_file(before));
  else
    write_config(path, *config_);
}

void ResultFolder::report(std::string_view markdown) const {
  if (config_) write_config(path_, *config_);
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
