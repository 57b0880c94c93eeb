#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every folder is on its map, and every file but those of ELSEWHERE: the nearest
README.md above it, or at the top ARCHITECTURE.md. And what a map names is there.
The index in docs/adr/README.md has every decision, and their numbers no gaps.

A file is named by its name or stem, in backquotes, or by a pattern such as
`cmd_*`. In a table's column that is headed by one of COLUMNS, each such word
outside parentheses is the name of a file or folder: below the map, or a path from
the top.
"""

import re
from fnmatch import fnmatch
from os.path import normpath
from pathlib import Path

import source

MAP = Path("ARCHITECTURE.md")
INDEX = Path("docs/adr/README.md")
# What is in these is described where they are: patterns of whole paths.
ELSEWHERE = ("scripts/*", "docs/*", "tests/*", "tools/lint/*", ".*",
             "debian/*", "packaging/*", "LICENSES/*", "bindings/*/*",
             "cli/manual/*",
             "src/store/redis/*/*", "src/engine/*/*", "*/CMakeLists.txt",
             "ARCHITECTURE.md", "*/README.md")
# For users: no maps.
PAGES = ("README.md", "docs/*", "bindings/*/*")
COLUMNS = ("folder", "files", "program", "header")
NAME = re.compile(r"`([\w.*/-]+)`")


def matches(path, patterns):
    return any(fnmatch(path.as_posix(), pattern) for pattern in patterns)


def bare(word):
    return word.rstrip("/").removesuffix(".c").removesuffix(".h")


def named(text):
    """Backquoted words, and those in the drawing at the top."""
    words = set(re.findall(r"`([^`\n]+)`", text))
    words |= set(re.findall(r"[\w.*/]+/(?=\s)", text))
    return {bare(word) for word in words}


def rows(text):
    """(line, the cells of a row that name files)"""
    columns = None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if columns is None:
            columns = [at for at, cell in enumerate(cells) if cell in COLUMNS]
        yield number, [cells[at] for at in columns if at < len(cells)]


def claimed(text):
    """(line, name) of what the tables of a map name"""
    for number, cells in rows(text):
        for cell in cells:
            # Commands, options and calls are no names.
            cell = re.sub(r"`[^`]*`", lambda word: word[0]
                          if NAME.fullmatch(word[0]) else "", cell)
            for word in NAME.findall(re.sub(r"\([^()]*\)", "", cell)):
                yield number, word


def names_of(path):
    return {path.name, path.stem, path.as_posix(),
            path.with_suffix("").as_posix()}


def maps(top, paths):
    """{folder: (its map, the text of that)}"""
    found = {path.parent: path for path in paths
             if path.name == "README.md" and not matches(path, PAGES)}
    found[Path()] = MAP
    return {folder: (path, (top / path).read_text())
            for folder, path in found.items()}


def check_map(known, folders, paths):
    words = {folder: named(text) for folder, (_, text) in known.items()}

    def missing(path):
        """The map that should have it, or None."""
        place = next(folder for folder in path.parents if folder in known)
        if any(fnmatch(name, word) for name in names_of(path)
               for word in words[place]):
            return None
        return known[place][0]

    for folder in folders:
        if len(folder.parts) > (2 if folder.parts[0] in ("tests", "bindings")
                                else 4):
            continue
        if place := missing(folder):
            yield place, 1, f"{folder}/ is not on the map"
    for path in paths:
        if matches(path, ELSEWHERE):
            continue
        if place := missing(path):
            yield place, 1, f"{path} is not on the map"


def check_claims(known, folders, paths):
    there = set(folders) | set(paths)
    for folder, (place, text) in known.items():
        names = {name for path in there if folder in path.parents
                 for name in names_of(path.relative_to(folder))}
        for number, word in claimed(text):
            if Path(word) in there or Path(normpath(folder / word)) in there:
                continue
            if not any(fnmatch(name, bare(word)) for name in names):
                yield place, number, f"there is no {word}"


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
    known = maps(top, paths)
    folders = sorted({folder for path in paths for folder in path.parents
                      if folder.name})
    findings = [*check_map(known, folders, paths),
                *check_claims(known, folders, paths)]
    decisions = [path for path in paths
                 if fnmatch(path.as_posix(), "docs/adr/[0-9]*.md")]
    if decisions:
        findings += check_index(top, decisions, (top / INDEX).read_text())
    source.report(findings)


main()
