# SPDX-License-Identifier: Apache-2.0
"""causes.py - reads causes.txt: why a test does not pass.

A line in brackets begins a cause: `[not applicable: WHY]` or `[failed: WHY]`.
Below it, the tests it explains, one a line: `UNIT: NAME`, where * stands for
any text, or `tag: TAG` for those that the suite itself tags so.
"""

import re


class Cause:
    def __init__(self, kind, why):
        self.kind = kind
        self.why = why
        self.count = 0


class Entry:
    def __init__(self, cause, line):
        self.cause = cause
        self.line = line
        self.used = False
        self.unit, _, name = line.partition(": ")
        self.pattern = re.compile(
            ".*".join(map(re.escape, name.split("*"))), re.S)

    def explains(self, unit, name):
        return self.unit == unit and self.pattern.fullmatch(name) is not None


class Causes:
    def __init__(self, path):
        self.causes = []
        self.tags = {}
        self.entries = []
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line and not line.startswith("#"):
                    self.read(line)

    def read(self, line):
        if line.startswith("["):
            kind, why = re.fullmatch(r"\[(not applicable|failed): (.*)\]",
                                     line).groups()
            self.causes.append(Cause(kind, why))
        elif line.startswith("tag: "):
            self.tags[line[5:]] = self.causes[-1]
        else:
            self.entries.append(Entry(self.causes[-1], line))

    def of_tags(self, tags):
        """That of a test with these tags, or None."""
        for tag in tags:
            if tag in self.tags:
                return self.tags[tag]
        return None

    def of_test(self, unit, name):
        found = None
        for entry in self.entries:
            if entry.explains(unit, name):
                entry.used = True
                found = found or entry.cause
        return found

    def unused(self):
        return [entry.line for entry in self.entries if not entry.used]
