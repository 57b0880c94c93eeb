#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every text file: white space, its first lines, no path of one machine, and no
word that docs/glossary.md has replaced."""

import re

import source

# Put together here, so that this file passes its own check. A template of
# mkstemp() is no such path.
MACHINE = re.compile("/wor" + r"k/|/tm" + r"p/(?!\S*XXXXXX)\w|/hom" +
                     r"e/(?!user\b|me\b)\w|/roo" + r"t/")
# gofmt indents by tabs, also the example in its README.md.
TABS_ALLOWED = ("Makefile", "rules", "*.go", "bindings/go/README.md")
SPDX = "SPDX-License-" + "Identifier: Apache-2.0"  # not a tag of this file
OPEN_WITH_SPDX = (".c", ".h", ".cpp", ".hpp", ".go", ".rs", ".py", ".sh",
                  ".cmake", ".lua", ".in", ".map")

# Phrases, and what to write instead. A blank also matches the end of a line,
# with the comment marks or quotes around it, and "_" in a name.
PHRASES = (
    (r"(?:is|are|was|were|be|been|being) told(?![\s_]+apart)",
     "is called, is reported"),
    (r"(?:go|goes|going|went|gone) on"
     r"(?! (?:a|an|it|its|one|the|this|that|top)\b)", "continue"),
    (r"(?:nobody|anybody|somebody|everybody)",
     "no one, nothing, any caller, all"),
    (r"(?:whoever|whomever)", "any caller, the first to ..."),
    (r"anew", "again, from scratch"),
    (r"by and by", "gradually, lazily"),
    (r"for ever", "indefinitely, never expires"),
    (r"beside", "next to, in addition to"),
    (r"(?:stand|stands|stood|standing) (?:before|in front)",
     "is earlier in the queue"),
    (r"(?:is|are|was|were) the ones? (?:who|that)", "name it"),
    (r"as a doctor", "diagnose"),
    (r"the wait ended before", "timed out"),
    (r"the answer (?:is|was) (?:no|yes)", "condition not met"),
    (r"one too many", "unexpected argument"),
    (r"the present value", "the current value"),
    (r"can(?:not)? be had", "is available"),
    (r"the more rarely", "less often"),
    (r"ma(?:ke|kes|de|king) (?:\w+ ){0,2}small", "compact"),
    (r"pieces? of news", "event, notification"),
)
# Names, also as parts of others: HF__GATE_LISTS, hf__cluster_ears.
NAMES = ("asking", "gates?", "ears?", "flight", "parking", "fleet",
         "lone", "survey", "patient", "recall", "orphans?", "errands?")
PHRASE = re.compile(
    r"(?<![^\W_])(?:" +
    "|".join(rf"({words})(?![^\W_])".replace(" ", r'[\s"*#\\_]+')
             for words, _ in PHRASES) + ")", re.I)
NAME = re.compile(
    rf"\bhf__(?:[a-z0-9]+_)*?({'|'.join(NAMES)})(?:_\w*)?\b", re.I)
# These name the words; the licence is not ours.
WORDS_EXEMPT = (
    "docs/glossary.md", "tools/lint/text.py", "tools/lint/selftest.sh",
    "LICENSE", "LICENSES/",
)


def check_words(path, text):
    if str(path).startswith(WORDS_EXEMPT):
        return
    for match in PHRASE.finditer(text):
        instead = PHRASES[match.lastindex - 1][1]
        words = " ".join(re.split(r'[\s"*#\\_]+', match.group(0)))
        yield (source.line_of(text, match.start()),
               f"'{words}': write {instead}")
    for match in NAME.finditer(text):
        yield (source.line_of(text, match.start()),
               f"the name {match.group(0)}: see docs/glossary.md")


def check_lines(path, text):
    for number, line in enumerate(text.split("\n"), start=1):
        if "\t" in line and not any(map(path.match, TABS_ALLOWED)):
            yield number, "a tab"
        if "\r" in line:
            yield number, "a carriage return"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        found = MACHINE.search(line)
        if found and not path.parts[0].startswith("LICENSE"):
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
    if path.suffix in (".c", ".h", ".cpp", ".hpp"):
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
        found += check_words(path, text)
        if path.suffix in (".c", ".h"):
            found += check_c(path, text)
        findings += [(path, line, what) for line, what in sorted(found)]
    source.report(findings)


main()
