#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_manual.py - cli/manual/*.txt as C.

    embed_manual.py OUTPUT.c FILE.txt...

The words of the command's help; `holdfast help` prints them, and
tools/manual.py makes the man pages of what `holdfast help --json` prints. A
file has records, one for a noun, each of its commands, or a topic:

    command: value set         begins a record
    summary: one line
    notes:                     lines that follow are indented by four
        A paragraph, however long its lines are.

        * term | an item of a list; a | in the term is \\|
        = A heading
            $ indented by four more: as it is, at most 76 columns
    json: the members of its object
    no: what exit code 1 means; without it, the command never ends with 1
    codes: exit codes besides those that follow from the options
    servers: yes if the example needs a server

An unknown or missing field is an error here, so that none is lost.
"""

import json
import re
import sys
from pathlib import Path

FIELDS = {
    "noun": {"task", "summary", "names", "example"},
    "command": {"summary", "example", "notes", "json", "no", "codes",
                "servers"},
    "topic": {"title", "example", "text"},
}
REQUIRED = {
    "noun": {"task", "summary", "names"},
    "command": {"summary", "example"},
    "topic": {"title", "example", "text"},
}
TASKS = ("locks", "data", "server", "maintenance")
NAMES = ("locks", "keys", "none")
SUMMARY_MAX = 64
VERBATIM_MAX = 76


class Wrong(Exception):
    pass


def records(path):
    """Yield (kind, name, {field: lines})."""
    record = field = None
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        begin = re.match(r"([a-z]+):(?: (.*))?$", line)
        if begin and begin[1] in FIELDS:
            if record:
                yield record
            record = (begin[1], begin[2], {})
        elif begin and record:
            field = begin[1]
            if field not in FIELDS[record[0]] or field in record[2]:
                raise Wrong(f"{path}:{number}: unexpected {field}:")
            record[2][field] = [begin[2]] if begin[2] else []
        elif line.startswith("    ") and record and field:
            record[2][field].append(line[4:])
        elif not line and record and field:
            record[2][field].append("")
        else:
            raise Wrong(f"{path}:{number}: not a field, nor indented")
    yield record


def blocks(lines):
    """[(kind, term, text)]; kinds: p paragraph, i item, h heading, v as it is."""
    made = []
    for line in lines:
        last = made[-1] if made else None
        if line.startswith("    "):
            if len(line) - 4 > VERBATIM_MAX:
                raise Wrong(f"too long: {line}")
            if last and last[0] == "v":
                last[2].append(line[4:])
            else:
                made.append(("v", "", [line[4:]]))
        elif not line:
            made.append(("", "", []))
        elif line.startswith("* "):
            term, text = re.split(r"(?<!\\) \| ", line[2:], maxsplit=1)
            made.append(("i", term.replace("\\|", "|"), [text]))
        elif line.startswith("= "):
            made.append(("h", "", [line[2:]]))
        elif last and last[0] in ("p", "i"):
            last[2].append(line)
        else:
            made.append(("p", "", [line]))
    return [(kind, term, ("\n" if kind == "v" else " ").join(text))
            for kind, term, text in made if kind]


def check(kind, name, fields):
    if missing := REQUIRED[kind] - set(fields):
        raise Wrong(f"{name}: without {', '.join(sorted(missing))}")
    for line in fields.get("example", []):
        if len(line) > VERBATIM_MAX:
            raise Wrong(f"{name}: too long: {line}")
    if len(" ".join(fields.get("summary", []))) > SUMMARY_MAX:
        raise Wrong(f"{name}: summary has more than {SUMMARY_MAX} characters")
    if kind == "noun" and fields["task"][0] not in TASKS:
        raise Wrong(f"{name}: task is one of {', '.join(TASKS)}")
    if kind == "noun" and fields["names"][0] not in NAMES:
        raise Wrong(f"{name}: names is one of {', '.join(NAMES)}")


def literal(text):
    # JSON's escapes are C's, but for "??" and those of text that is not ASCII.
    if not text.isascii():
        raise Wrong(f"not ASCII: {text}")
    return json.dumps(text) if text else "NULL"


def line_of(fields, name):
    return literal(" ".join(fields.get(name, [])).strip())


def example_of(fields):
    return literal("\n".join(fields.get("example", [])).rstrip())


def codes_of(fields):
    codes = " ".join(fields.get("codes", [])).split()
    return "{" + ", ".join([*codes, "0"]) + "}"


def is_stream(fields):
    """One object, or many?"""
    return fields.get("json", [""])[0].startswith("an object for each")


class Source:
    def __init__(self):
        self.lists = []
        self.rows = {kind: [] for kind in FIELDS}

    def blocks(self, lines):
        name = f"blocks_{len(self.lists)}"
        made = blocks(lines)
        if not made:
            return "NULL"
        rows = [f"    {{'{kind}', {literal(term)}, {literal(text)}}},"
                for kind, term, text in made]
        self.lists.append(f"static const struct manual_block {name}[] = {{\n"
                          + "\n".join(rows) + "\n    {0, NULL, NULL}};\n")
        return name

    def add(self, kind, name, fields):
        check(kind, name, fields)
        cells = {
            "noun": lambda: (line_of(fields, "summary"), example_of(fields),
                             "MANUAL_" + fields["task"][0].upper(),
                             "MANUAL_NAMES_" + fields["names"][0].upper()),
            "command": lambda: (line_of(fields, "summary"), example_of(fields),
                                self.blocks(fields.get("notes", [])),
                                line_of(fields, "json"), line_of(fields, "no"),
                                codes_of(fields),
                                str("servers" in fields).lower(),
                                str(is_stream(fields)).lower()),
            "topic": lambda: (line_of(fields, "title"), example_of(fields),
                              self.blocks(fields["text"])),
        }[kind]()
        self.rows[kind].append(
            "    {" + ",\n     ".join([literal(name), *cells]) + "},\n")

    def text(self):
        parts = ["/* Made by embed_manual.py. */\n#include \"manual.h\"\n",
                 *self.lists]
        for kind, struct in (("noun", "noun"), ("command", "page"),
                             ("topic", "topic")):
            parts.append(f"const struct manual_{struct} manual_{struct}s[] = "
                         "{\n" + "".join(sorted(self.rows[kind])) + "};\n"
                         f"const size_t manual_{struct}_count = "
                         f"{len(self.rows[kind])};\n")
        return "\n".join(parts)


def main(output, *paths):
    source = Source()
    try:
        for path in sorted(paths):
            for record in records(Path(path)):
                source.add(*record)
    except Wrong as wrong:
        sys.exit(f"embed_manual.py: {wrong}")
    Path(output).write_text(source.text(), encoding="ascii")


main(*sys.argv[1:])
