#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py - every command with every kind of wrong command line.

    HOLDFAST=PATH table.py

The commands are those of `holdfast help --json`. Prints what is wrong, and ends
with 1 if anything is.
"""

import json
import os
import subprocess
import sys

HOLDFAST = os.environ["HOLDFAST"]
NOWHERE = "redis+unix:///nowhere/socket"
# Those that do not get as far as the server, and why.
ELSEWHERE = {
    "store diagnose": None, # its diagnosis is the answer
    "serve": (64, "only embedded stores"),
    "store check": (78, "embedded stores only"),
    "store compact": (78, "embedded stores only"),
    "store salvage": (64, ""),
    "store setup": (78, "nothing to set up"),
}
failures = []


def wrong(words, what):
    failures.append(f"holdfast {' '.join(words)}: {what}")


def run(words):
    done = subprocess.run([HOLDFAST, *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def codes_of(command):
    return {row["code"] for row in command["exit_codes"]}


def refused(command, words, code, culprit):
    """It ends with this code, which its help lists, and names the culprit in
    one line."""
    got, out, err = run(words)
    if got != code:
        wrong(words, f"exit code {got}, not {code}: {err}")
    if code not in codes_of(command):
        wrong(words, f"its help lacks exit code {code}")
    if culprit not in err or err.count("\n") != 1:
        wrong(words, f"'{culprit}' is not in one line: {err}")
    if out:
        wrong(words, f"prints {out}")


def answers(command, words, code, culprit):
    """The same with --json, as an object."""
    noun = command["name"].split()
    got, out, err = run([*noun, "--json", *words[len(noun):]])
    runs = command["name"] in ("run", "lead", "once", "queue work")
    text = err.split("\n", 1)[1] if runs else out
    words = [*noun, "--json", *words[len(noun):]]
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError):
        wrong(words, f"no object with \"error\": {text!r} ({err})")
        return
    if got != code or error["code"] != code:
        wrong(words, f"exit code {got}, in JSON {error['code']}, not {code}")
    if set(error) != {"code", "name", "message", "culprit"}:
        wrong(words, f"members are {', '.join(error)}")
    if "holdfast: " + error["message"] != err.split("\n")[0]:
        wrong(words, f"another message than on stderr: {error['message']}")
    if culprit is not None and error["culprit"] != culprit:
        wrong(words, f"culprit is {error['culprit']}, not {culprit}")
    if not error["name"].isupper():
        wrong(words, f"name is {error['name']}")


def accepts(command, name):
    return any(name in option["names"] for option in command["options"])


def check_help(command):
    words = [*command["name"].split(), "--help"]
    code, out, err = run(words)
    lines = out.split("\n")
    if code != 0 or err:
        wrong(words, f"exit code {code}: {err}")
    if not lines[0].startswith("    $ "):
        wrong(words, "does not begin with an example")
    if f"usage: holdfast {command['name']} [OPTION...]" not in lines:
        if not any(line.startswith(f"usage: holdfast {command['name']} ")
                   for line in lines):
            wrong(words, "has no usage line")
    for line in lines:
        if len(line) > 80:
            wrong(words, f"more than 80 columns: {line}")
    if run(["help", *command["name"].split()])[1] != out:
        wrong(words, "help prints something else")
    if accepts(command, "json") != (command["json"] is not None):
        wrong(words, "--json and its description do not agree")


def check_words(command):
    noun = command["name"].split()
    refused(command, [*noun, "--nosuch"], 64, "--nosuch")
    if accepts(command, "json"):
        answers(command, [*noun, "--nosuch"], 64, "--nosuch")
    if command["operands_min"] > 0:
        first = command["operands"].split()[0].split("|")[0]
        refused(command, noun, 64, f"missing argument {first}")
        if accepts(command, "json"):
            answers(command, noun, 64, first)
    for option in command["options"]:
        if option["duration"]:
            name = "--" + option["names"][0]
            words = [*noun, name, "5x"]
            refused(command, words, 64, f'{name} takes')
            if '"5x"' not in run(words)[2]:
                wrong(words, "the value is not named")


def check_store(command):
    """The store is not there."""
    expected = ELSEWHERE.get(command["name"], (69, "/nowhere/socket"))
    if not accepts(command, "store") or expected is None:
        return
    code, culprit = expected
    noun = command["name"].split()
    words = [*noun, "--store", NOWHERE, *["1"] * command["operands_min"]]
    if command["runs_command"] or command["name"] == "command":
        words += ["--", "true"]
    refused(command, words, code, culprit)
    if accepts(command, "json"):
        answers(command, words, code, None)


def check_general(manual):
    pages = [["help"], ["--help"]]
    pages += [["help", noun["name"]] for noun in manual["nouns"]]
    pages += [["help", topic["name"]] for topic in manual["topics"]]
    for words in pages:
        code, out, err = run(words)
        if code != 0 or err or not out.startswith("    $ "):
            wrong(words, f"exit code {code}, or no example first: {err}")
        for line in out.split("\n"):
            if len(line) > 80:
                wrong(words, f"more than 80 columns: {line}")
    for code in (1, *range(64, 79)):
        rows = [row for row in manual["exit_codes"] if row["code"] == code]
        if len(rows) > 1 or any(";" in row["text"] and " or " in row["text"]
                                for row in rows):
            wrong(["help", "exit-codes"], f"{code} has two meanings")


def main():
    code, out, err = run(["help", "--json"])
    if code != 0:
        sys.exit(f"help --json: {err}")
    manual = json.loads(out)
    commands = [command for noun in manual["nouns"]
                for command in noun["commands"]]
    check_general(manual)
    for command in commands:
        check_help(command)
        check_words(command)
        check_store(command)
    print("\n".join(failures))
    print(f"{len(commands)} commands, {len(failures)} failures")
    sys.exit(1 if failures or len(commands) < 70 else 0)


main()
