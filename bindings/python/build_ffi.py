# SPDX-License-Identifier: Apache-2.0
"""The extension holdfast._native, in the API mode of cffi. Its declarations are
those of the installed headers, so they cannot differ from the library.

libholdfast is looked for in HOLDFAST_DIR, a prefix of `cmake --install`, else
by pkg-config. HOLDFAST_INCLUDE and HOLDFAST_LIB name folders of a build that is
not installed.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import cffi

CALLBACKS = """
extern "Python" {
    void hf_py_done(void *, hf_status, const hf_error *);
    void hf_py_lost(hf_lock *, hf_status, void *);
    void hf_py_fill(void *, hf_cache_fill *);
    int hf_py_key(void *, hf_bytes);
    int hf_py_holder(void *, const hf_lock_info *);
}
"""
SYSTEM_HEADERS = ("stdbool.h", "stddef.h", "stdint.h", "string.h")


def vendors() -> bool:
    """Does the package bring its libraries?"""
    return os.environ.get("HOLDFAST_VENDOR", "1") != "0"


def folder_of(variable: str, name: str, given: str) -> Path:
    """The folder that has the file `name`."""
    if given in os.environ:
        return Path(os.environ[given])
    prefix = os.environ.get("HOLDFAST_DIR")
    if prefix:
        for path in Path(prefix).rglob(name):
            return path.parent
        raise SystemExit(f"holdfast: no {name} below HOLDFAST_DIR ({prefix})")
    try:
        found = subprocess.run(
            ["pkg-config", f"--variable={variable}", "holdfast"], check=True,
            capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            "holdfast: no libholdfast; install it, or set HOLDFAST_DIR to the "
            f"prefix that it was installed to ({error})") from error
    return Path(found.stdout.strip())


def include_folder() -> Path:
    return folder_of("includedir", "holdfast.h", "HOLDFAST_INCLUDE")


def find_library() -> Path:
    folder = folder_of("libdir", "libholdfast.so", "HOLDFAST_LIB")
    return (folder / "libholdfast.so").resolve()


def soname(library: Path) -> str:
    printed = subprocess.run(["readelf", "-d", str(library)], check=True,
                             capture_output=True, text=True).stdout
    match = re.search(r"\(SONAME\).*\[(.*)\]", printed)
    return match.group(1) if match else library.name


def declarations(include: Path) -> str:
    """What the headers declare, without what cffi cannot read."""
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            Path(empty, name).touch()
        text = subprocess.run(
            [os.environ.get("CC", "cc"), "-E", "-P", "-U__GNUC__", "-nostdinc",
             f"-I{empty}", f"-I{include}", str(include / "holdfast.h")],
            check=True, capture_output=True, text=True).stdout
    # Functions with a body: hf_view() and its like.
    text = re.sub(r"^static inline .*?^\}", "", text, flags=re.M | re.S)
    names = re.findall(r"^#define (HF_\w+) \(?-?\d+", "".join(
        path.read_text() for path in sorted(include.glob("holdfast/*.h"))
        if path.name != "serve.h"), re.M)
    return text + "".join(f"#define {name} ...\n" for name in names)


def make() -> cffi.FFI:
    include = include_folder()
    library = find_library()
    builder = cffi.FFI()
    builder.cdef(declarations(include) + CALLBACKS)
    # An RPATH, not a RUNPATH, also holds for what libholdfast needs.
    link = ["-Wl,--disable-new-dtags,-rpath,$ORIGIN/_libs"] if vendors() \
        else [f"-Wl,-rpath,{library.parent}"]
    builder.set_source(
        "holdfast._native", "#include <holdfast.h>\n",
        include_dirs=[str(include)], library_dirs=[str(library.parent)],
        libraries=["holdfast"], extra_link_args=link)
    return builder


ffibuilder = make()
