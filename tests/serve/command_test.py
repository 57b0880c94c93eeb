# SPDX-License-Identifier: Apache-2.0
"""command_test.py PROGRAM - COMMAND, as redis-server 7.0.15 replies."""

import sys
import unittest

from server import Server

PROGRAM = sys.argv.pop()


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PROGRAM)
        cls.link = cls.server.connect()

    @classmethod
    def tearDownClass(cls):
        cls.link.close()
        cls.server.close()

    def command(self, line):
        return self.link.ask("COMMAND", *line.split())

    def test_rows(self):
        rows = {row[0]: row for row in self.link.ask("COMMAND")}
        self.assertEqual(len(rows), self.command("COUNT"))
        for name, row in (
                (b"get", [2, [b"readonly", b"fast"], 1, 1, 1]),
                (b"mset", [-3, [b"write", b"denyoom"], 1, -1, 2]),
                (b"lmpop", [-4, [b"write", b"movablekeys"], 0, 0, 0]),
                (b"zunionstore", [-4, [b"write", b"denyoom", b"movablekeys"],
                                  1, 1, 1]),
                (b"eval", [-3, [b"noscript", b"movablekeys"], 0, 0, 0]),
                (b"watch", [-2, [b"noscript", b"fast"], 1, -1, 1]),
                (b"object", [-2, [], 0, 0, 0])):
            self.assertEqual(rows[name][1:6], row, name)
        self.assertEqual(rows[b"get"][6], [b"@read", b"@string", b"@fast"])
        subs = {row[0]: row for row in rows[b"object"][9]}
        self.assertEqual(subs[b"object|encoding"][1:6],
                         [3, [b"readonly"], 2, 2, 1])
        self.assertEqual(self.command("INFO nosuch GET"), [None, rows[b"get"]])

    def test_names(self):
        names = self.command("LIST")
        self.assertIn(b"client|list", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(sorted(self.command("LIST FILTERBY PATTERN get?*")),
                         [b"getbit", b"getdel", b"getex", b"getrange",
                          b"getset"])
        self.assertIn(b"lcs", self.command("LIST FILTERBY ACLCAT string"))
        self.assertEqual(self.command("LIST FILTERBY MODULE x"), [])
        self.assertEqual(self.command("LIST FOO"), "ERR syntax error")

    def test_keys(self):
        for line, want in (
                ("GETKEYS mset a 1 b 2", [b"a", b"b"]),
                ("GETKEYS zunionstore a 2 b c", [b"a", b"b", b"c"]),
                ("GETKEYS sort a by b store c", [b"a", b"c"]),
                ("GETKEYS object encoding a", [b"a"]),
                ("GETKEYS eval x 0", []),
                ("GETKEYS eval x 1 a", [b"a"]),
                ("GETKEYS zunionstore a x", "ERR Invalid number of arguments "
                                            "specified for command"),
                ("GETKEYS lmpop 0 a left", "ERR Invalid arguments specified "
                                           "for command"),
                ("GETKEYS nosuch a", "ERR Invalid command specified"),
                ("GETKEYS ping a", "ERR The command has no key arguments"),
                ("GETKEYS get a b", "ERR Invalid number of arguments "
                                    "specified for command"),
                ("GETKEYSANDFLAGS incr a",
                 [[b"a", [b"RW", b"access", b"update"]]]),
                ("GETKEYSANDFLAGS exists a", [[b"a", [b"RO"]]])):
            self.assertEqual(self.command(line), want, line)


if __name__ == "__main__":
    unittest.main()
