# SPDX-License-Identifier: Apache-2.0
"""Builds the extension by build_ffi.py, and puts the libraries that it needs
into the package, so that a wheel works where none of them is installed."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import build_ffi  # noqa: E402

# Every Linux has these; another copy would not fit its loader.
SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libpthread.so",
          "libdl.so", "librt.so", "libgcc_s.so", "libstdc++.so")

# libholdfast loads it by itself, for TLS.
LOADED = "libssl.so.3"


def linked(library: Path) -> "list[Path]":
    """The libraries that the loader finds for `library`."""
    printed = subprocess.run(["ldd", str(library)], check=True,
                             capture_output=True, text=True).stdout
    found = []
    for line in printed.splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if arrow and not name.startswith(SYSTEM):
            found.append(Path(path.split(" (")[0]))
    return found


def loaded() -> Path:
    """Where the loader finds LOADED."""
    ctypes.CDLL(LOADED)
    with open("/proc/self/maps") as maps:
        paths = [Path(line.split(maxsplit=5)[-1].strip()) for line in maps]
    return next(path.with_name(LOADED) for path in paths
                if path.name.startswith(LOADED))


def needed(library: Path) -> "list[Path]":
    """`library`, and all that it needs, each once."""
    tls = loaded()
    return list(dict.fromkeys([library, *linked(library), tls, *linked(tls)]))


class BuildWithLibraries(build_ext):
    """Copy libholdfast and what it needs to holdfast/_libs, where the
    extension looks first. HOLDFAST_VENDOR=0: the system's are used."""

    def run(self) -> None:
        super().run()
        if not build_ffi.vendors():
            return
        package = Path(self.get_ext_fullpath("holdfast._native")).parent
        folder = package / "_libs"
        folder.mkdir(parents=True, exist_ok=True)
        for library in needed(build_ffi.find_library()):
            soname = library.name
            if soname.startswith("libholdfast"):
                soname = build_ffi.soname(library)
            shutil.copy(library.resolve(), folder / soname)
            # What it needs is next to it. The extension's path does not hold
            # for what one needs that was loaded later.
            subprocess.run(["patchelf", "--force-rpath", "--set-rpath",
                            "$ORIGIN", str(folder / soname)], check=True)


setup(cffi_modules=["build_ffi.py:ffibuilder"],
      cmdclass={"build_ext": BuildWithLibraries},
      # The extension is of the stable ABI.
      options={"bdist_wheel": {"py_limited_api": "cp39"}})
