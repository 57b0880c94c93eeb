#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the headers of scripts/*.lua say what the bodies do? The rules are in
tools/scriptfile.py, which the build uses too. Is every piece in use?"""

import sys
from pathlib import Path

import source

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import scriptfile  # noqa: E402


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
    source.report(findings)


main()
