#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_page.py - cli/http/page.html and its scripts as C.

    embed_page.py OUTPUT.c PAGE.html PIECES SCRIPT.lua...

The scripts may use the pieces of the library's, which are in the folder PIECES
(`--#use`, see scriptfile.py).

The policy that is sent with the page (Content-Security-Policy) allows its one
script and its one style, by their digests, and nothing else.
"""

import base64
import hashlib
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import scriptfile  # noqa: E402
from embed_scripts import c_bytes  # noqa: E402


def digest(page, element):
    """The source expression for the only such element of a page."""
    found = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)
    if len(found) != 1 or page.count(f"<{element}") != 1:
        sys.exit(f"embed_page.py: not one <{element}> without attributes")
    sha = hashlib.sha256(found[0].encode()).digest()
    return f"'sha256-{base64.b64encode(sha).decode()}'"


def policy(page):
    return "; ".join((
        "default-src 'none'",
        f"script-src {digest(page, 'script')}",
        f"style-src {digest(page, 'style')}",
        "connect-src 'self'", "img-src data:", "base-uri 'none'",
        "form-action 'none'", "frame-ancestors 'none'"))


def script(path, pieces):
    path = Path(path)
    return (f"const char {path.stem}[] = {{\n"
            f"{c_bytes(scriptfile.expanded(path, pieces))}}};\n")


def main(output, path, pieces, *scripts):
    page = Path(path).read_text(encoding="utf-8")
    data = page.encode()
    rows = [", ".join(str(byte) for byte in data[i:i + 16])
            for i in range(0, len(data), 16)]
    Path(output).write_text(
        "/* Made by embed_page.py. */\n#include \"http/page.h\"\n\n"
        f"const char page_policy[] = \"{policy(page)}\";\n"
        f"const size_t page_size = {len(data)};\n"
        "const unsigned char page_text[] = {\n    "
        + ",\n    ".join(rows) + "};\n"
        + "".join(script(one, pieces) for one in scripts), encoding="ascii")


main(*sys.argv[1:])
