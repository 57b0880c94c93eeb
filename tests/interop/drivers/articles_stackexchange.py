#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""articles_stackexchange.py PORT PROTOCOL - what StackExchange.Redis sends.

It needs .NET; this is its RESP. It opens two connections, one of them for
subscriptions, and asks for the configuration; then it makes the calls of the
first two articles. Prints replies, of INFO and CLUSTER only what it looks for.
"""

import hashlib
import re
import socket
import sys

HASH = ("local fieldIndex=3 local valueIndex=4 local key=KEYS[1] local "
        "fieldCount=ARGV[1] local expired=ARGV[2] for i=1,fieldCount,1 do "
        "redis.pcall('HSET',key,ARGV[fieldIndex],ARGV[valueIndex]) "
        "fieldIndex=fieldIndex+2 valueIndex=valueIndex+2 end "
        "redis.pcall('EXPIRE',key,expired)")
CAS = """if redis.call("get", KEYS[1]) == ARGV[1] then
    redis.call("set", KEYS[1], ARGV[2])
    return 1
else
    return 0
end"""
HASH_CAS = """if redis.call("hget", KEYS[1], ARGV[1]) == ARGV[2] then
    redis.call("hset", KEYS[1], ARGV[1], ARGV[3])
    return 1
else
    return 0
end"""
HOLDER = "expiryPlaceHolder"
# Ours has one database, and CLIENT SETINFO of Redis 7.2.
DIFFERENT = (("CONFIG", "GET", "databases"),)
WANTED = re.compile(r"^(?:role|redis_mode):.*", re.M)


class Connection:
    def __init__(self, port, protocol, *more):
        self.socket = socket.create_connection(("127.0.0.1", int(port)))
        self.input = self.socket.makefile("rb")
        hello = [("HELLO", "3")] if protocol == "3" else []
        self.run("handshake", *hello, ("CLIENT", "SETNAME", "host"),
                 ("CLIENT", "SETINFO", "lib-name", "SE.Redis"),
                 ("CLIENT", "SETINFO", "lib-ver", "2.8.0"), *more)

    def reply(self):
        line = self.input.readline().rstrip(b"\r\n").decode()
        kind, rest = line[:1], line[1:]
        if kind in ("$", "=") and rest != "-1":
            text = self.input.read(int(rest) + 2)[:-2].decode()
            found = WANTED.findall(text)
            return sorted(word.rstrip() for word in found) if found else text
        if kind in ("*", "~", ">") and rest != "-1":
            return [self.reply() for _ in range(int(rest))]
        if kind == "%":
            return {str(self.reply()): self.reply() for _ in range(int(rest))}
        return line

    def run(self, title, *commands):
        """All in one write, as it does."""
        sent = b""
        for words in commands:
            sent += f"*{len(words)}\r\n".encode()
            for word in map(str, words):
                sent += f"${len(word.encode())}\r\n{word}\r\n".encode()
        self.socket.sendall(sent)
        for words in commands:
            reply = self.reply()
            if words[0] == "HELLO":
                reply = {key: reply[key] for key in ("proto", "role", "mode")}
            if words not in DIFFERENT and words[1:2] != ("SETINFO",):
                print(title, *words[:2], reply)


def script(connection, title, source, *words):
    """It loads a script before it calls it by its SHA-1."""
    sha1 = hashlib.sha1(source.encode()).hexdigest()
    connection.run(title, ("SCRIPT", "LOAD", source),
                   ("EVALSHA", sha1, *words))


def main():
    port, protocol = sys.argv[1:]
    main_connection = Connection(
        port, protocol, ("CONFIG", "GET", "timeout"),
        ("CONFIG", "GET", "replica-read-only"), ("CONFIG", "GET", "databases"),
        ("SENTINEL", "MASTERS"), ("INFO", "replication"), ("INFO", "server"),
        ("CLUSTER", "NODES"), ("GET", "__Booksleeve_TieBreak"),
        ("ECHO", "\x01\x02\x03\x04"))
    Connection(port, protocol, ("ECHO", "\x01\x02\x03\x04"),
               ("SUBSCRIBE", "__Booksleeve_MasterChanged"), ("PING",))
    run = main_connection.run
    run("reset", ("FLUSHALL",))
    script(main_connection, "script", HASH, 1, "key", 2, 1000, "field1",
           "value1", "field2", "value2")
    run("script", ("HGETALL", "key"), ("TTL", "key"), ("DEL", "key"))
    run("transaction", ("MULTI",), ("HSET", "key", "field1", "value1"),
        ("HSET", "key", "field2", "value2"), ("EXPIRE", "key", 1000),
        ("EXEC",), ("HGETALL", "key"), ("TTL", "key"), ("DEL", "key"))
    run("placeholder", ("HSET", "key", HOLDER, HOLDER), ("EXPIRE", "key", 1000),
        ("HMSET", "key", "field1", "value1", "field2", "value2"),
        ("HDEL", "key", HOLDER), ("EXISTS", "key"), ("HGETALL", "key"))
    run("cas", ("SET", "test:String:cas", 1))
    script(main_connection, "cas", CAS, 1, "test:String:cas", 2, 3)
    run("cas", ("GET", "test:String:cas"))
    script(main_connection, "cas", CAS, 1, "test:String:cas", 1, 4)
    run("cas", ("GET", "test:String:cas"), ("DEL", "test:String:cas"))
    run("cas", ("HSET", "test:Hash:cas", "testField", 1))
    script(main_connection, "cas", HASH_CAS, 1, "test:Hash:cas", "testField",
           2, 3)
    script(main_connection, "cas", HASH_CAS, 1, "test:Hash:cas", "testField",
           1, 4)
    run("cas", ("HGET", "test:Hash:cas", "testField"),
        ("DEL", "test:Hash:cas"), ("QUIT",))


if __name__ == "__main__":
    main()
