# SPDX-License-Identifier: Apache-2.0
"""causes.py - reads causes.txt: why a test does not pass.

A line in brackets begins a cause: `[not applicable: WHY]` or `[failed: WHY]`.
Below it, the tests it explains, one a line: `UNIT: NAME`, where * stands for
any text, or `tag: TAG` for those that the suite itself tags so. Tests that are
not applicable are not run: what they leave half done would make others fail.
"""

import re


class Cause:
    def __init__(self, kind, why):
        self.kind = kind
        self.why = why
        self.count = 0


# Added to the name of a test that is not the first of that name.
NUMBER = re.compile(r" #\d+$")


class Entry:
    def __init__(self, cause, line):
        self.cause = cause
        self.line = line
        self.used = False
        self.unit, _, name = line.partition(": ")
        self.pattern = self.compile(name)
        # Without "#2": tests are left out by their names.
        self.skip = "/" + self.compile(NUMBER.sub("", name)).pattern

    @staticmethod
    def compile(name):
        # Not re.escape(): Tcl has other escapes.
        escaped = re.sub(r"[^\w* ]", lambda m: "[" + m[0] + "]" if m[0] not in
                         "^]\\[" else "\\" + m[0], name)
        return re.compile(f"^{escaped.replace('*', '.*')}$", re.S)

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

    def skips(self, unit):
        """For --skiptest."""
        return [entry.skip for entry in self.entries
                if entry.unit == unit and
                entry.cause.kind == "not applicable"]

    def unused(self):
        return [entry.line for entry in self.entries if not entry.used]
