#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The blocks of code in a README.md are the examples that the tests run, in this
order: files, without the comments that they begin with.

usage: readme_test.py FOLDER FILE...
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
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    blocks = re.findall(r"^```\w+\n(.*?)^```", (folder / "README.md").read_text(),
                        re.M | re.S)
    if len(blocks) != len(names):
        sys.exit(f"readme_test: {len(blocks)} examples, not {len(names)}")
    for name, block in zip(names, blocks):
        if block.strip() != code_of((folder / name).read_text()):
            sys.exit(f"readme_test: README.md does not have {name}")
    print(f"readme_test: {len(names)} examples are tested")


main()
