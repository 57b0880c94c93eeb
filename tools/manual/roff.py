# SPDX-License-Identifier: Apache-2.0
"""Text as roff, with the macros of man(7), for groff and mandoc."""

import re
import textwrap

COLUMNS = 76
ESCAPES = {"\\": "\\(rs", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga"}


def escape(text):
    return "".join(ESCAPES.get(c, c) for c in text)


def literal(text):
    """What a reader may copy: no hyphens, no typographic quotes."""
    return escape(text).replace("-", "\\-").replace("'", "\\(aq")


def bold(text):
    return f"\\fB{literal(text)}\\fR"


# `code`, **bold**, #HF_NAME, hf_name(), holdfast(1), --option, -n
INLINE = re.compile(
    r"`([^`]+)`|\*\*([^*]+)\*\*|#(?=[A-Za-z])(\w+(?:::\w+)?)"
    r"|\b(hf_\w+)\(\)|(?<![\w-])(--?[A-Za-z][\w-]*)|(https?://\S+\w)")


def inline(text):
    def put(match):
        code, strong, reference, function, option, url = match.groups()
        if function:
            return f"\\fB{function}\\fR()"
        if url:
            return literal(url)
        return bold(code or strong or reference or option)

    out = []
    end = 0
    for match in INLINE.finditer(text):
        out += [escape(text[end:match.start()]), put(match)]
        end = match.end()
    return "".join(out) + escape(text[end:])


def line(text):
    """A text line: one that begins as a request would is protected."""
    return "\\&" + text if text.startswith((".", "'")) else text


def paragraph(text):
    """Its lines, a sentence begins a new one."""
    rows = []
    for sentence in re.split(r"(?<=[.:;?!]) +(?=[A-Z`\\])", text.strip()):
        rows += textwrap.wrap(inline(sentence), COLUMNS,
                              break_long_words=False, break_on_hyphens=False)
    return [line(row) for row in rows]


def quoted(text):
    """An argument of a macro."""
    return '"' + text.replace('"', "\\(dq") + '"'


class Page:
    def __init__(self, name, section, title, version, date):
        self.name = name
        self.section = section
        self.lines = [
            '.\\" Made by tools/manual; do not edit.',
            f".TH {quoted(literal(name.upper()))} {section} {quoted(date)} "
            f"{quoted('Holdfast ' + version)}",
            ".nh", ".ad l",
            ".SH NAME", f"{literal(name)} \\- {escape(title)}"]

    def heading(self, text):
        self.lines.append(f".SH {quoted(literal(text))}")

    def subheading(self, text):
        self.lines.append(f".SS {quoted(literal(text))}")

    def _begin(self):
        """A macro that separates paragraphs, unless a heading just has."""
        if not self.lines[-1].startswith((".SH", ".SS", ".P", ".RS")):
            self.lines.append(".P")

    def paragraph(self, text):
        self._begin()
        self.lines += paragraph(text)

    def item(self, term, text):
        self.lines += [".TP", line(bold(term)), *paragraph(text)]

    def verbatim(self, text):
        self._begin()
        self.lines += [".RS 4", ".EX"]
        self.lines += [line(literal(row.expandtabs(8)))
                       for row in text.split("\n")]
        self.lines += [".EE", ".RE"]

    def rows(self, lines):
        self.lines += lines

    def write(self, folder):
        path = folder / f"man{self.section}" / f"{self.name}.{self.section}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + "\n", encoding="ascii")


def alias(folder, name, section, target):
    """A page that shows another one."""
    (folder / f"man{section}" / f"{name}.{section}").write_text(
        f".so man{section}/{target}.{section}\n", encoding="ascii")
