# SPDX-License-Identifier: Apache-2.0
"""Translate a script to C, for the runtime in src/engine/native/.

Each expression becomes an operand: C text that has no effects, and the type of
its value (lua_types.py). What has effects, or may fail, is a statement before
it. Numbers are `double`, booleans `bool`, everything else hf__nv, by its value.
"""

import re
from dataclasses import dataclass

import lua_pattern
from lua_syntax import LuaError, parse
from lua_types import ARITHMETIC, Scopes, builtin, command_of, is_whole

COUNTS = {"KEYS": "key_count", "ARGV": "arg_count"}
CONVERSION = re.compile(r"%(%|s|02x|0?\d*\.0f)")


@dataclass
class Operand:
    """C text without effects, and its type."""
    text: str
    type: str
    whole: bool = False  # a number that fits int64_t, without fraction


def c_string(text):
    """A literal of C."""
    return '"' + "".join(
        ch if " " <= ch <= "~" and ch not in '"\\?' else f"\\{ord(ch):03o}"
        for ch in text) + '"'


def c_number(value):
    """A literal of C."""
    if value == int(value) and abs(value) < 1e17:
        return f"{int(value)}.0"
    return repr(value)


def words_number(text):
    """The text of a literal number among the words of a command."""
    value = float(text)
    if value != int(value) or abs(value) >= 1e15:
        raise ValueError(text)
    return str(int(value))


class Translator:
    """One script."""

    def __init__(self, name, text):
        self.name, self.lines, self.depth, self.count = name, [], 1, 0
        self.constants, self.functions, self.commands = {}, [], set()
        self.patterns = lua_pattern.Patterns(name)
        tree = parse(text)
        self.scopes = Scopes(tree)
        self.noted_line = 0
        self.block(tree)
        self.add("return hf__nv_nil();")

    # ---------------------------------------------------------- C as lines

    def add(self, text):
        """A line of C."""
        self.lines.append("    " * self.depth + text)

    def open(self, text):
        """A line that opens a block."""
        self.add(text + " {")
        self.depth += 1

    def close(self, text=""):
        """The end of a block, and perhaps the beginning of another."""
        self.depth -= 1
        self.add("}" + (f" {text} {{" if text else ""))
        self.depth += bool(text)

    def new(self, value, kind="hf__nv"):
        """A variable of C with this value; its name."""
        self.count += 1
        self.add(f"{kind} t{self.count} = {value};")
        return f"t{self.count}"

    def operand(self, value, type_):
        """The same as an operand."""
        return Operand(self.new(value, c_type(type_)), type_)

    def constant(self, text):
        """A string constant."""
        if text not in self.constants:
            self.constants[text] = f"text_{len(self.constants) + 1}"
        return Operand(f"{self.name}_{self.constants[text]}", "text")

    def at_line(self, node):
        """Note the line, for errors."""
        if node.line != self.noted_line:
            self.add(f"run->line = {node.line};")
            self.noted_line = node.line

    # ---------------------------------------------------------- statements

    def block(self, statements):
        """Statements."""
        for one in statements:
            self.at_line(one)
            getattr(self, "do_" + one.kind, self.effect)(one)

    def inner(self, statements):
        """Those of a block whose end may not be reached."""
        self.noted_line = 0
        self.block(statements)
        self.noted_line = 0

    def effect(self, node):
        """A call whose results are not used."""
        command = command_of(node)
        if command:
            self.command(node, *command, used=False)
        else:
            self.value(node)

    def do_local(self, node):
        """local NAMES = VALUES"""
        variables = self.scopes.of[id(node)]
        if node.at[0] == ["call"]:
            return
        for variable, value in zip(variables,
                                   self.values(node.at[1], len(variables))):
            self.add(f"{c_type(variable.type)} {variable.text} = "
                     f"{self.as_type(value, variable.type)};")

    def do_define(self, node):
        """local function"""
        self.scopes.of[id(node)].text = self.function(node.at[1])

    def do_assign(self, node):
        """TARGETS = VALUES"""
        targets, values = node.at
        places = [self.place(target) for target in targets]
        found = self.values(values, len(targets))
        if len(targets) > 1:
            found = [self.operand(self.as_type(one, one.type), one.type)
                     for one in found]
        for place, value in zip(places, found):
            if isinstance(place, tuple):
                self.add(f"hf__native_set{indexed(*place)}, {boxed(value)});")
            else:
                self.add(f"{place.text} = {self.as_type(value, place.type)};")

    def place(self, target):
        """A variable; (table, key)."""
        if target.kind == "name":
            return self.scopes.of[id(target)]
        return tuple(self.value(part) for part in target.at)

    def do_do(self, node):
        """do ... end"""
        self.open("")
        self.inner(node.at[0])
        self.close()

    def do_while(self, node):
        """while CONDITION do ... end"""
        self.open("for (;;)")
        self.noted_line = 0
        self.at_line(node)
        condition = self.condition(node.at[0])
        if condition != "true":
            self.add(f"if (!({condition})) break;")
        self.inner(node.at[1])
        self.close()

    def do_repeat(self, node):
        """repeat ... until CONDITION"""
        self.open("for (;;)")
        self.inner(node.at[0])
        self.add(f"if ({self.condition(node.at[1])}) break;")
        self.close()

    def do_if(self, node):
        """if ... end"""
        opened = 0
        for at, (condition, body) in enumerate(node.at[0]):
            if condition is None:
                self.close("else")
                self.inner(body)
                break
            if at:
                self.close("else")
                self.noted_line = 0
                self.at_line(condition)
            self.open(f"if ({self.condition(condition)})")
            self.inner(body)
            opened += 1
        for _ in range(opened):
            self.close()
        self.noted_line = 0

    def do_for(self, node):
        """for NAME = FIRST, LAST, STEP do ... end"""
        name, first, last, step, body = node.at
        del name
        one, end = (self.operand(self.number(part), "num").text
                    for part in (first, last))
        by = 1 if step is None else step.at[0] if step.kind == "number" else None
        if by is None or by <= 0:
            raise LuaError(node.line, "a step that is no positive number")
        variable = self.scopes.of[id(node)]
        self.open(f"for (double i_{variable.text} = {one}; i_{variable.text} <= "
                  f"{end}; i_{variable.text} += {c_number(by)})")
        self.add(f"{c_type(variable.type)} {variable.text} = "
                 + self.as_type(Operand("i_" + variable.text, "num"),
                                variable.type) + ";")
        self.inner(body)
        self.close()

    def do_each(self, node):
        """for NAMES in ipairs(..) or string.gmatch(..) do ... end"""
        source, variables = node.at[1][0], self.scopes.of[id(node)]
        what = builtin(source.at[0])
        if what == "string.gmatch":
            text = boxed(self.value(source.at[1][0]))
            match = self.matcher(text, source.at[1][1])
            self.open(f"while (hf__native_match_next(run, &{match}))")
            values = [Operand(f"hf__native_match_whole(&{match})", "text")]
        elif what == "ipairs":
            table = self.new(f"hf__native_listed(run, "
                             f"{boxed(self.value(source.at[1][0]))})",
                             "const hf__native_table *")
            self.count += 1
            at = f"t{self.count}"
            self.open(f"for (size_t {at} = 1;; {at}++)")
            value = self.new(f"hf__native_item({table}, {at})")
            self.add(f"if ({value}.tag == HF__NV_NIL) break;")
            values = [Operand(f"(double){at}", "num"), Operand(value, "any")]
        else:
            raise LuaError(node.line, f"{what} is not translated")
        for variable, value in zip(variables, values):
            self.add(f"{c_type(variable.type)} {variable.text} = "
                     f"{self.as_type(value, variable.type)};")
        self.inner(node.at[2])
        self.close()

    def do_return(self, node):
        """return VALUE"""
        if len(node.at[0]) > 1:
            raise LuaError(node.line, "several results")
        value = boxed(self.value(node.at[0][0])) if node.at[0] \
            else "hf__nv_nil()"
        self.add(f"return {value};")

    def do_break(self, _):
        """break"""
        self.add("break;")

    # --------------------------------------------------------- expressions

    def as_type(self, value, type_):
        """C text of an operand for a variable of a type."""
        if type_ == "num" and value.type != "num":
            return f"{value.text}.number"
        if type_ == "bool" and value.type != "bool":
            return f"hf__nv_is({value.text})"
        return value.text if type_ in ("num", "bool") else boxed(value)

    def values(self, nodes, wanted):
        """So many operands."""
        if not nodes:
            return [Operand("hf__nv_nil()", "nil")] * wanted
        found = [self.value(node) for node in nodes[:-1]]
        more = wanted - len(found)
        if more > 1:
            found += self.several(nodes[-1], more)
        else:
            found.append(self.value(nodes[-1]))
        return (found + [Operand("hf__nv_nil()", "nil")] * wanted)[:wanted]

    def several(self, node, wanted):
        """The values of one expression."""
        what = builtin(node.at[0]) if node.kind == "call" else None
        if what == "string.match":
            return self.captures(node.at[1], wanted)
        if what == "pcall":
            self.add("hf__native_refuse(run);")
            return [Operand("hf__nv_nil()", "any")] * 2
        if what in ("string.find", "string.gsub", "unpack"):
            raise LuaError(node.line, f"several results of {what}")
        return [self.value(node)]

    def value(self, node):
        """An expression as an operand."""
        if node.kind in ("method", "call"):
            return getattr(self, "of_" + node.kind)(node)
        return getattr(self, "of_" + node.kind)(node, *node.at)

    def of_nil(self, _):
        """nil"""
        return Operand("hf__nv_nil()", "nil")

    def of_true(self, _):
        """true"""
        return Operand("true", "bool")

    def of_false(self, _):
        """false"""
        return Operand("false", "bool")

    def of_number(self, node, value):
        """A number."""
        return Operand(c_number(value), "num", is_whole(node))

    def of_string(self, _, value):
        """A string."""
        return self.constant(value)

    def of_name(self, node, name):
        """A variable, or KEYS or ARGV as a whole."""
        variable = self.scopes.of[id(node)]
        if variable:
            return Operand(variable.text, variable.type, variable.whole)
        if name in ("KEYS", "ARGV"):
            return self.operand(f"hf__native_{name.lower()}(run)", "any")
        raise LuaError(node.line, f"{name} as a value")

    def of_index(self, node, table, key):
        """TABLE[KEY], ERROR.err, STATUS.ok, math.huge"""
        if builtin(node) == "math.huge":
            return Operand("HUGE_VAL", "num")
        what = builtin(table)
        if what in ("KEYS", "ARGV"):
            if key.kind == "number":
                return Operand(f"hf__native_{what.lower()}_at(run, "
                               f"{int(key.at[0])})", "text?")
            return self.operand(f"hf__native_{what.lower()}_by(run, "
                                f"{self.number(key)})", "text?")
        held = self.value(table)
        if key.kind == "string":
            return self.operand(f"hf__native_field(run, {boxed(held)}, "
                                f"{c_string(key.at[0])})", "any")
        at = indexed(held, self.value(key))
        return self.operand(f"hf__native_get{at})", "any")

    def of_unary(self, node, operator, operand):
        """not - # ()"""
        if operator == "()":
            return self.value(operand)
        if operator == "not":
            return Operand(f"(!{self.condition(operand)})", "bool")
        if operator == "-":
            return Operand(f"(-{self.number(operand)})", "num")
        what = builtin(operand)
        if what in ("KEYS", "ARGV"):
            return Operand(f"(double)run->{COUNTS[what]}", "num", True)
        self.at_line(node)
        return Operand(self.new("hf__native_length(run, "
                                f"{boxed(self.value(operand))})", "double"),
                       "num", True)

    def of_binary(self, node, operator, left, right):
        """Two operands."""
        if operator in ("and", "or"):
            return self.choice(node, operator, left, right)
        if operator in ARITHMETIC:
            return self.arithmetic(node)
        if operator == "..":
            return self.concatenation(node)
        return Operand(self.comparison(operator, left, right), "bool")

    def number(self, node):
        """An expression as a C number."""
        value = self.value(node)
        if value.type == "num":
            return value.text
        return self.converted(value, node)

    def converted(self, value, node):
        """An operand as a C number; an error is in the node's line."""
        self.at_line(node)
        return self.new(f"hf__native_number(run, {boxed(value)})", "double")

    def arithmetic(self, node):
        """+ - * / % ^"""
        operator, left, right = node.at
        one, other = self.value(left), self.value(right)
        whole = one.whole and other.whole and operator in "+-"
        one, other = (part.text if part.type == "num" else self.converted(
            part, node) for part in (one, other))
        if operator == "%":
            return Operand(f"hf__native_modulo({one}, {other})", "num")
        if operator == "^":
            return Operand(f"pow({one}, {other})", "num")
        return Operand(f"({one} {operator} {other})", "num", whole)

    def choice(self, node, operator, left, right):
        """`and` and `or` as a value."""
        type_ = self.scopes.type(node)
        if type_ == "bool":
            return Operand(self.condition(node), "bool")
        one = self.value(left)
        if one.type in ("num", "text"):
            return self.value(right) if operator == "and" else one
        result = self.new(boxed(one))
        truth = f"hf__nv_is({result})"
        self.open(f"if ({truth if operator == 'and' else '!' + truth})")
        noted = self.noted_line
        self.add(f"{result} = {boxed(self.value(right))};")
        self.noted_line = noted
        self.close()
        return Operand(f"{result}.number" if type_ == "num" else result, type_)

    def concatenation(self, node):
        """A chain of `..`"""
        parts = []
        while node.kind == "binary" and node.at[0] == "..":
            parts.append(self.value(node.at[1]))
            node = node.at[2]
        parts.append(self.value(node))
        return self.joined(parts)

    def joined(self, parts):
        """The texts of operands as one."""
        texts = ", ".join(boxed(part) for part in parts)
        return self.operand(
            f"hf__native_concat(run, (const hf__nv[]){{{texts}}}, {len(parts)})",
            "text")

    # ---------------------------------------------------------- conditions

    def condition(self, node):
        """An expression as a truth of C."""
        if node.kind == "binary" and node.at[0] in ("and", "or"):
            return self.both(*node.at)
        if node.kind == "unary" and node.at[0] == "not":
            return f"!({self.condition(node.at[1])})"
        if node.kind == "unary" and node.at[0] == "()":
            return self.condition(node.at[1])
        if node.kind == "call" and builtin(node.at[0]) == "string.find":
            return self.found(node.at[1])[0]
        value = self.value(node)
        if value.type in ("num", "text"):
            return "true"
        return value.text if value.type == "bool" else f"hf__nv_is({value.text})"

    def both(self, operator, left, right):
        """`and` and `or`: the right one only if it counts."""
        one = self.condition(left)
        before, noted = self.lines, self.noted_line
        self.lines = []
        self.depth += 1
        other = self.condition(right)
        self.depth -= 1
        inside, self.lines, self.noted_line = self.lines, before, noted
        if not inside:
            return f"({one} {'&&' if operator == 'and' else '||'} {other})"
        result = self.new(one, "bool")
        self.open(f"if ({result if operator == 'and' else '!' + result})")
        self.lines += inside
        self.add(f"{result} = {other};")
        self.close()
        return result

    def comparison(self, operator, left, right):
        """== ~= < > <= >="""
        if operator in ("==", "~="):
            same = self.equality(left, right)
            return same if operator == "==" else f"!({same})"
        one, other = self.value(left), self.value(right)
        if "num" in (one.type, other.type):
            texts = [part.text if part.type == "num" else self.new(
                f"hf__native_compared(run, {boxed(part)})", "double")
                     for part in (one, other)]
            return f"({texts[0]} {operator} {texts[1]})"
        if operator in (">", ">="):
            one, other = other, one
        how = "less" if operator in ("<", ">") else "at_most"
        return self.new(f"hf__native_{how}(run, {boxed(one)}, {boxed(other)})",
                        "bool")

    def equality(self, left, right):
        """=="""
        for one, other in ((left, right), (right, left)):
            if one.kind == "call" and builtin(one.at[0]) == "type" \
                    and other.kind == "string":
                value = boxed(self.value(one.at[1][0]))
                if other.at[0] in ("table", "string"):
                    what = "text" if other.at[0] == "string" else "table"
                    return f"hf__nv_is_{what}({value})"
                return f"({value}.tag == HF__NV_{other.at[0].upper()})"
        one, other = self.value(left), self.value(right)
        if one.type == other.type and one.type in ("num", "bool"):
            return f"({one.text} == {other.text})"
        for value, by in ((one, other), (other, one)):
            if by.type == "num":
                return (f"hf__nv_is_number({boxed(value)}, {by.text})")
            if by.type == "bool":
                return (f"hf__nv_is_bool({boxed(value)}, {by.text})")
            if by.type == "nil":
                return f"({boxed(value)}.tag == HF__NV_NIL)"
        return f"hf__nv_same({boxed(one)}, {boxed(other)})"

    # --------------------------------------------------------------- calls

    def of_method(self, node):
        """STRING:NAME(...)"""
        held, name, arguments = node.at
        return self.string(node, "string." + name, [held] + arguments)

    def of_call(self, node):
        """FUNCTION(...)"""
        command = command_of(node)
        if command:
            return self.command(node, *command)
        what = builtin(node.at[0])
        variable = self.scopes.of.get(id(node.at[0])) \
            if node.at[0].kind == "name" else None
        if variable:
            texts = [boxed(self.value(one)) for one in node.at[1]]
            return self.operand(f"{variable.text}({', '.join(['run'] + texts)})",
                                "any")
        if what and what.startswith("math."):
            return self.maths(what[5:], node.at[1])
        if what and what.startswith("string."):
            return self.string(node, what, node.at[1])
        how = "call_" + (what or "?").replace(".", "_")
        if not hasattr(self, how):
            raise LuaError(node.line, f"{what} is not translated")
        self.at_line(node)
        return getattr(self, how)(node.at[1])

    def maths(self, name, arguments):
        """math.NAME"""
        texts = [self.number(one) for one in arguments]
        if name in ("floor", "ceil"):
            return Operand(f"{name}({texts[0]})", "num")
        if name == "abs":
            return Operand(f"fabs({texts[0]})", "num")
        result = texts[0]
        for one in texts[1:]:
            result = f"hf__native_{name}({result}, {one})"
        return Operand(result, "num")

    def call_tonumber(self, arguments):
        """tonumber(VALUE), tonumber(VALUE, BASE)"""
        value = self.value(arguments[0])
        if value.type == "num" and len(arguments) == 1:
            return value
        base = int(arguments[1].at[0]) if len(arguments) > 1 else 10
        return self.operand(f"hf__native_tonumber(run, {boxed(value)}, {base})",
                            "num?")

    def call_tostring(self, arguments):
        """tostring(VALUE)"""
        return self.operand(
            f"hf__native_tostring(run, {boxed(self.value(arguments[0]))})", "text")

    def call_type(self, arguments):
        """type(VALUE)"""
        return self.operand(
            f"hf__native_type({boxed(self.value(arguments[0]))})", "text")

    def call_select(self, arguments):
        """select(2, string.gsub(...))"""
        if arguments[0].kind != "number" or arguments[0].at[0] != 2 \
                or builtin(arguments[1].at[0]) != "string.gsub":
            raise LuaError(arguments[0].line, "select is not translated")
        return self.replaced(arguments[1].at[1])[1]

    def call_redis_error_reply(self, arguments):
        """redis.error_reply(TEXT)"""
        return self.operand("hf__native_failure(run, "
                            f"{boxed(self.value(arguments[0]))})", "any")

    def call_redis_sha1hex(self, arguments):
        """redis.sha1hex(TEXT)"""
        return self.operand(
            f"hf__native_sha1hex(run, {boxed(self.value(arguments[0]))})", "text")

    def call_redis_acl_check_cmd(self, arguments):
        """redis.acl_check_cmd(WORDS)"""
        words = self.words(arguments)
        return self.operand(f"hf__native_may(run, {words})", "bool")

    def call_cmsgpack_pack(self, _):
        """Not on an embedded store."""
        self.add("hf__native_refuse(run);")
        return Operand("hf__nv_nil()", "any")

    call_cmsgpack_unpack = call_cmsgpack_pack

    # ------------------------------------------------------------- strings

    def string(self, node, what, arguments):
        """string.NAME"""
        self.at_line(node)
        name = what[7:]
        if name == "match":
            return self.captures(arguments, 1)[0]
        if name == "find":
            found, where = self.found(arguments)
            return self.operand(f"{found} ? hf__nv_number({where}) : "
                                "hf__nv_nil()", "num?")
        if name == "gsub":
            return self.replaced(arguments)[0]
        if name == "format":
            return self.formatted(node, arguments)
        if name == "sub":
            held = boxed(self.value(arguments[0]))
            numbers = [self.number(one) for one in arguments[1:]] + ["-1.0"]
            return self.operand(f"hf__native_sub(run, {held}, {numbers[0]}, "
                                f"{numbers[1]})", "text")
        held = [boxed(self.value(one)) for one in arguments]
        if name not in ("byte", "char", "lower") or len(held) != 1:
            raise LuaError(node.line, f"{what} is not translated")
        return self.operand(f"hf__native_{name}(run, {held[0]})",
                            "num?" if name == "byte" else "text")

    def matcher(self, text, pattern, init="1.0"):
        """A matcher of a pattern that begins at the text's start."""
        steps = self.patterns.steps(pattern.at[0], pattern.line)
        self.count += 1
        self.add(f"hf__native_match t{self.count};")
        self.add(f"hf__native_match_begin(run, &t{self.count}, {text}, {steps}, "
                 f"{init});")
        return f"t{self.count}"

    def found(self, arguments):
        """Of string.find: (a truth, where)."""
        text = boxed(self.value(arguments[0]))
        init = self.number(arguments[2]) if len(arguments) > 2 else "1.0"
        if len(arguments) > 3:
            what = boxed(self.value(arguments[1]))
            at = self.new(f"hf__native_find(run, {text}, {what}, {init})",
                          "double")
            return f"({at} != 0.0)", at
        match = self.matcher(text, arguments[1], init)
        return (self.new(f"hf__native_match_next(run, &{match})", "bool"),
                f"hf__native_match_at(&{match})")

    def captures(self, arguments, wanted):
        """The captures of string.match, or the whole match."""
        text = boxed(self.value(arguments[0]))
        match = self.matcher(text, arguments[1])
        self.add(f"(void)hf__native_match_next(run, &{match});")
        count = lua_pattern.captures(arguments[1].at[0])
        return [self.operand(f"hf__native_match_capture(&{match}, {at})", "text?")
                for at in range(min(wanted, max(count, 1)))]

    def replaced(self, arguments):
        """string.gsub: the text; how often."""
        text = boxed(self.value(arguments[0]))
        by = arguments[2]
        function = self.function(by) if by.kind == "function" else None
        match = self.matcher(text, arguments[1])
        self.count += 1
        joint = f"t{self.count}"
        self.add(f"hf__native_joint {joint};")
        self.add(f"hf__native_joint_begin(&{joint}, &{match});")
        self.open(f"while (hf__native_match_next(run, &{match}))")
        new = self.new(f"{function}(run, hf__native_match_whole(&{match}))") \
            if function else self.constant(by.at[0]).text
        self.add(f"hf__native_joint_add(run, &{joint}, &{match}, {new});")
        self.close()
        return (self.operand(f"hf__native_joint_end(run, &{joint}, &{match})",
                             "text"),
                Operand(f"(double){joint}.count", "num"))

    def formatted(self, node, arguments):
        """string.format: the pieces of a constant format, joined."""
        given = list(arguments[1:])
        parts, at, text = [], 0, arguments[0].at[0]
        for match in CONVERSION.finditer(text):
            if match.start() > at:
                parts.append(self.constant(text[at:match.start()]))
            at = match.end()
            what = match.group(1)
            if what == "%":
                parts.append(self.constant("%"))
            elif what == "s":
                parts.append(self.value(given.pop(0)))
            else:
                base = 16 if what == "02x" else 10
                width = int(what[:2] if base == 16 else what[:-3] or 0)
                parts.append(self.operand(
                    f"hf__native_digits(run, {self.number(given.pop(0))}, "
                    f"{base}, {width})", "text"))
        if at < len(text):
            parts.append(self.constant(text[at:]))
        if "%" in CONVERSION.sub("", text) or given:
            raise LuaError(node.line, f"the format {text!r}")
        return parts[0] if len(parts) == 1 and parts[0].type == "text" \
            else self.joined(parts)

    # ---------------------------------------------------- tables, functions

    def of_table(self, node, fields):
        """{...}"""
        if len(fields) == 1 and fields[0][0] is not None:
            key, value = fields[0]
            if key.at[0] not in ("err", "ok"):
                raise LuaError(node.line, f"a table with {key.at[0]}")
            how = "failure" if key.at[0] == "err" else "status"
            return self.operand(f"hf__native_{how}(run, "
                                f"{boxed(self.value(value))})", "any")
        if any(key is not None for key, _ in fields):
            raise LuaError(node.line, "a key in a table with other fields")
        last = fields[-1][1] if fields else None
        if last is not None and last.kind == "call" \
                and builtin(last.at[0]) == "unpack":
            if len(fields) > 1:
                raise LuaError(node.line, "a table with several parts")
            range_ = self.range(last.at[1])
            return self.operand(f"hf__native_part(run, {range_})", "any")
        values = [boxed(self.value(value)) for _, value in fields]
        if not values:
            return self.operand("hf__native_table_of(run, NULL, 0)", "any")
        return self.operand(
            f"hf__native_table_of(run, (const hf__nv[]){{{', '.join(values)}}}, "
            f"{len(values)})", "any")

    def range(self, arguments):
        """Of unpack(): the table, its first and last item."""
        what = builtin(arguments[0])
        held = f"hf__native_{what.lower()}(run)" if what in ("KEYS", "ARGV") \
            else boxed(self.value(arguments[0]))
        numbers = [self.number(one) for one in arguments[1:]]
        return ", ".join([held] + (numbers + ["1.0", "-1.0"][len(numbers):]))

    def function(self, node):
        """A function of C; its name."""
        kept = self.lines, self.depth, self.noted_line
        self.lines, self.depth, self.noted_line = [], 1, 0
        name = f"{self.name}_{len(self.functions) + 1}"
        self.functions.append(None)
        at = len(self.functions) - 1
        self.block(node.at[1])
        self.add("return hf__nv_nil();")
        parameters = "".join(f", hf__nv {variable.text}"
                             for variable in self.scopes.of[id(node)])
        self.functions[at] = (
            f"static hf__nv {name}(hf__native *run{parameters})\n{{\n"
            + "\n".join(self.lines) + "\n}\n")
        self.lines, self.depth, self.noted_line = kept
        return name

    # ------------------------------------------------------------ commands

    def command(self, node, how, arguments, used=True):
        """redis.call() and redis.pcall()"""
        name = arguments[0]
        type_ = self.scopes.type(node)
        words = self.words(arguments)
        self.at_line(node)
        known = "HF__NATIVE_ANY"
        if name.kind == "string":
            self.commands.add(name.at[0])
            known = f"HF__NATIVE_{name.at[0].upper()}"
        called = f"hf__native_{how}(run, {known}, {words})"
        if not used and how == "call":
            self.add(f"hf__native_do(run, {known}, {words});")
            return None
        if type_ == "num":
            return self.operand(f"{called}.number", "num")
        return self.operand(called, "any")

    def words(self, arguments):
        """C text of an array of words and its size."""
        last = arguments[-1]
        spread = last.kind == "call" and builtin(last.at[0]) == "unpack"
        fixed = [self.word(one) for one in
                 (arguments[:-1] if spread else arguments)]
        self.count += 1
        name = f"w{self.count}"
        if not spread:
            self.add(f"const hf_bytes {name}[] = {{{', '.join(fixed)}}};")
            return f"{name}, {len(fixed)}"
        range_ = self.range(last.at[1])
        texts = ", ".join(fixed)
        array = f"(const hf_bytes[]){{{texts}}}" if fixed else "NULL"
        self.add(f"const hf__native_words {name} = hf__native_spread(run, {array}, "
                 f"{len(fixed)}, {range_});")
        return f"{name}.words, {name}.count"

    def word(self, node):
        """C text of one word."""
        if node.kind == "string":
            return f"{{{c_string(node.at[0])}, {len(node.at[0])}}}"
        number = node.at[1] if node.kind == "unary" and node.at[0] == "-" else node
        if number.kind == "number":
            text = words_number(number.at[0])
            text = "-" + text if number is not node else text
            return f"{{{c_string(text)}, {len(text)}}}"
        what = builtin(node.at[0]) if node.kind == "index" else None
        if what in ("KEYS", "ARGV") and node.at[1].kind == "number":
            return f"hf__native_{what.lower()}_word(run, {int(node.at[1].at[0])})"
        value = self.value(node)
        if value.type == "num":
            return self.new(f"hf__native_number_word(run, {value.text})",
                            "hf_bytes")
        if value.type == "text":
            return f"hf__nv_word({value.text})"
        return self.new(f"hf__native_word(run, {boxed(value)})", "hf_bytes")

    # ------------------------------------------------------------ the text

    def c_text(self):
        """The functions of C."""
        constants = "".join(
            f"static const hf__nv {self.name}_{name} = {{HF__NV_TEXT, {len(text)}, "
            f"{{.text = {c_string(text)}}}}};\n"
            for text, name in self.constants.items())
        return (constants + self.patterns.c_text() + "\n"
                + "\n".join(self.functions) + "\n"
                f"hf__native_function hf__native_script_{self.name};\n"
                f"hf__nv hf__native_script_{self.name}(hf__native *run)\n{{\n"
                + "\n".join(self.lines) + "\n}\n")


def c_type(type_):
    """How C stores it."""
    return {"num": "double", "bool": "bool"}.get(type_, "hf__nv")


def boxed(value):
    """An operand as hf__nv."""
    if value.type == "num":
        return f"hf__nv_number({value.text})"
    if value.type == "bool":
        return f"hf__nv_bool({value.text})"
    return value.text


def indexed(table, key):
    """The rest of a function's name, and its first arguments."""
    if key.type == "num" and key.whole:
        return f"_item(run, {boxed(table)}, (int64_t){key.text}"
    if key.type == "num":
        return f"_at(run, {boxed(table)}, {key.text}"
    return f"(run, {boxed(table)}, {boxed(key)}"
