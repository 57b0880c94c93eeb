#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an operation costs: lines of core, header, script, command and tests.

    count_operations.py [TREE]

An operation is a public function with its _start and _many forms. Definitions
and comments of a file that only one operation reaches count for it; what several
reach is shared. A test that calls several counts in equal parts.
"""

import collections
import pathlib
import re
import sys

FORM = re.compile(r"_(start|many)$")
PUBLIC = re.compile(r"\bhf_[a-z]\w*\b")
FORMS = re.compile(r"HF__(?:FORMS|MANY)\((\w+)")
NAME = re.compile(r"\b([a-z_]\w*)\s*(?:\[\w*\])?\s*(?:\(|=|$)")
DECLARED = re.compile(r"HF_API[^;]*?\b(hf_\w+)\s*\([^;]*;|"
                      r"^HF_START(?:_OF)?\((hf_\w+)[^;]*;", re.M)
SIMPLE = ("key_ttl", "value_get", "value_delete", "hash_get", "hash_delete")


def chunks(text):
    """(name, text, lines) of each definition at the margin, comment included."""
    for part in re.split(r"\n\n(?=\S)", text):
        lines = [line for line in part.splitlines()
                 if line.strip() and not line.startswith(("#", "/* ---"))]
        code = re.sub(r"/\*.*?\*/", "", part, flags=re.S)
        code = re.sub(r"^#.*(?:\\\n.*)*", "", code, flags=re.M).strip()
        if code and lines:
            found = FORMS.match(code) or NAME.search(code.split("{")[0])
            yield found.group(1) if found else "", code, len(lines)


def operation_of(name):
    return FORM.sub("", name.removeprefix("hf_"))


def core(tree, operations):
    """Lines that only one operation reaches, and which scripts it names."""
    lines, scripts = collections.Counter(), collections.defaultdict(set)
    for path in sorted(tree.glob("src/data/*.c")) + \
            sorted(tree.glob("src/lease/*.c")) + \
            sorted(tree.glob("src/core/*.c")):
        defined = collections.defaultdict(list)
        for name, code, count in chunks(path.read_text()):
            defined[name].append((set(re.findall(r"\w+", code)), count))
        reached = collections.defaultdict(set)

        def walk(name, operation):
            if operation in reached[name]:
                return
            reached[name].add(operation)
            for words, _ in defined[name]:
                for word in words & defined.keys():
                    if not word.startswith("hf_") or word.startswith("hf__"):
                        walk(word, operation)

        for name in list(defined):
            if name.startswith("hf_") and operation_of(name) in operations:
                walk(name, operation_of(name))
        for name, by in reached.items():
            for words, count in defined[name]:
                if len(by) == 1:
                    lines[next(iter(by))] += count
                for word in words:
                    script = re.fullmatch(r"(?:HF__SCRIPT_)?([A-Z_]+)", word)
                    for operation in by if script else ():
                        scripts[operation].add(script.group(1).lower())
    return lines, scripts


def mentions(tree, pattern, operations):
    """Lines of definitions that name an operation, in equal parts."""
    lines = collections.Counter()
    for path in sorted(tree.glob(pattern)):
        for _, code, count in chunks(path.read_text()):
            named = {operation_of(name) for name in PUBLIC.findall(code)}
            named &= operations
            for operation in named:
                lines[operation] += count / len(named)
    return lines


def header(tree):
    """Lines of each operation's declarations and of what is said of them."""
    lines = collections.Counter()
    for path in sorted(tree.glob("include/**/*.h")):
        at = 0
        text = path.read_text()
        for found in DECLARED.finditer(text):
            start = text.rfind("\n\n", at, found.start())
            start = found.start() if start < 0 else start
            lines[operation_of(found.group(1) or found.group(2))] += \
                text[start:found.end()].strip().count("\n") + 1
            at = found.end()
    return lines


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    described = header(tree)
    started = set()
    for path in tree.glob("include/**/*.h"):
        started |= {operation_of(name) for name in
                    re.findall(r"\bhf_\w+_start\b(?=[(,])", path.read_text())}
    operations = started & described.keys()
    inside, named = core(tree, operations)
    commands = mentions(tree, "cli/**/*.c", operations)
    tests = mentions(tree, "tests/**/*.c", operations)
    print(f"{'operation':22}  core  header  script  command  tests")
    columns = []
    for operation in sorted(operations):
        files = [tree / "scripts" / f"{name}.lua" for name in named[operation]]
        script = sum(file.read_text().count("\n")
                     for file in files if file.is_file())
        row = (inside[operation], described[operation], script,
               commands[operation], tests[operation])
        columns.append((operation, row))
        print(f"{operation:22}  {row[0]:4}  {row[1]:6}  {row[2]:6}"
              f"  {row[3]:7.0f}  {row[4]:5.0f}")
    for title, rows in (
            ("mean of all", [row for _, row in columns]),
            ("mean of simple ones", [row for name, row in columns
                                     if name in SIMPLE])):
        means = [sum(column) / len(rows) for column in zip(*rows)]
        print(f"{title:22}  {means[0]:4.0f}  {means[1]:6.0f}  {means[2]:6.0f}"
              f"  {means[3]:7.0f}  {means[4]:5.0f}")


if __name__ == "__main__":
    main()
