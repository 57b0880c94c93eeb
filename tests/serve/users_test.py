# SPDX-License-Identifier: Apache-2.0
"""users_test.py PROGRAM - logging in, and what users may do."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from server import Server, TIMEOUT

PROGRAM = sys.argv.pop()

USERS = """
# comments and empty lines are skipped
user default off
user admin on >secret ~* &* +@all
user app on >one >two ~app:* %R~shared:* %W~log:* &app:* +@all -@dangerous -config +config|get
user reader on nopass ~* +get +exists +hello
user off off >secret ~* +@all
"""

NO_AUTH = "NOAUTH Authentication required."
WRONG = "WRONGPASS invalid username-password pair or user is disabled."
NO_KEY = ("NOPERM this user has no permissions to access one of the keys used "
          "as arguments")
NO_CHANNEL = ("NOPERM this user has no permissions to access one of the "
              "channels used as arguments")
SCRIPT = "ERR The user executing the script can't "


def no_command(name):
    return f"NOPERM this user has no permissions to run the '{name}' command"


class WithFile(unittest.TestCase):
    users = USERS
    option = "--users"
    log = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-users-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "users")
        self.write(self.users)
        self.server = Server(PROGRAM, self.option, self.path, log=self.log)
        self.addCleanup(self.server.close)
        self.link = self.server.connect()
        self.addCleanup(self.link.close)

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def log_in(self, *words):
        link = self.server.connect()
        self.addCleanup(link.close)
        self.assertEqual(link.ask("AUTH", *words), b"OK")
        return link


class Login(WithFile):
    def test_a_stranger_may_only_log_in(self):
        ask = self.link.ask
        self.assertEqual(ask("GET", "a"), NO_AUTH)
        self.assertEqual(ask("MULTI"), NO_AUTH)
        self.assertEqual(ask("ACL", "WHOAMI"), NO_AUTH)
        self.assertEqual(ask("GET"),
                         "ERR wrong number of arguments for 'get' command")
        self.assertTrue(ask("HELLO", 3).startswith("NOAUTH HELLO must be"))
        self.assertEqual(ask("AUTH", "secret"), WRONG)
        self.assertEqual(ask("AUTH", "admin", "secreT"), WRONG)
        self.assertEqual(ask("AUTH", "none", "secret"), WRONG)
        self.assertEqual(ask("AUTH", "off", "secret"), WRONG)
        self.assertEqual(ask("AUTH", "a", "b", "c"), "ERR syntax error")
        self.assertEqual(ask("HELLO", 3, "AUTH", "admin", "x"), WRONG)
        self.assertEqual(ask("GET", "a"), NO_AUTH)
        self.assertEqual(ask("QUIT"), b"OK")

    def test_a_stranger_may_not_send_much(self):
        for text, error in (
                (b"*11\r\n", "unauthenticated multibulk length"),
                (b"*2\r\n$4\r\nAUTH\r\n$16385\r\n",
                 "unauthenticated bulk length")):
            link = self.server.connect()
            link.socket.sendall(text)
            self.assertEqual(link.read(), "ERR Protocol error: " + error)
            link.close()

    def test_login_by_auth_and_by_hello(self):
        self.assertEqual(self.link.ask("AUTH", "admin", "secret"), b"OK")
        self.assertEqual(self.link.ask("ACL", "WHOAMI"), b"admin")
        self.assertEqual(self.link.ask("RESET"), b"RESET")
        self.assertEqual(self.link.ask("GET", "a"), NO_AUTH)
        reply = self.link.ask("HELLO", 3, "AUTH", "app", "two", "SETNAME", "x")
        self.assertEqual(reply[b"proto"], 3)
        self.assertEqual(self.link.ask("ACL", "WHOAMI"), b"app")
        self.assertEqual(self.link.ask("CLIENT", "GETNAME"), b"x")

    def test_a_user_without_password(self):
        self.assertEqual(self.link.ask("AUTH", "reader", "any"), b"OK")


class Rights(WithFile):
    def setUp(self):
        super().setUp()
        self.ask = self.log_in("app", "one").ask

    def test_commands(self):
        self.assertEqual(self.ask("FLUSHALL"), no_command("flushall"))
        self.assertEqual(self.ask("CLIENT", "KILL", "ID", 1),
                         no_command("client|kill"))
        self.assertEqual(self.ask("ACL", "LIST"), no_command("acl|list"))
        self.assertEqual(self.ask("ACL", "WHOAMI"), b"app")
        reader = self.log_in("reader", "")
        self.assertEqual(reader.ask("SET", "a", 1), no_command("set"))
        self.assertEqual(reader.ask("GET", "a"), None)
        self.assertEqual(reader.ask("PING"), no_command("ping"))

    def test_keys(self):
        self.assertEqual(self.ask("SET", "app:a", 1), b"OK")
        self.assertEqual(self.ask("SET", "b", 1), NO_KEY)
        self.assertEqual(self.ask("MSET", "app:a", 1, "b", 1), NO_KEY)
        self.assertEqual(self.ask("GET", "shared:a"), None)
        self.assertEqual(self.ask("SET", "shared:a", 1), NO_KEY)
        self.assertEqual(self.ask("SET", "log:a", 1), b"OK")
        self.assertEqual(self.ask("SET", "log:a", 1, "GET"), NO_KEY)
        self.assertEqual(self.ask("GET", "log:a"), NO_KEY)
        self.assertEqual(self.ask("EXISTS", "log:a"), 1)
        self.assertEqual(self.ask("COPY", "shared:a", "log:b"), 0)
        self.assertEqual(self.ask("COPY", "log:a", "app:b"), NO_KEY)
        self.assertEqual(self.ask("ZUNIONSTORE", "log:z", 1, "shared:z"), 0)
        self.assertEqual(self.ask("ZUNIONSTORE", "app:z", 1, "z"), NO_KEY)
        self.assertEqual(self.ask("BITOP", "NOT", "log:z", "shared:z"), 0)

    def test_sort_reads_other_keys(self):
        ask = self.log_in("admin", "secret").ask
        self.assertEqual(ask("SORT", "a", "BY", "w_*"), [])
        self.write(USERS + "user s on >s ~a +@all\n")
        self.server.process.send_signal(signal.SIGHUP)
        link = self.eventually("s", "s")
        for word, name in (("BY", "w_*"), ("GET", "w_*")):
            self.assertEqual(
                link.ask("SORT", "a", word, name),
                f"ERR {word} option of SORT denied due to insufficient ACL "
                "permissions.")
        self.assertEqual(link.ask("SORT", "a", "STORE", "b"), NO_KEY)
        self.assertEqual(link.ask("SORT", "a", "BY", "nosort"), [])

    def eventually(self, *words):
        for _ in range(TIMEOUT * 100):
            link = self.server.connect()
            if link.ask("AUTH", *words) == b"OK":
                self.addCleanup(link.close)
                return link
            link.close()
            time.sleep(0.01)
        raise TimeoutError

    def test_transactions(self):
        self.assertEqual(self.ask("MULTI"), b"OK")
        self.assertEqual(self.ask("SET", "app:a", 1), b"QUEUED")
        self.assertEqual(self.ask("GET", "b"), NO_KEY)
        self.assertTrue(self.ask("EXEC").startswith("EXECABORT"))

    def test_scripts(self):
        def run(call, *keys):
            return self.ask("EVAL", f"return redis.pcall({call})", len(keys),
                            *keys)
        self.assertEqual(run("'set', KEYS[1], 1", "app:a"), b"OK")
        self.assertEqual(run("'set', KEYS[1], 1", "b"), NO_KEY)
        self.assertEqual(run("'get', 'b'"),
                         SCRIPT + "access at least one of the keys mentioned "
                         "in the command arguments")
        self.assertEqual(run("'flushall'"),
                         SCRIPT + "run this command or subcommand")
        admin = self.log_in("admin", "secret")
        self.assertEqual(admin.ask("EVAL", "return redis.call('get','b')", 0),
                         None)

    def test_what_acl_says(self):
        ask = self.log_in("admin", "secret").ask
        self.assertEqual(ask("ACL", "USERS"),
                         [b"default", b"admin", b"app", b"reader", b"off"])
        self.assertEqual(ask("ACL", "DRYRUN", "app", "get", "app:a"), b"OK")
        self.assertEqual(
            ask("ACL", "DRYRUN", "app", "get", "b"),
            b"This user has no permissions to access the 'b' key")
        self.assertEqual(
            ask("ACL", "DRYRUN", "app", "flushall"),
            b"This user has no permissions to run the 'flushall' command")
        self.assertEqual(ask("ACL", "DRYRUN", "x", "get", "b"),
                         "ERR User 'x' not found")
        lines = ask("ACL", "LIST")
        self.assertEqual(lines[0], b"user default off resetchannels -@all")
        self.assertEqual(
            lines[2].split(b" ", 5)[5],
            b"~app:* %R~shared:* %W~log:* resetchannels &app:* +@all "
            b"-@dangerous -config +config|get")
        one = ask("ACL", "GETUSER", "reader")
        self.assertEqual(one[1], [b"on", b"nopass"])
        self.assertEqual(ask("ACL", "GETUSER", "x"), None)
        self.assertEqual(len(ask("ACL", "CAT")), 21)
        self.assertIn(b"getset", ask("ACL", "CAT", "string"))
        self.assertEqual(len(ask("ACL", "GENPASS")), 64)
        self.assertEqual(len(ask("ACL", "GENPASS", 5)), 2)
        self.assertIn("up to 4096", ask("ACL", "GENPASS", 4097))


class Change(WithFile):
    """ACL SETUSER, DELUSER, SAVE, LOAD and LOG."""

    def setUp(self):
        super().setUp()
        self.admin = self.log_in("admin", "secret")
        self.acl = lambda *words: self.admin.ask("ACL", *words)

    def line(self, name):
        for line in self.acl("LIST"):
            if line.split(b" ")[1] == name.encode():
                return line.decode()
        return None

    def test_a_user_is_made_and_changed(self):
        for rules, line in (
                ((), "off resetchannels -@all"),
                (("on", "nopass", "~a*", "+get"),
                 "on nopass ~a* resetchannels -@all +get"),
                (("+get", "-get", "+client", "+client|id", "-client"),
                 "on nopass ~a* resetchannels -@all -get -client"),
                (("+@all", "+get", "allkeys", "&*"),
                 "on nopass ~* &* +@all"),
                (("reset", "~a", "~b", "~a", "%R~a", "&c", "&c"),
                 "off ~a ~b %R~a resetchannels &c -@all"),
                (("reset",), "off resetchannels -@all")):
            self.assertEqual(self.acl("SETUSER", "new", *rules), b"OK")
            self.assertEqual(self.line("new"), f"user new {line}")

    def test_passwords_are_not_in_the_slow_log(self):
        self.admin.ask("CONFIG", "SET", "slowlog-log-slower-than", 0)
        self.acl("SETUSER", "new", "on", ">hidden")
        self.assertEqual(self.admin.ask("AUTH", "new", "hidden"), b"OK")
        self.assertIn("3", str(self.admin.ask("HELLO", 3, "AUTH", "admin",
                                              "secret")))
        entries = [entry[3] for entry in self.admin.ask("SLOWLOG", "GET", -1)]
        gone = b"(redacted)"
        self.assertIn([b"ACL", b"SETUSER", gone, gone, gone], entries)
        self.assertIn([b"AUTH", gone, gone], entries)
        self.assertIn([b"HELLO", b"3", b"AUTH", gone, gone], entries)

    def test_a_wrong_rule_changes_nothing(self):
        before = self.acl("LIST")
        for rules, error in (
                (("on", "what"), '"what": Syntax error'),
                (("~a b",), '"~a b": Syntax error'),
                (("+nosuch",), "Unknown command or category"),
                (("#topsecret",), '"#": The password hash'),
                (("",), "Syntax error")):
            reply = self.acl("SETUSER", "app", *rules)
            self.assertIn("ERR Error in ACL SETUSER modifier ", reply)
            self.assertIn(error, reply)
            self.assertNotIn("topsecret", reply)
        for name in "a a", "a\n", "a\0", ">a", "":
            self.assertIn("Usernames can't", self.acl("SETUSER", name))
        self.assertEqual(self.acl("LIST"), before)

    def test_connections_have_the_new_rules(self):
        app = self.log_in("app", "one")
        hears = self.log_in("app", "two")
        hears.ask("SUBSCRIBE", "app:1")
        self.assertEqual(app.ask("SET", "app:1", 1), b"OK")
        self.acl("SETUSER", "app", "-set", "&more:*", "<one", "off")
        self.assertEqual(app.ask("SET", "app:1", 1), no_command("set"))
        self.assertEqual(app.ask("GET", "app:1"), b"1")
        self.assertEqual(self.link.ask("AUTH", "app", "one"), WRONG)
        self.assertEqual(self.admin.ask("PUBLISH", "app:1", "a"), 1)
        self.acl("SETUSER", "app", "resetchannels", "&more:*")
        self.assertEqual(self.admin.ask("PUBLISH", "app:1", "b"), 0)
        self.assertEqual(app.ask("GET", "app:1"), b"1")

    def test_the_reply_to_who_loses_a_channel(self):
        self.acl("SETUSER", "new", "on", ">one", "+@all", "&*")
        new = self.server.connect()
        new.ask("HELLO", 3, "AUTH", "new", "one")
        new.ask("SUBSCRIBE", "news")
        self.assertEqual(new.ask("ACL", "SETUSER", "new", "resetchannels"),
                         b"OK")
        self.assertRaises(EOFError, new.read)
        new.close()

    def test_a_deleted_user_is_disconnected(self):
        app = self.log_in("app", "one")
        self.assertEqual(self.acl("DELUSER", "app", "nosuch"), 1)
        with self.assertRaises(OSError):
            app.send("PING")
            app.read()
        self.assertEqual(
            self.acl("DELUSER", "reader", "default"),
            "ERR The 'default' user cannot be removed")
        self.assertIsNotNone(self.line("reader"))
        self.assertEqual(self.acl("DELUSER", "admin"), 1)
        with self.assertRaises(OSError):
            self.admin.send("PING")
            self.admin.read()

    def test_what_is_saved_is_loaded(self):
        os.chmod(self.path, 0o640)
        self.acl("SETUSER", "new", "on", ">a b\n", "~x", "+get")
        saved = self.line("new")
        self.assertEqual(self.acl("SAVE"), b"OK")
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["users"])
        new = self.log_in("new", "a b\n")
        self.acl("SETUSER", "new", "+set")
        self.acl("SETUSER", "other", "on")
        self.assertEqual(self.acl("LOAD"), b"OK")
        self.assertEqual(self.line("new"), saved)
        self.assertIsNone(self.line("other"))
        with self.assertRaises(OSError):
            new.send("GET", "x")
            new.read()
        self.write("user a on\nuser a on\n")
        self.assertIn('line 2: user "a" is there twice; users not changed',
                      self.acl("LOAD"))
        self.write("user a on >" + "x" * 16385)
        self.assertIn("A password has at most 16384 bytes", self.acl("LOAD"))
        self.assertEqual(self.line("new"), saved)

    def test_what_is_left_in_its_way_is_not_written(self):
        link = self.path + ".new"
        with open(self.path + ".kept", "w+", encoding="ascii") as kept:
            os.link(kept.name, link)
            self.assertEqual(self.acl("SAVE"), b"OK")
            self.assertEqual(kept.read(), "")
        self.assertFalse(os.path.exists(link))

    def test_a_symbolic_link_stays(self):
        os.rename(self.path, self.path + ".real")
        os.symlink("users.real", self.path)
        self.acl("SETUSER", "new")
        self.assertEqual(self.acl("SAVE"), b"OK")
        self.assertTrue(os.path.islink(self.path))
        with open(self.path + ".real", encoding="utf-8") as file:
            self.assertIn("user new ", file.read())

    def test_a_file_that_cannot_be_written_is_kept(self):
        os.mkdir(self.path + ".new")
        self.assertIn("cannot write", self.acl("SAVE"))
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), USERS)

    def test_refusals_are_logged(self):
        app = self.log_in("app", "one")
        app.ask("CLIENT", "SETNAME", "client")
        self.acl("LOG", "RESET")
        app.ask("CONFIG", "SET", "save", "")
        app.ask("SET", "other", 1)
        app.ask("PUBLISH", "other", 1)
        app.ask("MULTI")
        app.ask("SET", "other", 1)
        app.ask("DISCARD")
        app.ask("EVAL", "redis.call('SET', 'other', 1)", 0)
        app.ask("SET", "other", 1)
        self.link.ask("AUTH", "app", "wrong")
        log = [dict(zip(entry[::2], entry[1::2])) for entry in self.acl("LOG")]
        self.assertEqual(
            [(entry[b"reason"], entry[b"context"], entry[b"object"],
              entry[b"username"], entry[b"count"]) for entry in log],
            [(b"auth", b"toplevel", b"AUTH", b"app", 1),
             (b"key", b"toplevel", b"other", b"app", 2),
             (b"key", b"lua", b"other", b"app", 1),
             (b"key", b"multi", b"other", b"app", 1),
             (b"channel", b"toplevel", b"other", b"app", 1),
             (b"command", b"toplevel", b"config|set", b"app", 1)])
        self.assertIn(b"name=client ", log[1][b"client-info"])
        self.assertEqual(len(self.acl("LOG", 2)), 2)
        self.admin.ask("CONFIG", "SET", "acllog-max-len", 3)
        self.assertEqual(len(self.acl("LOG")), 3)


class Reload(WithFile):
    log = True

    def lines(self):
        self.server.process.send_signal(signal.SIGHUP)
        return self.server.process.stderr.readline()

    def test_users_that_stay_keep_their_connections(self):
        admin = self.log_in("admin", "secret")
        app = self.log_in("app", "one")
        self.write(USERS.replace(">two", ">three"))
        self.assertEqual(self.lines(), "holdfast: serve: users read again\n")
        self.assertEqual(admin.ask("PING"), b"PONG")
        with self.assertRaises(OSError):
            app.send("PING")
            app.read()
        self.log_in("app", "three")

    def test_a_bad_file_changes_nothing(self):
        admin = self.log_in("admin", "secret")
        for rule, text in (
                (">topsecret ~* ~x", '"~x": Adding a pattern after the *'),
                (">topsecret +foo", '"+foo": Unknown command or category'),
                (">topsecret +@foo", '"+@foo": Unknown command or category'),
                (">topsecret what", '"what": Syntax error'),
                ("#topsecret", '"#": The password hash must be exactly 64'),
                (">topsecret (~x)", '"(~x)": selectors are not supported')):
            self.write("user a on\nuser b " + rule + "\n")
            line = self.lines()
            self.assertIn("users not changed: ", line)
            self.assertIn(', line 2: user "b": ' + text, line)
            self.assertNotIn("topsecret", line)
        os.rename(self.path, self.path + "~")
        self.assertIn("cannot read", self.lines())
        os.rename(self.path + "~", self.path)
        self.assertEqual(admin.ask("PING"), b"PONG")

    def test_refused_logins_are_reported_once(self):
        for _ in range(5):
            self.link = self.server.connect()
            self.link.ask("AUTH", "admin", "topsecret")
            self.link.close()
        line = self.server.process.stderr.readline()
        self.assertIn('logins refused: 1, the last of "admin" from ', line)
        self.assertNotIn("topsecret", line)
        self.assertEqual(self.lines(), "holdfast: serve: users read again\n")


class Password(WithFile):
    users = "secret\nrest\n"
    option = "--password-file"

    def test_it_is_that_of_the_default_user(self):
        self.assertEqual(self.link.ask("PING"), NO_AUTH)
        self.assertEqual(self.link.ask("AUTH", "rest"), WRONG)
        self.assertEqual(self.link.ask("AUTH", "secret"), b"OK")
        self.assertEqual(self.link.ask("ACL", "LIST")[0][:17],
                         b"user default on #")
        self.assertEqual(self.link.ask("HELLO", 2, "AUTH", "default",
                                       "secret")[:2], [b"server", b"redis"])


class Options(unittest.TestCase):
    def test_an_empty_password_is_refused(self):
        done = subprocess.run(
            [PROGRAM, "--store", "volatile:never", "serve", "--password-file",
             "/dev/null"], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 64)
        self.assertIn("is empty", done.stderr)

    def test_without_users_all_is_allowed(self):
        with Server(PROGRAM) as server:
            link = server.connect()
            self.assertEqual(link.ask("ACL", "WHOAMI"), b"default")
            self.assertTrue(link.ask("AUTH", "x").startswith(
                "ERR AUTH <password> called without any password"))
            self.assertEqual(link.ask("ACL", "LIST"),
                             [b"user default on nopass ~* &* +@all"])
            link.close()


if __name__ == "__main__":
    unittest.main()
