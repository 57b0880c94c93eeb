#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that only one file, or none, may call. Comments and strings are
ignored."""

import re

import source

# Names; where they are banned; the file that may call them; what to use.
RULES = (
    ("malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf"
     " posix_memalign aligned_alloc", "src/", "src/util/mem.c", "util/mem.h"),
    ("clock_gettime gettimeofday time", "src/", "src/util/clock.c",
     "util/clock.h"),
    ("sleep usleep nanosleep clock_nanosleep", "src/", "src/util/clock.c",
     "util/clock.h"),
    ("getrandom random", "src/", "src/util/rand.c", "util/rand.h"),
    ("printf fprintf vprintf vfprintf puts fputs putchar perror", "src/", "",
     "nothing: the library never prints"),
    ("exit", "src/", "", "nothing: the library never ends the program"),
    ("sprintf vsprintf strcpy stpcpy strcat strncpy strncat gets", "", "",
     "memcpy or snprintf"),
    ("strtok", "", "", "strtok_r or memchr"),
    ("atoi atol atoll atof", "", "", "hf__parse_int or strtoll"),
    ("rand srand", "", "", "util/rand.h"),
    ("alloca", "", "", "a bounded array or the heap"),
)


def main():
    top = source.root()
    findings = []
    rules = [(re.compile(r"(?<![\w.])(?<!->)(%s)\s*\(" %
                         "|".join(names.split())), where, home, instead)
             for names, where, home, instead in RULES]
    for path in source.files(top, "*.c", "*.h"):
        code = source.blank((top / path).read_text(errors="replace"))
        place = path.as_posix()
        for pattern, where, home, instead in rules:
            if not place.startswith(where) or place == home:
                continue
            for match in pattern.finditer(code):
                findings.append((path, source.line_of(code, match.start()),
                                 f"{match.group(1)}(): use {instead}"))
    source.report(findings)


main()
