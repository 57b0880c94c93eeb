#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names in src/, cli/ and include/: a type and the stem of a .c file exist
once, the name of a static function has two words, and some words are retired.

A backtrace and a profile show names without their files: `finish_reply` says
more than `finish`.
"""

import re
from collections import defaultdict

import source

PLACES = ("src/", "cli/", "include/")
# An algorithm has a name of its own. No verb belongs here.
ONE_WORD = ("crc16",)
# Words of identifiers and comments, and what to write instead.
WORDS = (
    (r"settl(?:e[sd]?|ing)", "end, decide, place"),
    (r"bur(?:y|ies|ied|ying)", "close, remove"),
    (r"pok(?:e[sd]?|ing)", "wake, notify"),
    (r"hurr(?:y|ies|ied|ying)", "speed up, prompt"),
    (r"abandon(?:s|ed|ing|ment)?", "give up, leave"),
    (r"forg[eo]t(?:s|ten|ting)?", "remove, drop, clear"),
    (r"(?:shak(?:e[sn]?|ing)|shook)", "handshake"),
    (r"sightings?", "observation, sample"),
    (r"errands?", "job, request"),
    (r"st(?:and|ands|ood|anding)[\W_]+in", "replaces, substitute"),
)
WORD = re.compile(r"(?<![^\W_])(?:" +
                  "|".join(rf"({word})(?![^\W_])" for word, _ in WORDS) + ")",
                  re.I)
PUBLIC = re.compile(r"\bhf_[a-z]\w*")

TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
TYPEDEF = re.compile(r"\btypedef\b")
# A name for the tag of the same name, which is found where its body is.
SAME = re.compile(r"(?:struct|union|enum)\s+(\w+)\s+\1")


def without_bodies(text, start):
    """From `start` to the semicolon that ends a declaration, without what is in
    its braces."""
    depth = 0
    found = []
    for char in text[start:]:
        if char == ";" and depth == 0:
            break
        depth += (char == "{") - (char == "}")
        if depth == 0 and char not in "{}":
            found.append(char)
    return "".join(found)


def types(code):
    """(name, offset) of each type that is defined."""
    for match in TAG.finditer(code):
        yield match.group(1), match.start()
    for match in TYPEDEF.finditer(code):
        text = without_bodies(code, match.end()).strip()
        name = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text) or \
            re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", text)
        if name and not SAME.fullmatch(text):
            yield name.group(1), match.start()


def check_once(what, found):
    """Findings for each of {name: [(path, line)]} that has two places."""
    for name, places in found.items():
        for place in places:
            others = [f"{p}:{n}" for p, n in places if (p, n) != place]
            if others:
                yield *place, f"{what} {name} is also in {', '.join(others)}"


def check_functions(path, text):
    for function in source.functions(text):
        if function.is_static and "_" not in function.name \
                and function.name not in ONE_WORD:
            yield (path, function.line, f"{function.name}(): the name of a "
                   "static function has two words")


def check_words(path, text):
    """Exempt are strings, as Redis has its own words, and public names."""
    text = PUBLIC.sub(lambda match: " " * len(match.group(0)),
                      source.blank_strings(text))
    for match in WORD.finditer(text):
        yield (path, source.line_of(text, match.start()),
               f"'{match.group(0)}': write {WORDS[match.lastindex - 1][1]}")


def main():
    top = source.root()
    findings = []
    defined, stems = defaultdict(list), defaultdict(list)
    for path in source.files(top, "*.c", "*.h"):
        if not path.as_posix().startswith(PLACES):
            continue
        text = (top / path).read_text(errors="replace")
        code = source.blank(text)
        for name, offset in types(code):
            defined[name].append((path, source.line_of(code, offset)))
        if path.suffix == ".c":
            stems[path.stem].append((path, 1))
        findings += check_functions(path, text)
        findings += check_words(path, text)
    findings += check_once("the type", defined)
    findings += check_once("the stem", stems)
    source.report(sorted(findings))


main()
