#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snippets.py GUIDE SOURCE: each C example of the guide is in the source, in
the same order. Blanks and line breaks may differ: the source is indented."""

import re
import sys


def words(text):
    return re.sub(r"\s+", " ", text).strip()


def main():
    guide, source = (open(path, encoding="utf-8").read()
                     for path in sys.argv[1:])
    rest = words(source)
    examples = re.findall(r"^```c\n(.*?)^```", guide, re.M | re.S)
    for example in examples:
        at = rest.find(words(example))
        if at < 0:
            sys.exit(f"not in {sys.argv[2]}, or too early there:\n{example}")
        rest = rest[at + 1:]
    if not examples:
        sys.exit(f"no example in {sys.argv[1]}")


main()
