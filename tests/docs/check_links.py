#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link of a document leads to a file of the tree, and to a heading of it;
every page of docs/ can be reached from docs/README.md; every block of code has
a language, so that run_page.py knows whether to run it.

    check_links.py [ROOT]
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else
            Path(__file__).resolve().parent.parent.parent)
LINK = re.compile(r"\]\(([^()\s]+)\)|<img src=\"([^\"]+)\"")
# Where what a reader types would be taken for a picture of it.
PROSE = ("tutorials", "howto", "explanation", "reference")


def without_blocks(text):
    return re.sub(r"^ *```.*?^ *```$", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.M | re.S)


def anchors(path):
    """As GitHub and MkDocs make them."""
    found, seen = set(), {}
    for title in re.findall(r"^#{1,6} (.*)$", without_blocks(path.read_text()),
                            re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", title.replace("`", "").lower())
        slug = slug.strip().replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def links(path):
    text = without_blocks(path.read_text())
    for match in LINK.finditer(re.sub(r"`[^`\n]+`", "", text)):
        link = match[1] or match[2]
        if not re.match(r"[a-z+]+:", link):
            yield text.count("\n", 0, match.start()) + 1, link


def target(path, link):
    name, _, anchor = link.partition("#")
    return Path(os.path.normpath(path.parent / name)) if name else path, anchor


def broken(path):
    for line, link in links(path):
        to, anchor = target(path, link)
        if not to.exists():
            yield line, f"no such file: {link}"
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            yield line, f"no such heading: {link}"


def unnamed_blocks(path):
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            inside = not inside
            if inside and line.strip() == "```":
                yield number, "a block of code without a language"
        elif not inside and re.match(r"    (\$ )?(holdfast|cc|make) ", line):
            yield number, "an indented block: fence it, with a language"


def reached(start):
    found, left = {start}, [start]
    while left:
        path = left.pop()
        for _, link in links(path):
            to, _ = target(path, link)
            if to.suffix == ".md" and to.exists() and to not in found:
                found.add(to)
                left.append(to)
    return found


def main():
    docs = ROOT / "docs"
    pages = [path for top in (docs, ROOT / "examples", ROOT / "src",
                              ROOT / "cli", ROOT / "scripts")
             for path in top.rglob("*.md")]
    pages += [*ROOT.glob("*.md"), *(path for path in ROOT.glob("*/README.md")
                                    if path not in pages)]
    findings = [(path, *found) for path in pages for found in broken(path)]
    for folder in PROSE:
        for path in (docs / folder).glob("*.md"):
            findings += [(path, *found) for found in unnamed_blocks(path)]
    seen = reached(docs / "README.md")
    findings += [(path, 1, "no page leads here") for folder in PROSE
                 for path in (docs / folder).glob("*.md") if path not in seen]
    for path, line, what in sorted(findings):
        print(f"{path.relative_to(ROOT)}:{line}: {what}")
    sys.exit(bool(findings))


main()
