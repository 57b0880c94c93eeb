#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plot what bench_peers.py measured.

    bench_peers.py --json build/bench | tools/plot_peers.py FOLDER

A picture for each group of figures. A bar is the median of the rounds, the line
across its end goes from the least to the greatest, on a logarithmic scale.
"""

import json
import math
import sys
from pathlib import Path

from svg import bars, document, text

LEFT, RIGHT, ROW = 130, 318, 20
OURS = "holdfast"
# (name of the picture, title, (title of a panel, its figures))
PICTURES = (
    ("pair", "A lock that no one else wants",
     (("acquire and release, µs", ("pair",)),)),
    ("hand_over", "Two processes want one lock",
     (("from a release to the next holder, µs: p50 / p99",
       ("hand_over_p50", "hand_over_p99")),)),
    ("commit", "Values that are on the disk",
     (("a second, by one thread", ("commit_1",)),
      ("a second, by 32 threads", ("commit_32",)))),
    ("values", "Values of 100 bytes",
     (("set, µs", ("set",)), ("get, µs", ("get",)))),
    ("queue", "Jobs of a work queue",
     tuple((f"taken and ended a second, {said}", (f"queue_{count}",))
           for count, said in ((1, "one worker"), (10, "10 workers"),
                               (50, "50 workers")))),
    ("queue_wait", "A job that a worker waits for",
     (("from the put until it has it, µs: p50 / p99",
       ("queue_p50", "queue_p99")),)),
    ("queue_cost", "What a job costs",
     (("processor time of clients, µs", ("queue_client",)),
      ("processor time of the server, µs", ("queue_server",)),
      ("requests", ("queue_requests",)))),
)


def spread(line):
    return (min(line["best"], line["worst"]), line["median"],
            max(line["best"], line["worst"]))


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def panel(y, title, rows):
    """rows: {who: the lines of its figures}"""
    values = [value for lines in rows.values() for line in lines
              for value in spread(line) if value > 0]
    low, high = math.log10(min(values)) - 0.3, math.log10(max(values))

    def place(value):
        at = math.log10(value) if value > 0 else low
        return LEFT + max(at - low, 0) / (high - low) * (RIGHT - LEFT)

    out = [text(12, y, title, "ink mark")]
    y += 12
    for who, lines in rows.items():
        ours = who.startswith(OURS)
        out.append(text(LEFT - 8, y + 11, who, "ink mark" if ours else "ink",
                        "end"))
        parts, end = bars(y, LEFT, ROW - 6, [spread(line) for line in lines],
                          place, ours)
        said = " / ".join(number(line["median"]) for line in lines)
        out += parts + [text(round(end + 6, 1), y + 11, said, "ink small")]
        y += ROW
    return out, y


def picture(lines, title, panels):
    """Its text; None: there is nothing to draw."""
    out, y = [text(12, 26, title, "ink head")], 50
    for heading, figures in panels:
        rows = {}
        for line in lines:
            if line.get("figure") in figures and "median" in line:
                rows.setdefault(line["who"], []).append(line)
        if rows:
            parts, y = panel(y, heading, rows)
            out += parts
            y += 24
    return document(y - 10, title, "; ".join(
        heading for heading, _ in panels), out) if len(out) > 1 else None


def draw(lines, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, title, panels in PICTURES:
        drawn = picture(lines, title, panels)
        if drawn:
            (folder / f"peers_{name}.svg").write_text(drawn, encoding="utf-8")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: plot_peers.py FOLDER")
    draw([json.loads(line) for line in sys.stdin if line.strip()],
         Path(sys.argv[1]))


if __name__ == "__main__":
    main()
