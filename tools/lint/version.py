#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version of base.h is that of the files which have to repeat it, and the
number of the ABI, of holdfast.map, that of the names of libraries and packages
(docs/adr/0096)."""

import re

import source

VERSION = "VERSION"
ABI = "ABI"
# file, what a line of it has, its pattern
REPEATED = (
    ("CHANGELOG.md", VERSION, r"## (?:Unreleased \()?\[?([\d.]+)"),
    ("debian/changelog", VERSION, r"holdfast \(([^)-]+)-"),
    ("packaging/rpm/holdfast.spec", VERSION, r"Version:\s+(\S+)"),
    ("packaging/vcpkg/vcpkg.json", VERSION, r'\s*"version": "([^"]+)"'),
    ("bindings/python/pyproject.toml", VERSION, r'version = "([^"]+)"'),
    ("bindings/rust/holdfast-sys/Cargo.toml", VERSION,
     r'version = "([^"]+)"'),
    ("bindings/rust/holdfast/Cargo.toml", VERSION, r'version = "([^"]+)"'),
    ("bindings/rust/holdfast/Cargo.toml", VERSION,
     r'holdfast-sys = .*version = "([^"]+)"'),
    ("packaging/rpm/holdfast.spec", ABI, r"%global abi (\S+)"),
    ("src/serve/serve.map", ABI, r"HOLDFAST_SERVE_([\d.]+) "),
    ("debian/control", ABI, r"Package: libholdfast(\d\S+)"),
    ("debian/control", ABI, r"Package: libholdfast-serve(\d\S+)"),
    ("debian/libholdfast0.1.symbols", ABI, r"libholdfast\.so\.(\S+) "),
    ("debian/libholdfast0.1.symbols", ABI, r" \(symver\)HOLDFAST_([\d.]+) "),
    ("debian/libholdfast0.1.symbols", VERSION,
     r" \(symver\|optional\)HOLDFAST_PRIVATE_(\S+) "),
    ("debian/libholdfast-serve0.1.symbols", ABI,
     r"libholdfast-serve\.so\.(\S+) "),
)


def first(text, pattern):
    """(line, what the pattern found in it), or None."""
    for number, line in enumerate(text.split("\n"), start=1):
        if match := re.match(pattern, line):
            return number, match.group(1)
    return None


def main():
    top = source.root()
    header = (top / "include/holdfast/base.h").read_text()
    wanted = {
        VERSION: ".".join(re.findall(r"#define HF_VERSION_[A-Z]+ (\d+)",
                                     header)),
        ABI: first((top / "src/holdfast.map").read_text(),
                   r"HOLDFAST_([\d.]+) ")[1],
    }
    findings = []
    for path, kind, pattern in REPEATED:
        if not (top / path).is_file():
            findings.append((path, 1, "there is no such file"))
            continue
        found = first((top / path).read_text(), pattern)
        if not found:
            findings.append((path, 1, f"no line has the {kind.lower()}"))
        elif found[1] != wanted[kind]:
            findings.append((path, found[0],
                             f"{found[1]} is not {wanted[kind]}"))
    source.report(findings)


main()
