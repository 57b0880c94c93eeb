/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit.h - every exit code of the command, and what each promises.
 *
 * 1 is the only "no"; our own failures are those of sysexits.h, so that a
 * script can tell them from most programs' own codes. What `run` started ends
 * with its own code, whatever that is.
 */
#ifndef HOLDFAST_CLI_EXIT_H
#define HOLDFAST_CLI_EXIT_H

#include "holdfast.h"

#define EXIT_MAP(X)                                                            \
    X(YES, 0, "done")                                                          \
    X(NO, 1, "the answer is no: held, conflict, not found, wait ended")        \
    X(USAGE, 64, "wrong command line, or the store refused an argument")       \
    X(DATA, 65, "wrong type of key, script error, or damaged data")            \
    X(NO_INPUT, 66, "a file named on the command line cannot be read")         \
    X(UNAVAILABLE, 69, "the store is not reachable; nothing was applied")      \
    X(INTERNAL, 70, "a fault of holdfast itself")                              \
    X(SYSTEM, 71, "the operating system refused a call, or out of memory")     \
    X(FULL, 73, "the store has no room; nothing was applied")                  \
    X(IO, 74, "no answer came: it may be applied; or stdout broke")            \
    X(LOST, 76, "run: the lock was lost while the command ran")                \
    X(DENIED, 77, "permission or password refused")                            \
    X(CONFIG, 78, "not supported by this store or version")                    \
    X(NOT_EXECUTABLE, 126, "run: the command cannot be executed")              \
    X(NOT_FOUND, 127, "run: there is no such command")                         \
    X(SIGNAL, 128, "128+N: ended by signal N")

enum exit_code {
#define EXIT_ENUM(name, value, text) EXIT_##name = value,
    EXIT_MAP(EXIT_ENUM)
#undef EXIT_ENUM
};

/* The exit code that tells `status` to a script. */
int exit_code_of(hf_status status);

#endif
