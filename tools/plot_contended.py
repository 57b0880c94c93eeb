#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plot what bench_contended measured.

    build/bench/bench_contended --json --runs 3 --peers build/peers |
        tools/plot_contended.py > docs/pictures/contended.svg

For each library: how many acquires and releases a second; how long a hand-over
takes, median and 99th percentile, on a logarithmic scale; and how often the
process with the fewest turns and that with the most had the lock. A bar is the
median of the runs, the line across its end goes from the least to the greatest.
"""

import collections
import json
import math
import statistics
import sys

from svg import WIDTH, bars, box, document, line, text

WORKERS, PAUSE_MS = 10, 3
LEFT, RIGHT, ROW = 118, 318, 20
# (on a server?, name here, in the figures, is it ours?)
ROWS = (
    (True, "Holdfast", "holdfast", True),
    (True, "rueidislock", "rueidislock", False),
    (True, "Redisson", "redisson", False),
    (True, "redsync", "redsync", False),
    (True, "by hand, hiredis", "hiredis", False),
    (False, "Holdfast", "embedded", True),
    (False, "flock(2)", "flock", False),
)


def spread(runs, name):
    values = [run[name] for run in runs]
    return min(values), statistics.median(values), max(values)


def row_of_bars(y, runs, names, ours, place):
    """The first of the names is in front of the others."""
    spreads = [spread(runs, name) for name in names]
    out, end = bars(y, LEFT, ROW - 6, spreads, place, ours)
    said = " / ".join(f"{middle:,.0f}" for _, middle, _ in spreads)
    return out + [text(round(end + 6, 1), y + 11, said, "ink small")]


def turns(y, runs, ours, place):
    """One row: from the fewest turns of a process to the most, of all runs."""
    least = min(run["least"] for run in runs)
    most = max(run["most"] for run in runs)
    begin, end = place(least), place(most)
    return [line(LEFT, y + 7, RIGHT, y + 7, "rule", 1),
            box(round(begin - 1, 1), y, round(end - begin + 2, 1), ROW - 6,
                "ours" if ours else "idle", 2),
            text(RIGHT + 6, y + 11, f"{least} to {most}", "ink small")]


def panel(y, title, figures, names, logarithmic=False):
    out, on_server = [text(12, y, title, "ink mark")], None
    shown = [row for row in ROWS if row[2] in figures]
    values = [value for row in shown for name in names
              for value in spread(figures[row[2]], name)]
    low, high = (math.log10(min(values)) - 0.3, math.log10(max(values))) \
        if logarithmic else (0, max(values))

    def place(value):
        at = math.log10(value) if logarithmic else value
        return LEFT + (at - low) / (high - low) * (RIGHT - LEFT)

    for server, name, way, ours in shown:
        if server != on_server:
            y += 18
            out.append(text(12, y, "on a Redis server, TCP" if server
                            else "with no server", "soft small"))
            on_server = server
            y += 6
        out.append(text(LEFT - 8, y + 11, name, "ink mark" if ours else "ink",
                        "end"))
        out += turns(y, figures[way], ours, place) if "least" in names \
            else row_of_bars(y, figures[way], names, ours, place)
        y += ROW
    return out, y


def main():
    figures = collections.defaultdict(list)
    for row in map(json.loads, filter(str.strip, sys.stdin)):
        if (row.get("workers"), row.get("pause_ms")) == (WORKERS, PAUSE_MS):
            figures[row["way"]].append(row)
    runs = min(len(rows) for rows in figures.values())
    title = f"{WORKERS} processes want one lock"
    out = [text(12, 26, title, "ink head"),
           text(12, 43, f"each holds it for 1 ms, and {PAUSE_MS} ms later wants "
                f"it again; {runs} runs", "soft small")]
    more, y = panel(70, "acquires and releases a second", figures,
                    ("pairs_per_s",))
    out += more
    more, y = panel(y + 28, "from a release to the next holder, µs: p50 / p99",
                    figures, ("p50_us", "p99_us"), True)
    out += more
    more, y = panel(y + 28, "turns of a process, the fewest to the most",
                    figures, ("least", "most"))
    out += more
    print(document(y + 10, title, (
        "Acquires and releases a second, the time of a hand-over, and the turns "
        "of each process, of Holdfast and other libraries."), out), end="")


if __name__ == "__main__":
    main()
