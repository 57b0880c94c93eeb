# SPDX-License-Identifier: Apache-2.0
"""Read scripts/*.lua, and check that header and body agree.

A script is a line with its licence, one `--[[ ... ]]` header and a body. The
header is

    name - what it does.

    KEYS[1]  name (type): what it is   one entry for each key and argument;
    ARGV[1]  name: what it is          continuation lines are indented

    Returns  the forms of the reply
    Repeat   safe ... | no ...     may it run again after a lost reply?
    Lane     user ... | lease ...  its send priority; optional
    Quorum   RULE.                 how a quorum adds up replies: one of
                                   QUORUM_RULES; optional
    Leases   RULE.                 which keys are leases, one of LEASE_RULES;
                                   optional
    Program  why.                  its arguments name commands: their names, and
                                   how it uses KEYS and ARGV, are not checked;
                                   optional
    Writes   the keys it writes, or nothing. Cost.

The type of a key is one of KEY_TYPES; without it, it may be any. One that the
body need not use has a name that begins with `unused`.

A place in KEYS or ARGV is one of

    1        this one              4...     this one and all that follow
    i        one for each key      n+i      one for each key, after the first n

The body calls commands by redis.call, redis.pcall, or `call` if it begins with
`local call = redis.call`. A line of it may be

    --#use piece name=expression ...

which includes scripts/use/piece.lua. A piece has a header, too:

    piece - what it does.

    name     what it is            a parameter

Each parameter is replaced by its expression, which has no blanks. One that is
not given is the script's local variable of that name. A piece becomes one line,
so line numbers in errors are those of the script's own body.

A script whose body has a line `--#record` has a twin, NAME_once, which has no
further effect when it is sent again: it begins with use/once.lua and has
use/record.lua in that line. Its first key is the dedup record; its last
arguments are the number of the call in its session and the record's time to
live. No write that may be refused follows that line: a call that was not done
would be recorded.

Servers are sent the body without comments, indentation and blanks after commas.

Both the build (tools/embed_scripts.py) and the lint (tools/lint/scripts.py) use
this file, so no script with a wrong header is embedded.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

BODY_LINES_MAX = 40
ALIAS = "local call = redis.call\n"
SECTIONS = ("Returns", "Repeat", "Writes")
OPTIONAL = {"Lane": "user", "Quorum": "none.", "Leases": "none.",
            "Program": ""}
QUORUM_RULES = ("none", "acquire", "count", "renew", "read", "any")
LEASE_RULES = ("none", "first", "others", "all")
FOLLOW_WORDS_MAX = 8  # HF__FOLLOW_WORDS_MAX
# Words that a quorum has for a script that follows an acquire.
FOLLOW = {"token": "HF__FOLLOW_TOKEN", "wake": "HF__FOLLOW_WAKE"}
ACQUIRE = re.compile(r"acquire: confirmed by (\w+), undone by (\w+)\.")
KEY_TYPES = ("string", "hash", "list", "set", "zset")
PLACE = re.compile(r"(KEYS|ARGV)\[([^\]]+)\]"
                   r"(?:  ([a-z_]+)(?: \(([a-z]+)\))?: +\S.*)?")
SECTION = re.compile(r"(%s) +(\S.*)$" % "|".join(SECTIONS + tuple(OPTIONAL)))
USE = re.compile(r" *--#use ([a-z_]+)((?: [a-z_]+=\S+)*)$")
# No field or method.
NAME = r"(?<![\w.:])[a-z_]\w*"
RECORD = re.compile(r"--#record$", re.M)
PARAMETER = re.compile(r"([a-z_]+)  +\S")
SPDX = "-- SPDX-License-" + "Identifier: Apache-2.0\n"  # not a tag of this file
HEADER = re.compile(SPDX + r"--\[\[\n(.*?)\n\]\]\n", re.S)
# Comments and strings.
TOKENS = re.compile(r"--\[\[.*?\]\]|--[^\n]*|'(?:\\.|[^'\\\n])*'"
                    r'|"(?:\\.|[^"\\\n])*"', re.S)
WRITERS = frozenset("""append copy del expire expireat getdel getset hdel hincrby
    hincrbyfloat hmset hset hsetnx incr incrby incrbyfloat decr decrby lpush
    lpop rpush rpop lrem lset ltrim persist pexpire pexpireat psetex rename
    sadd spop srem set setex setnx setrange unlink zadd zincrby zpopmax
    zpopmin zrem zremrangebyrank zremrangebyscore""".split())


@dataclass
class Place:
    """A documented place in KEYS or ARGV."""
    line: int
    spec: str
    name: str
    type: str = ""  # of a key; "": any


@dataclass
class Script:
    path: Path
    name: str = ""
    pieces: Path = None  # their folder; None: use/ next to it
    places: dict = field(default_factory=lambda: {"KEYS": [], "ARGV": []})
    sections: dict = field(default_factory=dict)
    section_lines: dict = field(default_factory=dict)
    written: str = ""  # the body
    body: str = ""  # without comments, with its pieces
    repeatable: bool = False
    is_twin: bool = False  # see `--#record`
    body_line: int = 1
    used: set = field(default_factory=set)  # names of pieces
    findings: list = field(default_factory=list)

    def find(self, line, what):
        self.findings.append((line, what))

    @property
    def sent(self):
        """The body without blanks after commas."""
        parts, at = [], 0
        for match in TOKENS.finditer(self.body):
            parts += [self.body[at:match.start()].replace(", ", ","),
                      match.group(0)]
            at = match.end()
        parts.append(self.body[at:].replace(", ", ","))
        return "".join(parts)

    @property
    def lane(self):
        return re.match(r"\w+", self.sections["Lane"]).group(0)

    @property
    def reads(self):
        return self.sections["Writes"].startswith("nothing")

    @property
    def is_program(self):
        return self.sections["Program"] != ""

    @property
    def quorum(self):
        return re.match(r"\w+", self.sections["Quorum"]).group(0)

    @property
    def leases(self):
        return re.match(r"\w+", self.sections["Leases"]).group(0)

    @property
    def follows(self):
        """Names of the scripts that confirm and undo an acquire."""
        acquire = ACQUIRE.fullmatch(self.sections.get("Quorum", ""))
        return acquire.groups() if acquire else ()

    @property
    def open_ended(self):
        return any(place.spec.endswith("...") for place in self.places["ARGV"])

    @property
    def words(self):
        """[(index, name)], or [] if there is one argument for each key."""
        places = self.places["KEYS"] + self.places["ARGV"]
        if any("i" in place.spec for place in places):
            return []
        return list(enumerate(place.name for place in places))


def load(path):
    """Read and check one script; errors are in .findings."""
    path = Path(path)
    script = Script(path, name=path.stem)
    text = path.read_text(encoding="ascii", errors="replace")
    match = HEADER.match(text)
    if not match:
        script.find(1, "does not begin with its licence and a --[[ ... ]] "
                    "header")
        return script
    script.body_line = text[:match.end()].count("\n") + 1
    script.written = text[match.end():]
    _read_header(script, match.group(1).split("\n"))
    _check_sections(script)
    _finish(script)
    return script


def expanded(path, pieces):
    """What is sent of a script that is none of the library's, with its pieces
    of this folder. Its header is not checked."""
    script = Script(path, name=path.stem, pieces=Path(pieces))
    text = path.read_text(encoding="ascii")
    match = HEADER.match(text)
    script.body_line = text[:match.end()].count("\n") + 1
    script.body = _squeeze(_put_in_pieces(script, text[match.end():]))
    if script.findings:
        sys.exit("\n".join(f"{path}:{line}: {what}"
                           for line, what in script.findings))
    return script.sent


def load_all(paths):
    """Scripts and their twins, in the order of their names."""
    scripts = [load(path) for path in paths]
    for script in scripts:
        _check_follows(script, {script.name: script for script in scripts})
    scripts += [_twin(script) for script in scripts
                if RECORD.search(script.written)]
    return sorted(scripts, key=lambda script: script.name)


def _check_follows(script, scripts):
    """Has an acquire the words of the scripts that confirm and undo it?"""
    names = [name for _, name in script.words]
    line = script.section_lines.get("Quorum", 1)
    if script.follows and "ttl" not in names:
        script.find(line, "an acquire needs an argument ttl")
    for at, name in enumerate(script.follows):
        if name not in scripts:
            script.find(line, f"there is no script {name}")
            continue
        wanted = [name for _, name in scripts[name].words]
        if len(wanted) > FOLLOW_WORDS_MAX:
            script.find(line, f"{name} has more than {FOLLOW_WORDS_MAX} words")
        if at == 1 and "entry" not in wanted:
            script.find(line, f"{name} has no argument entry")
        for word in set(wanted) - set(names) - set(FOLLOW):
            script.find(line, f"{name} has a word {word} that the acquire lacks")


def _finish(script):
    """Make the body, and compare it with the header."""
    script.repeatable = script.sections["Repeat"].startswith("safe")
    script.body = _squeeze(_put_in_pieces(script, script.written))
    _check_names(script)
    _check_body(script)
    for what in ("KEYS", "ARGV") if not script.is_program else ():
        _check_places(script, what)


def _twin(script):
    twin = Script(script.path, script.name + "_once",
                  sections=dict(script.sections, Repeat="safe"),
                  section_lines=script.section_lines,
                  body_line=script.body_line, is_twin=True)
    keys, words = script.places["KEYS"], script.places["ARGV"]
    if len(RECORD.findall(script.written)) > 1:
        twin.find(script.body_line, "more than one --#record")
    if not all(place.spec.isdigit() for place in keys + words):
        twin.find(script.body_line, "a script with a twin may use only KEYS[1], "
                  "ARGV[1] and the like")
        return twin
    for what, names in (
            ("KEYS", [("record", "string")] +
             [(place.name, place.type) for place in keys]),
            ("ARGV", [(place.name, "") for place in words] +
             [("number", ""), ("record_ttl", "")])):
        twin.places[what] = [Place(1, str(at), *name)
                             for at, name in enumerate(names, start=1)]
    once = f"key=KEYS[1] number=ARGV[{len(words) + 1}]"
    body = re.sub(r"\bKEYS\[(\d+)\]",
                  lambda m: f"KEYS[{int(m.group(1)) + 1}]", script.written)
    body = RECORD.sub(f"--#use record {once} ttl=ARGV[{len(words) + 2}]", body)
    # In the first line, or the one after `local call`, so that line numbers stay
    # the same.
    first = _piece(twin, twin.body_line, "once", once, "")
    alias = ALIAS if body.startswith(ALIAS) else ""
    twin.written = f"{alias}{first} {body[len(alias):]}"
    _finish(twin)
    return twin


def _squeeze(text):
    """Remove comments and indentation; keep the number of lines."""
    def without(match):
        token = match.group(0)
        return "\n" * token.count("\n") if token.startswith("--") else token
    lines = TOKENS.sub(without, text).split("\n")
    return "\n".join(line.strip() for line in lines)


def _put_in_pieces(script, body, piece_line=None, outer=""):
    """Of a script; or of a piece that it uses in a line, `outer` being what it
    has before that."""
    lines = body.split("\n")
    for at, line in enumerate(lines):
        if not line.lstrip().startswith("--#"):
            continue
        number = piece_line or script.body_line + at
        use = USE.match(line)
        if use:
            lines[at] = _piece(script, number, use.group(1), use.group(2),
                               "\n".join([outer] + lines[:at]))
        elif piece_line or not RECORD.match(line):
            script.find(number, "neither --#record nor "
                        "'--#use piece name=expression ...'")
    return "\n".join(lines)


def _piece(script, line, name, given, before):
    """The text of a piece as one line; `before` is the body up to it."""
    given = dict(word.split("=", 1) for word in given.split())
    path = (script.pieces or script.path.parent / "use") / f"{name}.lua"
    script.used.add(name)
    if not path.is_file():
        script.find(line, f"there is no piece use/{name}.lua")
        return ""
    text = path.read_text(encoding="ascii", errors="replace")
    match = HEADER.match(text)
    if not match or not match.group(1).startswith(name + " - "):
        script.find(line, f"use/{name}.lua does not begin with a header")
        return ""
    wanted = [parameter.group(1) for parameter in map(
        PARAMETER.match, match.group(1).split("\n")[1:]) if parameter]
    for key in given:
        if key not in wanted:
            script.find(line, f"use/{name}.lua has no parameter {key}")
    for key in set(wanted) - given.keys():
        if not re.search(r"\blocal [^=\n]*\b%s\b" % key, before):
            script.find(line, f"use/{name}.lua needs {key}, and there is "
                        "no local variable of that name")
    outer = "".join(f"{before}\nlocal {name}" for name in wanted)
    code = _put_in_pieces(script, text[match.end():], line, outer or before)
    return _replaced(_squeeze(code), given)


def _replaced(code, expressions):
    """Code as one line, with names replaced except in strings."""
    def replace(match):
        return expressions.get(match.group(0), match.group(0))
    parts, at = [], 0
    for match in TOKENS.finditer(code):
        parts += [re.sub(NAME, replace, code[at:match.start()]),
                  match.group(0)]
        at = match.end()
    parts.append(re.sub(NAME, replace, code[at:]))
    return "".join(parts).strip().replace("\n", " ")


def _read_header(script, lines):
    if not re.fullmatch(r"[a-z]+(_[a-z]+)+", script.name):
        script.find(1, "the file's name is not <noun>_<verb>.lua")
    if not lines[0].startswith(script.name + " - "):
        script.find(3, f"the header does not begin with '{script.name} - '")
    in_entry = True  # the summary may have more lines
    for number, line in enumerate(lines[1:], start=4):
        place, section = PLACE.match(line), SECTION.match(line)
        if place:
            if not place.group(3):
                script.find(number, f"{line} has no name or no explanation")
            what, spec, name, kind = place.groups(default="")
            if kind and (what == "ARGV" or kind not in KEY_TYPES):
                script.find(number, f"({kind}) is no type of a key")
            script.places[what].append(Place(number, spec, name, kind))
        elif section:
            if section.group(1) in script.sections:
                script.find(number, f"{section.group(1)} is given twice")
            script.sections[section.group(1)] = section.group(2)
            script.section_lines[section.group(1)] = number
        elif not line:
            in_entry = False
        elif not in_entry and not line.startswith(" "):
            script.find(number, "neither KEYS[..], ARGV[..], "
                        + ", ".join(SECTIONS) + " nor indented")


def _check_sections(script):
    for name in SECTIONS:
        if name not in script.sections:
            script.find(1, f"the header has no '{name}'")
            script.sections[name] = ""
    for name, missing in OPTIONAL.items():
        script.sections.setdefault(name, missing)
    if not re.match(r"(user|lease)\b", script.sections["Lane"]):
        script.find(script.section_lines["Lane"],
                    "'Lane' begins neither with 'user' nor with 'lease'")
    if not (ACQUIRE.fullmatch(script.sections["Quorum"]) or
            script.sections["Quorum"] in {f"{rule}." for rule in QUORUM_RULES
                                          if rule != "acquire"}):
        script.find(script.section_lines["Quorum"], "'Quorum' is no rule")
    if script.sections["Leases"] not in {f"{rule}." for rule in LEASE_RULES}:
        script.find(script.section_lines["Leases"], "'Leases' is no rule")
    repeat = script.sections["Repeat"]
    if repeat and not re.match(r"(safe|no)\b", repeat):
        script.find(script.section_lines["Repeat"],
                    "'Repeat' begins neither with 'safe' nor with 'no'")


def _code(script):
    """The body with the insides of strings blanked."""
    def blank(match):
        text = match.group(0)
        return text[0] + " " * (len(text) - 2) + text[-1]
    return TOKENS.sub(blank, script.body)


def _check_body(script):
    def line_of(offset):
        return script.body_line + script.body.count("\n", 0, offset)

    code = _code(script)
    count = len(script.body.splitlines())
    if count > BODY_LINES_MAX:
        script.find(script.body_line,
                    f"{count} lines of body, at most {BODY_LINES_MAX}")
    if not script.body.strip():
        script.find(script.body_line, "no body")
    for match in re.finditer(r"\b(os|io|debug)\.|\bmath\.random|\b(load|"
                             r"loadstring|dofile|require|print)\b", code):
        script.find(line_of(match.start()),
                    f"'{match.group(0)}' is not allowed: time comes from "
                    "redis.call('time'), everything else from ARGV")
    for match in re.finditer(r"\[=*\[", code):
        script.find(line_of(match.start()), "a string or comment in [[ ]]")
    wrote = None
    if not code.startswith(ALIAS) and re.search(r"(?<![\w.:])call\s*\(", code):
        script.find(script.body_line, f"uses 'call' without '{ALIAS.strip()}'")
    for match in re.finditer(r"\bredis\.p?call\b(?!\s*\()", code):
        if not code.startswith(ALIAS) or match.start() > len(ALIAS):
            script.find(line_of(match.start()),
                        "redis.call may only be called, or aliased by "
                        f"'{ALIAS.strip()}' in the first line")
    for match in re.finditer(r"(?:\bredis\.p?|(?<![.\w]))call\s*\(\s*", code):
        name = re.match(r"'([a-z]+)'", script.body[match.end():])
        if not name and not script.is_program:
            script.find(line_of(match.start()),
                        "a command's name must be a lower-case string here")
        elif name and name.group(1) in WRITERS:
            wrote = wrote or name.group(1)
    writes = script.sections["Writes"]
    if wrote and script.reads:
        script.find(script.section_lines["Writes"],
                    f"'Writes nothing', but the body calls '{wrote}'")
    documented = {place.spec for place in script.places["KEYS"]}
    for spec in re.findall(r"KEYS\[([^\]]+)\]", writes):
        if spec not in documented:
            script.find(script.section_lines["Writes"],
                        f"writes KEYS[{spec}], which is not documented")


def _uses(script, what):
    """How the body uses KEYS or ARGV: a list of (line, spec); spec is '3',
    '4...', 'i', 'n+i', or None for any other form."""
    code = _code(script)
    rules = (
        (r"\[(\d+)\]", lambda m: m.group(1)),
        (r"\[[a-z_]\w*\]", lambda m: "i"),
        (r"\[#KEYS \+ [a-z_]\w*\]", lambda m: "n+i"),
    )
    uses = []
    for match in re.finditer(r"\b%s\b" % what, code):
        line = script.body_line + code.count("\n", 0, match.start())
        before, after = code[:match.start()], code[match.end():]
        loop = re.search(r"\bfor [a-z_]\w* = (\d+), #$", before)
        tail = re.match(r", (\d+)\)", after)
        if loop:
            uses.append((line, loop.group(1) + "..."))
        elif before.endswith("#"):
            continue
        elif before.endswith("unpack(") and tail:
            uses.append((line, tail.group(1) + "..."))
        elif before.endswith(("ipairs(", "unpack(")) and after.startswith(")"):
            uses.append((line, "i"))
        else:
            found = None
            for pattern, spec in rules:
                index = re.match(pattern, after)
                if index:
                    found = spec(index)
            uses.append((line, found))
    return uses


def _check_names(script):
    seen = {"keys", "words"}
    for place in script.places["KEYS"] + script.places["ARGV"]:
        if place.name in seen and "i" not in place.spec:
            script.find(place.line, f"the name {place.name} is taken")
        seen.add(place.name)


def _check_places(script, what):
    documented = script.places[what]
    specs = [place.spec for place in documented]
    numbers = [int(re.match(r"\d+", spec).group(0)) for spec in specs
               if re.fullmatch(r"\d+(\.\.\.)?", spec)]
    for place in documented:
        if not re.fullmatch(r"[1-9]\d*(\.\.\.)?|i|n\+i", place.spec):
            script.find(place.line, f"{what}[{place.spec}]: unknown form")
    if numbers != list(range(1, len(numbers) + 1)):
        script.find(documented[0].line, f"{what} is not numbered 1, 2, ...")
    open_ended = any(spec.endswith("...") for spec in specs)
    used = set()
    for line, spec in _uses(script, what):
        used.add(spec)
        if spec is None:
            script.find(line, f"{what} is used in a form that no header "
                        "describes")
        elif spec not in specs and not (spec == "i" and open_ended):
            script.find(line, f"{what}[{spec}] is not documented")
    for place in documented:
        if place.spec not in used and not place.name.startswith("unused"):
            script.find(place.line,
                        f"{what}[{place.spec}] is documented but not used")
