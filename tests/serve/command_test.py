# SPDX-License-Identifier: Apache-2.0
"""command_test.py PROGRAM - COMMAND, as redis-server 7.0.15 replies."""

import sys
import unittest

from server import Server

PROGRAM = sys.argv.pop()


def pairs(reply):
    return dict(zip(reply[::2], reply[1::2]))


def shown(argument):
    """An argument of COMMAND DOCS as redis-cli shows it."""
    argument = pairs(argument)
    kind = argument[b"type"]
    token = argument.get(b"token", b"").decode()
    flags = argument.get(b"flags", [])
    inner = [shown(one) for one in argument.get(b"arguments", [])]
    text = {b"oneof": "|".join(inner), b"block": " ".join(inner),
            b"pure-token": ""}.get(kind, argument[b"name"].decode())
    if token and text:
        token += " "
    whole = token + text
    if b"multiple" in flags:
        again = token if b"multiple_token" in flags else ""
        whole += f" [{again}{text} ...]"
    return f"[{whole}]" if b"optional" in flags else whole


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

    def docs(self, *names):
        reply = self.link.ask("COMMAND", "DOCS", *names)
        return {name: pairs(value) for name, value in pairs(reply).items()}

    def test_docs(self):
        docs = self.docs()
        names = set(docs)
        for one in docs.values():
            names |= set(pairs(one.get(b"subcommands", [])))
        self.assertEqual(sorted(names), sorted(self.command("LIST")))
        self.assertEqual(
            [docs[b"hget"][b"since"], docs[b"hget"][b"group"]],
            [b"2.0.0", b"hash"])
        self.assertEqual([docs[name][b"group"] for name in (b"zadd", b"acl")],
                         [b"sorted-set", b"server"])
        self.assertEqual(list(self.docs("nosuch", "GET", "client|list")),
                         [b"get", b"client|list"])
        self.assertEqual(self.docs("role")[b"role"], {
            b"summary": b"Return the part that the server has in replication.",
            b"since": b"2.8.12", b"group": b"server"})

    def test_arguments(self):
        """As redis-cli shows them."""
        for name, want in (
                ("get", "key"),
                ("set", "key value [NX|XX] [GET] [EX seconds|PX milliseconds|"
                        "EXAT unix-time|PXAT unix-time-ms|KEEPTTL]"),
                ("mset", "key value [key value ...]"),
                ("lmpop", "numkeys key [key ...] LEFT|RIGHT [COUNT count]"),
                ("sort_ro", "key [BY pattern] [LIMIT offset count] "
                            "[GET pattern [GET pattern ...]] [ASC|DESC] "
                            "[ALPHA]"),
                ("zunion", "numkeys key [key ...] [WEIGHTS weight "
                           "[weight ...]] [AGGREGATE SUM|MIN|MAX] "
                           "[WITHSCORES]"),
                ("bitpos", "key bit [start [end [BYTE|BIT]]]"),
                ("xtrim", "key MAXLEN|MINID [=|~] threshold [LIMIT count]"),
                ("geosearch", "key FROMMEMBER member|FROMLONLAT longitude "
                              "latitude BYRADIUS radius M|KM|FT|MI|BYBOX "
                              "width height M|KM|FT|MI [ASC|DESC] [COUNT "
                              "count [ANY]] [WITHCOORD] [WITHDIST] "
                              "[WITHHASH]")):
            arguments = self.docs(name)[name.encode()][b"arguments"]
            self.assertEqual(" ".join(map(shown, arguments)), want)
        key, other, choice, time = map(
            pairs, self.docs("set")[b"set"][b"arguments"][:3] +
            self.docs("expire")[b"expire"][b"arguments"][1:2])
        self.assertEqual(key, {b"name": b"key", b"type": b"key"})
        self.assertEqual(other, {b"name": b"value", b"type": b"string"})
        self.assertEqual(time, {b"name": b"seconds", b"type": b"integer"})
        self.assertEqual([pairs(one) for one in choice[b"arguments"]],
                         [{b"name": b"nx", b"type": b"pure-token",
                           b"token": b"NX"},
                          {b"name": b"xx", b"type": b"pure-token",
                           b"token": b"XX"}])

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
                ("GETKEYSANDFLAGS ping a", "ERR The command has no key "
                                         "arguments")):
            self.assertEqual(self.command(line), want, line)

    def test_key_flags(self):
        for line, want in (
                ("incr a", ["a RW access update"]),
                ("exists a", ["a RO"]),
                ("pfcount a", ["a RW access"]),
                ("set a 1", ["a OW update"]),
                ("set a 1 GET", ["a RW access update"]),
                ("bitfield a get u8 0", ["a RO access"]),
                ("bitfield a get u8 0 incrby u8 0 1", ["a RW access update"]),
                ("del a b", ["a RM delete", "b RM delete"]),
                ("lmove a b left right", ["a RW access delete",
                                          "b RW insert"]),
                ("sort a store b", ["a RO access", "b OW update"]),
                ("zunionstore a 2 b c", ["a OW update", "b RO access",
                                         "c RO access"]),
                ("xgroup create a b c", ["a RW insert"])):
            keys = self.command("GETKEYSANDFLAGS " + line)
            self.assertEqual([b" ".join([key, *flags]).decode()
                              for key, flags in keys], want, line)

    def specs(self, name):
        """As text, such as "RO access: index 1, range 0 1 0"."""
        (row,) = self.command("INFO " + name)
        return [b" ".join(one[b"flags"]).decode() + ": " + ", ".join(
                    " ".join(str(value) for value in
                             [part[b"type"].decode(),
                              *pairs(part[b"spec"]).values()])
                    for part in (pairs(one[b"begin_search"]),
                                 pairs(one[b"find_keys"])))
                for one in map(pairs, row[8])]

    def test_key_specifications(self):
        for name, want in (
                ("ping", []),
                ("get", ["RO access: index 1, range 0 1 0"]),
                ("mset", ["OW update: index 1, range -1 2 0"]),
                ("lmove", ["RW access delete: index 1, range 0 1 0",
                           "RW insert: index 2, range 0 1 0"]),
                ("lcs", ["RO access: index 1, range 1 1 0"]),
                ("zunionstore", ["OW update: index 1, range 0 1 0",
                                 "RO access: index 2, keynum 0 1 1"]),
                ("eval", ["RW access update: index 2, keynum 0 1 1"]),
                ("xreadgroup", ["RO access: keyword b'STREAMS' 4, "
                                "range -1 1 2"]),
                ("sort", ["RO access: index 1, range 0 1 0",
                          "OW update: unknown, unknown"]),
                ("object", []),
                ("object|freq", ["RO: index 2, range 0 1 0"])):
            self.assertEqual(self.specs(name), want, name)


if __name__ == "__main__":
    unittest.main()
