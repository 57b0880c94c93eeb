#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every text file: white space, how it opens, and no path of one machine."""

import re

import source

# Put together here, so that this file passes its own check. A template of
# mkstemp() is nobody's path.
MACHINE = re.compile("/wor" + r"k/|/tm" + r"p/(?!\S*XXXXXX)\w|/hom" +
                     r"e/(?!user\b|me\b)\w|/roo" + r"t/")
TABS_ALLOWED = ("Makefile",)
SPDX = "SPDX-License-Identifier: Apache-2.0"
# scripts/ open with their own header, which is sent to nobody.
OPEN_WITH_SPDX = (".c", ".h", ".py", ".sh", ".cmake")


def check_lines(path, text):
    for number, line in enumerate(text.split("\n"), start=1):
        if "\t" in line and path.name not in TABS_ALLOWED:
            yield number, "a tab"
        if "\r" in line:
            yield number, "a carriage return"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        found = MACHINE.search(line)
        if found and path.name != "LICENSE":
            yield number, f"a path of one machine: {found.group(0)}"
    if text and not text.endswith("\n"):
        yield len(text.split("\n")), "no newline at the end of the file"
    if text.endswith("\n\n"):
        yield len(text.split("\n")) - 1, "empty lines at the end of the file"


def check_opening(path, text):
    lines = text.split("\n")
    if lines[0].startswith("#!"):
        lines = lines[1:]
    if path.suffix in OPEN_WITH_SPDX and SPDX not in lines[0]:
        yield 1, f"does not open with {SPDX}"
    if path.suffix in (".c", ".h") and path.name != "holdfast.h":
        title = f"{path.name} - "
        if title not in "\n".join(lines[1:3]):
            yield 2, f"does not go on with its title, '{title}...'"


def check_c(path, text):
    bare = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
                  lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
    for match in re.finditer(r"//", bare):
        yield source.line_of(bare, match.start()), "a // comment: use /* */"
    for match in re.finditer(r"\btypedef\b[^;{]*\b\w+_t;|^\}\s*\w+_t;", bare,
                             re.M):
        yield (source.line_of(bare, match.start()),
               "a type whose name ends in _t, which POSIX reserves")


def main():
    top = source.root()
    findings = []
    for path in source.files(top, "*"):
        data = (top / path).read_bytes()
        if b"\0" in data:
            continue
        text = data.decode("utf-8", errors="replace")
        found = list(check_lines(path, text)) + list(check_opening(path, text))
        if path.suffix in (".c", ".h"):
            found += check_c(path, text)
        findings += [(path, line, what) for line, what in sorted(found)]
    source.report(findings)


main()
