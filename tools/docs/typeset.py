#!/usr/bin/env python3
"""Doxygen's filter for a header: writes it with the comments' formulas typeset.

The comment that opens a header, behind #pragma once, becomes the file's description. In it and in every /// comment, lines
that are indented by three blanks or more are a program where they look like one, and otherwise formulas:

    y = gain (a - mu) / sqrt(sigma^2 + epsilon) + bias

becomes y = gain (a - μ) / √(σ² + ε) + bias with real sub- and superscripts; two blanks or more divide columns.
"""
import html
import re
import sys

GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "lambda": "λ",
         "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ"}
SIGNS = {"sqrt(": "√(", "<-": "←", "->": "→", "...": "…", " - ": " − ", " * ": " · "}
PROGRAM = re.compile(r";\s*(//.*)?$|^\s*//|[{}]\s*$|\{\{?\.|\w\(\w*, \"|std::|\.\w+\(|^\w+ \w+\(")


def greek(text):
    """Also as an index's or a derivative's stem: sigma_B, dmu."""
    names = "|".join(GREEK)
    return re.sub(rf"(?<![A-Za-z])(d?)({names})(?![A-Za-z])", lambda m: m[1] + GREEK[m[2]], text)


def formula(text):
    """One cell, as HTML."""
    text = html.escape(text, quote=False)
    for plain, sign in SIGNS.items():
        text = text.replace(html.escape(plain, quote=False), sign)
    text = re.sub(r"(?<![A-Za-z])sum(?![A-Za-z])", "Σ", text.replace("sum_", "Σ_"))
    text = greek(text)
    text = re.sub(r"\^(\([^()]*\)|\{[^{}]*\}|-?\w+)", lambda m: f"<sup>{m[1].strip('(){}')}</sup>", text)
    return re.sub(r"(?<=[\w)])_(\{[^{}]*\}|\w+(?:[-+]\d)?)", lambda m: f"<sub>{m[1].strip('{}')}</sub>", text)


def block(lines):
    """Indented lines of a comment, without their slashes."""
    if any(PROGRAM.search(line.strip()) for line in lines):
        return ["", "@code{.cpp}", *lines, "@endcode", ""]
    rows = []
    for line in lines:
        margin = len(line) - len(line.lstrip())
        cells = re.split(r" {2,}", line.strip())
        if rows and margin > 6:  # goes on with the last column of the line above
            cells = [""] + cells
        rows.append("<tr>" + "".join(f"<td>{formula(cell)}</td>" for cell in cells) + "</tr>")
    return ["", "@htmlonly[block]", '<table class="formula">', *rows, "</table>", "@endhtmlonly", ""]


def prose(text):
    """No comment contains HTML, so < is a less-than. A line may begin with a formula, which two blanks end."""
    begins = re.match(r" *[A-Za-z]\w*(\[\w*\])? = .*?(?=  |[.;] |[.;:]$|, with |$)", text)
    if begins and "`" not in begins[0]:
        return formula(begins[0]) + prose_only(text[begins.end():])
    return prose_only(text)


def prose_only(text):
    text = text.replace("et al. ", "et al.\\ ")  # no end of a sentence
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def comment(lines):
    """The lines of one comment, without their slashes."""
    done, indented = [], []
    for line in [*lines, None]:
        if line is not None and re.match(r" {3,}\S", line):
            indented.append(line)
            continue
        if indented:
            done += block(indented)
            indented = []
        if line is not None:
            done.append(prose(line))
    return done


def filtered(source):
    """The header with its comments laid out; other lines stay as they are."""
    result, group, opening = [], [], False
    for line in [*source.split("\n"), ""]:
        match = re.match(r"( *)//(/?)(?!<)(.*)$", line)
        begins = bool(match) and not match[2] and not group and result[-1:] == ["#pragma once"]
        opening = begins or (opening and bool(match))
        if match and (match[2] or opening) and not match[3].startswith("/<"):
            if begins:
                group.append(" @file")
            group.append(match[3])
            continue
        if group:
            # Lines of /// would keep their slashes inside of @htmlonly.
            result += ["/**", *(text.replace("*/", "*&#47;") for text in comment(group)), "*/"]
            group = []
        code, mark, behind = line.partition("///<")
        result.append(code + mark + prose_only(behind))
    return "\n".join(result[:-1])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    sys.stdout.write(filtered(text) if sys.argv[1].endswith(".h") else text)
