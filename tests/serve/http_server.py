# SPDX-License-Identifier: Apache-2.0
"""http_server.py - `holdfast serve --http`, and requests to it."""

import base64
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from server import TIMEOUT, Server

PROGRAM = sys.argv.pop(1)
TOKEN = "0123456789abcdef.-~"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HOSTILE = [b"<script>alert(1)</script>", b"\xff\xfe\x01", "\u202eab".encode(),
           b"x" * 4096]


class Http(Server):
    """A server with --http at a port of 127.0.0.1."""

    def __init__(self, *options, http="0"):
        super().__init__(PROGRAM, "--http", http, *options)
        for line in self.process.stdout:
            if line.startswith("http:"):
                break
        self.port = urllib.parse.urlparse(line.strip()).port

    def get(self, path, method="GET", body=None, **headers):
        """(status, headers, body)"""
        link = http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=TIMEOUT)
        link.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            link.putheader(name.replace("_", "-"), value)
        if body is not None:
            link.putheader("Content-Type", "application/x-www-form-urlencoded")
            link.putheader("Content-Length", str(len(body)))
        link.endheaders(body)
        answer = link.getresponse()
        body = answer.read()
        link.close()
        return answer.status, answer.headers, body

    def status(self, *arguments, **headers):
        return self.get(*arguments, **headers)[0]

    def ask(self, path, method="GET", **words):
        """(status, JSON) of a query, with the token; or its text."""
        query = "&".join(f"{name}={urllib.parse.quote_from_bytes(bytes(word))}"
                         for name, word in words.items())
        if method == "POST":
            answer = self.get(path, method, query.encode(), **BEARER)
        else:
            answer = self.get(f"{path}?{query}", method, **BEARER)
        if answer[1]["Content-Type"] != "application/json":
            return answer[0], answer[2]
        return answer[0], json.loads(answer[2])

    def locks(self, **headers):
        return json.loads(self.get("/locks", **headers)[2])["locks"]

    def raw(self, data):
        link = socket.create_connection(("127.0.0.1", self.port), TIMEOUT)
        link.sendall(data)
        return link

    def hold(self, name, *options):
        """Hold a lock; end_hold() ends it."""
        process = subprocess.Popen(
            [PROGRAM, "--store", self.store, "run", *options, name, "--", "sh", "-c",
             "echo held; read x; exit 0"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        process.stdout.readline()
        return process

    def memory(self, kind="VmRSS"):
        """KiB that the process has."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(file.read().split(kind + ":")[1].split()[0])


def end_hold(process):
    """Its exit code."""
    process.stdin.close()
    process.stdout.close()
    return process.wait(TIMEOUT)


def await_that(condition):
    """What is true then. Views are made once a second."""
    while not (found := condition()):
        time.sleep(0.2)
    return found


def name_of(lock):
    name = lock["name"]
    return name.encode() if isinstance(name, str) else \
        base64.b64decode(name["base64"])


def read_event(file):
    """The JSON of the next event."""
    for line in file:
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    raise EOFError


class Edited(unittest.TestCase):
    """The token and --allow-edit are given."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.file = os.path.join(cls.folder, "token")
        with open(cls.file, "w", encoding="ascii") as file:
            file.write(TOKEN + "\n")
        cls.server = Http("--http-token-file", cls.file, "--allow-edit")
        cls.link = cls.server.connect()

    @classmethod
    def tearDownClass(cls):
        cls.link.close()
        assert cls.server.close() == 0

    def setUp(self):
        self.link.ask("FLUSHALL")

    def other(self, *options):
        server = Http(*options)
        self.addCleanup(server.close)
        return server
