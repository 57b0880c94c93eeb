#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each row of docs/internals/peer-bugs.md and peer-tests.md names a test that
exists, or says why there is none: "cannot: ...", "not promised: ...",
"differs: ...", "does not apply: ...", or a document.

A test is in backquotes: a TEST() or a function of a file in tests/, or the path
of a file without its ending.
"""

import re
from pathlib import Path

import source

TABLES = [Path("docs/internals/peer-bugs.md"),
          Path("docs/internals/peer-tests.md")]
REASON = re.compile(r"(?:cannot|not promised|differs|does not apply)\b.*: |\.md")
DEFINED = re.compile(r"^[A-Z_]*TEST(?:_WITH)?\((\w+)|^(\w+)\(\) *\{|"
                     r"^\s*def (test_\w+)", re.M)


def tests(top):
    names = set()
    for path in source.files(top, "tests/**/*.c", "tests/**/*.sh",
                             "tests/**/*.py"):
        text = (top / path).read_text(errors="replace")
        names.add(path.with_suffix("").as_posix())
        names |= {name for match in DEFINED.findall(text)
                  for name in match if name}
    return names


def check(table, text, known):
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or \
                cells[2] in ("here", "---"):
            continue
        named = re.findall(r"`([^`]+)`", cells[2])
        for name in named:
            if name not in known:
                yield table, number, f"there is no test {name}"
        if not named and not REASON.search(cells[2]):
            yield table, number, "neither a test nor a reason"


def main():
    top = source.root()
    known = tests(top)
    source.report([wrong for table in TABLES if (top / table).exists()
                   for wrong in check(table, (top / table).read_text(), known)])


main()
