#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plot what bench_timeline measured.

    build/bench/bench_timeline --json | tools/plot_timeline.py \
        > docs/pictures/timeline.svg

One bar for each store and way, on a logarithmic scale: the median and the 99th
percentile of a page, the processor time of the server, the bytes moved.
"""

import json
import math
import sys

WIDTH, LEFT, ROW, TOP = 760, 190, 18, 40
PANELS = (
    ("p50_us", "p99_us", "time of a page, µs: median, and 99th percentile"),
    ("server_cpu_us", None, "processor time of the server for a page, µs"),
    ("bytes", None, "bytes moved for a page"),
)
NAMES = {
    ("embedded", "timeline"): "timeline, embedded",
    ("server", "timeline"): "timeline, server",
    ("server", "sort"): "SORT ... BY ... GET",
    ("server", "fetch"): "fetch all and sort",
    ("server", "scan"): "SCAN, fetch and sort",
}


def text(x, y, what, **more):
    given = "".join(f' {name.replace("_", "-")}="{value}"'
                    for name, value in more.items())
    return f'<text x="{x:.0f}" y="{y:.0f}"{given}>{what}</text>'


def bar(x, y, width, color):
    return (f'<rect x="{x:.0f}" y="{y:.0f}" width="{max(width, 1):.0f}" '
            f'height="{ROW - 5}" fill="{color}"/>')


def panel(rows, name, tail, title, top):
    rows = [row for row in rows if row.get(name, 0) > 0]
    least = min(row[name] for row in rows)
    most = max(row.get(tail) or row[name] for row in rows)
    low = math.floor(math.log10(least))
    high = max(math.ceil(math.log10(most)), low + 1)

    def place(value):
        return LEFT + (math.log10(value) - low) / (high - low) * (
            WIDTH - LEFT - 90)

    out = [text(10, top + 14, title, font_weight="bold")]
    y = top + 24
    for row in rows:
        out.append(text(LEFT - 8, y + 11, NAMES[row["store"], row["way"]],
                        text_anchor="end"))
        end = place(row[name])
        label = f"{row[name]:,.0f}"
        if tail:
            out.append(bar(LEFT, y, place(row[tail]) - LEFT, "#c6d7ea"))
            label += f" / {row[tail]:,.0f}"
        color = "#2b6cb0" if row["way"] == "timeline" else "#8795a5"
        out.append(bar(LEFT, y, end - LEFT, color))
        out.append(text(max(end, place(row[tail]) if tail else 0) + 6, y + 11,
                        label))
        y += ROW
    return out, y + 12


def main():
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    items = rows[0]["items"]
    out, y = [], TOP
    for name, tail, title in PANELS:
        lines, y = panel(rows, name, tail, title, y)
        out += lines
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
          f'height="{y:.0f}" font-family="sans-serif" font-size="12">')
    print(f'<rect width="{WIDTH}" height="{y:.0f}" fill="white"/>')
    print(text(10, 22, f"A page of 20 of {items:,} items, by an attribute, while "
               "1000 items/s are added and expire", font_size="14"))
    print("\n".join(out))
    print("</svg>")


if __name__ == "__main__":
    main()
