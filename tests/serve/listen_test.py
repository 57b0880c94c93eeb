# SPDX-License-Identifier: Apache-2.0
"""listen_test.py PROGRAM - addresses, TLS, and sockets that are inherited."""

import os
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import unittest

from server import Connection, TIMEOUT, encode

PROGRAM = sys.argv.pop()


class Process:
    """holdfast serve with any addresses."""

    def __init__(self, test, *options, env=None, **more):
        self.folder = tempfile.mkdtemp(prefix="holdfast-listen-")
        test.addCleanup(shutil.rmtree, self.folder)
        self.process = subprocess.Popen(
            [PROGRAM, "--store", f"volatile:{self.folder}/store", "serve",
             *[word.replace("DIR", self.folder) for word in options]],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(env or {})}, **more)
        test.addCleanup(self.close)

    def address(self):
        return self.process.stdout.readline().rstrip("\n")

    def port(self):
        return int(self.address().rsplit(":", 1)[1])

    def log(self):
        """The next line but those that say who can connect."""
        line = "any local user can"
        while "any local user can" in line:
            line = self.process.stderr.readline()
        return line

    def end(self):
        self.process.terminate()
        return self.process.wait(TIMEOUT)

    def refusal(self):
        out, err = self.process.communicate(timeout=TIMEOUT)
        return out, err, self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.end()
        self.process.stdout.close()
        self.process.stderr.close()


class Wrapped(Connection):
    """A connection on a socket that is open."""

    def __init__(self, link):
        self.socket = link
        self.lines = link.makefile("rb")


def connect(port, host="127.0.0.1"):
    return Wrapped(socket.create_connection((host, port), TIMEOUT))


class Addresses(unittest.TestCase):
    def test_a_unix_socket_is_for_its_user_only(self):
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        server = Process(self, "--listen", "unix:DIR/a", "--listen",
                         "unix:DIR/b?mode=0660")
        for name, mode in (("a", 0o600), ("b", 0o660)):
            path = server.address()
            self.assertEqual(path, f"unix:{server.folder}/{name}")
            self.assertEqual(stat.S_IMODE(os.stat(path[5:]).st_mode), mode)
        self.assertEqual(server.end(), 0)
        self.assertEqual(os.listdir(server.folder), ["store"])

    def test_the_default_is_named_after_the_store(self):
        with tempfile.TemporaryDirectory() as runtime:
            server = Process(self, "--listen", "unix:",
                             env={"RUNTIME_DIRECTORY": runtime})
            name = f"{server.folder}/store".strip("/").replace("/", "-")
            self.assertEqual(server.address(), f"unix:{runtime}/{name}.sock")
            server.close()

    def test_by_default_only_its_user_may_connect(self):
        with tempfile.TemporaryDirectory() as runtime:
            server = Process(self, env={"RUNTIME_DIRECTORY": runtime})
            path = server.address()[5:]
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            self.assertEqual(os.listdir(runtime), [os.path.basename(path)])
            self.assertEqual(server.end(), 0)
            self.assertEqual(server.process.stdout.read(), "")
            self.assertEqual(server.process.stderr.read(),
                             "holdfast: serve: ending: signal 15\n")

    def warnings(self, *options, users=""):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(users)
            file.flush()
            server = Process(self, "--listen", "127.0.0.1:0", *options,
                             *(["--users", file.name] if users else []))
            address = server.address()
            server.end()
        *lines, _ = server.process.stderr.readlines()
        return [line.replace(address, "HERE") for line in lines]

    def test_who_can_connect_without_a_password_is_said(self):
        can = "holdfast: serve: any local user can "
        why = ' HERE: user "%s" needs no password\n'
        self.assertEqual(self.warnings(), [
            can + "read and write the store through" + why % "default"])
        self.assertEqual(self.warnings("--readonly"), [
            can + "read the store through" + why % "default"])
        self.assertEqual(self.warnings(users="user guest on nopass +get\n"), [
            can + "connect to" + why % "guest"])
        self.assertEqual(self.warnings(users="user a on >x +@all ~* &*\n"), [])


    def test_a_path_in_use_is_refused_and_one_left_is_replaced(self):
        first = Process(self, "--listen", "unix:DIR/a")
        path = first.address()
        second = Process(self, "--listen", path)
        self.assertIn("another process listens there", second.refusal()[1])
        first.process.kill()
        first.process.wait()
        third = Process(self, "--listen", path)
        self.assertEqual(third.address(), path)

    def test_a_successor_keeps_its_socket(self):
        first = Process(self, "--listen", "unix:DIR/a")
        path = first.address()
        os.unlink(path[5:])
        second = Process(self, "--listen", path)
        self.assertEqual(second.address(), path)
        first.end()
        link = Connection(path[5:])
        self.assertEqual(link.ask("PING"), b"PONG")
        link.close()

    def test_all_addresses_of_a_host(self):
        server = Process(self, "--listen", "localhost:0", "--listen",
                         "127.0.0.2:0")
        ports = {}
        while not ports.get("127.0.0.2"):
            host, port = re.fullmatch(r"(.*):(\d+)", server.address()).groups()
            ports[host] = int(port)
            link = connect(ports[host], host.strip("[]"))
            self.assertEqual(link.ask("PING"), b"PONG")
            link.close()
        self.assertIn("127.0.0.1", ports)
        self.assertEqual(len(set(ports.values())), 2)

    def test_other_machines_need_a_password(self):
        for words in (["0.0.0.0:0"], ["[::]:0"]):
            _, err, code = Process(self, "--listen", *words).refusal()
            if "Cannot assign" in err or "not supported" in err:
                continue
            self.assertEqual(code, 64)
            self.assertIn("can be reached from other machines", err)
            self.assertIn("--password-file", err)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("user a on >x\n")
            file.flush()
            server = Process(self, "--listen", "0.0.0.0:0", "--users",
                             file.name)
            link = connect(server.port())
            self.assertEqual(link.ask("AUTH", "a", "x"), b"OK")
            link.close()
            file.write("user b on nopass\n")
            file.flush()
            server.process.send_signal(signal.SIGHUP)
            self.assertIn("users not changed: ",
                          server.process.stderr.readline())

    def test_bad_addresses_are_refused(self):
        for text, error in (
                ("nothing", "must be unix:PATH or HOST:PORT"),
                ("unix:DIR/a?mode=1", "mode:"),
                ("unix:DIR/a?color=1", "color"),
                ("unix:DIR/a?group=no-such-group", "no such group"),
                ("unix:" + "x" * 120, "the path must have 1 to 107 bytes"),
                ("tls:127.0.0.1:0", "--tls-cert"),
                ("fd:0", "not a socket")):
            _, err, code = Process(self, "--listen", text).refusal()
            self.assertEqual(code, 64, text)
            self.assertIn(error, err)

    def test_an_inherited_socket(self):
        with socket.create_server(("127.0.0.1", 0)) as inherited:
            fd = inherited.fileno()
            server = Process(self, "--listen", f"fd:{fd}", pass_fds=[fd])
            self.assertEqual(server.port(), inherited.getsockname()[1])
            link = connect(inherited.getsockname()[1])
            self.assertEqual(link.ask("PING"), b"PONG")
            link.close()


class Systemd(unittest.TestCase):
    def test_states_are_reported(self):
        with tempfile.TemporaryDirectory() as folder, \
                socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.settimeout(TIMEOUT)
            notified.bind(folder + "/notify")
            server = Process(self, "--listen", "unix:DIR/a",
                             env={"NOTIFY_SOCKET": folder + "/notify",
                                  "WATCHDOG_USEC": "20000"})
            states = [notified.recv(100)]
            self.assertEqual(states[0], b"READY=1")
            for _ in range(3):
                self.assertEqual(notified.recv(100),
                                 b"WATCHDOG=1\nSTATUS=0 connections")
            server.end()
            while states[-1] != b"STOPPING=1":
                states.append(notified.recv(100))

    def test_inherited_sockets_are_served(self):
        with socket.create_server(("127.0.0.1", 0)) as inherited:
            port = inherited.getsockname()[1]
            # The shell knows the process id that LISTEN_PID must have.
            fd = inherited.fileno()
            folder = tempfile.mkdtemp(prefix="holdfast-listen-")
            self.addCleanup(shutil.rmtree, folder)
            with subprocess.Popen(
                    ["sh", "-c", f'exec 3<&{fd}; LISTEN_FDS=1 LISTEN_PID=$$ '
                     'exec "$@"', "sh", PROGRAM, "--store",
                     f"volatile:{folder}/store", "serve"],
                    pass_fds=[fd], stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, text=True) as process:
                self.assertEqual(process.stdout.readline(),
                                 f"127.0.0.1:{port}\n")
                link = connect(port)
                self.assertEqual(link.ask("PING"), b"PONG")
                link.close()
                process.terminate()
                self.assertEqual(process.stdout.read(), "")
                self.assertEqual(process.wait(TIMEOUT), 0)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="holdfast-tls-")
        cls.issue("ca", None)
        cls.issue("server", "ca", "subjectAltName=IP:127.0.0.1")
        cls.issue("client", "ca")
        cls.issue("other", None)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def issue(cls, name, signer, extension="keyUsage=digitalSignature"):
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-subj", f"/CN={name}", "-keyout", cls.path(name + ".key"),
                 "-out", cls.path(name + ".pem")]
        if signer:
            words += ["-CA", cls.path(signer + ".pem"), "-CAkey",
                      cls.path(signer + ".key"), "-addext", extension,
                      "-addext", "basicConstraints=critical,CA:FALSE"]
        else:
            words += ["-addext", "keyUsage=critical,keyCertSign"]
        subprocess.run(words, check=True, capture_output=True)

    def server(self, *options, name="server"):
        return Process(self, "--listen", "tls:127.0.0.1:0", "--tls-cert",
                       self.path(name + ".pem"), "--tls-key",
                       self.path(name + ".key"), *options)

    def connect(self, port, client=None, ca="ca"):
        context = ssl.create_default_context(cafile=self.path(ca + ".pem"))
        if client:
            context.load_cert_chain(self.path(client + ".pem"),
                                    self.path(client + ".key"))
        plain = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.addCleanup(plain.close)
        link = Wrapped(context.wrap_socket(plain, server_hostname="127.0.0.1"))
        self.addCleanup(link.close)
        return link

    def test_requests_are_encrypted(self):
        link = self.connect(self.server().port())
        large = b"x" * 3000000
        self.assertEqual(link.ask("SET", "a", large), b"OK")
        self.assertEqual(link.ask("GET", "a"), large)
        count = 5000
        link.socket.sendall(encode("INCR", "n") * count)
        self.assertEqual([link.read() for _ in range(count)],
                         list(range(1, count + 1)))

    def test_what_is_no_tls_hurts_no_one_else(self):
        server = self.server()
        port = server.port()
        link = self.connect(port)
        plain = connect(port)
        plain.send("PING")
        silent = connect(port)
        with self.assertRaises((EOFError, ConnectionError)):
            plain.read()
        self.assertIn("TLS handshakes failed: 1, the last from 127.0.0.1:",
                      server.log())
        self.assertEqual(link.ask("PING"), b"PONG")
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(port, ca="other")
        self.assertEqual(link.ask("PING"), b"PONG")
        plain.close()
        silent.close()

    def test_clients_need_a_certificate(self):
        port = self.server("--tls-ca", self.path("ca.pem")).port()
        self.assertEqual(self.connect(port, "client").ask("PING"), b"PONG")
        for name in (None, "other"):
            with self.assertRaises((EOFError, OSError)):
                self.connect(port, name).ask("PING")

    def test_other_machines_may_connect_with_a_certificate(self):
        for more, code in ((["--tls-ca", self.path("ca.pem")], 0), ([], 64)):
            server = self.server("--listen", "tls:0.0.0.0:0", *more)
            if code == 0:
                server.port()
                server.end()
            self.assertEqual(server.refusal()[2], code)

    def test_a_renewed_certificate_is_used(self):
        self.issue("renewed", "ca", "subjectAltName=IP:127.0.0.1")
        server = self.server(name="renewed")
        port = server.port()
        first = self.connect(port)
        before = first.socket.getpeercert()["serialNumber"]
        self.issue("renewed", "ca", "subjectAltName=IP:127.0.0.1")
        second = self.connect(port)
        self.assertNotEqual(second.socket.getpeercert()["serialNumber"],
                            before)
        self.assertEqual(first.ask("PING"), b"PONG")
        with open(self.path("renewed.pem"), "w", encoding="utf-8") as file:
            file.write("nothing")
        server.process.send_signal(signal.SIGHUP)
        self.assertIn("tls_cert", server.log())
        self.assertEqual(self.connect(port).ask("PING"), b"PONG")


if __name__ == "__main__":
    unittest.main()
