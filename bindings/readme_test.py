#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first block of code in a README.md is the example that the tests run: a
file, without the comment that it begins with.

usage: readme_test.py FOLDER FILE
"""

import re
import sys
from pathlib import Path


def code_of(text):
    """From the first line that is neither a comment nor empty."""
    lines = text.split("\n")
    while lines and re.match(r"(//|/\*| \*|#!|# |#$)|$", lines[0]):
        lines.pop(0)
    return "\n".join(lines).strip()


def main():
    folder = Path(sys.argv[1])
    block = re.search(r"^```\w+\n(.*?)^```", (folder / "README.md").read_text(),
                      re.M | re.S)
    if block is None:
        sys.exit("readme_test: no example in README.md")
    example = (folder / sys.argv[2]).read_text()
    if block.group(1).strip() != code_of(example):
        sys.exit(f"readme_test: README.md does not begin with {sys.argv[2]}")
    print("readme_test: the first example is tested")


main()
