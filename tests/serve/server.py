# SPDX-License-Identifier: Apache-2.0
"""server.py - `holdfast serve` in a folder of its own, and raw connections."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

TIMEOUT = 60


def shortened(text):
    """At most 40 lines, none of them long."""
    lines = [line if len(line) <= 600 else f"{line[:400]} ... {line[-180:]}"
             for line in text.splitlines()]
    if len(lines) > 40:
        lines[20:-19] = [f"({len(lines) - 39} more lines)"]
    return "\n".join(lines)


class Result(unittest.TextTestResult):
    """An assertion shows whole values."""

    def printErrors(self):
        for kind in (self.errors, self.failures):
            kind[:] = [(test, shortened(text)) for test, text in kind]
        super().printErrors()


unittest.TextTestRunner.resultclass = Result


def slower(program):
    """How much slower a sanitizer makes a program, and how many times as large;
    see tests/support/slowness.h."""
    with open(program, "rb") as file:
        return 20 if re.search(rb"__[at]san_init", file.read()) else 1


class Connection:
    """Sends bytes or words; reads replies as Python values: bytes, int, None,
    list, dict, or an Error."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")

    def send(self, *words):
        self.socket.sendall(encode(*words))

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def read(self):
        line = self.lines.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError(line)
        kind, text = line[:1], line[1:-2]
        if kind == b"+":
            return text
        if kind == b"-":
            return Error(text.decode())
        if kind in b":(":
            return int(text)
        if kind == b"_":
            return None
        if kind == b",":
            return float(text)
        if kind == b"#":
            return text == b"t"
        if kind in b"$=":
            return self.read_bulk(int(text))
        if kind in b"*~>":
            return None if text == b"-1" else [self.read()
                                               for _ in range(int(text))]
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(text))}
        raise ValueError(line)

    def read_bulk(self, size):
        return None if size < 0 else self.lines.read(size + 2)[:-2]

    def close(self):
        self.lines.close()
        self.socket.close()


class Error(str):
    """An error reply."""


def encode(*words):
    words = [word if isinstance(word, bytes) else str(word).encode()
             for word in words]
    return b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Server:
    """Serves a store of its own, or another's, on a unix socket; it ends with
    close()."""

    def __init__(self, program, *options, scheme="volatile", url="",
                 store=None, log=False):
        self.folder = tempfile.mkdtemp(prefix="holdfast-serve-")
        self.path = os.path.join(self.folder, "socket")
        self.store = store or f"{scheme}:{self.folder}/store{url}"
        self.process = subprocess.Popen(
            [program, "--store", self.store, "serve", "--listen",
             f"unix:{self.path}", *map(str, options)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE if log else None,
            text=True)
        first = self.process.stdout.readline()
        assert first == f"unix:{self.path}\n", first

    def connect(self):
        return Connection(self.path)

    def close(self):
        """Its exit code after SIGTERM."""
        self.process.terminate()
        code = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        if self.process.stderr is not None:
            self.process.stderr.close()
        shutil.rmtree(self.folder)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.close()


def until_busy(server):
    """A request that is in the same round as the script is not answered."""
    for _ in range(100):
        conn = server.connect()
        conn.socket.settimeout(0.3)
        try:
            if "BUSY" in str(conn.ask("PING")):
                return
        except TimeoutError:
            pass
        finally:
            conn.close()
        time.sleep(0.02)
    raise AssertionError("the server is not busy")
