# SPDX-License-Identifier: Apache-2.0
"""svg.py - what pictures are drawn of: shapes and texts in the colors of
classes, light or dark as the reader has it, and rows of charts."""

WIDTH = 420

# (name, light, dark); a class of each name fills, `-line` strokes.
COLORS = (
    ("ground", "#ffffff", "#1b2029"), ("ink", "#1c2733", "#e8edf3"),
    ("soft", "#5b6775", "#a9b4c1"), ("rule", "#d5dce4", "#3a4452"),
    ("ours", "#2b6cb0", "#5a9bdc"), ("theirs", "#2f855a", "#4fae7d"),
    ("margin", "#bcd3ec", "#34516f"), ("idle", "#c3cbd5", "#566273"),
    ("bad", "#b3261e", "#f0857d"),
    ("none", "#d3ecdc", "#23523a"), ("some", "#fbe7b8", "#5d4a17"),
    ("all", "#f6cfcb", "#6b2a26"), ("on", "#ffffff", "#10151c"),
)


def style():
    def rules(index):
        return "".join(f".{name}{{fill:{row[index]}}}"
                       f".{name}-line{{stroke:{row[index]};fill:none}}"
                       for row in COLORS for name in row[:1])
    return ("<style>text{font:12px system-ui,sans-serif}"
            ".head{font-weight:600;font-size:13.5px}.mark{font-weight:600}"
            ".small{font-size:11px}"
            f"{rules(1)}@media(prefers-color-scheme:dark){{{rules(2)}}}"
            "</style>")


def text(x, y, what, kind="ink", anchor="start"):
    return (f'<text x="{x}" y="{y}" class="{kind}" '
            f'text-anchor="{anchor}">{what}</text>')


def box(x, y, width, height, kind, round_by=3):
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{height}" '
            f'rx="{round_by}" class="{kind}"/>')


def line(x1, y1, x2, y2, kind, width=1.5, dash=""):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<path d="M{x1} {y1}L{x2} {y2}" class="{kind}-line" '
            f'stroke-width="{width}"{dashed}/>')


def document(height, title, said, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-labelledby="t d"><title id="t">{title}</title>'
            f'<desc id="d">{said}</desc>\n{style()}\n'
            + box(0, 0, WIDTH, height, "ground", 8) + "\n"
            + "\n".join(parts) + "\n</svg>\n")


def bars(y, left, height, spreads, place, ours):
    """A row of a chart: a bar up to the median of each (least, median, most), the
    first of them in front, and a line across its end from the least to the most.
    place() is where a value is. Returns the parts, and where they end."""
    parts, end = [], 0
    for number, spread in reversed(list(enumerate(spreads))):
        least, middle, most = map(place, spread)
        kind = "margin" if number > 0 else "ours" if ours else "idle"
        parts += [box(left, y, round(middle - left, 1), height, kind, 2),
                  line(round(least, 1), y + height // 2, round(most, 1),
                       y + height // 2, "ink", 1)]
        end = max(end, most)
    return parts, end
