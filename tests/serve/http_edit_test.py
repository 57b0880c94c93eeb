# SPDX-License-Identifier: Apache-2.0
"""http_edit_test.py PROGRAM - serve --http: what its page reads and changes."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

from http_server import (BEARER, HOSTILE, PROGRAM, TOKEN, Edited,
                         await_that, end_hold, name_of)
from server import TIMEOUT, slower


class Queries(Edited):
    def test_keys_come_in_pages_with_type_size_and_time_to_live(self):
        for i in range(1000):
            self.link.ask("SET", f"k:{i}", "v", "EX", 1000)
        self.link.ask("RPUSH", "list", "a")
        names, cursor, pages = [], b"0", 0
        while pages == 0 or cursor != b"0":
            status, found = self.server.ask("/keys", cursor=cursor)
            self.assertEqual(status, 200)
            self.assertLessEqual(len(found["keys"]), 300)
            names += [key["name"] for key in found["keys"]]
            cursor, pages = found["cursor"].encode(), pages + 1
        self.assertGreater(pages, 3)
        self.assertEqual(len(set(names)), 1001)
        found = {"keys": [], "cursor": "0"}
        while not found["keys"]:  # an answer looks at some of the keys
            _, found = self.server.ask("/keys", match=b"lis*",
                                       cursor=found["cursor"].encode())
        self.assertEqual(len(found["keys"]), 1)
        key = found["keys"][0]
        self.assertEqual((key["name"], key["type"], key["ttl_ms"]),
                         ("list", "list", None))
        self.assertGreater(key["size"], 0)
        found = {"keys": [], "cursor": "0"}
        while not found["keys"]:
            _, found = self.server.ask("/keys", match=b"k:99",
                                       cursor=found["cursor"].encode())
        self.assertGreater(found["keys"][0]["ttl_ms"], 900000)

    def test_values_of_each_type_come_in_pages(self):
        ask = self.link.ask
        ask("SET", "string", "x" * 5000)
        ask("RPUSH", "list", *range(250))
        ask("HSET", "hash", "f", "v")
        ask("SADD", "set", "m")
        ask("ZADD", "zset", 2, "b", 1, "a")
        ask("XADD", "stream", "1-1", "f", "v")
        for name, length, reply in (
                (b"string", 5000, "x" * 4096), (b"set", 1, ["m"]),
                (b"list", 250, [str(i) for i in range(100)]),
                (b"hash", 1, ["f", "v"]),
                (b"zset", 2, ["a", "1", "b", "2"]),
                (b"stream", 1, [["1-1", ["f", "v"]]])):
            status, found = self.server.ask("/value", name=name)
            self.assertEqual((status, found["type"], found["length"],
                              found["reply"]),
                             (200, name.decode(), length, reply))
        self.assertEqual(self.server.ask("/value", name=b"list", at=b"200")[1]
                         ["reply"], [str(i) for i in range(200, 250)])
        for at in (b"x", b"-1", b"9" * 30, b"1" * 100, b"1\0"):
            self.assertEqual(self.server.ask("/value", name=b"list", at=at)[0],
                             400, at)
        for name in (b"stream", b"hash", b"set"):
            for at in (b"x", b"-1", b"1-", b"9" * 30, b"9" * 20,
                       b"(1-" + b"9" * 20, b"(1", b"(1-x", b"\xff", b"1\0"):
                self.assertEqual(self.server.ask("/value", name=name, at=at)[0],
                                 400, (name, at))
        self.assertEqual(self.server.ask("/value", name=b"none")[0], 404)
        self.assertEqual(self.server.get("/value", **BEARER)[::2],
                         (400, b"name is missing\n"))

    def test_each_database_has_its_own_keys(self):
        ask, server = self.link.ask, self.server
        for i in range(16):
            ask("SELECT", i)
            ask("SET", f"k{i}", i)
        ask("SELECT", 0)
        for i in (3, 15, 0, 3):
            keys = server.ask("/keys", db=b"%d" % i)[1]["keys"]
            self.assertEqual([key["name"] for key in keys], [f"k{i}"])
            self.assertEqual(server.ask("/value", db=b"%d" % i,
                                        name=b"k%d" % i)[1]["reply"], str(i))
        self.assertEqual(server.ask("/keys")[1]["keys"][0]["name"], "k0")
        self.assertEqual(server.ask("/value", name=b"k3")[0], 404)
        for path, code, words in (
                ("/delete", 200, {"name": b"k4"}),
                ("/expire", 200, {"name": b"k5", "ttl_ms": b"100000"}),
                ("/set", 200, {"name": b"k6", "old": b"6", "value": b"x"}),
                ("/set", 404, {"name": b"k7", "old": b"7", "value": b"x"})):
            db = words["name"][1:] if code == 200 else b"0"
            self.assertEqual(server.ask(path, "POST", db=db, **words)[0], code)
        for db, words, reply in ((4, ("EXISTS", "k4"), 0),
                                 (5, ("PERSIST", "k5"), 1),
                                 (6, ("GET", "k6"), b"x"),
                                 (7, ("GET", "k7"), b"7")):
            ask("SELECT", db)
            self.assertEqual(ask(*words), reply)
        ask("SELECT", 0)
        for db in (b"16", b"-1", b"", b"x", b"1\0", b"3 ", b"0" * 8 + b"x"):
            for path, method in (("/keys", "GET"), ("/delete", "POST")):
                self.assertEqual(server.ask(path, method, db=db, name=b"k0")[0],
                                 400, db)
        self.assertEqual(ask("EXISTS", "k0"), 1)

    def test_an_answer_with_long_names_is_bounded(self):
        for i in range(300):
            self.link.ask("SET", b"%03d" % i + b"\1" * (i % 2 * 5000 + 9000),
                          "v")
        found, cursor = set(), b"0"
        while not found or cursor != b"0":
            _, _, body = self.server.get("/keys?cursor=" + cursor.decode(),
                                         **BEARER)
            self.assertLess(len(body), 600000)
            answer = json.loads(body)
            for key in answer["keys"]:
                name = key["name"]
                found.add((name["cut"] if isinstance(name, dict) else name)[:3])
            cursor = answer["cursor"].encode()
        self.assertEqual(len(found), 300)

    def test_few_long_names_are_cut(self):
        for i in range(300):
            self.link.ask("SET", f"{i:03}" + "n" * 4000, "v")
        whole, cursor = 0, b"0"
        while whole == 0 or cursor != b"0":
            _, answer = self.server.ask("/keys", cursor=cursor)
            whole += sum(isinstance(key["name"], str) for key in answer["keys"])
            cursor = answer["cursor"].encode()
        self.assertGreater(whole, 270)

    def test_keys_of_others_do_not_make_an_answer_short(self):
        users = os.path.join(self.folder, "users5")
        with open(users, "w", encoding="ascii") as file:
            file.write("user default on nopass ~* &* +@all\n"
                       f"user page on >{TOKEN} ~app:* +@read +acl|dryrun\n")
        server = self.other("--users", users, "--http-token-file", self.file)
        link = server.connect()
        link.ask("EVAL", "for i = 1, 2000 do redis.call('SET', 'k' .. i, i) "
                 "end redis.call('SET', 'app:1', 1)", 0)
        cursor, pages = b"0", 0
        while pages == 0 or cursor != b"0":
            cursor = server.ask("/keys", cursor=cursor)[1]["cursor"].encode()
            pages += 1
        self.assertLess(pages, 3 * slower(PROGRAM))
        link.close()

    def test_what_is_hostile_is_bounded_and_valid(self):
        for name in HOSTILE:
            self.link.ask("SADD", name, b"\xff" * 100000, b"<script>",
                          "\u00e9" * 1000)
        _, found = self.server.ask("/keys")
        self.assertEqual({name_of(key) for key in found["keys"]}, set(HOSTILE))
        for name in HOSTILE:
            status, _, body = self.server.get(
                "/value?name=" + urllib.parse.quote_from_bytes(name), **BEARER)
            self.assertEqual(status, 200)
            self.assertLess(len(body), 10000)
            members = json.loads(body)["reply"]
            sizes = sorted(member["size"] for member in members
                           if isinstance(member, dict))
            self.assertEqual(sizes, [2000, 100000])
            self.assertIn("\u00e9" * 512, [
                member.get("cut") for member in members
                if isinstance(member, dict)])

    def pages(self, name):
        """All elements of a value."""
        found, at = [], b""
        while at is not None:
            status, page = self.server.ask("/value", name=name, at=at)
            self.assertEqual((status, page.get("cut")), (200, None))
            found += page["reply"]
            at = page["next"] and page["next"].encode()
        return found

    def test_pages_have_each_element_once(self):
        numbers = [str(i) for i in range(1234)]
        self.link.ask("RPUSH", "l", *numbers)
        self.link.ask("SADD", "s", *numbers)
        self.link.ask("ZADD", "z", *[word for i in numbers for word in (i, i)])
        self.link.ask("HSET", "h", *[word for i in numbers for word in (i, i)])
        for i in range(1, 235):
            self.link.ask("XADD", "x", f"{i}-1", "f", "v")
        self.assertEqual(self.pages(b"l"), numbers)
        self.assertEqual(sorted(self.pages(b"s")), sorted(numbers))
        self.assertEqual(self.pages(b"z"), [i for i in numbers for _ in "12"])
        self.assertEqual(sorted(self.pages(b"h")), sorted(numbers * 2))
        self.assertEqual([entry[0] for entry in self.pages(b"x")],
                         [f"{i}-1" for i in range(1, 235)])

    def test_large_elements_take_little_memory(self):
        ask = self.link.ask
        for i in range(40):
            ask("RPUSH", "list", *["a"] * (5 if i == 0 else 0),
                b"x" * 5000000)
            ask("HSET", "hash", f"a{i}", "a", f"z{i}", b"x" * 5000000)
        for _ in range(40):
            ask("XADD", "stream", "*", *[b"\1" * 1000] * 2000)
        sizes, ends = [self.server.memory("RssAnon")], []

        def watch():
            while not ends:
                sizes.append(self.server.memory("RssAnon"))
                time.sleep(0.002)

        watcher = threading.Thread(target=watch)
        watcher.start()
        for name in ("list", "hash", "stream"):
            status, _, body = self.server.get(f"/value?name={name}", **BEARER)
            self.assertEqual(status, 200)
            self.assertLess(len(body), 2000000)
        ends.append(True)
        watcher.join()
        self.assertLess(max(sizes) - sizes[0], 150000 * slower(PROGRAM))

    def test_a_string_is_cut_between_characters(self):
        text = "a" + "\u00e9" * 3000
        self.link.ask("SET", "a", text)
        _, found = self.server.ask("/value", name=b"a")
        self.assertEqual((found["reply"], found["next"]),
                         ("a" + "\u00e9" * 2047, "4095"))
        _, rest = self.server.ask("/value", name=b"a", at=b"4095")
        self.assertEqual((found["reply"] + rest["reply"], rest["next"]),
                         (text, None))

    def test_changes_keep_the_type(self):
        ask, post = self.link.ask, self.server.ask
        ask("SET", "a", "1", "EX", 1000)
        ask("HSET", "h", "f", "1")
        ask("HEXPIRE", "h", 1000, "FIELDS", 1, "f")
        self.assertEqual(post("/set", "POST", name=b"a", old=b"1",
                              value=b"\xff\0"), (200, {"changed": True}))
        self.assertEqual(ask("GET", "a"), b"\xff\0")
        self.assertGreater(ask("TTL", "a"), 900)
        self.assertEqual(post("/set", "POST", name=b"h", field=b"f", old=b"1",
                              value=b"")[0], 200)
        self.assertEqual(ask("HGETALL", "h"), [b"f", b""])
        self.assertGreater(ask("HTTL", "h", "FIELDS", 1, "f")[0], 900)
        for code, words in (
                (409, {"name": b"h"}), (409, {"name": b"a", "field": b"f"}),
                (404, {"name": b"none"}),
                (404, {"name": b"none", "field": b"f"}),
                (404, {"name": b"h", "field": b"none"})):
            self.assertEqual(post("/set", "POST", old=b"1", value=b"2",
                                  **words)[0], code, words)
        self.assertEqual(post("/expire", "POST", name=b"a")[0], 400)
        self.assertEqual(post("/expire", "POST", name=b"a", forever=b"1",
                              ttl_ms=b"1")[0], 400)
        self.assertGreater(ask("TTL", "a"), 900)
        self.assertEqual(post("/expire", "POST", name=b"a",
                              forever=b"1")[0], 200)
        self.assertEqual(ask("TTL", "a"), -1)
        self.assertEqual(post("/expire", "POST", name=b"a",
                              ttl_ms=b"5000")[0], 200)
        self.assertIn(ask("TTL", "a"), (4, 5))
        for ttl_ms in (b"x", b"", b"0", b"-1", b"9" * 18):
            self.assertEqual(post("/expire", "POST", name=b"a",
                                  ttl_ms=ttl_ms)[0], 400, ttl_ms)
        self.assertEqual(post("/delete", "POST", name=b"a"),
                         (200, {"changed": True}))
        self.assertEqual(post("/delete", "POST", name=b"a"),
                         (200, {"changed": False}))
        self.assertEqual(ask("KEYS", "*"), [b"h"])

    def test_what_was_written_meanwhile_is_not_overwritten(self):
        ask, post = self.link.ask, self.server.ask
        ask("SET", "a", "theirs")
        ask("HSET", "h", "f", "theirs")
        for words in ({"name": b"a"}, {"name": b"h", "field": b"f"}):
            for old in (b"shown", b""):
                self.assertEqual(post("/set", "POST", old=old, value=b"ours",
                                      **words)[0], 409)
            self.assertEqual(post("/set", "POST", value=b"ours", **words)[0],
                             400)
            self.assertEqual(post("/set", "POST", old=b"theirs", **words)[0],
                             400)
        self.assertEqual([ask("GET", "a"), ask("HGET", "h", "f")],
                         [b"theirs"] * 2)

    def test_arguments_of_a_change_are_in_the_body(self):
        self.link.ask("SET", "a", "1")
        status = self.server.status
        self.assertEqual(status("/delete?name=a", "POST", b"", **BEARER), 400)
        self.assertEqual(status("/delete?name=a", "POST", **BEARER), 415)
        self.assertEqual(status("/delete", "POST", b"name=a&x=" + b"x" * 200000,
                                **BEARER), 413)
        self.link.ask("SET", "b", "1")
        for body in (b"name=a&name=b", b"name=&name=b", b"name=a&x=1&name="):
            self.assertEqual(status("/delete", "POST", body, **BEARER), 400,
                             body)
        self.assertEqual(self.link.ask("EXISTS", "a", "b"), 2)
        self.assertEqual(self.link.ask("DEL", "b"), 1)
        name = b"\0\xff&=+%" + b"x" * 4000
        self.link.ask("SET", name, "1")
        self.assertEqual(self.server.ask("/delete", "POST", name=name),
                         (200, {"changed": True}))

    def test_a_body_may_be_split_anywhere(self):
        def post(*parts):
            link = self.server.raw(
                b"POST /set HTTP/1.0\r\nAuthorization: Bearer " +
                TOKEN.encode() + b"\r\nContent-Type: "
                b"application/x-www-form-urlencoded; charset=utf-8\r\n"
                b"Content-Length: %d\r\n\r\n" % len(b"".join(parts)))
            with link:
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for part in parts:
                    time.sleep(0.05)
                    link.sendall(part)
                return link.recv(12)[9:]

        value = b"\xc3\xa9 +%" + b"v" * 3000
        text = urllib.parse.quote_plus(value).encode()
        for parts in ((b"name=a&value=%4", b"1&old=b"),
                      (b"name=a&value=%", b"41&old=b"),
                      (b"name=a&value=A&ol", b"d=%6", b"2"),
                      (b"na%6de=%6", b"1&value=", b"A&&old=b&x"),
                      (b"name=a&value=", b"A&old=b")):
            self.link.ask("SET", "a", "b")
            self.assertEqual(post(*parts), b"200", parts)
            self.assertEqual(self.link.ask("GET", "a"), b"A", parts)
        self.assertEqual(post(b"name=a&old=A&value=" + text[:1], text[1:]),
                         b"200")
        self.assertEqual(self.link.ask("GET", "a"), value)
        self.assertEqual(post(b"name=a&value=&old=" + text + b"&x=\0"), b"400")
        self.assertEqual(self.link.ask("GET", "a"), value)

    def test_a_read_only_server_refuses_changes(self):
        server = self.other("--http-token-file", self.file, "--allow-edit",
                            "--readonly")
        subprocess.run([PROGRAM, "--store", server.store, "value", "set", "a",
                        "1"], check=True)
        for path, more in (("/delete", {}), ("/expire", {"ttl_ms": b"1"}),
                           ("/set", {"old": b"1", "value": b"2"})):
            self.assertEqual(server.ask(path, "POST", name=b"a", **more)[0],
                             403, path)

    def test_changes_need_the_token_post_and_our_page(self):
        self.link.ask("SET", "a", "1")
        for path in ("/delete?name=a", "/expire?name=a&ttl_ms=1",
                     "/set?name=a&value=b"):
            status = self.server.status
            self.assertEqual(status(path, "POST"), 401)
            self.assertEqual(status(path, **BEARER), 405)
            for site in ("cross-site", "same-site"):
                self.assertEqual(status(path, "POST", Sec_Fetch_Site=site,
                                        **BEARER), 403)
        self.assertEqual(self.server.status("/set", "POST", b"", **BEARER), 400)
        only_reads = self.other("--http-token-file", self.file)
        self.assertEqual(only_reads.status("/delete?name=a", "POST", **BEARER),
                         405)
        self.assertEqual(only_reads.status("/keys", **BEARER), 200)
        breaks = self.other("--http-token-file", self.file, "--allow-break")
        self.assertEqual(breaks.status("/delete?name=a", "POST", **BEARER), 405)
        self.assertEqual(breaks.status("/break?name=a", "POST", **BEARER), 404)
        for server, allowed in ((breaks, [True, False]),
                                (only_reads, [False, False]),
                                (self.server, [True, True])):
            view = json.loads(server.get("/locks", **BEARER)[2])
            self.assertEqual([view["allow_break"], view["allow_edit"]], allowed)
        self.assertEqual(self.link.ask("GET", "a"), b"1")

    def test_reads_need_the_token_and_our_page(self):
        for path in ("/keys", "/value?name=a", "/clients", "/slowlog", "/info",
                     "/history"):
            self.assertEqual(self.server.status(path), 401)
            self.assertEqual(self.server.status(path, "POST", **BEARER), 405)
            self.assertEqual(self.server.status(
                path, Sec_Fetch_Site="cross-site", **BEARER), 403)

    def test_without_a_token_only_what_all_may_read_is_shown(self):
        for options, code in (((), 403), (("--listen", "127.0.0.1:0"), 200)):
            server = self.other(*options)
            for path in ("/keys", "/clients", "/slowlog", "/info"):
                self.assertEqual(server.status(path), code, path)
            self.assertEqual(server.status("/history"), 200)
            self.assertEqual(server.status("/keys", Host="evil.example"), 421)

    def test_the_rules_of_users_apply(self):
        users = os.path.join(self.folder, "users")
        for rules, passed in (
                ("user default on nopass ~* &* +@all", "default"),
                ("user default off\nuser other on >word ~* &* +@all\n"
                 f"user page on >{TOKEN} ~app:* &* +@read +eval_ro "
                 "+client|list +acl|dryrun", "page"),
                ("user default off\nuser other on >word ~* &* +@all", None)):
            with open(users, "w", encoding="ascii") as file:
                file.write(rules + "\n")
            server = self.other("--users", users, "--http-token-file",
                                self.file, "--allow-edit")
            link = server.connect()
            if passed != "default":
                link.ask("AUTH", "other", "word")
            link.ask("MSET", "app:1", "a", "secret", "b")
            link.ask("RPUSH", "app:list", "a")
            link.ask("ACL", "LOG", "RESET")
            names = [key["name"] for key in
                     server.ask("/keys")[1].get("keys", [])]
            if passed == "page":
                self.assertEqual(sorted(names), ["app:1", "app:list"])
                self.assertEqual([entry for entry in link.ask("ACL", "LOG")
                                  if b"key" in entry], [])
                self.assertEqual(server.ask("/value", name=b"app:list")[1]
                                 ["reply"], ["a"])
            if passed:  # without +select, and database 0 still can be read
                self.assertEqual(server.ask("/keys", db=b"1")[0],
                                 {"default": 200, "page": 403}[passed])
                self.assertEqual(server.ask("/clients")[0], 200)
            codes = [server.ask(*query)[0] for query in (
                ("/keys",), ("/clients",), ("/slowlog",))]
            codes += [server.ask(path, method, name=name)[0]
                      for path, method, name in (
                          ("/value", "GET", b"app:1"),
                          ("/value", "GET", b"secret"),
                          ("/delete", "POST", b"secret"))]
            link.close()
            self.assertEqual(codes, {
                "default": [200, 200, 200, 200, 200, 200],
                "page": [200, 200, 403, 200, 403, 403],
                None: [403] * 6}[passed], rules)

    def test_the_user_of_the_how_to_is_refused_nothing(self):
        how_to = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "../../docs/howto/monitor.md")
        with open(how_to, encoding="utf-8") as file:
            text = file.read()
        rules = re.search("^user page on.*\n", text, re.MULTILINE)[0]
        text = text[text.index("For changes, the user"):]
        changes = re.findall(r"`(\+[^`]*)`", text[:text.index("acl|dryrun")])
        users = os.path.join(self.folder, "users3")
        with open(users, "w", encoding="ascii") as file:
            file.write("user default on nopass ~* &* +@all\n" +
                       rules.replace("TOKEN", TOKEN))
        server = self.other("--users", users, "--http-token-file", self.file,
                            "--allow-edit")
        link = server.connect()
        link.ask("MSET", "app:1", "a", "secret", "b")
        link.ask("RPUSH", "app:list", "a")
        for path, words in (("/clients", {}), ("/info", {}),
                            ("/keys", {}), ("/value", {"name": b"app:list"}),
                            ("/keys", {"db": b"3"})):
            self.assertEqual(server.ask(path, **words)[0], 200, path)
        self.assertIn(b"name=holdfast-page", link.ask("CLIENT", "LIST"))
        self.assertEqual(link.ask("ACL", "LOG"), [])
        for commands in changes:
            self.assertEqual(link.ask("ACL", "SETUSER", "page",
                                      *commands.split()), b"OK")
        for db in (0, 3):
            link.ask("SELECT", db)
            link.ask("SET", "app:1", "a")
            link.ask("HSET", "app:h", "f", "a")
            link.ask("HEXPIRE", "app:h", 1000, "FIELDS", 1, "f")
            link.ask("ZADD", "app:z", 1, "m")
            for path, words in (
                    ("/set", {"name": b"app:1", "old": b"a", "value": b"b"}),
                    ("/set", {"name": b"app:h", "old": b"a", "value": b"b",
                              "field": b"f"}),
                    ("/expire", {"name": b"app:1", "ttl_ms": b"100000"}),
                    ("/expire", {"name": b"app:1", "forever": b"1"}),
                    ("/delete", {"name": b"app:1"}),
                    ("/delete", {"name": b"app:z"})):
                self.assertEqual(
                    server.ask(path, "POST", db=b"%d" % db, **words),
                    (200, {"changed": True}), (db, path, words))
        self.assertEqual(link.ask("ACL", "LOG"), [])
        link.close()

    def test_a_database_that_is_refused_is_not_tried_each_time(self):
        users = os.path.join(self.folder, "users6")
        with open(users, "w", encoding="ascii") as file:
            file.write("user default on nopass ~* &* +@all\n"
                       f"user page on >{TOKEN} ~* +@read +acl|dryrun "
                       "+client|setname +client|setinfo\n")
        server = self.other("--users", users, "--http-token-file", self.file)
        link = server.connect()

        def refusals():
            """The counts of the entries in ACL LOG."""
            return [entry[1] for entry in link.ask("ACL", "LOG")]

        for _ in range(3):
            self.assertEqual([server.ask("/keys", db=db)[0]
                              for db in (b"1", b"2", b"0")], [403, 403, 200])
        self.assertEqual(sum(refusals()), 2, link.ask("ACL", "LOG"))
        link.ask("ACL", "SETUSER", "page", "+select")
        self.assertEqual(server.ask("/keys", db=b"1")[0], 200)
        link.ask("ACL", "SETUSER", "page", "resetpass", ">other")
        link.ask("ACL", "LOG", "RESET")
        for _ in range(3):
            self.assertEqual([server.ask("/keys", db=db)[0]
                              for db in (b"1", b"2", b"0")], [403] * 3)
        self.assertEqual(sum(refusals()), 1, link.ask("ACL", "LOG"))
        link.close()

    def test_the_user_page_is_not_replaced_by_default(self):
        users = os.path.join(self.folder, "users2")

        def write(rules):
            with open(users, "w", encoding="ascii") as file:
                file.write("user default on nopass ~* &* +@all\n" + rules)

        write(f"user page off >{TOKEN} ~app:* +@read\n")
        server = self.other("--users", users, "--http-token-file", self.file,
                            "--allow-edit")
        link = server.connect()
        link.ask("MSET", "app:1", "a", "secret", "b")

        def seen():
            code, found = server.ask("/keys")
            return sorted(key["name"] for key in found["keys"]) \
                if code == 200 else code

        self.assertEqual(seen(), 403)
        self.assertEqual(server.ask("/delete", "POST", name=b"secret")[0], 403)
        for rules, found in (
                (("SETUSER", "page", "on"), ["app:1"]),
                (("SETUSER", "page", "resetpass", ">other"), 403),
                (("DELUSER", "page"), ["app:1", "secret"]),
                (("SETUSER", "page", "on", f">{TOKEN}", "~app:*", "+@read"),
                 ["app:1"]),
                (("LOAD",), 403)):
            self.assertIn(link.ask("ACL", *rules), (b"OK", 1))
            self.assertEqual(seen(), found, rules)
        for rules, found in (
                ("", ["app:1", "secret"]),
                (f"user page on >{TOKEN} ~app:* +@read\n", ["app:1"])):
            write(rules)
            server.process.send_signal(signal.SIGHUP)
            await_that(lambda found=found: seen() == found)
        self.assertEqual(link.ask("EXISTS", "secret"), 1)
        link.close()

    def test_a_change_that_is_refused_changes_nothing(self):
        users = os.path.join(self.folder, "users4")
        commands = {"+eval", "+get", "+set", "+hget", "+hset",
                    "+hpexpiretime", "+hpexpireat"}
        with open(users, "w", encoding="ascii") as file:
            file.write("user default on nopass ~* &* +@all\n")
        server = self.other("--users", users, "--http-token-file", self.file,
                            "--allow-edit")
        link = server.connect()
        link.ask("HSET", "h", "f", "old")
        link.ask("HEXPIRE", "h", 1000, "FIELDS", 1, "f")
        for without in (*commands - {"+get", "+set"}, ""):
            link.ask("ACL", "SETUSER", "page", "reset", "on", f">{TOKEN}",
                     "~*", "+@read", *commands,
                     *([f"-{without[1:]}"] if without else []))
            self.assertEqual(server.ask(
                "/set", "POST", name=b"h", field=b"f", old=b"old",
                value=b"new")[0], 403 if without else 200, without)
            self.assertEqual(link.ask("HGET", "h", "f"),
                             b"old" if without else b"new")
            self.assertGreater(link.ask("HTTL", "h", "FIELDS", 1, "f")[0], 900)
        link.close()

    def test_what_is_held_and_what_belongs_to_it_is_not_changed(self):
        held = self.server.hold("job"), self.server.hold("two", "--slots", "2")
        ask, post = self.link.ask, self.server.ask
        others = (b"app:hf:token", b"redisson_lock_token:{j}", b"{j}:timeout",
                  b"{a}j:timeout", b"{j}:0:1:rwlock_timeout:1")
        for name in others:
            ask("SET", name, "1")
        owner = ask("GET", "job")
        for name in (b"job", b"two", b"hf:token", *others):
            for path, words in (
                    ("/set", {"old": owner, "value": b"x"}),
                    ("/expire", {"ttl_ms": b"1"}), ("/delete", {})):
                self.assertEqual(post(path, "POST", name=name, **words)[0],
                                 409, (path, name))
        self.assertEqual(ask("EXISTS", "job", "two", "hf:token", *others), 8)
        ask("DEL", *others)
        for process in held:
            self.assertEqual(end_hold(process), 0)
        ask("SET", "job", "1")
        self.assertEqual(post("/delete", "POST", name=b"job"),
                         (200, {"changed": True}))

    def test_what_is_or_may_be_a_lease_is_seen_from_its_key(self):
        ask, post = self.link.ask, self.server.ask
        owner, party = "0123456789abcdef-0123456789abcde", "0123456789abcdef" * 2
        java = "01234567-0123-0123-0123-0123456789ab:1"
        soon, ago = [int((time.time() + s) * 1e6) for s in (1000, -1000)]
        once = ["claim", party, "digest", "", "doubt", "0", "keep", 1000,
                "tick", 0, "token", 1]
        for words, code in (
                (("SET", "k", owner), 409), (("SET", "k", owner + "=12+"), 409),
                (("SET", "k", owner + "x"), 200), (("SET", "k", party), 200),
                (("HSET", "k", "owner", owner, "term", "1"), 409),
                (("HSET", "k", "owner", "ann", "term", "1"), 200),
                (("HSET", "k", *once, "until", soon), 409),
                (("HSET", "k", *once, "until", ago), 200),
                (("HSET", "k", java, 1), 409),
                (("HSET", "k", "mode", "read", owner + ":write", 1), 409),
                (("HSET", "k", java, 1, "f", 1), 200),
                (("ZADD", "k", -soon, owner), 409),
                (("ZADD", "k", soon, owner), 409),
                (("ZADD", "k", ago, owner), 200),
                (("ZADD", "k", -2, "="), 409), (("ZADD", "k", 2, "="), 200),
                (("ZADD", "k", soon, party), 409),
                (("ZADD", "k", soon, party, 9e15, "*"), 409),
                (("ZADD", "k", soon, owner, 9e15, "*"), 200),
                (("SADD", "k", owner), 200), (("RPUSH", "k", owner), 200)):
            for db in (b"0", b"3"):
                ask("SELECT", int(db))
                ask(*words)
                ask("PEXPIRE", "k", 1000000)
                for path, more in (("/expire", {"ttl_ms": b"500000"}),
                                   ("/delete", {})):
                    self.assertEqual(post(path, "POST", name=b"k", db=db,
                                          **more)[0], code, (words, path, db))
                ask("DEL", "k")
        ask("SELECT", 0)

    def test_permits_of_redisson_are_seen_if_the_user_may_read_them(self):
        users = os.path.join(self.folder, "users6")
        with open(users, "w", encoding="ascii") as file:
            file.write("user default on nopass ~* &* +@all\n")
        server = self.other("--users", users, "--http-token-file", self.file,
                            "--allow-edit")
        link = server.connect()
        soon, ago = [int((time.time() + s) * 1e3) for s in (1000, -1000)]
        for key, permits in (("k", "{k}:timeout"), ("{a}k", "{a}k:timeout")):
            for until, keys, code in ((soon, "~*", 409), (ago, "~*", 200),
                                      (soon, f"~{key}", 200)):
                link.ask("ACL", "SETUSER", "page", "reset", "on", f">{TOKEN}",
                         keys, "+@read", "+eval", "+pexpire")
                link.ask("SET", key, 5)
                link.ask("ZADD", permits, until, b"\1" * 16)
                self.assertEqual(server.ask(
                    "/expire", "POST", name=key.encode(), ttl_ms=b"500000")[0],
                    code, (key, keys))
                link.ask("DEL", key, permits)
        link.close()

    def test_a_key_of_another_type_than_was_shown_is_not_changed(self):
        ask, post = self.link.ask, self.server.ask
        ask("SET", "", "1")
        for path, more in (("/expire", {"ttl_ms": b"500000"}),
                           ("/expire", {"forever": b"1"}), ("/delete", {})):
            for type_, code in ((b"hash", 409), (b"string", 200)):
                self.assertEqual(post(path, "POST", name=b"", type=type_,
                                      **more)[0], code, (path, type_))
        self.assertEqual(ask("EXISTS", ""), 0)

    def test_a_party_waits_at_a_barrier_that_cannot_be_deleted(self):
        party = subprocess.Popen([PROGRAM, "--store", self.server.store,
                                  "barrier", "wait", "bar", "2"])
        await_that(lambda: self.link.ask("EXISTS", "bar"))
        self.assertEqual(self.server.ask("/delete", "POST", name=b"bar")[0],
                         409)
        party.terminate()
        party.wait(TIMEOUT)

    def test_queries_do_not_starve_views_or_breaks_and_are_bounded(self):
        server = self.other("--http-token-file", self.file, "--allow-break")
        link = server.connect()
        link.ask("EVAL", "for i = 1, 20000 do redis.call('SET', 'k' .. i, i) "
                 "end", 0)
        codes, ends = [], []

        def load():
            while not ends:
                codes.append(server.status("/keys?match=none", **BEARER))

        busy = [threading.Thread(target=load) for _ in range(20)]
        for thread in busy:
            thread.start()
        slowest = 0
        for _ in range(4):
            began = time.monotonic()
            self.assertEqual(server.status("/metrics", **BEARER), 200)
            slowest = max(slowest, time.monotonic() - began)
            self.assertEqual(server.status("/break?name=none", "POST",
                                           **BEARER), 404)
        ends.append(True)
        for thread in busy:
            thread.join()
        link.close()
        self.assertLess(slowest, 3 * slower(PROGRAM))
        self.assertEqual(set(codes), {200, 503})

    def test_the_history_has_the_first_point_at_once(self):
        server = self.other("--http-token-file", self.file)
        _, history = server.ask("/history")
        self.assertEqual(len(history["points"]), 1)
        link = server.connect()

        def loaded(read):
            """A reading after which, and before, commands were run."""
            for _ in range(200):
                link.ask("SET", "a", "b")
                link.ask("GET", "a")
                link.ask("GET", "none")
            found = read()
            return found["commands_per_s"] > 10 and found

        for read in (
                lambda: json.loads(server.get("/locks", **BEARER)[2])["server"],
                lambda: server.ask("/history")[1]["points"][-1]):
            found = await_that(lambda read=read: loaded(read))
            self.assertAlmostEqual(found["hits"], 0.5, delta=0.05)
            self.assertGreater(found["latency_us"], 0)
        self.assertGreater(found["bytes_in_use"], 0)
        link.close()


if __name__ == "__main__":
    unittest.main()
