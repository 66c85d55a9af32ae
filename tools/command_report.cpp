// lamina report: one page with every figure and table of the paper, ours beside it.

#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/file.h"
#include "core/folder.h"
#include "tools/commands.h"
#include "tools/report/page.h"
#include "tools/report/server.h"

namespace lamina {

namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string out = "report/index.html";
  bool live = false;
  int port = 8000;
};

/// What there is under the given folders, or under runs/, which need not exist.
Json look_at(const ReportFlags& flags) {
  if (!flags.runs.empty()) return make_document(find_runs(flags.runs));
  return make_document(is_folder("runs") ? find_runs({"runs"}) : Findings{});
}

int write(const ReportFlags& flags) {
  const std::string page = read_page();
  const Json document = look_at(flags);
  const auto folder = std::filesystem::path(flags.out).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem)
    fail<DataError>("--out ", flags.out, ": its folder cannot be made (", problem.message(),
                    "); choose another one");
  write_file(flags.out, fill_page(page, document, false));
  size_t shown = 0;
  for (const Json& exhibit : document["exhibits"]) shown += !exhibit["runs"].empty();
  std::cout << flags.out << ": " << shown << " of " << document["exhibits"].size()
            << " exhibits have runs; the page says how to make the others\n";
  return 0;
}

int serve_live(const ReportFlags& flags) {
  const std::string page = read_page();
  look_at(flags);  // a wrong folder is an error now, not at the first visit
  serve({.page = [&] { return fill_page(page, look_at(flags), true); },
         .data = [&] { return embeddable(look_at(flags)); },
         .port = flags.port},
        [](int port) {
          std::cout << "report: http://127.0.0.1:" << port << "/ follows the runs; Ctrl-C ends it"
                    << std::endl;
        });
  return 0;
}

}  // namespace

void add_report_command(Command& program) {
  Command& command =
      program.add_command("report", "one page with every figure and table, the paper's and ours");
  command.footer(
      "Example: lamina report\n"
      "         lamina report runs/mnist runs/draw --out report/index.html\n"
      "         lamina report --live");
  const auto flags = std::make_shared<ReportFlags>();
  command.add("RUNS", flags->runs, "folders of runs, with all below them; by default runs");
  const Flag out = command.add("--out", flags->out, "the page to write").show_default();
  const Flag live = command.add("--live", flags->live,
                                "instead of writing it, serve the page on 127.0.0.1 and let its curves grow");
  live.excludes(out);
  command.add("--port", flags->port, "of --live; 0: any free one").range(0, 65535).show_default().needs(live);
  command.action([flags] { return flags->live ? serve_live(*flags) : write(*flags); });
}

}  // namespace lamina
