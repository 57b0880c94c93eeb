#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the man pages.

    make.py FOLDER HELP.json INCLUDE [DATE]

HELP.json is what `holdfast help --json` printed, INCLUDE the folder of the
public headers. The pages are written to FOLDER/man1, man3 and man7; what was
there is removed, as a page whose command is gone must not be installed. DATE is
that of the sources, shown at the foot of a page.
"""

import json
import shutil
import sys
from pathlib import Path

import commands
import headers


def main(folder, help_json, include, date):
    folder = Path(folder)
    manual = json.loads(Path(help_json).read_text())
    for section in ("man1", "man3", "man7"):
        shutil.rmtree(folder / section, ignore_errors=True)
    commands.write(manual, date, folder)
    headers.write(Path(include), manual["version"], date, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
