"""The table and the figure of predicted speed-ups."""
import subprocess

from ranks import model

MACHINES = [2 ** k for k in range(11)]
SHOWN = [2, 4, 8, 16, 64, 256, 1024]
NETWORKS = {"10 Gbit/s": model.Link(50e-6, 8 / 10e9), "100 Gbit/s": model.Link(10e-6, 8 / 100e9)}
SCALINGS = ("strong", "weak")
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"]


def predictions(measured):
    """{(scaling, network): {case: [(machines, speed-up, algorithm)]}}, as far as there are cases for all machines."""
    found = {}
    for scaling in SCALINGS:
        for name, network in NETWORKS.items():
            curves = found[scaling, name] = {}
            for case, (batch, timelines) in measured.cases.items():
                points = [(machines, model.speed_up(timelines, batch, machines, scaling, measured.processor, network))
                          for machines in MACHINES]
                curves[case] = [(machines, *point) for machines, point in points if point]
    return found


def table(measured):
    lines = ["| experiment | batch | gradients, MB | step, ms | network | scaling | " +
             " | ".join(f"{n} machines" for n in SHOWN) + " |", "|---" * (6 + len(SHOWN)) + "|"]
    found = predictions(measured)
    for case, (batch, timelines) in measured.cases.items():
        whole = timelines[batch]
        for name in NETWORKS:
            for scaling in SCALINGS:
                cells = {machines: f"{ratio:.1f} {best}" for machines, ratio, best in found[scaling, name][case]}
                lines.append(f"| {case} | {batch} | {whole.bytes / 1e6:.1f} | {1e3 * whole.whole:.1f} | {name} | {scaling} | " +
                             " | ".join(cells.get(n, "-") for n in SHOWN) + " |")
    return "\n".join(lines) + "\n"


def script(measured, commit):
    """gnuplot's: a panel for each kind of scaling and network."""
    lines = ["set terminal svg enhanced size 1000,760 font 'sans,12' name 'scaling' background rgb 'white'",
             f"set multiplot layout 2,2 title 'Predicted speed-up over one machine (commit {commit})'",
             "set logscale xy 2", "set xrange [1:1024]", "set yrange [0.0625:1024]", "set xlabel 'machines'",
             "set ylabel 'speed-up'", "set key left top samplen 2 font ',9'", "set grid lc rgb '#dddddd'"]
    first_panel = len(lines) + 1
    for (scaling, network), curves in predictions(measured).items():
        lines.append(f"set title '{scaling} scaling, {network}'")
        if len(lines) > first_panel:
            lines.append("set key off")
        plots = ["x with lines dashtype 2 lc rgb '#999999' title 'ideal'"]
        plots += [f"'-' with linespoints pt 7 ps 0.4 lw 1.5 lc rgb '{COLORS[i]}' title '{case}'" for i, case in enumerate(curves)]
        lines.append("plot " + ", ".join(plots))
        for points in curves.values():
            lines += [f"{machines} {ratio:.6g}" for machines, ratio, _ in points] + ["e"]
    return "\n".join([*lines, "unset multiplot"]) + "\n"


def figure(measured, commit):
    """As SVG; None without gnuplot."""
    try:
        drawn = subprocess.run(["gnuplot", "--default-settings"], input=script(measured, commit), capture_output=True, text=True)
    except OSError:
        return None
    if drawn.returncode:
        raise RuntimeError(f"gnuplot: {drawn.stderr.strip()}")
    return drawn.stdout
