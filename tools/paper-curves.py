#!/usr/bin/env python3
"""The paper's curves as points. Its figures are drawings: the lines' corners stand in the PDF, and the marks of the axes with
their labels say what they are in the axes' units. Nothing is measured by eye.

    tools/paper-curves.py 1607.06450v1.pdf >tools/report/paper/curves.json

The PDF is version 1 of arXiv 1607.06450; it is no part of this repository. Needs mutool (Debian's mupdf-tools). For every
panel it prints on stderr how many marks of each axis have labels, and how far a label's value lies at most from its mark,
in points of the page.

The file says for each panel: figure, page and place; of both axes what the paper calls them, their scale, the ends of the
frame, the width of a curve's line in their units ("line"; of a logarithmic axis the factor between its edges), and how their
numbers become those of our column ("ours": value * times + plus); and the curves by their names in the legend, with our
column and norm. A curve is cut at the frame and thinned to 200 points: "thinned" is how far the line through them lies at
most from one that was left out, in units of y (a factor on a logarithmic axis). null is a gap. Shaded bands are left out.
"""
import collections
import json
import math
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

MOST_POINTS = 200
WANTED = "give it version 1 of arXiv 1607.06450"
Stroke = collections.namedtuple("Stroke", "points color dash width clip")  # points: of pieces; in points of the page
Word = collections.namedtuple("Word", "text exponent")
Axis = collections.namedtuple("Axis", "log slope offset ends labels error")  # value (or its logarithm): slope * place + offset
Curve = collections.namedtuple("Curve", "name pieces width")
Panel = collections.namedtuple("Panel", "x y curves")


# --- What is drawn on a page, in its order

def path_of(element):
    """The pieces of a path of straight lines, in points of the page; none for a path with arcs or one that is closed."""
    a, b, c, d, e, f = map(float, element.get("transform").split())
    pieces = []
    for step in element:
        if step.tag not in ("moveto", "lineto"):
            return []
        x, y = float(step.get("x")), float(step.get("y"))
        if step.tag == "moveto":
            pieces.append([])
        pieces[-1].append((a * x + c * y + e, b * x + d * y + f))
    return pieces


def box_of(element):
    """The rectangle around a path: left, top, right, bottom."""
    a, b, c, d, e, f = map(float, element.get("transform").split())
    steps = [(float(s.get("x")), float(s.get("y"))) for s in element if s.get("x")]
    xs, ys = [a * x + c * y + e for x, y in steps], [b * x + d * y + f for x, y in steps]
    return min(xs), min(ys), max(xs), max(ys)


def words_of(element):
    """Its words; of `10` with a raised number behind it, that number as the exponent."""
    words, last = [], None
    for span in element:
        trm = [float(v) for v in span.get("trm").split()]
        size = math.hypot(trm[0], trm[1])
        for glyph in span:
            x, y = float(glyph.get("x")), float(glyph.get("y"))
            text = glyph.get("unicode").replace("\N{MINUS SIGN}", "-")
            raised = last and words[-1][0] == "10" and size < 0.9 * last[0] and x - last[1] < size
            follows = last and size == last[0] and abs(y - last[2]) < 0.1 * size and abs(x - last[1]) < 0.5 * size
            if raised or (follows and words[-1][1]):
                words[-1][1] += text
            elif follows:
                words[-1][0] += text
            else:
                words.append([text, ""])
            last = (size, x + size * float(glyph.get("adv")), y)
    return [Word(text.strip(), exponent) for text, exponent in words if text.strip()]


def drawn_on(pdf, page):
    """The strokes and words of a page, as they come."""
    if not shutil.which("mutool"):
        sys.exit("this needs mutool; install Debian's mupdf-tools")
    trace = subprocess.run(["mutool", "trace", pdf, str(page)], capture_output=True, text=True)
    if trace.returncode != 0 or "<page" not in trace.stdout:
        sys.exit(f"{pdf}: mutool cannot read page {page} of it; {WANTED}")
    items, clips = [], []
    for element in xml.etree.ElementTree.fromstring(trace.stdout).iter():
        if element.tag.startswith("clip_"):
            clips.append(box_of(element) if element.tag == "clip_path" else None)
        elif element.tag == "pop_clip":
            clips.pop()
        elif element.tag == "stroke_path" and path_of(element):
            scale = math.hypot(*[float(v) for v in element.get("transform").split()[:2]])
            items.append(Stroke(path_of(element), element.get("color"), element.get("dash"),
                                scale * float(element.get("linewidth")), clips[-1] if clips else None))
        elif element.tag == "fill_text":
            items += words_of(element)
    return items


# --- Axes and legends

def line_through(marks):
    """Least squares: slope, offset and the largest distance, in points of the page."""
    mean_place, mean_value = (sum(column) / len(marks) for column in zip(*marks))
    slope = (sum((p - mean_place) * (v - mean_value) for p, v in marks) /
             sum((p - mean_place) ** 2 for p, _ in marks))
    offset = mean_value - slope * mean_place
    return slope, offset, max(abs((v - offset) / slope - p) for p, v in marks)


def is_line(item):
    return isinstance(item, Stroke) and len(item.points) == 1 and len(item.points[0]) == 2


def axis_of(items, frame, across):
    """From the marks on the frame's lower (across = 0) or left edge (1). matplotlib draws a mark, its twin on the other
    edge, and its label."""
    edge = frame[0] if across else frame[3]
    marks, log = [], False
    for mark, label in zip(items, items[2:]):
        if not (is_line(mark) and isinstance(label, Word) and re.fullmatch(r"-?[\d.]+", label.text)):
            continue  # or else the mark has no label, and the axis's name follows
        (x0, y0), (x1, y1) = mark.points[0]
        along, begins, length = (y0, x0, x1 - x0) if across else (x0, y0, y0 - y1)
        if abs(begins - edge) > 0.1 or not 0 < length < 4 or not frame[across] - 0.1 < along < frame[across + 2] + 0.1:
            continue
        log = log or label.exponent != ""
        marks.append((along, float(label.exponent or label.text)))
    if len(marks) < 3:
        sys.exit(f"an axis of the frame at {frame} has {len(marks)} marks with labels; there should be three or more")
    slope, offset, error = line_through(marks)
    if error > 0.05:
        sys.exit(f"the labels of the frame at {frame} lie up to {error:.3f} points from where they should")
    ends = [next((value for place, value in marks if abs(place - end) < 0.05), slope * end + offset)
            for end in (frame[across], frame[across + 2])]
    return Axis(log, slope, offset, sorted(ends), len(marks), error)


def legend_of(items):
    """The names beside pieces of line, by the line's colour and dash."""
    names = {}
    for stroke, word in zip(items, items[1:]):
        if is_line(stroke) and isinstance(word, Word):
            (x0, y0), (x1, y1) = stroke.points[0]
            if y0 == y1 and x1 - x0 > 4:
                names.setdefault((stroke.color, stroke.dash), word.text)
    return names


def panels_on(pdf, page):
    """Every frame of the page with lines of five points or more in it, in the order in which they are drawn."""
    items = drawn_on(pdf, page)
    curves, last = {}, {}
    for i, item in enumerate(items):
        if isinstance(item, Stroke) and item.clip and sum(map(len, item.points)) >= 5:
            curves.setdefault(item.clip, []).append(item)
            last.setdefault(item.clip, i)
    begins = [*last.values(), len(items)]
    panels = []
    for (frame, strokes), begin, end in zip(curves.items(), begins, begins[1:]):
        own = items[begin:end]
        x, y = axis_of(own, frame, 0), axis_of(own, frame, 1)
        names = legend_of(own)
        panels.append(Panel(x, y, [Curve(names.get((stroke.color, stroke.dash)), clipped(stroke.points, frame), stroke.width)
                                   for stroke in strokes]))
    return panels


# --- Lines

def part_inside(start, stop, frame):
    """The part of a piece of line that lies in the frame, or None (Liang and Barsky)."""
    first, last = 0.0, 1.0
    for k in (0, 1):
        way = stop[k] - start[k]
        for side, sign in ((frame[k] - 0.03, 1), (frame[k + 2] + 0.03, -1)):
            room = sign * (side - start[k])
            if way == 0:
                if room > 0:
                    return None
            elif sign * way > 0:
                first = max(first, room / (sign * way))
            else:
                last = min(last, room / (sign * way))
    if first >= last:
        return None
    return [tuple(start[k] + t * (stop[k] - start[k]) for k in (0, 1)) for t in (first, last)]


def clipped(pieces, frame):
    """What of a line is to be seen in the frame."""
    seen = []
    for piece in pieces:
        for start, stop in zip(piece, piece[1:]):
            part = part_inside(start, stop, frame)
            if part and seen and seen[-1][-1] == part[0]:
                seen[-1].append(part[1])
            elif part:
                seen.append(part)
    return seen


def farthest(piece, first, last):
    """The point between two of a line from which the straight line between them is farthest upwards or downwards."""
    (x0, y0), (x1, y1) = piece[first], piece[last]
    off = [(abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y) if x1 != x0 else abs(y - y0), i)
           for i, (x, y) in enumerate(piece[first + 1:last], first + 1)]
    return max(off, default=(0.0, first))


def thinned(pieces, most):
    """As many points, or the ends of all pieces, those of corners first (Douglas and Peucker); and how far the others lie
    off at most."""
    kept = [{0, len(piece) - 1} for piece in pieces]
    open_parts = [(*farthest(piece, 0, len(piece) - 1), p, 0, len(piece) - 1) for p, piece in enumerate(pieces)]
    while open_parts and sum(map(len, kept)) < most:
        part = max(open_parts)
        off, middle, p, first, last = part
        if off < 0.005:  # points of the page, a hundredth of a line's width
            break
        open_parts.remove(part)
        kept[p].add(middle)
        open_parts += [(*farthest(pieces[p], *ends), p, *ends) for ends in ((first, middle), (middle, last))]
    return [[piece[i] for i in sorted(chosen)] for piece, chosen in zip(pieces, kept)], max(open_parts)[0]


# --- What the paper's figures are, beyond what is written in them

def panels(figure, page, exhibit, x, y, curves, *places):
    """places: (which, column, facet). x, y: (name, times, plus) to our columns. curves: name: norm, or (norm, column)."""
    return [{"figure": figure, "panel": which, "page": page, "exhibit": exhibit, "facet": facet, "x": x, "y": y,
             "column": column, "curves": curves} for which, column, facet in places]


def recall(which, y, column):
    return panels(1, 6, "figure-1", ("iteration x 300", 300, 0), (y, 1, 0),
                  {"Order-Embedding + LN": "layer", "Order-Embedding": "none"}, (which, column, ""))


def scores(y, *places):
    return panels(3, 8, "figure-3", ("iteration x 50000", 50000, 0), y,
                  {"Skip-Thoughts + LN": "layer", "Skip-Thoughts": "none", "Original": "level"}, *places)


def digits(which, batch, y, column):
    # Its epochs count from 0: at 0 the networks err on 2 to 3%, so they are trained already.
    return panels(6, 10, "figure-6", ("Epoch", 1, 1), (y, 1, 0),
                  {f"BatchNorm bz{batch}": "batch", f"Baseline bz{batch}": "none", f"LayerNorm bz{batch}": "layer"},
                  (which, column, f"batch size {batch}"))


PAPER = [
    *recall("(a) Recall@1", "mean Recall@1", "valid_image_r1"), *recall("(b) Recall@5", "mean Recall@5", "valid_image_r5"),
    *recall("(c) Recall@10", "mean Recall@10", "valid_image_r10"),
    *panels(2, 7, "figure-2", ("training steps (thousands)", 1000, 0), ("validation error rate", 1, 0),
            {"LSTM": "none", "BN-LSTM": "batch", "BN-everywhere": "batch-everywhere", "LN-LSTM": "layer"},
            ("", "valid_error", "")),
    *scores(("Pearson x 100", 0.01, 0), ("(a) SICK(r)", "sick_r", "")),
    *scores(("MSE x 100", 0.01, 0), ("(b) SICK(MSE)", "sick_mse", "")),
    *scores(("Accuracy", 1, 0), ("(c) MR", "mr", ""), ("(d) CR", "cr", ""),
            ("(e) SUBJ", "subj", ""), ("(f) MPQA", "mpqa", "")),
    *panels(5, 9, "figure-5", ("Updates x 200", 200, 0), ("Negative Log Likelihood", 1, 0),
            {"Baseline test": ("none", "test_nll"), "Baseline train": ("none", "train_nll"),
             "LN test": ("layer", "test_nll"), "LN train": ("layer", "train_nll")}, ("", "", "")),
    *panels(4, 9, "figure-4", ("Epoch", 1, 0), ("Test Variational Bound", 1, 0),
            {"Baseline": "none", "WN": "weight", "LN": "layer"}, ("", "test_bound", "")),
    *digits("upper left", 128, "Train NLL", "train_nll"), *digits("lower left", 128, "Test Err.", "test_error"),
    *digits("upper right", 4, "Train NLL", "train_nll"), *digits("lower right", 4, "Test Err.", "test_error"),
]


# --- The file

def rounded(axis, value):
    """A value of the axis, or its logarithm, to less than a thousandth of the axis; that of a logarithmic one to 4 digits."""
    if axis.log:
        return float(f"{10 ** value:.4g}")
    return round(value, 3 - math.floor(math.log10(axis.ends[1] - axis.ends[0]))) + 0.0  # no -0.0


def value_at(axis, place):
    return rounded(axis, axis.slope * place + axis.offset)


def extent(axis, points):
    """How much some points of the page are on the axis; a factor on a logarithmic one."""
    return rounded(axis, abs(points * axis.slope))


def axis_json(axis, known, width):
    name, times, plus = known
    return {"name": name, "scale": "log" if axis.log else "linear", "line": extent(axis, width),
            "ends": [rounded(axis, end) for end in axis.ends], "times": times, "plus": plus}


def curve_json(panel, curve, norm, column):
    pieces, off = thinned(curve.pieces, MOST_POINTS)
    points = [point for piece in pieces for point in (*piece, None)][:-1]
    return {"name": curve.name, "norm": norm, "column": column, "thinned": extent(panel.y, off),
            "x": [point and value_at(panel.x, point[0]) for point in points],
            "y": [point and value_at(panel.y, point[1]) for point in points]}


def panel_json(known, panel):
    if {curve.name for curve in panel.curves} != set(known["curves"]):
        sys.exit(f"Figure {known['figure']} {known['panel']}: found {[curve.name for curve in panel.curves]}, "
                 f"not {list(known['curves'])}; {WANTED}")
    width = panel.curves[0].width
    curves = []
    for curve in panel.curves:
        own = known["curves"][curve.name]
        norm, column = own if isinstance(own, tuple) else (own, known["column"])
        curves.append(curve_json(panel, curve, norm, column))
    return {**{key: known[key] for key in ("figure", "panel", "page", "exhibit", "facet")},
            "x": axis_json(panel.x, known["x"], width), "y": axis_json(panel.y, known["y"], width), "curves": curves}


def document_of(pdf, known_panels):
    """The panels of a PDF that should be these: in the order of its pages, and on each in the order of drawing."""
    found = []
    for page in sorted({known["page"] for known in known_panels}):
        on_page, known_here = panels_on(pdf, page), [known for known in known_panels if known["page"] == page]
        if len(on_page) != len(known_here):
            sys.exit(f"{pdf}: page {page} has {len(on_page)} panels with curves, not {len(known_here)}; {WANTED}")
        for known, panel in zip(known_here, on_page):
            found.append(panel_json(known, panel))
            print(f"Figure {known['figure']} {known['panel']}: x {panel.x.labels} labels within {panel.x.error:.4f} points, "
                  f"y {panel.y.labels} within {panel.y.error:.4f}; {len(panel.curves)} curves", file=sys.stderr)
    found.sort(key=lambda each: each["figure"])
    return {"source": "arXiv 1607.06450, version 1; read off its figures by tools/paper-curves.py", "panels": found}


def text_of(document):
    """JSON with a line for each panel and each curve."""
    lines = []
    for panel in document["panels"]:
        head = json.dumps({key: value for key, value in panel.items() if key != "curves"})[:-1]
        lines.append(f"{head}, \"curves\": [\n" + ",\n".join(" " + json.dumps(curve) for curve in panel["curves"]) + "]}")
    return f"{{\"source\": {json.dumps(document['source'])}, \"panels\": [\n" + ",\n".join(lines) + "]}\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/paper-curves.py 1607.06450v1.pdf >tools/report/paper/curves.json")
    sys.stdout.write(text_of(document_of(sys.argv[1], PAPER)))
