#include "tools/plot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <locale>
#include <memory>
#include <sstream>

#include "core/error.h"
#include "core/file.h"

namespace lamina {

namespace {

/// Okabe and Ito's colours, which people with any kind of colour vision tell apart; the pale ones last.
constexpr std::array palette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                "#E69F00", "#56B4E9", "#555555", "#B8A800"};
constexpr int panel_width = 520, panel_height = 400;  // pixels in the SVG; the PNG has twice as many

/// gnuplot's single-quoted string: nothing in it is special but the quote, and it ends with its line.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += c;
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "'";
}

bool drawable(const Panel& panel, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (x > 0 || !panel.log_x) && (y > 0 || !panel.log_y);
}

/// The curve's points as a gnuplot data block of that name; how many there are.
size_t write_points(std::ostream& script, const std::string& name, const Panel& panel, const Curve& curve) {
  size_t count = 0;
  script << name << " << END\n";
  for (size_t i = 0; i < curve.x.size(); ++i) {
    if (!drawable(panel, curve.x[i], curve.y[i])) continue;
    script << curve.x[i] << ' ' << curve.y[i] << '\n';
    ++count;
  }
  script << "END\n";
  return count;
}

std::string style(const Curve& curve, size_t number) {
  const size_t color = (curve.color >= 0 ? static_cast<size_t>(curve.color) : number) % palette.size();
  const std::string colored = std::string(" lc rgb '") + palette[color] + "'";
  if (curve.line == Line::points) return "with points pt 7 ps 0.5" + colored;
  // A line of one point is invisible, so short runs get marks as well.
  const std::string marks = curve.x.size() <= 12 ? "with linespoints pt 7 ps 0.45" : "with lines";
  const int dash = curve.line == Line::solid ? 1 : curve.line == Line::dashed ? 2 : 3;
  return marks + " lw 2 dt " + std::to_string(dash) + colored;
}

std::string log_axis(const char* axis, bool on) {
  if (!on) return text("unset logscale ", axis, "\nset format ", axis, " '%g'\n");
  return text("set logscale ", axis, "\nset format ", axis, " '10^{%T}'\n");
}

void write_panel(std::ostream& script, const Panel& panel, size_t panel_number) {
  std::string plot;
  for (size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    if (curve.x.size() != curve.y.size())
      fail("write_figure: curve '", curve.title, "' has ", curve.x.size(), " x and ", curve.y.size(), " y");
    const std::string block = text("$panel", panel_number, "_curve", i);
    if (write_points(script, block, panel, curve) == 0) continue;
    plot += plot.empty() ? "plot " : ", ";
    plot += block + " using 1:2 " + style(curve, i);
    plot += curve.title.empty() ? " notitle" : " title " + quoted(curve.title);
  }
  script << "set title " << quoted(panel.title) << " noenhanced\n"
         << "set xlabel " << quoted(panel.x_label) << " noenhanced\n"
         << "set ylabel " << quoted(panel.y_label) << " noenhanced\n";
  if (plot.empty()) {  // a run that was stopped before its first report, or one that diverged at once
    script << log_axis("x", false) << log_axis("y", false) << "unset label\n"
           << "set label 'no data yet' at graph 0.5, 0.5 center textcolor rgb '#888888'\n"
           << "set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n";
    return;
  }
  script << log_axis("x", panel.log_x) << log_axis("y", panel.log_y) << "unset label\nset xrange [*:*]\n";
  const auto bound = [](const std::optional<double>& value) {
    return value ? text(*value) : std::string("*");
  };
  script << "set yrange [" << bound(panel.y_min) << ':' << bound(panel.y_max) << "]\n" << plot << '\n';
}

struct Grid {
  size_t rows, columns;
};

Grid grid_for(size_t panels) {
  const size_t columns = panels == 4 ? 2 : std::clamp<size_t>(panels, 1, 3);
  return {(panels + columns - 1) / columns, columns};
}

std::string figure_script(const std::string& terminal, const std::vector<Panel>& panels) {
  const Grid grid = grid_for(panels.size());
  std::ostringstream script;
  script.imbue(std::locale::classic());
  script.precision(12);
  script << "set encoding utf8\n"
         << terminal << "\n"
         << "set multiplot layout " << grid.rows << ',' << grid.columns
         << " rowsfirst\n"
         // The frame is two quiet axes and a pale grid, so that the curves are the darkest thing to see.
         << "set border 3 lc rgb '#666666' lw 1\n"
         << "set tics nomirror out scale 0.6, 0.3 textcolor rgb '#333333'\n"
         << "set grid xtics ytics lc rgb '#E2E2E2' lw 0.8 dt 1\n"
         << "set key outside below center horizontal Left reverse noenhanced samplen 2.5 spacing 1.2 height "
            "0.5\n"
         << "set lmargin 10\nset rmargin 3\nset tmargin 3\n"
         << "set title offset 0, -0.3\n";
  for (size_t i = 0; i < panels.size(); ++i) write_panel(script, panels[i], i);
  script << "unset multiplot\n";
  return script.str();
}

std::string svg_terminal(Grid grid) {
  return text("set terminal svg size ", panel_width * grid.columns, ',', panel_height * grid.rows,
              " font 'Helvetica,Arial,sans-serif,13' background rgb 'white' enhanced");
}

std::string png_terminal(Grid grid) {
  return text("set terminal pngcairo size ", 2 * panel_width * grid.columns, ',',
              2 * panel_height * grid.rows,
              " font 'sans,11' fontscale 2 linewidth 2 pointscale 2 background rgb 'white' enhanced");
}

struct Outcome {
  std::string picture;   // standard output
  std::string messages;  // standard error
  int error = 0;         // errno when gnuplot did not start
  bool ok = false;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file without a name, which is gone when it is closed.
File unnamed_file() {
  File file(std::tmpfile(), std::fclose);
  if (!file)
    fail<DataError>("write_figure: no temporary file (", std::strerror(errno), "); free some space in /tmp");
  return file;
}

std::string content(std::FILE* file) {
  std::string bytes;
  std::array<char, 65536> block;
  std::rewind(file);
  while (const size_t count = std::fread(block.data(), 1, block.size(), file))
    bytes.append(block.data(), count);
  return bytes;
}

/// Runs gnuplot on a script without a shell. Script, picture and messages pass through nameless files: pipes
/// in both directions could each wait for the other.
Outcome run_gnuplot(const std::string& script) {
  const File input = unnamed_file(), output = unnamed_file(), errors = unnamed_file();
  std::fwrite(script.data(), 1, script.size(), input.get());
  std::fflush(input.get());
  std::rewind(input.get());

  posix_spawn_file_actions_t redirect;
  posix_spawn_file_actions_init(&redirect);
  posix_spawn_file_actions_adddup2(&redirect, fileno(input.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&redirect, fileno(output.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&redirect, fileno(errors.get()), STDERR_FILENO);
  // Without the user's own start-up file, which could change how a figure looks.
  std::string program = "gnuplot", option = "--default-settings";
  const std::array<char*, 3> arguments = {program.data(), option.data(), nullptr};
  pid_t child = 0;
  Outcome outcome;
  outcome.error = posix_spawnp(&child, program.c_str(), &redirect, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&redirect);
  if (outcome.error != 0) return outcome;

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.picture = content(output.get());
  outcome.messages = content(errors.get());
  outcome.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !outcome.picture.empty();
  return outcome;
}

}  // namespace

bool write_figure(const std::string& path, const std::vector<Panel>& panels) {
  if (panels.empty()) fail("write_figure: ", path, " has no panels; give it one");
  const Grid grid = grid_for(panels.size());
  const std::array<std::pair<const char*, std::string>, 2> formats = {
      {{".svg", svg_terminal(grid)}, {".png", png_terminal(grid)}}};
  for (const auto& [ending, terminal] : formats) {
    const Outcome outcome = run_gnuplot(figure_script(terminal, panels));
    if (outcome.error == ENOENT) {
      std::cerr << path << ending << ": not drawn, gnuplot is not installed; run tools/install-deps.sh\n";
      return false;
    }
    if (!outcome.ok) {
      const std::string reason = outcome.error ? std::strerror(outcome.error) : outcome.messages;
      const size_t start = std::min(reason.find_first_not_of(" \n"), reason.size());
      std::cerr << path << ending << ": not drawn, gnuplot failed; check its installation ("
                << reason.substr(start, reason.find('\n', start) - start) << ")\n";
      return false;
    }
    write_file(path + ending, outcome.picture);
  }
  return true;
}

}  // namespace lamina
