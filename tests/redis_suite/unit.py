# SPDX-License-Identifier: Apache-2.0
"""unit.py - one unit of Redis's suite, run against one server.

The suite's tests are run by clients (tclsh) that a test server hands units to;
they report each test in packets: a line with the length, then a Tcl list of a
status, a text and a time. Here is that test server, for one client, so that a
unit which hangs or ends early does not take the others with it.
"""

import os
import re
import select
import signal
import socket
import subprocess
import time

AMEND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "amend.tcl")
OUTSIDE = "(between tests)"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
WORD = re.compile(r"(?:\\.|[^\\\s])+", re.S)


def braced(text, start):
    """Where the braces that open at `start` close."""
    depth = 0
    at = start
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError(f"no Tcl list: {text[:200]!r}")


def tcl_list(text):
    words = []
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return words
        if text[at] == "{":
            end = braced(text, at)
            words.append(text[at + 1:end])
            at = end + 1
        else:
            word = WORD.match(text, at)
            words.append(re.sub(
                r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), word[0],
                flags=re.S))
            at = word.end()


class Packets:
    """Of one client. `receive` returns None at its end, or after `patience`."""

    def __init__(self, stream, patience):
        self.stream = stream
        self.patience = patience
        self.input = b""
        self.held = b""
        self.late = False

    def fill(self, until):
        ready, _, _ = select.select([self.stream], [], [],
                                    max(0, until - time.monotonic()))
        if not ready:
            self.late = True
            return False
        try:
            more = self.stream.recv(1 << 16)
        except OSError:
            more = b""
        # Tcl writes a line's end to a socket as CR LF, which the lengths do not
        # count.
        more = self.held + more
        self.held = more[-1:] if more.endswith(b"\r") else b""
        self.input += more[:len(more) - len(self.held)].replace(b"\r\n", b"\n")
        return bool(more)

    def receive(self):
        until = time.monotonic() + self.patience
        while True:
            line, newline, rest = self.input.partition(b"\n")
            if newline and len(rest) >= int(line):
                self.input = rest[int(line):]
                return tcl_list(rest[:int(line)].decode("latin-1"))
            if not self.fill(until):
                return None

    def send(self, text):
        self.stream.sendall(b"%d\n%s" % (len(text), text.encode()))


class Unit:
    """The results of its tests: {name: (outcome, text)}. A name that was used
    before in the unit gets a number. Outcome: passed, failed, left out."""

    def __init__(self, name):
        self.name = name
        self.results = {}
        self.tags = {}
        self.announced = None
        self.current = None
        self.seconds = 0

    def add(self, name, outcome, text=""):
        _, tags = self.announced or (name, [])
        number = 1
        key = name
        while key in self.results:
            number += 1
            key = f"{name} #{number}"
        self.results[key] = (outcome, text)
        self.tags[key] = tags
        self.announced = None

    def take(self, status, text):
        """One packet. False: it was the last."""
        if status == "test":
            name, tags = tcl_list(text)
            self.announced = name, tcl_list(tags)
        elif status == "testing":
            self.current = text
        elif status == "ok":
            self.add(text, "passed")
            self.current = None
        elif status == "err":
            self.add(self.current or OUTSIDE, "failed", text)
            self.current = None
        elif status == "ignore":
            # Else a group of tests.
            if self.announced:
                name, _ = self.announced
                self.add(name, "left out", text[len(name) + 2:])
        elif status == "exception":
            self.add(self.current or OUTSIDE, "failed", text)
            self.current = None
            return False
        return status != "done"

    def follow(self, packets):
        """Until the unit ends, in one way or another."""
        while True:
            packet = packets.receive()
            if packet is None:
                break
            status, text = packet[:2]
            if status == "ready":
                packets.send(f"run {self.name} 0")
            elif not self.take(status, text):
                return
        self.add(self.current or OUTSIDE, "failed",
                 f"no end after {packets.patience} s" if packets.late
                 else "the client ended")

    def run(self, suite, address, denied, skipped, patience):
        start = time.monotonic()
        door = socket.create_server(("127.0.0.1", 0))
        door.settimeout(60)
        client = subprocess.Popen(
            ["tclsh", "tests/test_helper.tcl",
             "--client", str(door.getsockname()[1]),
             "--host", address[0], "--port", str(address[1]),
             "--durable", "--ignore-encoding", "--ignore-digest", "--tags",
             " ".join(f"-{tag}" for tag in denied)] +
            [word for test in skipped for word in ("--skiptest", test)],
            cwd=suite, env=dict(os.environ, SUITE_AMEND=AMEND), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            stream, _ = door.accept()
            with stream:
                self.follow(Packets(stream, patience))
        finally:
            door.close()
            # With the load generators that it started.
            try:
                os.killpg(client.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            client.wait()
        self.seconds = time.monotonic() - start
