#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bindings of other languages rely on (base.h, "Other languages"):

- every _INIT macro sets struct_size, if there is one, and leaves all other
  bytes 0: checked by a program that compares each with cleared memory;
- every limit is an integer literal, as generators of bindings drop macros such
  as INT64_C();
- no call exists only as a macro.

usage: literals_test.py CC INCLUDE_DIRECTORY
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Not values: how functions are declared, and lists of statuses.
DECLARING = {"HF_API", "HF_MUST_USE", "HF_PRINTF"}
FUNCTION_LIKE = {"HF_STATUS_MAP", "HF_STATUS_ENUM", "HF_START", "HF_START_OF"}
# Forms of hf_format() for C.
FUNCTION_LIKE |= {"HF_FORMAT", "HF_INT"}
LITERAL = re.compile(r"\d+[uU]?|\(-\d+\)|0x[0-9a-f]+[uU]?")
DEFINE = re.compile(r"^#define (HF_\w+)(\(?)[ \t]*((?:[^\n\\]|\\\n)*)", re.M)


def check_macros(path, text):
    for name, opening, value in DEFINE.findall(text):
        if opening:
            if name not in FUNCTION_LIKE:
                yield f"{path}: {name}() is a macro"
        elif name.endswith("_INIT") or name in DECLARING:
            continue
        elif not LITERAL.fullmatch(value.split("/*")[0].strip()):
            yield f"{path}: {name} is no literal: {value}"


def program(header, names, sized):
    """A C program that prints the name of each macro that sets more."""
    checks = []
    for name in names:
        kind = name.lower().removesuffix("_init")
        size = f"zero.struct_size = sizeof({kind});" if kind in sized else ""
        checks.append(f"""
    {{
        static const {kind} init = {name};
        static {kind} zero;
        {size}
        if (memcmp(&init, &zero, sizeof(zero)) != 0)
            puts("{name} sets more than struct_size");
    }}""")
    return (f"#include <{header}>\n#include <stdio.h>\n#include <string.h>\n"
            f"int main(void)\n{{{''.join(checks)}\n    return 0;\n}}\n")


def check_inits(cc, include, header, text):
    names = re.findall(r"^#define (HF_\w+_INIT)\b", text, re.M)
    sized = re.findall(r"struct (hf_\w+) \{\s*size_t struct_size;", text)
    if not names or not sized:
        return [f"{header} was not read"]
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "inits.c"), Path(folder, "inits")
        source.write_text(program(header, names, sized))
        subprocess.run([cc, "-std=c11", f"-I{include}", source, "-o", binary],
                       check=True)
        printed = subprocess.run([binary], check=True, capture_output=True,
                                 text=True)
    return printed.stdout.splitlines()


def main():
    cc, include = sys.argv[1], Path(sys.argv[2])
    texts = {path.name: path.read_text()
             for path in sorted(include.glob("holdfast/*.h"))}
    wrong = [what for name, text in texts.items()
             for what in check_macros(name, text)]
    # holdfast.h has every header but this.
    server = texts.pop("serve.h")
    wrong += check_inits(cc, include, "holdfast.h", "".join(texts.values()))
    wrong += check_inits(cc, include, "holdfast/serve.h", server)
    print("\n".join(wrong) or f"literals_test: {len(texts) + 1} headers passed")
    sys.exit(1 if wrong else 0)


main()
