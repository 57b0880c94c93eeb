#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers of scripts/*.lua agree with the bodies, by the rules of
tools/scriptfile.py; every piece is used; and no script is named below the
waist (src/store/, src/engine/), since drivers know a script only by its header.
"""

import re
import sys
from pathlib import Path

import source

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import scriptfile  # noqa: E402


def names_in_drivers(top, scripts):
    names = "|".join(script.name for script in scripts)
    named = re.compile(rf"\b(?:hf__shape_)?(?:{names})\b"
                       rf"|\bHF__(?:SCRIPT_)?(?:{names.upper()})(?:_[A-Z_]+)?\b"
                       r"|script_words\.h")
    for path in source.files(top, "*.c", "*.h"):
        if not path.as_posix().startswith(("src/store/", "src/engine/")):
            continue
        for number, line in enumerate((top / path).read_text().splitlines(), 1):
            found = named.search(line)
            if found:
                yield path, number, f"names a script: {found.group(0)}"


def main():
    top = source.root()
    scripts = scriptfile.load_all(
        top / path for path in source.files(top, "scripts/*.lua"))
    used = set().union(*(script.used for script in scripts))
    findings = [(script.path.relative_to(top), line, what)
                for script in scripts for line, what in sorted(script.findings)]
    findings += [(path, 1, "no script uses it")
                 for path in source.files(top, "scripts/use/*.lua")
                 if path.stem not in used]
    findings += names_in_drivers(top, scripts)
    source.report(findings)


main()
