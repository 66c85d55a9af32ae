#!/usr/bin/env bash
# tools/paper-curves.py on a small PDF with known curves; and, where PAPER is the paper's, that the committed points are its.
source "$(dirname "$0")/checks.sh"
root=${lamina%/build/lamina}
if ! command -v mutool >/dev/null; then
  echo "skipped: tools/paper-curves.py needs mutool (tools/install-deps.sh --dev)"
  skipped=13
  finish
  exit
fi

# A page with two frames as matplotlib draws them: a linear one, whose x axis is 0 to 10 and y 20 to 30, and a logarithmic
# one, 1 to 100 and 1e-3 to 1. Of both lines in the first one leaves the frame twice, and one is dashed.
cat >make.py <<'EOF'
import importlib.util, json, math, sys
spec = importlib.util.spec_from_file_location("paper_curves", sys.argv[1])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)

def frame(left, x_labels, y_labels, curves):
    place = lambda x, y: (left + 200 * x, 400 + 100 * y)  # of fractions of the axes
    line = lambda *points: " ".join(f"{a:.4f} {b:.4f} {'l' if i else 'm'}" for i, (a, b) in enumerate(points)) + " S\n"
    label = lambda at, text: "BT /F 8 Tf 1 0 0 1 %.2f %.2f Tm (%s) Tj ET\n" % (*at, text) if "^" not in text else \
        "BT /F 8 Tf 1 0 0 1 %.2f %.2f Tm (10) Tj /F 5 Tf 1 0 0 1 %.2f %.2f Tm (%s) Tj ET\n" % (*at, at[0] + 8.9, at[1] + 3, text[3:])
    drawn = ""
    for color, dash, points, _ in curves:
        drawn += f"q {left} 400 200 100 re W n {color} RG [{dash}] 0 d 1 w {line(*[place(*p) for p in points])}Q\n"
    for axis, labels in ((0, x_labels), (1, y_labels)):
        for i, text in enumerate(labels):
            at = i / (len(labels) - 1)
            (ax, ay), (bx, by) = (place(at, 0), place(at, 1)) if axis == 0 else (place(0, at), place(1, at))
            mark = (0, 2) if axis == 0 else (2, 0)
            drawn += line((ax, ay), (ax + mark[0], ay + mark[1])) + line((bx, by), (bx - mark[0], by - mark[1]))
            drawn += label((ax - 20, ay - 15), text)
    drawn += label((left + 50, 380), "iterations") + line((left, 500), (left + 200, 500))
    for i, (color, dash, _, name) in enumerate(curves):
        drawn += f"q {color} RG [{dash}] 0 d {line((left + 120, 480 - 9 * i), (left + 140, 480 - 9 * i))}Q\n" + label((left + 145, 478 - 9 * i), name)
    return drawn

steps = [i / 500 for i in range(501)]
noise = [0.5 + 0.4 * math.sin(977 * x) * x for x in steps]
page = frame(50, ["0", "5", "10"], ["20", "25", "30"],
             [("1 0 0", "", [(0, 0.5), (0.2, 1.5), (0.4, 0.5), (0.6, 0.25), (0.8, 0.25), (1, 0.75)], "LN"),
              ("0 0 1", "3 2", [*zip(steps, noise)], "Base line")])
page += frame(320, ["10^0", "10^1", "10^2"], ["10^-3", "10^-2", "10^-1", "10^0"],
              [("1 0 0", "", [(0, 1), (0.5, 0.5), (0.6, 0.4), (0.75, 0.1), (1, 0)], "LN")])
parts = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
         "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
         f"<</Length {len(page)}>>\nstream\n{page}endstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
pdf, places = "%PDF-1.4\n", []
for i, part in enumerate(parts, 1):
    places.append(len(pdf))
    pdf += f"{i} 0 obj\n{part}\nendobj\n"
pdf += f"xref\n0 6\n0000000000 65535 f \n" + "".join(f"{p:010d} 00000 n \n" for p in places) + f"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n{len(pdf)}\n%%EOF\n"
open("small.pdf", "w").write(pdf)

known = [*reader.panels(1, 1, "figure-1", ("steps", 300, 0), ("R", 0.01, 0), {"LN": "layer", "Base line": ("none", "other")}, ("(a)", "r1", "")),
         *reader.panels(2, 1, "figure-6", ("epoch", 1, 1), ("NLL", 1, 0), {"LN": "layer"}, ("", "nll", "batch size 4"))]
json.dump({"read": reader.document_of("small.pdf", known), "noise": [[10 * x, 20 + 10 * y] for x, y in zip(steps, noise)]}, open("read.json", "w"))
known[1]["curves"] = {"WN": "weight"}
reader.document_of("small.pdf", known)
EOF
status=0
python3 make.py "$root/tools/paper-curves.py" 2>err || status=$?
check "a legend with other names is refused in one line" grep -qx "Figure 2 : found \['LN'\], not \['WN'\]; give it version 1 of arXiv 1607.06450" err
check "with an exit code" [ $status = 1 ]

reads() {  # reads EXPRESSION, of the two panels a and b
  python3 - "$1" <<'EOF' || { python3 -c 'print(str(__import__("json").load(open("read.json"))["read"])[:2000])'; return 1; }
import json, sys
made = json.load(open("read.json"))
a, b = made["read"]["panels"]
near = lambda found, wanted, off: len(found) == len(wanted) and all((f is None) == (w is None) and (f is None or abs(f - w) <= off) for f, w in zip(found, wanted))
sys.exit(not eval(sys.argv[1], {"a": a, "b": b, "near": near, "noise": made["noise"]}))
EOF
}
check "linear axes from their marks" reads 'a["x"]["ends"] == [0, 10] and a["y"]["ends"] == [20, 30] and a["x"]["scale"] == "linear" and a["x"]["times"] == 300'
check "logarithmic ones from their powers" reads 'b["x"]["ends"] == [1, 100] and b["y"]["ends"] == [0.001, 1] and b["x"]["scale"] == b["y"]["scale"] == "log" and b["x"]["plus"] == 1'
check "names by colour and dash, with norm and column" reads '[(c["name"], c["norm"], c["column"]) for c in a["curves"]] == [("LN", "layer", "r1"), ("Base line", "none", "other")]'
check "a line's width in units of the axes" reads 'a["y"]["line"] == 0.1 and a["x"]["line"] == 0.05 and b["x"]["line"] == 1.023'
check "its corners, with a gap where it leaves the frame" reads 'near(a["curves"][0]["x"], [0, 1, None, 3, 4, 6, 8, 10], 0.01) and near(a["curves"][0]["y"], [25, 30, None, 30, 25, 22.5, 22.5, 27.5], 0.01)'
check "the same of powers; a corner on the way of a straight line is none" reads 'near(b["curves"][0]["x"], [1, 15.85, 31.62, 100], 0.01) and near(b["curves"][0]["y"], [1, 0.01585, 0.001995, 0.001], 1e-5)'
check "a long line is thinned to 200 points" reads 'len(a["curves"][1]["x"]) == 200'
check "which are its own" reads 'all(min(abs(x - n[0]) + abs(y - n[1]) for n in noise) < 0.012 for x, y in zip(a["curves"][1]["x"], a["curves"][1]["y"]))'
thinned_says() {
  python3 - <<'EOF'
import bisect, json
made = json.load(open("read.json"))
curve = made["read"]["panels"][0]["curves"][1]
off = 0
for x, y in made["noise"]:
    i = min(max(bisect.bisect(curve["x"], x + 0.005), 1), 199)
    (x0, x1), (y0, y1) = curve["x"][i - 1:i + 1], curve["y"][i - 1:i + 1]
    off = max(off, abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y))
assert abs(off - curve["thinned"]) < 0.1 * off, (off, curve["thinned"])
EOF
}
check "and no other lies farther off than it says" thinned_says

check "another PDF is refused in one line" grep -qx "small.pdf: page 6 has 2 panels with curves, not 3; give it version 1 of arXiv 1607.06450" <("$root/tools/paper-curves.py" small.pdf 2>&1)
if [ -n "${PAPER:-}" ]; then
  check "the committed points are the paper's" cmp <("$root/tools/paper-curves.py" "$PAPER" 2>/dev/null) "$root/tools/report/paper/curves.json"
else
  echo "skipped: the committed points beside the paper; PAPER is to name version 1 of arXiv 1607.06450"
fi
finish
