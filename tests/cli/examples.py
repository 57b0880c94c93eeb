#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py - type the examples of the help, and compare what they print.

    HOLDFAST=PATH HF_EXAMPLES_SERVER=[PID] examples.py

Each is run by bash in a folder and under a prefix of its own. With
HF_EXAMPLES_SERVER those that need a server are, otherwise all others, but those
for PostgreSQL, which the pages of docs/howto have and tests/docs runs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOLDFAST = os.environ["HOLDFAST"]
START = """mkdir bin && ln -s "$HOLDFAST" bin/holdfast && PATH=$PWD/bin:$PATH
"""
# A command in the background gets some time before the next one: at least this,
# and some runs of a command.
PAUSE_S = 0.6
RUNS = 5


def after(line):
    """What a person at the terminal leaves time for."""
    if re.search(r"&\s*$", line):
        began = time.monotonic()
        subprocess.run([HOLDFAST, "--version"], stdout=subprocess.DEVNULL,
                       check=True)
        took = time.monotonic() - began
        return f"\nsleep {max(PAUSE_S, RUNS * took):.1f}\n"
    return "\nwait $!" if line == "kill $!" else ""


def script_of(example):
    """The lines that are typed, and what they print."""
    typed = []
    printed = []
    for line in example.split("\n"):
        if line.startswith("$ "):
            typed.append(line[2:])
        else:
            printed.append(line)
    text = "\n".join(line + after(line) for line in typed)
    return START + text + "\nexec 2>/dev/null\nkill -KILL $(jobs -p)\nwait\n", printed


def plain(line):
    """Without what differs from run to run."""
    line = re.sub(r"\(pid [^)]*\)", "(WHO)", line)
    line = re.sub(r"\b[0-9a-f]{16}-[0-9a-f]+", "ID", line)
    line = re.sub(r"\b\d+(\.\d+)?(?=s?\b)", "N", line)
    line = re.sub(r"(^| |unix:)/\S*", r"\1PATH", line)
    line = re.sub(r"unix:\S+", "unix:PATH", line)
    return re.sub(r"\s+", " ", line).strip()


def agree(printed, got):
    for at, line in enumerate(printed):
        if line.strip() == "...":
            return True
        if at >= len(got) or plain(line) != plain(got[at]):
            return False
    return len(got) == len(printed)


def check(name, example):
    script, printed = script_of(example)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOLDFAST_PREFIX": re.sub(
            r"\W", "-", name) + ":", "XDG_RUNTIME_DIR": folder}
        if "store" in name or name.endswith("top"):
            del environment["HOLDFAST_PREFIX"] # a dump has whole names
            environment["HOLDFAST_STORE"] = f"file:{folder}/example"
        done = subprocess.run(["bash", "-c", script], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, env=environment,
                              timeout=120, check=False)
    got = done.stdout.rstrip("\n").split("\n") if done.stdout else []
    if agree(printed, got):
        return 0
    print(f"--- {name}\n{example}\n--- printed\n{done.stdout}")
    return 1


def main():
    server = os.environ.get("HF_EXAMPLES_SERVER", "") != ""
    manual = json.loads(subprocess.run([HOLDFAST, "help", "--json"], text=True,
                                       capture_output=True, check=True).stdout)
    examples = {}
    for noun in manual["nouns"]:
        for command in noun["commands"]:
            if command["example_needs_server"] == server:
                examples[command["name"]] = command["example"]
        if not server:
            examples["noun " + noun["name"]] = noun["example"]
    if not server:
        examples |= {topic["name"]: topic["example"]
                     for topic in manual["topics"]}
    examples = {name: example for name, example in examples.items()
                if "postgres:" not in example}
    only = sys.argv[1:] or examples
    failed = sum(check(name, examples[name]) for name in only)
    print(f"{len(only)} examples, {failed} failed")
    sys.exit(1 if failed or len(examples) < (3 if server else 80) else 0)


main()
