# SPDX-License-Identifier: Apache-2.0
"""server.py - a server of our own on a free port of 127.0.0.1."""

import os
import socket
import subprocess
import time


def command_line(program, port, directory):
    """`program` is redis-server, valkey-server, or holdfast."""
    if os.path.basename(program) == "holdfast":
        return [program, "serve", "--store", f"volatile:{directory}/store",
                "--listen", f"127.0.0.1:{port}"]
    return [program, "--port", str(port), "--bind", "127.0.0.1",
            "--save", "", "--appendonly", "no", "--dir", directory]


class Server:
    """Without persistence; it ends with close()."""

    def __init__(self, program, directory):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            command_line(program, self.port, directory),
            stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                if self.ask("PING") == b"+PONG":
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError(f"{program} does not reply")

    def ask(self, *words):
        """A command's reply without its line end; of a string the text, None
        if there is none."""
        parts = [f"*{len(words)}\r\n"]
        parts += [f"${len(word)}\r\n{word}\r\n" for word in words]
        with socket.create_connection(("127.0.0.1", self.port)) as link:
            link.sendall("".join(parts).encode())
            lines = link.makefile("rb")
            first = lines.readline().rstrip(b"\r\n")
            if first[:1] != b"$":
                return first
            return lines.read(int(first[1:])) if first != b"$-1" else None

    def close(self):
        self.process.kill()
        self.process.wait()
