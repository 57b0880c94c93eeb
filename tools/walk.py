#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many rooms and climbs the walk of a call has (ARCHITECTURE.md).

    walk.py BUILD [-v]

BUILD: a build without optimization (preset debug), so that no function is
inlined. One call of each kind is run on a volatile store under callgrind.
Rooms: files that it enters, a header being one with its source. Climbs: calls
from a folder to one that is above it, as hooks are. Not counted are util/, which
knows nothing of Holdfast, and, of calls of the library, what is below the waist.
-v: the functions in each room, and the climbs.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

FLOORS = {"script": 1, "store": 2, "core": 3, "engine": 3, "data": 4,
          "lease": 4, "serve": 4}
WALKS = (("hf_lock_acquire", ("engine/",)), ("hf_lock_release", ("engine/",)),
         ("hf_txn_exec", ("engine/",)), ("run_words", ()))
TOOLS = pathlib.Path(__file__).resolve().parent


def read_calls(path):
    """(file, function) -> those that it calls; callgrind's format."""
    names, calls = {}, collections.defaultdict(set)
    here = file = None

    def name(kind, text):
        number, word = re.match(r"\((\d+)\)(?: (.*))?$", text).groups()
        if word is not None:
            names[kind, number] = word
        return names[kind, number]

    for line in path.read_text().splitlines():
        key, _, text = line.partition("=")
        if key == "fl":
            file = name("file", text)
        elif key == "fn":
            here = file, name("function", text).split("'")[0]
            callee_file = None
        elif key in ("fi", "fe"):
            name("file", text)
        elif key in ("cfi", "cfl"):
            callee_file = name("file", text)
        elif key == "cfn":
            callee = name("function", text).split("'")[0]
            calls[here].add((callee_file or file, callee))
            callee_file = None
    return calls


def place(file):
    """Relative to src/; None: not ours."""
    match = re.search(r"/src/((\w+)/.*)$", file or "")
    return match and match.group(2) in FLOORS and match.group(1)


def walk(calls, root, below):
    seen = {one for one in calls if one[1] == root}
    left = list(seen)
    while left:
        for callee in calls.get(left.pop(), ()):
            path = place(callee[0])
            if path and not path.startswith(below) and callee not in seen:
                seen.add(callee)
                left.append(callee)
    rooms, climbs = collections.defaultdict(list), []
    for one in sorted(seen):
        path = place(one[0])
        rooms[path.rsplit(".", 1)[0]].append(one[1])
        climbs += [f"{path} {one[1]}() -> {place(callee[0])} {callee[1]}()"
                   for callee in sorted(calls.get(one, ()))
                   if callee in seen and FLOORS[path.split("/")[0]] <
                   FLOORS[place(callee[0]).split("/")[0]]]
    return rooms, climbs


def main(build, verbose):
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/walk"
        subprocess.run(["cc", "-g", f"-I{TOOLS.parent}/include", "-o", program,
                        f"{TOOLS}/walk.c", f"-L{build}", "-lholdfast-serve",
                        "-lholdfast", f"-Wl,-rpath,{build}"], check=True)
        for root, below in WALKS:
            out = pathlib.Path(folder, "out")
            subprocess.run(["valgrind", "-q", "--tool=callgrind",
                            "--instr-atstart=no",
                            f"--callgrind-out-file={out}", program,
                            f"volatile:{folder}/store", root,
                            f"{folder}/socket"],
                           check=True)
            rooms, climbs = walk(read_calls(out), root, below)
            print(f"{root}: {len(rooms)} rooms, {len(climbs)} climbs")
            if verbose:
                for room, names in sorted(rooms.items()):
                    print(f"    {room}: {' '.join(names)}")
                print("\n".join(f"    climb: {climb}" for climb in climbs))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), "-v" in sys.argv)
