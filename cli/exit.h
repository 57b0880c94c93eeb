/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit.h - the exit codes.
 *
 * 1 means that a condition was not met. Errors have codes of sysexits.h, which
 * few programs use. `run` ends with the code of its command.
 */
#ifndef HOLDFAST_CLI_EXIT_H
#define HOLDFAST_CLI_EXIT_H

#include "holdfast/base.h"

#define EXIT_MAP(X)                                                            \
    X(YES, 0, "done")                                                          \
    X(NO, 1, "condition not met: held, conflict, not found, timed out")        \
    X(USAGE, 64, "invalid command line, argument or configuration")            \
    X(DATA, 65,                                                                \
      "wrong type of key or fingerprint, script error, corrupt data")          \
    X(NO_INPUT, 66, "cannot read a file named on the command line")            \
    X(UNAVAILABLE, 69, "the store cannot be reached; nothing was applied")     \
    X(INTERNAL, 70, "internal error")                                          \
    X(SYSTEM, 71, "a system call failed, such as writing the output")          \
    X(FULL, 73, "the store has no room; nothing was applied")                  \
    X(IO, 74, "outcome unknown: no reply of the store, or in doubt")           \
    X(LOST, 76, "the lock was lost, or the lead")                              \
    X(DENIED, 77, "permission denied, or wrong password")                      \
    X(CONFIG, 78, "not supported by this store or version")                    \
    X(NOT_EXECUTABLE, 126, "the command cannot be executed")                   \
    X(NOT_FOUND, 127, "the command was not found")                             \
    X(SIGNAL, 128, "128+N: ended by signal N")

enum exit_code {
#define EXIT_ENUM(name, value, text) EXIT_##name = value,
    EXIT_MAP(EXIT_ENUM)
#undef EXIT_ENUM
};

/* The codes and what they say, to be walked; the last has text NULL. */
struct exit_text {
    int code;
    const char *name;
    const char *text;
};
extern const struct exit_text exit_texts[];

/* The name of a code, such as "USAGE". */
const char *exit_name(int code);

/* The exit code for `status`. */
int exit_code_of(hf_status status);

#endif
