#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data flows one way: cli, API, core, script and store, driver, util.

Checks every #include "..." against the layer of its file, and that third-party
headers are included only where they belong.
"""

import re

import source

# What a store may know of the API: that of locks is not among it.
BELOW_STORE = ("script/", "util/", "holdfast/base.h", "holdfast/client.h",
               "holdfast/reply.h", "holdfast/script.h", "holdfast/store.h",
               "holdfast/watch.h")
NOUNS = ("holdfast/", "!holdfast/serve.h")
BELOW_CORE = ("store/*", "script/", "util/", *NOUNS)
# A header without an object, so that a size is read alike in a URL and here.
COMMAND = ("holdfast/", "util/digits.h", "*")

# The folder of a file -> what its #include "..." may name, relative to src/, of
# the command to cli/. The first match counts. "store/*" is store.h and others
# there, but no driver; "!" excludes a name.
LAYERS = (
    ("src/util/", ("util/", "holdfast/base.h")),
    ("src/script/", ("script/", "util/", "holdfast/base.h",
                     "holdfast/reply.h")),
    ("src/store/redis/", ("store/redis/", "store/tls/", "store/*",
                          *BELOW_STORE)),
    ("src/engine/", ("engine/", "store/*", *BELOW_STORE)),
    ("src/records/", ("records/", "engine/engine.h", "pg_setup_sql.h", "store/*",
                      *BELOW_STORE)),
    ("src/store/quorum/", ("store/quorum/", "store/redis/redis.h", "store/*",
                           *BELOW_STORE)),
    ("src/store/tls/", ("store/tls/", "util/", "holdfast/base.h",
                        "holdfast/client.h")),
    ("src/store/drivers.c", ("store/", "engine/engine.h",
                             "records/record_driver.h", "util/")),
    ("src/store/", ("store/*", *BELOW_STORE)),
    ("src/core/", ("core/", *BELOW_CORE)),
    ("src/data/", ("data/", "core/", *BELOW_CORE)),
    ("src/lease/", ("lease/", "core/", *BELOW_CORE)),
    ("src/transfer/", ("transfer/", "core/", *BELOW_CORE)),
    ("src/client/", ("client/", "data/", "lease/", "transfer/", "core/",
                     *BELOW_CORE)),
    ("src/serve/", ("serve/", "engine/engine.h", "store/tls/", "store/*",
                    "holdfast/serve.h", *BELOW_STORE)),
    ("include/", ("holdfast/",)),
    ("cli/run/", ("run/", "!holdfast/serve.h", *COMMAND)),
    ("cli/http/", ("http/", *COMMAND)),
    ("cli/top/", ("top/", "!holdfast/serve.h", *COMMAND)),
    ("cli/serve/", ("serve/", "http/", *COMMAND)),
    ("cli/cmd/", ("cmd/", "run/", "!holdfast/serve.h", *COMMAND)),
    ("cli/", COMMAND),
)
# The folders of a driver: each uses only those before it.
ROOMS = {
    "engine/": ("files", "commit", "wake", "keys", "streams", "commands", "lua", "native", "run",
                "fsck", "open", "maintenance", "scratch"),
    "store/redis/": ("wire", "server", "events", "diagnose"),  # < topology
}
# Users of the libraries: they may include public headers and their own.
USERS = ("tests/conformance/", "tests/seeds/")
# A change of one noun would rebuild every file that includes them all. What a user has
# installed does: there it is <holdfast.h>.
ALL_NOUNS = "holdfast.h"

# Foreign header -> the folders that may meet it.
FOREIGN = (
    (r"lmdb\.h", ("src/engine/",)),
    (r"(lua|lualib|lauxlib|lua-bitop)\.h", ("src/engine/",)),
    (r"openssl/\w+\.h",
     ("src/store/tls/", "src/serve/users/sha256.c")),
    (r"sys/(epoll|sdt)\.h", ("src/util/",)),
    (r"(sys/socket|sys/un|netinet/\w+|arpa/inet|netdb)\.h",
     ("src/store/redis/", "src/store/tls/", "src/serve/",
      "src/records/postgres/", "cli/")),
    (r"libpq-fe\.h", ("src/records/postgres/",)),
    (r"microhttpd\.h", ("cli/http/",)),
    (r"(n?curses|ncursesw/\w+)\.h", ("cli/top/",)),
)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)',
                     re.M)


def may_name(allowed, name):
    if "!" + name in allowed:
        return False
    for pattern in allowed:
        if pattern.endswith("*"):
            folder = pattern[:-1]
            if name.startswith(folder) and "/" not in name[len(folder):]:
                return True
        elif pattern.endswith("/"):
            if name.startswith(pattern):
                return True
        elif name == pattern:
            return True
    return False


def is_later_room(place, name):
    for folder, rooms in ROOMS.items():
        if place.startswith("src/" + folder) and name.startswith(folder):
            here, there = (of.removeprefix(folder).split("/")[0]
                           for of in (place.removeprefix("src/"), name))
            if here in rooms:
                return there not in rooms[:rooms.index(here) + 1]
    return False


def is_own(top, path, name):
    """A header of this folder, or of tests/support."""
    if path.parts[0] == "tests" and name.startswith("support/"):
        return (top / "tests" / name).is_file()
    return (top / path.parent / name).is_file()


def check_own(top, path, name):
    """What is wrong with `#include "name"` in this file, or None."""
    place = path.as_posix()
    if ".." in name.split("/"):
        return f'"{name}" climbs out of its folder'
    if name == ALL_NOUNS:
        return f'"{name}" has every noun: include those that it uses'
    for folder, allowed in LAYERS:
        if not place.startswith(folder):
            continue
        if not may_name(allowed, name):
            return f'{folder} may not include "{name}"'
        if is_later_room(place, name):
            return f'"{name}" is in a later room'
        return None
    if place.startswith(USERS) and not name.startswith("holdfast/") \
            and not is_own(top, path, name):
        return f'only public headers and its own, not "{name}"'
    return None


def check_foreign(path, name):
    place = path.as_posix()
    if not place.startswith(("src/", "cli/")):
        return None
    for pattern, folders in FOREIGN:
        if re.fullmatch(pattern, name) and not place.startswith(folders):
            return f"<{name}> belongs to {', '.join(folders)}"
    return None


def main():
    top = source.root()
    findings = []
    for path in source.files(top, "*.c", "*.h"):
        text = source.blank((top / path).read_text(errors="replace"), False)
        for match in INCLUDE.finditer(text):
            own, foreign = match.groups()
            what = (check_own(top, path, own) if own
                    else check_foreign(path, foreign))
            if what:
                line = source.line_of(text, match.start())
                findings.append((path, line, what))
    source.report(findings)


main()
