#include "tools/results/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <tuple>

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/programs/run_program.h"
#include "tools/results/palette.h"

namespace lamina {

namespace {

// Pixels in the SVG; the PNG has twice as many of everything.
constexpr double panel_width = 500, panel_height = 360;
constexpr double left_margin = 84, right_margin = 24, top_margin = 44, bottom_margin = 58;
constexpr double legend_row = 26, legend_line = 19.5;  // the place for a row, and what gnuplot needs of it

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

/// Of numbers that no axis has a place for, infinite ones, and those that a log axis has none for: a line across them would
/// show what was not measured. NaN says that nothing was to be measured there, and interrupts nothing.
bool interrupts(const Panel& panel, double x, double y) {
  return std::isinf(x) || std::isinf(y) || (panel.log_x && x <= 0) || (panel.log_y && y <= 0);
}

using Numbers = std::vector<double>;

/// How many points of a curve can be drawn.
size_t points_of(const Panel& panel, const Curve& curve) {
  size_t count = 0;
  for (size_t i = 0; i < curve.x.size(); ++i) count += drawable(panel, curve.x[i], curve.y[i]);
  return count;
}

/// Whether points that can be drawn stand on both sides of one that interrupts the line.
bool has_gap(const Panel& panel, const Curve& curve) {
  bool drawn = false, interrupted = false;
  for (size_t i = 0; i < curve.x.size(); ++i) {
    if (drawable(panel, curve.x[i], curve.y[i])) {
      if (interrupted) return true;
      drawn = true;
    } else {
      interrupted = interrupted || (drawn && interrupts(panel, curve.x[i], curve.y[i]));
    }
  }
  return false;
}

/// A gnuplot data block of that name: a row of x and a number of each list where all of them can be drawn, and an empty line,
/// which interrupts a curve or band, in place of those that no axis has a place for. Returns how many rows.
size_t write_block(std::ostream& script, const std::string& name, const Panel& panel, const Numbers& x,
                   const std::vector<const Numbers*>& lists) {
  size_t count = 0;
  bool gap = false;
  script << name << " << END\n";
  for (size_t i = 0; i < lists[0]->size(); ++i) {
    const auto shown = [&](const Numbers* list) { return drawable(panel, x[i], (*list)[i]); };
    if (!std::ranges::all_of(lists, shown)) {
      gap = gap || std::ranges::any_of(
                       lists, [&](const Numbers* list) { return interrupts(panel, x[i], (*list)[i]); });
      continue;
    }
    if (gap && count > 0) script << '\n';
    gap = false;
    script << x[i];
    for (const Numbers* const list : lists) script << ' ' << (*list)[i];
    script << '\n';
    ++count;
  }
  script << "END\n";
  return count;
}

/// "#0072b2".
std::string curve_color(const Curve& curve, size_t number) {
  const int color = curve.color >= 0 ? curve.color : plain_color(number);
  return palette[static_cast<size_t>(color) % std::size(palette)].light;
}

/// gnuplot's name for a solid line, or the lengths of dashes and gaps.
std::string dash_of(Line line) {
  std::string list;
  for (const int length : dashes[static_cast<size_t>(line)].lengths)
    if (length > 0) list += text(list.empty() ? "(" : ",", length);
  return list.empty() ? "1" : list + ')';
}

/// Its own, but where the colours have been used up: there the next kind of line, so that no two curves look alike.
Line line_of(const Curve& curve, size_t number) {
  return curve.color >= 0 || curve.line != Line::solid ? curve.line : line_at(number);
}

std::string style(const Panel& panel, size_t number) {
  const Curve& curve = panel.curves[number];
  if (curve.pale)  // two bytes of alpha stand before the colour
    return "with lines lw 0.8 dt 1 lc rgb '#A0" + curve_color(curve, number).substr(1) + "'";
  const std::string colored = " lc rgb '" + curve_color(curve, number) + "'";
  // A line of one point is invisible, so short runs and interrupted ones get marks as well.
  const std::string marks =
      points_of(panel, curve) <= 12 || has_gap(panel, curve) ? "with linespoints pt 7 ps 0.45" : "with lines";
  return marks + " lw 2 dt " + dash_of(line_of(curve, number)) + colored;
}

std::string log_axis(const char* axis, bool on) {
  // As many digits as tell the marks of a narrow axis apart: its numbers may differ in the seventh.
  if (!on) return text("unset logscale ", axis, "\nset format ", axis, " '%.10g'\n");
  return text("set logscale ", axis, "\nset format ", axis, " '10^{%T}'\n");
}

std::string legend_entry(const Curve& curve) {
  return curve.title.empty() ? " notitle" : " title " + quoted(curve.title);
}

void write_titles(std::ostream& script, const Panel& panel) {
  script << "set title " << quoted(panel.title) << " noenhanced font ',15'\n"
         << "set xlabel " << quoted(panel.x_label) << " noenhanced\n"
         << "set ylabel " << quoted(panel.y_label) << " noenhanced\n";
}

/// The ends of an axis or colour scale as gnuplot writes them; it refuses an axis between two that are one.
std::string range(const std::optional<double>& low, const std::optional<double>& high) {
  if (low && high && !(*low < *high)) return "[*:*]";
  const auto bound = [](const std::optional<double>& value) {
    return value ? number_text(*value) : std::string("*");
  };
  return "[" + bound(low) + ':' + bound(high) + "]";
}

/// The marks of an axis: names at 0, 1, 2, ..., or numbers where gnuplot likes them.
std::string tics(const char* axis, const std::vector<std::string>& names) {
  if (names.empty()) return text("set ", axis, "tics enhanced autofreq\n");
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) list += text(i == 0 ? "" : ", ", quoted(names[i]), ' ', i);
  return text("set ", axis, "tics noenhanced (", list, ")\n");
}

void write_heat_map(std::ostream& script, const Panel& panel, size_t panel_number) {
  const HeatMap& map = *panel.heat_map;
  if (map.values.size() != map.rows * map.columns || map.values.empty())
    fail("write_figure: heat map '", panel.title, "' has ", map.values.size(), " values for ", map.rows,
         " x ", map.columns, " squares");
  const auto fits = [](const auto& names, size_t count) { return names.empty() || names.size() == count; };
  if (!fits(map.row_names, map.rows) || !fits(map.column_names, map.columns))
    fail("write_figure: heat map '", panel.title, "' has ", map.row_names.size(), " row names and ",
         map.column_names.size(), " column names for ", map.rows, " x ", map.columns, " squares");
  const std::string block = text("$panel", panel_number, "_map");
  script << block << " << END\n";
  for (size_t i = 0; i < map.values.size(); ++i) {
    std::isfinite(map.values[i]) ? script << map.values[i] : script << "NaN";
    script << ((i + 1) % map.columns == 0 ? '\n' : ' ');
  }
  script << "END\n" << log_axis("x", false) << log_axis("y", false) << "unset label 1\n";
  write_titles(script, panel);
  script << tics("x", map.column_names) << tics("y", map.row_names) << "set cbrange "
         << range(map.low, map.high) << '\n';
  // Dark to bright in brightness as well as in hue (viridis), so that it survives a grey printer.
  script << "set palette defined (0 '#440154', 1 '#3B528B', 2 '#21918C', 3 '#5EC962', 4 '#FDE725')\n"
         << "set xrange [-0.5:" << static_cast<double>(map.columns) - 0.5 << "]\nset yrange ["
         << static_cast<double>(map.rows) - 0.5 << ":-0.5]\n"
         << "plot " << block << " matrix with image notitle\n";
}

void require_lengths(const Curve& curve) {
  if (curve.x.size() != curve.y.size())
    fail("write_figure: curve '", curve.title, "' has ", curve.x.size(), " x and ", curve.y.size(), " y");
  if (curve.low.size() != curve.high.size() || (!curve.low.empty() && curve.low.size() != curve.x.size()))
    fail("write_figure: the band of curve '", curve.title, "' has ", curve.low.size(), " low and ",
         curve.high.size(), " high ends for ", curve.x.size(), " x");
}

void write_panel(std::ostream& script, const Panel& panel, size_t panel_number) {
  if (panel.heat_map) return write_heat_map(script, panel, panel_number);
  std::string plot;
  bool any_points = false;
  for (size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    require_lengths(curve);
    const std::string block = text("$panel", panel_number, "_band", i);
    if (!curve.low.empty() && write_block(script, block, panel, curve.x, {&curve.low, &curve.high}) > 0)
      plot += (plot.empty() ? "plot " : ", ") + block +
              " using 1:2:3 with filledcurves fs transparent solid 0.18 noborder lc rgb '" +
              curve_color(curve, i) + "' notitle";
  }
  for (size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    const std::string block = text("$panel", panel_number, "_curve", i);
    const size_t points = write_block(script, block, panel, curve.x, {&curve.y});
    plot += (plot.empty() ? "plot " : ", ") + (points > 0 ? block + " using 1:2 " : "NaN ") +
            style(panel, i) + legend_entry(curve);
    any_points = any_points || points > 0;
  }
  write_titles(script, panel);
  script << tics("x", {}) << tics("y", {});
  if (!any_points) {  // a run that was stopped before its first report, or one that diverged at once
    script << log_axis("x", false) << log_axis("y", false)
           << "set label 1 'no data yet' at graph 0.5, 0.5 center textcolor rgb '#888888'\n"
           << "set xrange [0:1]\nset yrange [0:1]\n";
  } else {
    script << log_axis("x", panel.log_x) << log_axis("y", panel.log_y) << "unset label 1\n"
           << "set xrange [*:*]\nset yrange " << range(panel.y_min, panel.y_max) << '\n';
  }
  script << (plot.empty() ? "plot NaN notitle" : plot) << '\n';
}

/// How the panels lie on the page, and where the legend goes: one for all at the foot of the page when they
/// show the same curves, else one below each panel.
class Layout {
 public:
  explicit Layout(const std::vector<Panel>& panels) {
    const size_t count = panels.size();
    columns_ = count == 4 ? 2 : std::min<size_t>(count, 3);
    rows_ = (count + columns_ - 1) / columns_;
    const auto same = [&](const Panel& panel) { return legend(panel) == legend(panels.front()); };
    shared_legend_ = count > 1 && std::ranges::all_of(panels, same);
    size_t entries = 0, longest = 0;
    for (const Panel& panel : panels) {
      const auto titled = [](const Curve& curve) { return !curve.title.empty(); };
      entries = std::max(entries, static_cast<size_t>(std::ranges::count_if(panel.curves, titled)));
      for (const Curve& curve : panel.curves) longest = std::max(longest, curve.title.size());
    }
    constexpr size_t half_a_panel = 16;  // characters of a title beside another below a single panel
    const size_t entries_in_a_row = shared_legend_ ? 2 * columns_ : longest > half_a_panel ? 1 : 2;
    const double room = shared_legend_ ? width() : panel_width - right_margin - left_margin;
    const double fitting = std::max(1.0, std::floor(room / entry_width(longest)));
    const double lines = std::ceil(static_cast<double>(entries) / fitting);  // that gnuplot makes of it
    legend_rows_ = std::max((entries + entries_in_a_row - 1) / entries_in_a_row,
                            static_cast<size_t>(std::ceil(lines * legend_line / legend_row)));
  }

  double width() const { return panel_width * static_cast<double>(columns_); }
  double height() const {
    return row_height() * static_cast<double>(rows_) + (shared_legend_ ? legend_height() : 0);
  }
  bool shared_legend() const { return shared_legend_; }

  /// gnuplot's settings for one panel: its axes at fixed places, so that all panels are of one size.
  std::string place(size_t number, const std::optional<HeatMap>& map) const {
    const size_t row = number / columns_, column = number % columns_;
    const double left = panel_width * static_cast<double>(column);
    const double top = height() - row_height() * static_cast<double>(row);
    const double height_of_axes = panel_height - bottom_margin - top_margin;
    const double margin = map ? margin_for(map->row_names) : left_margin;
    const double right = map ? margin + height_of_axes : panel_width - right_margin;
    const std::string axes =
        margins(left + margin, left + right, top - panel_height + bottom_margin, top - top_margin);
    if (shared_legend_) return axes + "unset key\n";
    return axes + key(left + (left_margin + panel_width - right_margin) / 2, top - panel_height);
  }

  std::string legend_place() const {
    return margins(0, width(), 0, height()) + key(width() / 2, legend_height());
  }

 private:
  static std::vector<std::tuple<std::string, int, Line>> legend(const Panel& panel) {
    std::vector<std::tuple<std::string, int, Line>> entries;
    for (const Curve& curve : panel.curves) entries.emplace_back(curve.title, curve.color, curve.line);
    return entries;
  }
  /// A map is square and leaves room for names that are longer than numbers.
  static double margin_for(const std::vector<std::string>& names) {
    size_t longest = 0;
    for (const std::string& name : names) longest = std::max(longest, name.size());
    return std::max(left_margin, 20 + 7 * static_cast<double>(longest));
  }
  /// How wide gnuplot takes an entry to be in an SVG, whose letters it cannot measure. Entries below the foot of the page
  /// are left out without a word.
  static double entry_width(size_t characters) { return 9.1 * static_cast<double>(characters + 8); }
  double legend_height() const { return 10 + legend_row * static_cast<double>(legend_rows_); }
  double row_height() const { return panel_height + (shared_legend_ ? 0 : legend_height()); }
  std::string margins(double left, double right, double bottom, double top) const {
    return text("set lmargin at screen ", left / width(), "\nset rmargin at screen ", right / width(),
                "\nset bmargin at screen ", bottom / height(), "\nset tmargin at screen ", top / height(),
                '\n');
  }
  std::string key(double center, double top) const {
    return text("set key at screen ", center / width(), ',', top / height(),
                " center top horizontal maxrows ", std::max<size_t>(legend_rows_, 1), '\n');
  }

  size_t rows_ = 1, columns_ = 1, legend_rows_ = 0;
  bool shared_legend_ = false;
};

/// The shared legend is a plot of nothing over the whole page: a key is never wider than its plot.
void write_shared_legend(std::ostream& script, const Layout& layout, const Panel& panel) {
  script << layout.legend_place()
         << "unset border\nunset tics\nunset grid\nunset title\nunset xlabel\nunset ylabel\nunset logscale\n"
         << "unset label 1\nset xrange [0:1]\nset yrange [0:1]\n";
  for (size_t i = 0; i < panel.curves.size(); ++i)
    script << (i == 0 ? "plot " : ", ") << "NaN " << style(panel, i) << legend_entry(panel.curves[i]);
  script << '\n';
}

std::string figure_script(const std::string& terminal, const Layout& layout,
                          const std::vector<Panel>& panels) {
  std::ostringstream script;
  script.precision(12);
  script << "set encoding utf8\n"
         << terminal
         << "\nset multiplot\n"
         // The frame is two quiet axes and a pale grid, so that the curves are the darkest thing to see.
         << "set border 3 lc rgb '#777777' lw 1\n"
         << "set tics nomirror out scale 0.6, 0.3 textcolor rgb '#333333'\n"
         << "set grid xtics ytics lt 1 lc rgb '#E4E4E4' lw 0.8\n"
         << "set key noenhanced Left reverse samplen 3 width 1\n";
  for (size_t i = 0; i < panels.size(); ++i) {
    script << layout.place(i, panels[i].heat_map);
    write_panel(script, panels[i], i);
  }
  if (layout.shared_legend()) write_shared_legend(script, layout, panels.front());
  script << "unset multiplot\n";
  return script.str();
}

// The same font size in both: gnuplot counts pixels in an SVG, and points of 4/3 pixel in a PNG.

std::string svg_terminal(const Layout& layout) {
  return text("set terminal svg enhanced size ", layout.width(), ',', layout.height(),
              " font 'Helvetica,Arial,sans-serif,13' background rgb 'white'");
}

std::string png_terminal(const Layout& layout) {
  return text("set terminal pngcairo enhanced size ", 2 * layout.width(), ',', 2 * layout.height(),
              " font 'sans,13' fontscale 1.5 linewidth 2 pointscale 2 background rgb 'white'");
}

}  // namespace

Line line_at(size_t i) { return static_cast<Line>(i / plain_colors % dashes.size()); }

bool write_figure(const std::string& path, const std::vector<Panel>& panels) {
  if (panels.empty()) fail("write_figure: ", path, " has no panels; give it one");
  const Layout layout(panels);
  // Without the user's own start-up file, which could change how a figure looks.
  const DrawingProgram gnuplot{.command = {"gnuplot", "--default-settings"}, .package = "gnuplot"};
  const auto draw = [&](const std::string& ending, const std::string& terminal) {
    return draw_by(gnuplot, figure_script(terminal, layout, panels), path + ending);
  };
  return draw(".svg", svg_terminal(layout)) && draw(".png", png_terminal(layout));
}

}  // namespace lamina
