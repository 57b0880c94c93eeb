# SPDX-License-Identifier: Apache-2.0
"""What the checks share: which files there are, C without comments, functions.

A check is `check.py [root]`. It prints `file:line: what` for each finding and
fails if there is one.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# tests/fuzz/corpus holds bytes, not text.
IGNORED_DIRECTORIES = re.compile(
    r"(^|/)(\.git|build|build-[^/]*|__pycache__|tests/fuzz/corpus)/")


def root():
    if len(sys.argv) > 1:
        return Path(sys.argv[1]).resolve()
    return Path(__file__).resolve().parents[2]


def files(top, *patterns):
    """Paths relative to `top` of what is tracked or would be, sorted."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=top,
        capture_output=True, text=True, check=False)
    inside = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], cwd=top,
        capture_output=True, text=True, check=False)
    if listing.returncode == 0 and Path(inside.stdout.strip()) == top:
        names = set(listing.stdout.splitlines())
    else:
        names = {str(p.relative_to(top)) for p in top.rglob("*")}
    found = (Path(name) for name in names
             if not IGNORED_DIRECTORIES.search(name + "/"))
    return sorted(p for p in found if (top / p).is_file()
                  and any(p.match(pattern) for pattern in patterns))


def report(findings):
    """Print (path, line, what) and end the program."""
    for path, line, what in findings:
        print(f"{path}:{line}: {what}")
    sys.exit(1 if findings else 0)


TOKENS = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def blank(text, strings=True):
    """C text with its comments, and the insides of its strings, as spaces."""
    def space(match):
        token = match.group(0)
        if token[0] in "\"'":
            if not strings:
                return token
            return token[0] + " " * (len(token) - 2) + token[-1]
        return re.sub(r"[^\n]", " ", token)
    return TOKENS.sub(space, text)


def blank_strings(text):
    """C text with the insides of its strings as spaces, and its comments."""
    return TOKENS.sub(lambda match: match.group(0) if match.group(0)[0] == "/"
                      else '"' + " " * (len(match.group(0)) - 2) + '"', text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@dataclass
class Function:
    name: str
    line: int
    size: int  # lines, from the first of its head to the closing brace
    is_static: bool


def functions(text):
    """The functions that a C file defines."""
    code = blank(text)
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*",
                  lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.M)
    code = re.sub(r'extern " *" *\{', lambda m: " " * len(m.group(0)), code)
    found = []
    depth = 0
    head = body = None
    start = 0
    for match in re.finditer(r"[{};]", code):
        token = match.group(0)
        if token == "{":
            if depth == 0:
                head, body = code[start:match.start()], match.start()
            depth += 1
            continue
        if token == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and body is not None:
                function = _function(code, head, start, match.start())
                if function:
                    found.append(function)
                body = None
        if depth == 0:
            start = match.end()
    return found


def _function(code, head, start, end):
    if not re.search(r"\)\s*$", head):
        return None
    head_at = start + len(head) - len(head.lstrip())
    # __attribute__((...)) in front is no parameter list.
    bare = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*(?=\w)",
                  lambda m: " " * len(m.group(0)), head, flags=re.S)
    # TEST(name) defines a function, too: tests/support/test.h.
    name = re.match(r"\s*[A-Z_]*TEST(?:_WITH)?\((\w+)", bare) or \
        re.search(r"(\w+)\s*\(", bare)
    if not name:
        return None
    first, last = line_of(code, head_at), line_of(code, end)
    return Function(name.group(1), first, last - first + 1,
                    bool(re.search(r"\bstatic\b", bare[:name.start()])))
