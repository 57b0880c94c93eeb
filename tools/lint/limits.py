#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes: functions, .c files, .h files.

limits.allow, next to this file, holds exceptions, `path lines` or
`path:function lines`. It may only shrink: an entry must have exactly the size
of what it allows, and must be needed.
"""

import statistics
from pathlib import Path

import source

FUNCTION_MAX = 70
FILE_MAX = {".c": 800, ".h": 1500}
# A public header is read like a manual page: one noun, in one sitting.
PUBLIC_MAX = 800


def read_allowed(path):
    allowed = {}
    lines = path.read_text().splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        words = line.split("#")[0].split()
        if words:
            allowed[words[0]] = (int(words[1]), number)
    return allowed


def measure(top):
    """Yield (key, path, line, what, size, limit) of everything that has a limit."""
    for path in source.files(top, "*.c", "*.h"):
        text = (top / path).read_text(errors="replace")
        yield (str(path), path, 1, "file", len(text.splitlines()),
               PUBLIC_MAX if path.parts[0] == "include"
               else FILE_MAX[path.suffix])
        for function in source.functions(text):
            yield (f"{path}:{function.name}", path, function.line,
                   f"{function.name}()", function.size, FUNCTION_MAX)


def summary(what, sizes):
    if not sizes:
        return
    sizes = sorted(sizes)
    print(f"{what}: {len(sizes)}, median {statistics.median_low(sizes)} lines, "
          f"95 % up to {sizes[len(sizes) * 95 // 100 - 1]}, "
          f"longest {sizes[-1]}")


def main():
    top = source.root()
    allow_path = Path("tools/lint/limits.allow")
    allowed = read_allowed(top / allow_path)
    findings = []
    rows = list(measure(top))
    for key, path, line, what, size, limit in rows:
        most, number = allowed.pop(key, (None, 0))
        if size > (most or limit):
            findings.append((path, line, f"{what} has {size} lines, at most "
                             f"{most or limit}"))
        elif most is not None and size <= limit:
            findings.append((allow_path, number, f"{key} needs no exception"))
        elif most is not None and size < most:
            findings.append((allow_path, number, f"{key} has only {size} "
                             f"lines: lower its {most}"))
    for key, (most, number) in allowed.items():
        findings.append((allow_path, number, f"{key} does not exist"))
    for where in ("src", "cli", "tests"):
        mine = [row for row in rows if row[1].parts[0] == where]
        summary(f"{where} functions",
                [row[4] for row in mine if row[3] != "file"])
        summary(f"{where} .c files",
                [row[4] for row in mine
                 if row[3] == "file" and row[1].suffix == ".c"])
    source.report(findings)


main()
