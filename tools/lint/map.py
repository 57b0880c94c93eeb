#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md has every folder, and every file down to src/<folder>/; what
is in a folder with a README.md of its own (in src/, cli/, examples/) is there. The
index in docs/adr/README.md has every decision, and their numbers no gaps.

A file is named by its stem, in backquotes, or by a pattern such as `cmd_*`.
"""

import re
from fnmatch import fnmatch
from pathlib import Path

import source

MAP = Path("ARCHITECTURE.md")
INDEX = Path("docs/adr/README.md")
# What is in these is described where they are: patterns of whole paths.
ELSEWHERE = ("scripts/*", "docs/*", "tests/*", "tools/lint/*", ".*",
             "debian/*", "packaging/*", "LICENSES/*", "bindings/*",
             "cli/manual/*",
             "src/store/*/*", "src/engine/*/*", "*/CMakeLists.txt",
             "ARCHITECTURE.md", "*/README.md")
# Folders whose README.md is their map.
MAPPED = ("src/*/README.md", "cli/README.md", "examples/README.md",
          "packaging/README.md")


def named(text):
    """Backquoted words, and those in the drawing at the top."""
    words = set(re.findall(r"`([^`\n]+)`", text))
    words |= set(re.findall(r"[\w.*/]+/(?=\s)", text))
    return {word.rstrip("/").removesuffix(".c").removesuffix(".h")
            for word in words}


def maps(top, paths):
    """{folder: (its map, what that names)}"""
    found = {Path(): MAP}
    found |= {path.parent: path for path in paths
              if any(fnmatch(path.as_posix(), p) for p in MAPPED)}
    return {folder: (path, named((top / path).read_text()))
            for folder, path in found.items()}


def check_map(top, paths):
    known = maps(top, paths)

    def missing(path):
        """The map that should have it, or None."""
        place, words = known[next(folder for folder in path.parents
                                  if folder in known)]
        names = {path.name, path.stem, path.as_posix()}
        if any(fnmatch(name, word) for name in names for word in words):
            return None
        return place

    folders = {parent for path in paths for parent in path.parents
               if parent.name and len(parent.parts) <= 4}
    for folder in sorted(folders):
        if folder.parts[0] in ("tests", "bindings") and \
                len(folder.parts) > 2:
            continue
        if place := missing(folder):
            yield place, 1, f"{folder}/ is not on the map"
    for path in paths:
        if any(fnmatch(path.as_posix(), p) for p in ELSEWHERE):
            continue
        if place := missing(path):
            yield place, 1, f"{path} is not on the map"


def check_index(top, paths, text):
    for expected, path in enumerate(paths, start=1):
        number = path.name[:4]
        if int(number) != expected:
            yield path, 1, f"{number} follows {expected - 1:04}"
            return
        title = (top / path).read_text().split("\n")[0].split(": ", 1)[-1]
        if f"[{number}]({path.name}) | {title} |" not in text:
            yield INDEX, 1, f"no row '[{number}]({path.name}) | {title}'"
    if text.count("\n| [") != len(paths):
        yield INDEX, 1, f"its rows are not {len(paths)}, one per decision"


def main():
    top = source.root()
    if not (top / MAP).exists():
        return
    paths = source.files(top, "*")
    findings = list(check_map(top, paths))
    decisions = [path for path in paths
                 if fnmatch(path.as_posix(), "docs/adr/[0-9]*.md")]
    if decisions:
        findings += check_index(top, decisions, (top / INDEX).read_text())
    source.report(findings)


main()
