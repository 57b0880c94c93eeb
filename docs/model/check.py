#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the models of this folder with Spin, and compare each verdict with the
expected one: a property holds, or is violated once its mechanism is removed.

    check.py [--short] [--trace] [WORD...]

--short takes the three smallest configurations. --trace prints the shortest
counter-example of each violation. WORDs choose configurations by their text.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from configurations import CONFIGURATIONS, CYCLE, HOLDS, SHORT

HERE = Path(__file__).resolve().parent
LIMIT_S = 240
MEMORY_MIB = 3000


def run(words, folder):
    return subprocess.run(words, cwd=folder, text=True, timeout=LIMIT_S,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False).stdout


def formula(flags):
    """The name of the one that is checked, or None: assertions."""
    found = re.search(r"LTL=(\w+)", flags)
    return found and found[1]


def build(model, flags, expected, folder):
    """Breadth first where a violation is expected: it is then the shortest."""
    options = [f"-D{flag}" for flag in flags.split()]
    (folder / model).write_text((HERE / model).read_text())
    text = run(["spin", "-a", *options, model], folder)
    if not (folder / "pan.c").exists():
        raise SystemExit(f"check.py: {model} {flags}: {text}")
    if formula(flags):
        kind = ["-DNFAIR=3"]
    elif expected == HOLDS:
        kind = ["-DSAFETY"]
    else:
        kind = ["-DSAFETY", "-DBFS"]
    optimise = "-O1"
    text = run(["cc", optimise, "-w", "-DNOREDUCE", f"-DMEMLIM={MEMORY_MIB}", *kind,
                "-o", "pan", "pan.c"], folder)
    if text:
        raise SystemExit(f"check.py: {model} {flags}: {text}")


def verify(flags, folder):
    """What was violated, or that all holds, and the number of states."""
    words = ["./pan", "-w20", "-m100000", "-n", "-E"]
    if formula(flags):
        words += ["-a", "-f", "-N", formula(flags)]
    text = run(words, folder)
    states = re.search(r"(\d+) states, stored", text)
    errors = re.search(r"errors: (\d+)", text)
    if not states or not errors or "not completed" in text and \
            errors[1] == "0" or "max search depth too small" in text:
        raise SystemExit(f"check.py: {flags}: not finished:\n{text}")
    if errors[1] == "0":
        return HOLDS, int(states[1])
    if "acceptance cycle" in text:
        return CYCLE, int(states[1])
    failed = re.search(r"assertion violated (.*) \(at depth", text)
    if not failed:
        raise SystemExit(f"check.py: {flags}: neither verdict:\n{text}")
    return failed[1], int(states[1])


def trace(model, flags, folder):
    options = [f"-D{flag}" for flag in flags.split()]
    text = run(["spin", "-t", *options, model], folder)
    text = text.split("spin: ")[0]
    return [line.strip() for line in text.split("\n")
            if line.strip() and not re.match(r"Never claim|ltl ", line)]


def check(model, flags, expected):
    """Print a line; is it as expected?"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        build(model, flags, expected, folder)
        verdict, states = verify(flags, folder)
        took = time.monotonic() - began
        good = verdict == expected or expected != HOLDS and expected in verdict
        print(f"{'ok' if good else 'NOT AS EXPECTED'}  {model} {flags or '-'}: "
              f"{expected if good else verdict}, {states} states, {took:.1f} s",
              flush=True)
        if "--trace" in sys.argv and verdict != HOLDS:
            print("".join(f"    {line}\n" for line in
                          trace(model, flags, folder)), end="")
        return good


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    rows = SHORT if "--short" in sys.argv else CONFIGURATIONS
    rows = [row for row in rows
            if all(word in f"{row[0]} {row[1]}" for word in words)]
    began = time.monotonic()
    failed = sum(not check(*row) for row in rows)
    print(f"{len(rows)} configurations, {failed} not as expected, "
          f"{time.monotonic() - began:.0f} s")
    return 1 if failed or not rows else 0


sys.exit(main())
