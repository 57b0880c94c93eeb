#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every public function documented, exported by the map of its library, and
called by the tests that make every call?
"""

import re
from pathlib import Path

import source

# A header's functions are in libholdfast, but for these.
MAP = Path("src/holdfast.map")
MAPS = {Path("include/holdfast/serve.h"): Path("src/serve/serve.map")}
# A function with a started form has a row there, but for those of handles that
# have messages of their own, and of servers only.
ROWS = Path("tests/support/every_rows.h")
APART = re.compile(r"hf_(observer|watch|redisson)_")
DECLARATION = re.compile(r"^HF_API\b(?!_)([^;{]*?)\b(hf_\w+)\((.*?)\);",
                         re.M | re.S)
# One with a body, which no library exports. Those that cannot fail are small.
INLINE = re.compile(r"^static inline\b([^;{()]*?)\b(hf_\w+)\(([^{]*?)\)\n\{",
                    re.M)
START = re.compile(r"^HF_START(|_OF)\((hf_\w+)(?:,\s*(.*?))?\);", re.M | re.S)
STARTS = ["The `_start` forms; see #HF_START."]

EXAMPLE_MAX = 15
# Parameters that base.h explains for all functions.
GENERAL = ("client", "err")


def comment_before(text, offset):
    """The /** comment that ends right before `offset`, as clean lines."""
    match = re.search(r"/\*\*((?:(?!\*/).)*)\*/\s*$", text[:offset], re.S)
    if not match:
        return None
    return [re.sub(r"^\s*\*? ?", "", line).rstrip()
            for line in match.group(1).strip("\n").split("\n")]


def parameters(text):
    names = []
    for part in text.split(","):
        if part.strip() not in ("void", "..."):
            names.append(re.findall(r"\w+", re.sub(r"\[.*?\]", "", part))[-1])
    return names


def tags(lines, tag):
    """(name, text) of each @tag, further lines joined."""
    joined = re.sub(r"\n(?!@|\n)\s*", " ", "\n".join(lines))
    return re.findall(r"^@%s\s+(\w+)[ \t]*(.*)$" % tag, joined, re.M)


def check_function(lines, result, name, arguments, statuses):
    """Yield what is wrong with the comment of one function."""
    text = "\n".join(lines)
    if not lines or not lines[0].strip() or lines[0].startswith("@"):
        yield "no summary in its first line"
    documented = tags(lines, "param")
    expected = parameters(arguments)
    names = [param for param, _ in documented]
    if names != [p for p in expected if p in names or p not in GENERAL]:
        yield (f"@param {', '.join(p for p, _ in documented) or 'none'}; "
               f"its parameters are {', '.join(expected) or 'none'}")
    for param, what in documented:
        if not what:
            yield f"@param {param} is not explained"
    retvals = tags(lines, "retval")
    names = [value for value, _ in retvals]
    for value, what in retvals:
        if value not in statuses:
            yield f"@retval {value} is not in HF_STATUS_MAP"
        if not what:
            yield f"@retval {value} is not explained"
    for value in sorted({value for value in names if names.count(value) > 1}):
        yield f"@retval {value} stands twice"
    if is_fallible(result, expected):
        if "HF_OK" not in names:
            yield "no @retval HF_OK"
        if "HF_MUST_USE" not in result:
            yield "no HF_MUST_USE"
    elif not re.search(r"\bvoid\s*$", result) and "@return" not in text:
        yield "no @return"


def is_fallible(result, parameters):
    return (re.search(r"\bhf_status\s*$", result) is not None and
            parameters[-1:] == ["err"])


def words(text):
    return re.findall(r"\w+|\S", text)


def check_starts(text, code, functions):
    """Names of the functions that HF_START declares; (line, what is wrong).

    `functions` has the parameters of those that HF_API declares. A start has
    the parameters of the function that it starts, whose comment is its own if
    it has none."""
    declared = []
    findings = []
    end = None
    for match in START.finditer(code):
        of, name, listed = match.groups()
        base = name.removesuffix("_start")
        declared.append(name)
        if of == "":
            listed = f"hf_client *client, {listed}"
        what = None
        if base == name or base not in functions:
            what = "starts no function of this header"
        elif words(f"{listed}, hf_error *err") != words(functions[base]):
            what = f"its parameters are not those of {base}()"
        if what:
            findings.append((source.line_of(code, match.start()),
                             f"{name}(): {what}"))
        comment = comment_before(text, match.start())
        if comment is not None and comment[0].startswith(f"Starts {base}()."):
            continue
        if end is None and comment != STARTS or \
                end is not None and text[end:match.start()] != "\n":
            findings.append((source.line_of(code, match.start()),
                             f"{name}() has no comment that begins with "
                             f"\"Starts {base}().\", and is not in the one "
                             f"block of HF_START after /** {STARTS[0]} */"))
        end = match.end()
    return declared, findings


def check_opening(opening):
    """A header opens with its contents and an example."""
    if "* Contents:" not in opening:
        yield 1, "no 'Contents:' in the opening comment"
    example = re.search(r"^ \* @code\n(.*?)^ \* @endcode$", opening,
                        re.M | re.S)
    if not example:
        yield 1, "no @code ... @endcode in the opening comment"
    elif example.group(1).count("\n") > EXAMPLE_MAX:
        yield 1, f"the example has more than {EXAMPLE_MAX} lines"


def check_inlines(text, code, statuses):
    """(line, what is wrong) with the comments of functions with a body."""
    for match in INLINE.finditer(code):
        result, name, arguments = match.groups()
        line = source.line_of(code, match.start(2))
        if f"{name}()" not in text[:text.find("#ifndef")]:
            yield line, f"{name}() is not in the contents"
        lines = comment_before(text, match.start())
        if lines is None:
            yield line, f"{name}() has no /** comment"
        elif is_fallible(result, parameters(arguments)):
            for what in check_function(lines, result, name, arguments,
                                       statuses):
                yield line, f"{name}(): {what}"


def check_header(text, statuses):
    """Names of the functions of one header; (line, what is wrong)."""
    code = source.blank(text)
    functions = {}
    findings = list(check_opening(text.split("*/\n#ifndef")[0]))
    for match in DECLARATION.finditer(code):
        result, name, arguments = match.groups()
        line = source.line_of(code, match.start(2))
        functions[name] = arguments
        if not name.endswith("_start") and \
                f"{name}()" not in text[:text.find("#ifndef")]:
            findings.append((line, f"{name}() is not in the contents"))
        lines = comment_before(text, match.start())
        if lines is None:
            findings.append((line, f"{name}() has no /** comment"))
        else:
            findings += [(line, f"{name}(): {what}") for what in
                         check_function(lines, result, name, arguments,
                                        statuses)]
    findings += check_inlines(text, code, statuses)
    starts, found = check_starts(text, code, functions)
    return [*functions, *starts], findings + found


def exported(text):
    text = re.sub(r"#[^\n]*", "", text)
    return re.findall(r"^\s*([\w*]+);", text.split("local:")[0], re.M)


def check_rows(text, names):
    rows = set(re.findall(r"^EVERY\((\w+)", text, re.M))
    return [(ROWS, 1, f"{name}() has no row") for name in names
            if name + "_start" in names and not APART.match(name)
            and name.removeprefix("hf_") not in rows]


def main():
    top = source.root()
    texts = {path: (top / path).read_text() for path in
             source.files(top, "include/holdfast.h", "include/holdfast/*.h",
                          "include/holdfast/loop/*.h")}
    statuses = {"HF_" + name for text in texts.values() for name in
                re.findall(r"\bX\((\w+), \d+, \"", text)}
    findings = []
    declared = {MAP: []}
    for path, text in texts.items():
        names, found = check_header(text, statuses)
        declared.setdefault(MAPS.get(path, MAP), []).extend(names)
        findings += [(path, line, what) for line, what in found]
    for path, known in declared.items():
        names = exported((top / path).read_text())
        findings += [(path, 1, f"{name} is declared but not exported")
                     for name in known if name not in names]
        findings += [(path, 1, f"{name} is exported but not declared")
                     for name in names if name not in known]
        if not known:
            findings.append((path, 1, "no HF_API function was found"))
    findings += check_rows((top / ROWS).read_text(), declared[MAP])
    source.report(findings)


main()
