# SPDX-License-Identifier: Apache-2.0
"""Find the variables of a script and what each can hold.

A type is one of

    num text bool nil   that, always
    num? text?          that, or nil or false
    any                 anything
    None                nothing was seen yet

A variable has the type that includes those of all that is assigned to it, so
the types are found again and again until none changes.
"""

from lua_syntax import LuaError, Node

# What a script may use by a global name.
GLOBALS = frozenset("""KEYS ARGV redis string math cmsgpack tonumber tostring type
    unpack ipairs select pcall""".split())
# Commands that reply with an integer, whatever their arguments are here.
INTEGERS = frozenset("""append copy decr decrby del exists hdel hexists hincrby hlen
    hset hstrlen incr incrby llen lrem persist pexpire pexpireat pexpiretime pttl
    publish rpush sadd scard setrange spublish strlen unlink zadd zcard zcount zrem
    zremrangebyscore""".split())
NUMBERS = ("num", "num?")
TEXTS = ("text", "text?")
ARITHMETIC = ("+", "-", "*", "/", "%", "^")
COMPARISONS = ("<", ">", "<=", ">=", "==", "~=")
RESULTS = {"math.max": "num", "math.min": "num", "math.floor": "num",
           "math.ceil": "num", "math.abs": "num", "string.sub": "text",
           "string.format": "text", "string.lower": "text", "string.char": "text",
           "string.byte": "num?", "string.find": "num?", "string.match": "text?",
           "string.gsub": "text", "redis.sha1hex": "text", "type": "text",
           "tostring": "text", "tonumber": "num?", "select": "num",
           "redis.acl_check_cmd": "bool"}


class Variable:
    """A local variable, a parameter or a local function."""

    def __init__(self, name, number, depth):
        self.text = f"{name}_{number}"
        self.type, self.depth = None, depth
        self.function = None
        self.whole = False  # a number without fraction, below 2^53

    def holds(self, kind):
        """It can hold that, too. Did this change its type?"""
        before = self.type
        self.type = joined(before, kind)
        return self.type != before


def joined(one, other):
    """The type that includes both."""
    if one is None or one == other:
        return other
    if other is None:
        return one
    for plain in ("num", "text"):
        if {one, other} <= {plain, plain + "?", "nil"}:
            return plain + "?"
    return "any"


def builtin(node):
    """The name of a function or table that is not a script's own; None."""
    if node.kind == "index" and node.at[0].kind == "name" \
            and node.at[1].kind == "string":
        return f"{node.at[0].at[0]}.{node.at[1].at[0]}"
    return node.at[0] if node.kind == "name" else None


def command_of(node):
    """(call or pcall, arguments) if it runs a command; else None."""
    if node.kind == "call" and builtin(node.at[0]) in (
            "call", "redis.call", "redis.pcall"):
        how = builtin(node.at[0]).split(".")[-1]
        return how, node.at[1]
    return None


class Scopes:
    """The variable of each name in a script; their types."""

    def __init__(self, statements):
        self.of, self.assigned = {}, []  # by id of a Node; (Variable, Node)
        self.names, self.count, self.depth = [{}], 0, 0
        self.returns = []
        self.block(statements)
        while any([variable.holds(
                kind if isinstance(kind, str) else self.type(kind))
                   for variable, kind in self.assigned]):
            pass

    # ---------------------------------------------------------- the names

    def declare(self, name):
        """A new variable."""
        self.count += 1
        variable = Variable(name, self.count, self.depth)
        self.names[-1][name] = variable
        return variable

    def find(self, node):
        """The variable of a name; None: a global."""
        name = node.at[0]
        for scope in reversed(self.names):
            if name in scope:
                variable = scope[name]
                if variable.depth != self.depth and not variable.function:
                    raise LuaError(node.line, f"a function uses {name}, which "
                                   "is not its own")
                return variable
        if name not in GLOBALS and name != "call":
            raise LuaError(node.line, f"there is no variable {name}")
        return None

    def block(self, statements):
        """The names in a block."""
        self.names.append({})
        for one in statements:
            self.statement(one)
        self.names.pop()

    def pair(self, variables, values):
        """Note what is assigned to each."""
        for at, variable in enumerate(variables):
            if at < len(values) - 1 or at == len(values) - 1 and not (
                    len(variables) > len(values) and is_multiple(values[-1])):
                self.assigned.append((variable, values[at]))
            elif values and is_multiple(values[-1]):
                kind = RESULTS.get(builtin(values[-1].at[0]), "any")
                self.assigned.append(
                    (variable, "text?" if kind == "text?" else "any"))
            else:
                self.assigned.append((variable, "nil"))

    def statement(self, node):
        """The names in a statement."""
        getattr(self, "in_" + node.kind, self.parts)(node)

    def parts(self, node):
        """The names in a node that declares none."""
        for part in node.at:
            self.part(part)

    def part(self, part):
        """The names in a part of a node."""
        if isinstance(part, Node):
            self.statement(part)
        elif isinstance(part, (list, tuple)):
            for one in part:
                self.part(one)

    def in_name(self, node):
        """A variable is used."""
        self.of[id(node)] = self.find(node)

    def in_index(self, node):
        """A field's name is no variable."""
        if builtin(node) and node.at[0].at[0] in ("redis", "string", "math",
                                                  "cmsgpack"):
            return
        self.parts(node)

    def in_local(self, node):
        """local NAMES = VALUES"""
        names, values = node.at
        self.part(values)
        variables = [self.declare(name) for name in names]
        self.of[id(node)] = variables
        self.pair(variables, values)

    def in_define(self, node):
        """local function"""
        variable = self.declare(node.at[0])
        variable.function = node.at[1]
        self.of[id(node)] = variable
        self.statement(node.at[1])

    def in_function(self, node):
        """The parameters can be anything."""
        self.depth += 1
        self.names.append({})
        variables = [self.declare(name) for name in node.at[0]]
        self.of[id(node)] = variables
        self.assigned += [(variable, "any") for variable in variables]
        self.block(node.at[1])
        self.names.pop()
        self.depth -= 1

    def in_assign(self, node):
        """TARGETS = VALUES"""
        self.parts(node)
        targets = [self.of.get(id(target)) for target in node.at[0]]
        for target, variable in zip(node.at[0], targets):
            if target.kind == "name" and variable is None:
                raise LuaError(node.line, f"{target.at[0]} is global")
        for variable in targets:
            if variable:
                variable.whole = False
        unused = Variable("", 0, 0)
        self.pair([variable or unused for variable in targets], node.at[1])

    def in_do(self, node):
        """do ... end"""
        self.block(node.at[0])

    def in_while(self, node):
        """while CONDITION do ... end"""
        self.part(node.at[0])
        self.block(node.at[1])

    def in_repeat(self, node):
        """The condition sees the names of the block."""
        self.block(node.at[0] + [node.at[1]])

    def in_if(self, node):
        """if ... end"""
        for condition, body in node.at[0]:
            if condition:
                self.part(condition)
            self.block(body)

    def in_for(self, node):
        """for NAME = FIRST, LAST, STEP do ... end"""
        name, first, last, step, body = node.at
        self.part([first, last, step] if step else [first, last])
        self.names.append({})
        self.of[id(node)] = self.declare(name)
        self.of[id(node)].whole = all(is_whole(one) for one in (first, step) if one)
        self.assigned.append((self.of[id(node)], "num"))
        self.block(body)
        self.names.pop()

    def in_each(self, node):
        """for NAMES in VALUES do ... end"""
        names, values, body = node.at
        self.part(values)
        kinds = ("text",) if builtin(values[0].at[0]) == "string.gmatch" else (
            "num", "any")
        self.names.append({})
        self.of[id(node)] = [self.declare(name) for name in names]
        self.of[id(node)][0].whole = kinds[0] == "num"
        self.assigned += list(zip(self.of[id(node)], kinds))
        self.block(body)
        self.names.pop()

    # ---------------------------------------------------------- the types

    def type(self, node):
        """Of an expression, by what is known so far."""
        if node.kind in ("nil", "true", "false", "number", "string"):
            return {"number": "num", "string": "text", "nil": "nil"}.get(
                node.kind, "bool")
        if node.kind == "name":
            variable = self.of.get(id(node))
            return variable.type if variable else "any"
        if node.kind == "unary":
            operator, operand = node.at
            if operator == "()":
                return self.type(operand)
            return "bool" if operator == "not" else "num"
        if node.kind == "binary":
            return self.binary_type(*node.at)
        if node.kind == "call":
            return self.call_type(node)
        if node.kind == "method":
            return RESULTS["string." + node.at[1]]
        if node.kind == "index" and builtin(node) == "math.huge":
            return "num"
        if node.kind == "index" and builtin(node.at[0]) in ("KEYS", "ARGV"):
            return "text?"
        return "any"

    def binary_type(self, operator, left, right):
        """Of two operands."""
        if operator in ARITHMETIC:
            return "num"
        if operator == "..":
            return "text"
        if operator in COMPARISONS:
            return "bool"
        one, other = self.type(left), self.type(right)
        if None in (one, other):
            return None
        if operator == "and":
            return and_type(one, other)
        return or_type(one, other)

    def call_type(self, node):
        """Of the first result."""
        command = command_of(node)
        if command:
            name = command[1][0] if command[0] == "call" else None
            return "num" if name and name.kind == "string" \
                and name.at[0] in INTEGERS else "any"
        return RESULTS.get(builtin(node.at[0]), "any")


def and_type(one, other):
    """Of `one and other`."""
    if one in ("num", "text"):
        return other
    if one == other == "bool":
        return "bool"
    if one == "nil":
        return "nil"
    for kinds in (NUMBERS, TEXTS):
        if other in kinds:
            return kinds[1]
    return "any"


def or_type(one, other):
    """Of `one or other`."""
    if one in ("num", "text"):
        return one
    if one == "nil":
        return other
    if one == other == "bool":
        return "bool"
    for kinds in (NUMBERS, TEXTS):
        if one == kinds[1]:
            return kinds[0] if other == kinds[0] else \
                kinds[1] if other in (kinds[1], "nil") else "any"
    return "any"


def is_whole(node):
    """Is it a number of a script without fraction, and not large?"""
    return node.kind == "number" and node.at[0] == int(node.at[0]) \
        and abs(node.at[0]) <= 1e6


def is_multiple(node):
    """Can it have several values?"""
    return node.kind in ("call", "method") and (
        node.kind == "method" and node.at[1] in ("match", "find", "gsub") or
        node.kind == "call" and builtin(node.at[0]) in (
            "string.match", "string.find", "string.gsub", "pcall", "unpack"))
