# SPDX-License-Identifier: Apache-2.0
"""What MkDocs builds in addition to the pages of docs/.

* reference/functions.md: every function, constant and type of the headers, with
  its first sentence, for the index and its search.
* reference/man/: pages that the build has generated below build/reference/,
  which the page of the reference lists.
* source/: each file outside docs/ that a page links to, as a page; links to it
  lead there.
"""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
GENERATED = ROOT / "build" / "reference"
LINK = re.compile(r"(\]\()([^()\s#]+)((?:#[^()\s]*)?\))")
LANGUAGES = {".c": "c", ".h": "c", ".lua": "lua", ".py": "python", ".sh": "sh",
             ".yaml": "yaml", ".service": "ini", ".socket": "ini"}


def outside(page, link):
    """The file of the tree outside docs/, or among its examples, or None."""
    if re.match(r"[a-z+]+:", link):
        return None
    path = Path(os.path.normpath(DOCS / Path(page).parent / link))
    if not path.is_file() or not path.is_relative_to(ROOT):
        return None
    if path.is_relative_to(DOCS) and path.suffix in (".md", ".svg"):
        return None
    return path.relative_to(ROOT)


def source_page(path):
    text = (ROOT / path).read_text()
    if path.suffix == ".md":
        # Its own links are to the tree, not to the site.
        return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    language = LANGUAGES.get(path.suffix, "text")
    return f"# {path}\n\n````{language}\n{text}````\n"


# ------------------------------------------------------------------ the index

COMMENT = re.compile(r"/\*\*(?!<)(.*?)\*/\s*(.*?)(?=\n\n|/\*\*|\Z)", re.S)


def sentence(comment):
    words = " ".join(line.strip().removeprefix("*").strip()
                     for line in comment.splitlines()).strip()
    words = re.split(r"(?<=[.:]) (?=[A-Z@-])|\s@|\s- ", words + " ")[0]
    return words.replace("|", "\\|").replace("<", "&lt;").strip()


def declared(text):
    """Names that the declaration after a comment declares."""
    if match := re.search(r"\b(hf_\w+)\(|HF_START(?:_OF)?\((\w+)", text):
        return [match[1] or match[2]]
    if match := re.match(r"typedef (?:struct|enum) (\w+)", text):
        return [match[1]]
    return re.findall(r"#define (HF_\w+)", text)


def index():
    rows = {}
    include = ROOT / "include/holdfast"
    for path in [*sorted(include.glob("*.h")), *sorted(include.glob("loop/*.h"))]:
        header = path.relative_to(include).as_posix()
        for comment, after in COMMENT.findall(path.read_text()):
            for name in declared(after):
                rows.setdefault(name, (header, sentence(comment)))
    lines = ["# Functions, types and constants", "",
             "From the headers, which have their parameters, ranges and "
             "statuses.", "", "| name | header | |", "|---|---|---|"]
    for name, (header, said) in sorted(rows.items()):
        link = f"[{header}](../../include/holdfast/{header})"
        lines.append(f"| `{name}` | {link} | {said} |")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------- hooks

def on_files(files, config):
    pages = {"reference/functions.md": index()}
    if GENERATED.is_dir():
        pages |= {f"reference/man/{path.name}": path.read_text()
                  for path in sorted(GENERATED.glob("*.md"))}
    for path in DOCS.rglob("*.md"):
        page = path.relative_to(DOCS).as_posix()
        pages.setdefault(page, None)
    wanted = {}
    for page, text in pages.items():
        if text is None:
            text = (DOCS / page).read_text()
        else:
            files.append(File.generated(config, page, content=text))
        for _, link, _ in LINK.findall(text):
            if target := outside(page, link):
                wanted[f"source/{target}.md"] = target
    for page, path in wanted.items():
        files.append(File.generated(config, page, content=source_page(path)))
    return files


def on_page_markdown(markdown, page, **_):
    here = page.file.src_uri
    if here == "reference/README.md" and GENERATED.is_dir():
        markdown += "\n## Manual pages\n\n" + "".join(
            f"* [{path.stem}](man/{path.name})\n"
            for path in sorted(GENERATED.glob("*.md")))

    def replaced(match):
        target = outside(here, match[2])
        if target is None:
            return match[0]
        path = os.path.relpath(f"source/{target}.md", Path(here).parent)
        return f"]({path})"

    return LINK.sub(replaced, markdown)


def on_page_content(html, **_):
    """In a table GitHub needs `a \\| b` for `a | b`."""
    return re.sub(r"(?<!<span></span>)<code>[^<]*</code>",
                  lambda code: code[0].replace("\\|", "|"), html)
