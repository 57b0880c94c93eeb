#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of README and of the site.

    tools/draw_pictures.py [--check]

writes docs/pictures/lease.svg and docs/pictures/stores.svg; --check only
compares. They are drawn for a width of 390 pixels, the narrowest screen, on a
ground of their own, light or dark as the reader has it.
"""

import sys
from pathlib import Path

from svg import box, document, line, text

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"


def cross(x, y, kind, by=4):
    return (line(x - by, y - by, x + by, y + by, kind, 2.4)
            + line(x - by, y + by, x + by, y - by, kind, 2.4))


def tick(x, y, kind):
    return (f'<path d="M{x - 5} {y}l4 4l6 -8" class="{kind}-line" '
            'stroke-width="2.4"/>')


def arrow(x, y1, y2, kind):
    return (line(x, y1, x, y2, kind)
            + f'<path d="M{x - 4} {y2 - 6}L{x} {y2}L{x + 4} {y2 - 6}" '
            f'class="{kind}-line" stroke-width="1.5"/>')


# ------------------------------------------------------------------- a lease

LEFT, GRANT, VALID, EXPIRED, RIGHT = 74, 82, 238, 268, 408


def lane(y, name):
    return [text(12, y + 15, name, "ink mark"),
            line(LEFT, y + 10.5, RIGHT, y + 10.5, "rule", 1)]


def waiting_then_granted(y, said):
    return lane(y, "B") + [
        line(118, y + 10.5, EXPIRED, y + 10.5, "soft", 2, "3 4"),
        box(140, y, 44, 20, "ground"),
        text(162, y + 14.5, "waits", "soft", "middle"),
        box(EXPIRED, y, RIGHT - EXPIRED, 21, "theirs"),
        text(EXPIRED + 8, y + 15, said, "on mark")]


def cut_off(top):
    a, b = top + 54, top + 122
    parts = [text(12, top, "A cannot reach the store", "ink head")]
    parts += lane(a, "A") + [
        box(GRANT, a, VALID - GRANT, 21, "ours"),
        box(VALID, a, EXPIRED - VALID, 21, "margin"),
        text(GRANT + 8, a + 15, "holds it, token 33", "on mark"),
        text(GRANT, a - 22, "renewed", "soft small"),
        text(176, a - 22, "not renewed", "bad small")]
    parts += [tick(x, a - 10, "theirs") for x in (98, 128)]
    parts += [cross(x, a - 10, "bad") for x in (186, 214)]
    parts += [arrow(VALID, a - 14, a + 38, "bad"),
              text(VALID - 9, a + 36, "on_lost, is_held: false", "bad mark",
                   "end"),
              line(EXPIRED, a, EXPIRED, b + 24, "soft", 1.2, "2 3"),
              text(EXPIRED + 5, a + 36, "the lease ends", "soft small")]
    return parts + waiting_then_granted(b, "granted, token 34")


def paused(top):
    a, b, r = top + 26, top + 94, top + 158
    parts = [text(12, top, "A is stopped, and continues too late", "ink head")]
    parts += lane(a, "A") + [
        box(GRANT, a, 52, 21, "ours"), text(90, a + 15, "runs", "on mark"),
        box(134, a, 196, 21, "idle"),
        text(232, a + 15, "stopped", "ink", "middle"),
        box(330, a, RIGHT - 330, 21, "margin"),
        text(336, a + 15, "runs", "ink mark"),
        text(330, a + 36, "is_held: false,", "bad mark small", "end"),
        text(330, a + 49, "but a write is under way", "bad small", "end"),
        line(EXPIRED, b - 6, EXPIRED, b + 24, "soft", 1.2, "2 3")]
    parts += waiting_then_granted(b, "granted")
    parts += [text(12, r + 15, "resource", "ink mark"),
              line(LEFT, r + 10.5, RIGHT, r + 10.5, "rule", 1)]
    for x, begin, token, kind in ((106, a + 21, 33, "theirs"),
                                  (296, b + 21, 34, "theirs"),
                                  (360, a + 21, 33, "bad")):
        mark = tick if kind == "theirs" else cross
        parts += [arrow(x, begin, r, kind),
                  box(x - 13, r + 2, 26, 18, "ground"),
                  mark(x, r + 11, kind),
                  text(x, r + 36, f"token {token}",
                       "ink small" if kind == "theirs" else "bad mark small",
                       "middle")]
    return parts + [text(360, r + 50, "refused", "bad mark small", "middle")]


def lease():
    parts = cut_off(26) + [line(12, 208, RIGHT, 208, "rule", 1)] + paused(236)
    parts += [line(LEFT, 464, RIGHT - 4, 464, "soft", 1.2),
              f'<path d="M{RIGHT - 10} 460l6 4l-6 4" class="soft-line"/>',
              text(12, 468, "time", "soft")]
    return document(480, "A lease of two processes", (
        "A holds a lock with token 33 and cannot renew it: on_lost is called "
        "and is_held is false before the lease ends and B is granted the lock "
        "with token 34. If A is stopped instead, its late write with token 33 "
        "is refused by a resource that has seen 34."), parts)


# ----------------------------------------------------------------- the stores

COLUMNS = ((122, 92, "a process", "is killed"),
           (218, 92, "power cut,", "reboot"),
           (314, 94, "failover,", "server lost"))
NOTHING = ("none", "nothing", "")
NO_SERVER = ("", "no server", "")
STORES = (
    ("volatile:", "in memory", NOTHING, ("all", "everything", ""), NO_SERVER),
    ("file:", "on disk", NOTHING, NOTHING, NO_SERVER),
    ("file:", "durability=flush", NOTHING, ("some", "the last", "second"),
     NO_SERVER),
    ("redis:", "one server", NOTHING, ("some", "what it has", "not persisted"),
     ("", "no failover", "")),
    ("redis+sentinel:", "and +cluster:", NOTHING,
     ("some", "what it has", "not persisted"), ("some", "the last", "writes")),
    ("redlock:", "a majority; locks", NOTHING,
     ("none", "nothing, of", "a minority"),
     ("none", "nothing, of", "a minority")),
    ("postgres:", "and its standbys", NOTHING, NOTHING,
     ("some", "the last writes,", "unless sync.")),
)


def stores():
    parts = [box(12, 12, 396, 50, "ours", 6),
             text(210, 33, "one API: C, the command, scripts", "on head",
                  "middle"),
             text(210, 51, "locks, values, hashes, timelines, caches, ...",
                  "on", "middle"),
             text(12, 96, "store", "soft"),
             text(122, 80, "what is lost when", "soft small")]
    for x, width, first, second in COLUMNS:
        parts += [text(x + width / 2, 96, first, "ink small", "middle"),
                  text(x + width / 2, 109, second, "ink small", "middle")]
    y = 118
    for name, what, *cells in STORES:
        parts += [text(12, y + 18, name, "ink mark"),
                  text(12, y + 33, what, "soft small")]
        for (x, width, *_), (kind, first, second) in zip(COLUMNS, cells):
            middle = x + width / 2
            if kind:
                parts.append(box(x, y, width, 42, kind, 4))
            color = ("ink" if kind else "soft") + " small"
            lines = ((18, first), (32, second)) if second else ((25, first),)
            parts += [text(middle, y + down, words, color, "middle")
                      for down, words in lines]
        y += 48
    return document(y + 6, "One API over the stores", (
        "What each store loses when a process is killed, the power fails, or a "
        "server fails over."), parts)


def main():
    stale = []
    for name, drawing in (("lease", lease()), ("stores", stores())):
        path = FOLDER / f"{name}.svg"
        if "--check" not in sys.argv:
            path.write_text(drawing)
        elif path.read_text() != drawing:
            stale.append(path.name)
    if stale:
        sys.exit(f"draw_pictures.py: run it again: {' '.join(stale)}")


if __name__ == "__main__":
    main()
