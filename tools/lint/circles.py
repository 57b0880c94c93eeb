#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No circles: of the libraries' files each calls only those below it.

    circles.py BUILD

Reads what every object of the libraries defines and uses (nm). A group of files
that use one another, by whatever way round, can be read, tested and changed only
as one; such a group must stand in MODULES with the reason why it is one module.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OBJECTS = "CMakeFiles/holdfast*_objects.dir"

# Groups that may stay: their files, relative to src/, without ".c".
MODULES = ()


def symbols(paths):
    """{path: (defined, used)}: the external symbols of objects."""
    found = {str(path): (set(), set()) for path in paths}
    listing = subprocess.run(["nm", "-g", "-A", *found], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.splitlines():
        path, symbol = line.split(":", 1)
        kind, name = symbol.split()[-2:]
        found[path][kind in "Uwv"].add(name)
    return found


def graph(build):
    """{file: {file it uses: symbols}}"""
    names = {}
    for top in sorted(pathlib.Path(build).glob(OBJECTS)):
        for path in sorted(top.rglob("*.o")):
            name = path.relative_to(top).as_posix()[:-len(".c.o")]
            # An object of a file that was renamed stays in the build folder.
            if name.startswith("src/") and not (ROOT / (name + ".c")).exists():
                continue
            names[str(path)] = name.removeprefix("src/")
    if not names:
        sys.exit(f"circles.py: no objects in {build}/{OBJECTS}")
    objects = {names[path]: of for path, of in symbols(names).items()}
    owner = {name: of for of, (defined, _) in objects.items()
             for name in defined}
    edges = {of: {} for of in objects}
    for of, (_, used) in objects.items():
        for name in used & owner.keys():
            if owner[name] != of:
                edges[of].setdefault(owner[name], set()).add(name)
    return edges


def circles(edges):
    """Strongly connected components of two files and more (Tarjan, 1972)."""
    order, low, stack, found = {}, {}, [], []

    def visit(of):
        order[of] = low[of] = len(order)
        stack.append(of)
        for to in sorted(edges[of]):
            if to not in order:
                visit(to)
                low[of] = min(low[of], low[to])
            elif to in stack:
                low[of] = min(low[of], order[to])
        if low[of] == order[of]:
            at = stack.index(of)
            if len(stack) - at > 1:
                found.append(frozenset(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for of in sorted(edges):
        if of not in order:
            visit(of)
    return found


def show(edges, circle):
    print(f"circle of {len(circle)} files:")
    for of in sorted(circle):
        for to in sorted(edges[of].keys() & circle):
            names = sorted(edges[of][to])
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            print(f"  src/{of}.c -> {to}.c: {', '.join(names[:3])}{more}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    edges = graph(sys.argv[1])
    found = circles(edges)
    allowed = {frozenset(module) for module in MODULES}
    for circle in found:
        if circle not in allowed:
            show(edges, circle)
    for module in allowed.difference(found):
        print(f"circles.py: no longer a circle: {', '.join(sorted(module))}")
    return int(set(found) != allowed)


if __name__ == "__main__":
    sys.exit(main())
