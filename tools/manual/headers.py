# SPDX-License-Identifier: Apache-2.0
"""Pages of section 3: one for each public header, from its comments.

A header opens with `@file holdfast/NAME.h - title`, contents and an example.
Then each /** comment is followed by what it describes: one declaration, or
several without a comment of their own. In a comment there are paragraphs,
lists (`- `), tables (`| `), headings (underlined with =), @code, @param,
@retval and @return. Members and enumerators have comments of their own, before
them or, as /**<, behind.
"""

import re

import roff

# Pages of headers that need more than libholdfast.
LIBRARIES = {"holdfast_serve": "holdfast-serve",
             "holdfast_loop_uv": "holdfast libuv",
             "holdfast_loop_glib": "holdfast glib-2.0",
             "holdfast_loop_libevent": "holdfast libevent"}
COMMENT = re.compile(r"/\*\*(?!<)(.*?)\*/", re.S)


def clean(comment):
    """A comment's text, without its stars."""
    return "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip()
                     for line in comment.strip("\n").split("\n")).strip("\n")


# --------------------------------------------------------------------- comments

def put_row(made, row):
    """A row of a table; its text may continue in rows whose first cell is
    empty, or that continue a list which ended with a comma."""
    term, *cells = [cell.strip() for cell in row.strip("|").split("|")]
    last = made[-1] if made and made[-1][0] == "row" else None
    if re.fullmatch(r"-+", term):
        made.pop() # its heading
    elif last and (not term or last[1].endswith(",")):
        last[1] = f"{last[1]} {term}".strip()
        last[2] = " ".join([last[2], *cells]).strip()
    else:
        made.append(["row", term, " ".join(cells)])


def chunks(text):
    """[(kind, ...)] of a comment: paragraph, list item, code, table, tag."""
    lines = text.split("\n")
    made = []
    at = 0
    while at < len(lines):
        row = lines[at]
        last = made[-1] if made else None
        if row.strip() == "@code":
            end = next(i for i in range(at, len(lines))
                       if lines[i].strip() == "@endcode")
            made.append(["code", "\n".join(lines[at + 1:end])])
            at = end
        elif at + 1 < len(lines) and row and re.fullmatch(r"=+",
                                                          lines[at + 1]):
            made.append(["heading", row])
            at += 1
        elif row.startswith("|"):
            put_row(made, row)
        elif tag := re.match(r"@(param|retval)\s+(\w+)\s*(.*)", row):
            made.append([tag[1], tag[2], tag[3]])
        elif row.startswith("@return"):
            made.append(["return", row.removeprefix("@return").strip()])
        elif row.startswith("- "):
            made.append(["item", row[2:]])
        elif not row.strip():
            made.append(["end"])
        elif last and last[0] in ("paragraph", "item", "return"):
            last[1] += " " + row.strip()
        elif last and last[0] in ("param", "retval"):
            last[2] += " " + row.strip()
        else:
            made.append(["paragraph", row.strip()])
        at += 1
    return [chunk for chunk in made if chunk[0] != "end"]


def put_text(page, found, heading):
    for kind, *rest in found:
        if kind == "paragraph":
            page.paragraph(rest[0])
        elif kind == "heading":
            heading(rest[0])
        elif kind == "code":
            page.verbatim(rest[0])
        elif kind == "item":
            page.rows([".IP \\(bu 3", *roff.paragraph(rest[0])])
        elif kind == "row":
            page.item(rest[0].replace("`", ""), rest[1])


def put_tags(page, found):
    for kind, title in (("param", "Parameters"), ("retval", "Returns")):
        rows = [chunk[1:] for chunk in found if chunk[0] == kind]
        if rows:
            page.rows([".P", f"\\fI{title}:\\fR"])
        for name, text in rows:
            page.item(name, text)
    for chunk in found:
        if chunk[0] == "return":
            page.rows([".P", "\\fIReturns:\\fR", *roff.paragraph(chunk[1])])


# ----------------------------------------------------------------- declarations

def tidy(code):
    """A declaration as a reader wants it."""
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    code = re.sub(r"\b(HF_API|HF_MUST_USE|HF_PRINTF|HF_DEPRECATED)\b ?", "", code)
    code = re.sub(r"\s*__attribute__\s*\(\(.*?\)\)(?=;)", "", code, flags=re.S)
    return re.sub(r"\n\s*\n", "\n", code).strip()


def signature(code):
    """A function's declaration, a parameter on each line if it is long."""
    text = re.sub(r"\s+", " ", tidy(code))
    if len(text) <= 72 or "(" not in text:
        return text
    head, rest = text.split("(", 1)
    return head + "(\n    " + ",\n    ".join(
        part.strip() for part in re.split(r",(?![^(]*\))", rest))


def members(body):
    """[(member or enumerator, its comment)] of a struct or an enum."""
    found = []
    for match in re.finditer(
            r"(?:/\*\*(?!<)(?P<before>(?:(?!\*/).)*)\*/\s*)?"
            r"(?P<what>[^;,/{}]+?(?:\([^)]*\))?[^;,/{}]*?)\s*(?:[;,]|(?=/)|$)"
            r"\s*(?:/\*\*<(?P<behind>.*?)\*/)?", body, re.S):
        what = re.sub(r"\s+", " ", match["what"]).strip()
        if what:
            text = match["before"] or match["behind"] or ""
            found.append((what, re.sub(r"\s+", " ", clean(text)).strip()))
    return found


def put_members(page, body):
    for what, text in members(body):
        page.rows([".TP", roff.line(roff.bold(what)),
                   *(roff.paragraph(text) if text else ["\\&"])])


class Entry:
    """A comment and the declarations that it is about."""

    def __init__(self, comment, code):
        self.found = chunks(clean(comment))
        self.code = code.strip()
        names = re.findall(r"\b(hf_\w+)\s*\(|#define (HF\w+)|"
                           r"\b(hf_\w+)(?=;|\s*\{)|\(\*(hf_\w+)\)", self.code)
        names = [name for group in names for name in group if name]
        block = re.search(r"\{(.*)\}\s*(\w*)\s*;", self.code, re.S)
        self.body = block[1] if block and "#define" not in \
            self.code.split("{")[0] else None
        if self.body is not None and block[2]:
            names = [block[2]]
        self.names = list(dict.fromkeys(names))

    def title(self):
        if self.code.startswith("HF_START"):
            return "Started forms"
        if self.code.startswith(("HF_API", "static inline")):
            return self.names[0] + "()"
        if not self.names:
            return "Constants"
        return ", ".join(self.names[:3]) + (
            ", ..." if len(self.names) > 3 else "")

    def functions(self):
        if not self.code.startswith(("HF_API", "static inline", "HF_START")):
            return []
        return [name for name in re.findall(r"\b(hf_\w+)(?=\(|,)", self.code)
                if name.startswith("hf_")] if self.code.startswith(
                    "HF_START") else self.names[:1]

    def put(self, page):
        page.subheading(self.title())
        if self.code.startswith(("HF_API", "static inline")):
            page.verbatim(signature(self.code.split("{")[0].rstrip() + (
                ";" if "{" in self.code else "")))
        elif self.body is None:
            page.verbatim(tidy(self.code))
        put_text(page, self.found, page.subheading)
        if self.body is not None:
            put_members(page, self.body)
        put_tags(page, self.found)


def skip_space(text, at):
    return at + len(text[at:]) - len(text[at:].lstrip())


def end_of_declarations(text, start, limit):
    """Where the code that a comment is about ends: at an empty line outside
    braces."""
    depth = 0
    at = start
    while at < limit:
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0 and text.startswith("\n\n", at):
            return at
        at += 1
    return limit


def entries(text):
    """The comments behind the opening, with their code."""
    found = []
    at = 0
    while match := COMMENT.search(text, at):
        start = skip_space(text, match.end())
        end = end_of_declarations(text, start, len(text))
        # The next comment may come without an empty line.
        inner = COMMENT.search(text, start, end)
        code = text[start:end]
        if inner and code[:inner.start() - start].count("{") == \
                code[:inner.start() - start].count("}"):
            end = inner.start()
            code = text[start:end]
        code = re.sub(r"/\* clang-format (on|off) \*/\n?", "", code)
        if code.strip():
            found.append(Entry(match[1], code))
        at = end
    return found


def page_of(path, version, date):
    """(page, names of its functions)"""
    text = path.read_text()
    opening = COMMENT.search(text)
    head = re.match(r"\s*\*? ?@file (\S+) - (.*?)\.?\n", opening[1])
    name = head[1].removesuffix(".h").replace("/", "_")
    page = roff.Page(name, 3, head[2].rstrip("."), version, date)
    page.heading("SYNOPSIS")
    libraries = LIBRARIES.get(name, "holdfast")
    page.rows([roff.bold(f"#include <{head[1]}>"), ".P",
               "Compile and link with the flags of",
               f"\\fBpkg\\-config \\-\\-cflags \\-\\-libs "
               f"{roff.literal(libraries)}\\fR."])
    page.heading("DESCRIPTION")
    put_text(page, chunks(clean(opening[1][head.end():])), page.subheading)
    functions = []
    body = entries(text[opening.end():])
    if body:
        page.heading("DECLARATIONS")
    for entry in body:
        entry.put(page)
        functions += entry.functions()
    return page, functions


def write(include, version, date, folder):
    paths = [*sorted(include.glob("holdfast/*.h")),
             *sorted(include.glob("holdfast/loop/*.h"))]
    pages = [page_of(path, version, date)
             for path in [include / "holdfast.h", *paths]]
    names = [page.name for page, _ in pages]
    for page, functions in pages:
        page.heading("SEE ALSO")
        others = [roff.bold(name) + "(3)," for name in names
                  if name != page.name]
        page.rows([*others[:-1], others[-1].rstrip(",")])
        page.write(folder)
        for name in functions:
            roff.alias(folder, name, 3, page.name)
