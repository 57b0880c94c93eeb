# SPDX-License-Identifier: Apache-2.0
"""Translate a pattern of Lua to steps of src/engine/native/native_match.c.

A step is a kind, a set of characters or the number of a capture. Not all of
Lua's patterns: no %b, %f, back references or position captures.
"""

from lua_syntax import LuaError

CLASSES = {"a": str.isalpha, "d": str.isdigit, "l": str.islower,
           "u": str.isupper, "x": lambda ch: ch in "0123456789abcdefABCDEF",
           "s": lambda ch: ch in " \t\n\v\f\r", "w": str.isalnum,
           "z": lambda ch: ch == "\0"}
REPEATS = {"*": "ANY", "+": "SOME", "-": "FEW", "?": "MAYBE"}
ALL = [chr(code) for code in range(256)]


def _class(name):
    """The characters of %NAME."""
    if not name.isalpha():
        return {name}
    test = CLASSES[name.lower()]
    found = {ch for ch in ALL if ch < "\x80" and test(ch)}
    return found if name.islower() else set(ALL) - found


def _set(pattern, at):
    """The characters of [...] at that place; the place after it."""
    at += 1
    inverted = pattern[at] == "^"
    at += inverted
    found = set()
    first = True
    while first or pattern[at] != "]":
        first = False
        if pattern[at] == "%":
            found |= _class(pattern[at + 1])
            at += 2
        elif pattern[at + 1] == "-" and pattern[at + 2] != "]":
            found |= {ch for ch in ALL if pattern[at] <= ch <= pattern[at + 2]}
            at += 3
        else:
            found.add(pattern[at])
            at += 1
    return (set(ALL) - found if inverted else found), at + 1


def captures(pattern):
    """How many it has."""
    return pattern.replace("%(", "").count("(")


def _item(pattern, at, line):
    """The characters of the item at that place; the place after it."""
    if pattern[at] == "%":
        if pattern[at + 1] in "bf123456789":
            raise LuaError(line, f"%{pattern[at + 1]} in a pattern")
        return _class(pattern[at + 1]), at + 2
    if pattern[at] == "[":
        return _set(pattern, at)
    return (set(ALL) if pattern[at] == "." else {pattern[at]}), at + 1


class Patterns:
    """Those of a script."""

    def __init__(self, script):
        self.script, self.names, self.sets = script, {}, {}

    def steps(self, pattern, line):
        """The name of the array of its steps."""
        if pattern not in self.names:
            self.names[pattern] = (f"{self.script}_steps_{len(self.names) + 1}",
                                   self._read(pattern, line))
        return self.names[pattern][0]

    def _step(self, kind, found=None, capture=0):
        name = "NULL"
        if found is not None:
            key = frozenset(found)
            name = self.sets.setdefault(key, f"{self.script}_set_{len(self.sets) + 1}")
        return f"{{HF__STEP_{kind}, {capture}, {name}}}"

    def _read(self, pattern, line):
        found, at, opened, count = [], 0, [], 0
        if pattern.startswith("^"):
            found.append(self._step("START"))
            at = 1
        while at < len(pattern):
            if pattern[at] == "(":
                opened.append(count)
                found.append(self._step("OPEN", capture=count))
                count += 1
                at += 1
            elif pattern[at] == ")":
                found.append(self._step("CLOSE", capture=opened.pop()))
                at += 1
            elif pattern[at:] == "$":
                found.append(self._step("END"))
                at += 1
            else:
                chars, at = _item(pattern, at, line)
                kind = REPEATS.get(pattern[at:at + 1], "ONE")
                at += kind != "ONE"
                found.append(self._step(kind, chars))
        return found + [self._step("DONE", capture=count)]

    def c_text(self):
        """The arrays of C."""
        sets = "".join(
            f"static const uint64_t {name}[4] = {{"
            + ", ".join("UINT64_C(0x%x)" % sum(1 << (ord(ch) - 64 * part) for ch in chars
                                      if ord(ch) // 64 == part)
                        for part in range(4)) + "};\n"
            for chars, name in self.sets.items())
        return sets + "".join(
            f"static const hf__native_step {name}[] = {{\n    "
            + ",\n    ".join(steps) + "};\n"
            for name, steps in self.names.values())
