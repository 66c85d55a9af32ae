// lamina report: one page with every figure and table of the paper, ours beside it.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "tools/commands/commands.h"
#include "tools/live/server.h"
#include "tools/report/page.h"
#include "tools/report/paper/claims.h"

namespace lamina {

namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string out = "report/index.html";
  bool live = false;
  int port = 8000;
};

/// What there is under the given folders, or under runs/, which need not exist.
Findings look_at(const ReportFlags& flags, const Enough& enough) {
  if (!flags.runs.empty()) return find_runs(flags.runs, enough);
  return is_folder("runs") ? find_runs({"runs"}, enough) : Findings{};
}

/// From the page's folder to the repository that the program was built in, for links to its READMEs: "../"; empty where the
/// program stands elsewhere.
std::string way_to_repository(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(beside_page("")).parent_path().parent_path().parent_path();
  std::error_code problem;
  if (!fs::exists(root / "models" / "evidence" / "README.md", problem)) return {};
  return fs::relative(root, folder.empty() ? fs::path(".") : folder, problem).string() + '/';
}

void write(const ReportFlags& flags) {
  const std::string page = read_page();
  const Findings findings = look_at(flags, never_enough);
  for (const std::string& file : findings.unreadable) std::cerr << "report: not shown: " << file << '\n';
  Json document = make_document(findings, read_claims(), read_panels());
  const auto folder = std::filesystem::path(flags.out).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem)
    fail<DataError>("--out ", flags.out, ": its folder cannot be made (", problem.message(),
                    "); choose another one");
  document["repository"] = way_to_repository(folder);
  write_file(flags.out, fill_page(page, document, false));
  size_t shown = 0;
  for (const Json& exhibit : document["exhibits"]) shown += !exhibit["runs"].empty();
  std::cout << flags.out << ": " << shown << " of " << document["exhibits"].size()
            << " exhibits have runs; the page says how to make the others\n";
}

/// The page shows as much as can be read in ten seconds.
LiveContent content_now(const std::string& page, const ReportFlags& flags, const Enough& ending) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const Json document =
      make_document(look_at(flags, [&] { return ending() || std::chrono::steady_clock::now() > until; }),
                    read_claims(), read_panels());
  return {.page = fill_page(page, document, true), .data = embeddable(document)};
}

void serve_live(const ReportFlags& flags) {
  look_at(flags, [] { return true; });  // a wrong folder is an error now, not at the first visit
  const bool ended = serve(
      {.make = [page = read_page(), flags](const Enough& ending) { return content_now(page, flags, ending); },
       .port = flags.port},
      [](int port) {
        std::cout << "report: http://127.0.0.1:" << port << "/ follows the runs; Ctrl-C ends it" << std::endl;
      });
  if (!ended)
    std::_Exit(0);  // not past the thread that was left behind, which still uses what would be destroyed
}

}  // namespace

void add_report_command(Command& program) {
  Command& command =
      program.add_command("report", "one page with every figure and table, the paper's and ours",
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
