#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write src/holdfast/_faces.py: the methods of Client, AsyncClient and
Transaction, typed, from the functions of _operations.py.

usage: make_faces.py [--check]
"""

import ast
import sys
import textwrap
from pathlib import Path

FOLDER = Path(__file__).parent / "src" / "holdfast"
SOURCE = FOLDER / "_operations.py"
TARGET = FOLDER / "_faces.py"

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""Made by make_faces.py from _operations.py: change that, and run it again."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, TypeVar

from . import _operations as operations
from ._core import Attributes, Call, Duration, Fields, Instant, Key, Value
from ._operations import (CasResult, Item, JobInfo, JobState, OnceInfo, Page,
                          QueueInfo, RankMember, RankPlace, Revised,
                          RevisedResult, SetPage, SetResult, Trimmed)
from ._queued import Queued

T = TypeVar("T")
'''

FACES = (
    ("Operations", "Each runs when it is called, on this thread.",
     "def {name}(self{parameters}) -> {result}:",
     "return self._run(operations.{name}({arguments}))",
     "def _run(self, call: Call[T]) -> T:\n    raise NotImplementedError"),
    ("AsyncOperations", "Each is awaited.",
     "async def {name}(self{parameters}) -> {result}:",
     "return await self._run(operations.{name}({arguments}))",
     "async def _run(self, call: Call[T]) -> T:\n"
     "    raise NotImplementedError"),
    ("QueuedOperations", "Each runs with the transaction.",
     "def {name}(self{parameters}) -> Queued[{result}]:",
     "return self._queue(operations.{name}({arguments}))",
     "def _queue(self, call: Call[T]) -> Queued[T]:\n"
     "    raise NotImplementedError"),
)
# Calls that cannot be part of a transaction.
NOT_QUEUED = ("cache_",)


def operations():
    """(name, parameters, arguments, result, docstring) of each."""
    for node in ast.parse(SOURCE.read_text()).body:
        if not isinstance(node, ast.FunctionDef) or \
                node.name.startswith("_") or \
                not ast.unparse(node.returns).startswith("Call["):
            continue
        plain = [argument.arg for argument in node.args.args]
        named = [argument.arg for argument in node.args.kwonlyargs]
        arguments = plain + [f"{name}={name}" for name in named]
        yield (node.name, ast.unparse(node.args), ", ".join(arguments),
               ast.unparse(node.returns)[len("Call["):-1],
               ast.get_docstring(node))


def fill(text, indent):
    """Lines of at most 75 columns, broken after commas."""
    lines = []
    for part in (indent + text).split(", "):
        if lines and len(lines[-1]) + len(part) + 3 <= 75:
            lines[-1] += ", " + part
        elif lines:
            lines[-1] += ","
            lines.append(indent + " " * 8 + part)
        else:
            lines.append(part)
    return "\n".join(lines)


def method(head, body, operation):
    name, parameters, arguments, result, doc = operation
    head = head.format(name=name, parameters=", " + parameters, result=result)
    body = body.format(name=name, arguments=arguments)
    about = textwrap.fill(f'"""{doc}"""', 75, initial_indent="    ",
                          subsequent_indent="    ")
    return f"{fill(head, '')}\n{about}\n{fill(body, '    ')}"


def faces():
    text = HEAD
    for name, title, head, body, base in FACES:
        text += f'\n\nclass {name}:\n    """{title}"""\n\n'
        text += textwrap.indent(base, "    ") + "\n"
        for operation in operations():
            if name == "QueuedOperations" and \
                    operation[0].startswith(NOT_QUEUED):
                continue
            text += "\n" + textwrap.indent(method(head, body, operation),
                                           "    ") + "\n"
    return text


def main():
    made = faces()
    if "--check" in sys.argv:
        if TARGET.read_text() != made:
            sys.exit("_faces.py is not what make_faces.py makes: run it")
        return
    TARGET.write_text(made)


if __name__ == "__main__":
    main()
