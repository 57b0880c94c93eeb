# SPDX-License-Identifier: Apache-2.0
"""Parse the part of Lua 5.1 that scripts/*.lua use.

parse(text) returns a list of statements. A statement or expression is a Node:
what it is (`kind`), its line, and its parts (`at`), by kind:

    nil true false varargs      none
    number string name          the value, or the name
    unary binary                operator, operand(s); `and` and `or` too
    index                       object, key
    call                        function, arguments
    method                      object, name, arguments
    function                    parameters, body
    table                       list of (key or None, value)
    local                       names, values
    assign                      targets, values
    do while repeat             body; condition, body; body, condition
    if                          list of (condition or None, body)
    for                         name, first, last, step or None, body
    each                        names, values, body
    return break                values; none
    define                      name, function: `local function`
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<number>0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
  | (?P<mark>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^\#<>=(){}\[\];:,.])
""", re.X | re.S)
WORDS = frozenset("""and break do else elseif end false for function if in local
    nil not or repeat return then true until while""".split())
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"',
           "\n": "\n", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
# Left and right binding power.
BINARY = {"or": (1, 1), "and": (2, 2), "<": (3, 3), ">": (3, 3), "<=": (3, 3),
          ">=": (3, 3), "~=": (3, 3), "==": (3, 3), "..": (5, 4), "+": (6, 6),
          "-": (6, 6), "*": (7, 7), "/": (7, 7), "%": (7, 7), "^": (10, 9)}
UNARY_POWER = 8


class LuaError(Exception):
    """What could not be read; the line."""

    def __init__(self, line, what):
        super().__init__(f"{line}: {what}")
        self.line, self.what = line, what


@dataclass
class Node:
    """A statement or an expression."""
    kind: str
    line: int
    at: tuple


def unescape(text):
    """A string literal as bytes."""
    def one(match):
        what = match.group(1)
        return chr(int(what)) if what[0].isdigit() else ESCAPES[what]
    return re.sub(r"\\(\d{1,3}|.)", one, text[1:-1], flags=re.S)


def _tokens(text):
    at, line = 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise LuaError(line, f"unexpected {text[at]!r}")
        kind, word = match.lastgroup, match.group(0)
        if kind == "name" and word in WORDS:
            kind = "mark"
        if kind != "space":
            yield kind, word, line
        line += word.count("\n")
        at = match.end()
    yield "end", "", line


class _Parser:
    def __init__(self, text):
        self.tokens = list(_tokens(text))
        self.next = 0

    # ------------------------------------------------------------ tokens

    @property
    def line(self):
        """Of the next token."""
        return self.tokens[self.next][2]

    def sees(self, *words):
        """Is the next token one of these marks?"""
        kind, word, _ = self.tokens[self.next]
        return kind == "mark" and word in words

    def take(self, word):
        """Skip that mark if it comes next."""
        found = self.sees(word)
        self.next += found
        return found

    def need(self, word):
        """Skip that mark, which must come next."""
        if not self.take(word):
            raise LuaError(self.line, f"{word!r} expected near "
                           f"{self.tokens[self.next][1]!r}")

    def name(self):
        """Take a name."""
        kind, word, line = self.tokens[self.next]
        if kind != "name":
            raise LuaError(line, f"a name expected near {word!r}")
        self.next += 1
        return word

    # -------------------------------------------------------- statements

    def block(self, *ends):
        """Statements up to one of the marks, which is not skipped."""
        found = []
        while not self.sees(*ends) and self.tokens[self.next][0] != "end":
            found.append(self.statement())
            self.take(";")
        return found

    def body(self):
        """Statements up to `end`, which is skipped."""
        found = self.block("end")
        self.need("end")
        return found

    def statement(self):
        """One statement."""
        line = self.line
        for word in ("local", "if", "for", "while", "repeat", "do", "return",
                     "break"):
            if self.take(word):
                return Node(*getattr(self, "after_" + word)(line))
        target = self.suffixed()
        if not self.sees("=", ","):
            if target.kind not in ("call", "method"):
                raise LuaError(line, "a statement expected")
            return target
        targets = [target]
        while self.take(","):
            targets.append(self.suffixed())
        self.need("=")
        return Node("assign", line, (targets, self.values()))

    def after_local(self, line):
        """local NAMES = VALUES, or local function."""
        if self.take("function"):
            return "define", line, (self.name(), self.function(line))
        names = self.names()
        return "local", line, (names, self.values() if self.take("=") else [])

    def after_if(self, line):
        """if ... elseif ... else ... end"""
        arms = []
        condition = self.expression()
        self.need("then")
        while True:
            arms.append((condition, self.block("elseif", "else", "end")))
            if self.take("elseif"):
                condition = self.expression()
                self.need("then")
                continue
            if self.take("else"):
                arms.append((None, self.block("end")))
            self.need("end")
            return "if", line, (arms,)

    def after_for(self, line):
        """for NAME = FIRST, LAST, STEP or for NAMES in VALUES"""
        names = self.names()
        if self.take("="):
            numbers = self.values()
            self.need("do")
            step = numbers[2] if len(numbers) > 2 else None
            return "for", line, (names[0], numbers[0], numbers[1], step,
                                 self.body())
        self.need("in")
        values = self.values()
        self.need("do")
        return "each", line, (names, values, self.body())

    def after_while(self, line):
        """while CONDITION do"""
        condition = self.expression()
        self.need("do")
        return "while", line, (condition, self.body())

    def after_repeat(self, line):
        """repeat ... until CONDITION"""
        body = self.block("until")
        self.need("until")
        return "repeat", line, (body, self.expression())

    def after_do(self, line):
        """do ... end"""
        return "do", line, (self.body(),)

    def after_return(self, line):
        """return VALUES"""
        ends = self.sees("end", "else", "elseif", "until", ";")
        ends = ends or self.tokens[self.next][0] == "end"
        return "return", line, ([] if ends else self.values(),)

    def after_break(self, line):
        """break"""
        return "break", line, ()

    def names(self):
        """NAME, NAME ..."""
        found = [self.name()]
        while self.take(","):
            found.append(self.name())
        return found

    def values(self):
        """EXPRESSION, EXPRESSION ..."""
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        return found

    # ------------------------------------------------------- expressions

    def expression(self, least=0):
        """An expression of operators that bind more than `least`."""
        line = self.line
        for word in ("not", "#", "-"):
            if self.take(word):
                left = Node("unary", line, (word, self.expression(UNARY_POWER)))
                break
        else:
            left = self.simple()
        while True:
            _, word, line = self.tokens[self.next]
            if not self.sees(*BINARY) or BINARY[word][0] <= least:
                return left
            self.next += 1
            right = self.expression(BINARY[word][1])
            left = Node("binary", line, (word, left, right))

    def simple(self):
        """An operand."""
        kind, word, line = self.tokens[self.next]
        if kind in ("number", "string"):
            self.next += 1
            value = unescape(word) if kind == "string" else float(
                int(word, 16) if word.startswith("0x") else word)
            return Node(kind, line, (value,))
        for constant in ("nil", "true", "false"):
            if self.take(constant):
                return Node(constant, line, ())
        if self.take("..."):
            return Node("varargs", line, ())
        if self.take("{"):
            return self.table(line)
        if self.take("function"):
            return self.function(line)
        return self.suffixed()

    def suffixed(self):
        """A name or (...), with what follows: [..] .NAME (..) :NAME(..)"""
        line = self.line
        if self.take("("):
            # Only the first of its values: as by an operator.
            left = Node("unary", line, ("()", self.expression()))
            self.need(")")
        else:
            left = Node("name", line, (self.name(),))
        while True:
            line = self.line
            if self.take("."):
                left = Node("index", line,
                            (left, Node("string", line, (self.name(),))))
            elif self.take("["):
                left = Node("index", line, (left, self.expression()))
                self.need("]")
            elif self.take(":"):
                name = self.name()
                left = Node("method", line, (left, name, self.arguments()))
            elif self.sees("("):
                left = Node("call", line, (left, self.arguments()))
            else:
                return left

    def arguments(self):
        """(EXPRESSIONS)"""
        self.need("(")
        found = [] if self.sees(")") else self.values()
        self.need(")")
        return found

    def function(self, line):
        """(NAMES) ... end"""
        self.need("(")
        names = [] if self.sees(")") else self.names()
        self.need(")")
        return Node("function", line, (names, self.body()))

    def table(self, line):
        """Fields up to }"""
        fields = []
        while not self.take("}"):
            kind, word, place = self.tokens[self.next]
            if self.take("["):
                key = self.expression()
                self.need("]")
                self.need("=")
            elif kind == "name" and self.tokens[self.next + 1][1] == "=":
                key = Node("string", place, (word,))
                self.next += 2
            else:
                key = None
            fields.append((key, self.expression()))
            if not self.take(","):
                self.need("}")
                break
        return Node("table", line, (fields,))


def parse(text):
    """The statements of a script."""
    parser = _Parser(text)
    found = parser.block()
    if parser.tokens[parser.next][0] != "end":
        raise LuaError(parser.line, "the end expected near "
                       f"{parser.tokens[parser.next][1]!r}")
    return found
