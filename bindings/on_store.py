#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a program with HOLDFAST_STORE naming a new store: `embedded`, a volatile
one in a temporary folder, or `redis`, a server on a unix socket that ends with
the program. The exit code is the program's.

usage: on_store.py embedded|redis [--server PROGRAM] COMMAND [ARGUMENT]...
"""

import os
import socket
import subprocess
import sys
import tempfile
import time


def answers(path):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
            probe.sendall(b"PING\r\n")
            return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def start_server(program, folder):
    path = os.path.join(folder, "socket")
    server = subprocess.Popen(
        [program, "--port", "0", "--unixsocket", path, "--save", "",
         "--appendonly", "no", "--dir", folder],
        stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not answers(path):
        if server.poll() is not None or time.monotonic() > deadline:
            server.kill()
            sys.exit(f"on_store: {program} did not start")
        time.sleep(0.02)
    return server, f"redis+unix://{path}"


def main():
    kind, command = sys.argv[1], sys.argv[2:]
    program = "redis-server"
    if command[:1] == ["--server"]:
        program, command = command[1], command[2:]
    server = None
    with tempfile.TemporaryDirectory(prefix="hf-bindings-") as folder:
        if kind == "redis":
            server, url = start_server(program, folder)
        elif kind == "embedded":
            url = f"volatile:{folder}/store"
        else:
            sys.exit(__doc__)
        try:
            code = subprocess.run(
                command, env={**os.environ, "HOLDFAST_STORE": url},
                check=False).returncode
        finally:
            if server is not None:
                server.kill()
                server.wait()
    sys.exit(code if code >= 0 else 128 - code)


main()
