#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build and run the tests that are closest to a change.

    try.py BUILD [FILE...]

FILE: what has changed; by default what git says differs from HEAD. A program is
linked with the whole library, so what it links says nothing. Instead:

- a test runs if it has changed, or sees a header that has;
- a source or script runs the tests that are named after it, or else after its
  noun, or that stand for its folder: counter.c runs counter_test.c,
  timeline_page.c timeline_page_test.c, hash_put.c hash_test.c and its variants.
  So does a source that sees a header that has changed;
- a header that more than MANY files see runs only the tests of its own name.

Only on the embedded store in memory. The rest is for `make check`.
"""

import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
MANY = 20
# A test's name -> its subject, of the stores on which it is fast.
SUBJECT = re.compile(r"(?:conformance|seeds)\.(\w+)\.embedded-volatile"
                     r"|cli_(\w+)_embedded|(\w+)_test")
# Folder -> how the names of its white-box tests begin, and the subject that
# stands for a source after which none is named.
FOLDERS = {"src/core/": ("", "async"), "src/lease/": ("", "lock"),
           "src/transfer/": ("", "dump"),
           "src/engine/": ("embedded_", "embedded_command"),
           "src/store/redis/": ("redis_", "redis_driver"),
           "src/store/quorum/": ("quorum_", "quorum_round")}


def output(*command):
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True,
                          check=True).stdout


def changed_files():
    return sorted({*output("git", "diff", "--name-only", "HEAD").splitlines(),
                   *output("git", "ls-files", "-o",
                           "--exclude-standard").splitlines()})


def who_sees(build):
    """Header -> the sources that include it when they were last compiled."""
    seen = collections.defaultdict(set)
    for block in output("ninja", "-C", build, "-t", "deps").split("\n\n"):
        paths = [os.path.normpath(build / line.strip())
                 for line in block.splitlines()[1:] if "/usr/" not in line]
        inside = [path.removeprefix(f"{TOP}/") for path in paths
                  if path.startswith(f"{TOP}/")
                  and not path.startswith(f"{build}/")]
        for path in inside[1:]:
            seen[path].add(inside[0])
    return seen


def subjects(build):
    """Subject -> its tests, as CTest describes them."""
    found = collections.defaultdict(list)
    listing = output("ctest", "--test-dir", build, "--show-only=json-v1")
    for test in json.loads(listing)["tests"]:
        if match := SUBJECT.fullmatch(test["name"]):
            found[next(filter(None, match.groups()))].append(test)
    return found


def named_after(path, known):
    """The subjects that are named after a source, or else after its noun."""
    stem = Path(path).stem
    if path.startswith("tests/"):
        return {stem.removesuffix("_test")} & set(known)
    folder = next((name for name in FOLDERS if path.startswith(name)), None)
    prefix, substitute = FOLDERS.get(folder, ("", None))
    while stem:
        names = {name for name in known for noun in (stem, prefix + stem)
                 if (name + "_").startswith(noun + "_")}
        if names:
            return names
        stem = stem.rpartition("_")[0]
    return {substitute} & set(known)


def choose(path, seen, known):
    """What a change of `path` runs, and why."""
    sources = seen.get(path, set())
    own = named_after(path, known)
    if not sources:
        return own, "by its name"
    if len(sources) > MANY:
        return own, f"by its name; {len(sources)} files see it: they are left"
    return (own.union(*(named_after(source, known) for source in sources)),
            f"seen by {len(sources)} files")


def run(build, tests):
    """Build what the tests name in `build`, then run them."""
    words = " ".join(word for test in tests.values()
                     for word in [*test["command"], *(
                         value for entry in test["properties"]
                         if entry["name"] == "ENVIRONMENT"
                         for value in entry["value"])])
    programs = sorted(set(re.findall(re.escape(f"{build}/") + r"([\w./-]+)",
                                     words)))
    made = subprocess.run(["ninja", "-C", build, *programs], check=False)
    if made.returncode != 0:
        return made.returncode
    pattern = "|".join(re.escape(name) for name in tests)
    return subprocess.run(["ctest", "--test-dir", build, "-R", f"^({pattern})$",
                           "--output-on-failure",
                           f"-j{os.cpu_count()}"],
                          check=False).returncode


def main():
    build = Path(sys.argv[1]).resolve()
    paths = sys.argv[2:] or changed_files()
    seen, known = who_sees(build), subjects(build)
    tests = {}
    for path in paths:
        chosen, why = choose(path, seen, known)
        print(f"{path}: {' '.join(sorted(chosen)) or 'no test'} ({why})")
        tests.update((test["name"], test) for name in chosen
                     for test in known[name])
    print("left to `make check`: every other test; to `make test`: servers, "
          "files, faults", flush=True)
    sys.exit(run(build, tests) if tests else 0)


if __name__ == "__main__":
    main()
