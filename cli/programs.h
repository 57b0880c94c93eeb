/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - the commands that are programs of their own.
 *
 * What they are linked with takes longer to load than most commands take to
 * run. `holdfast` reads their command line, for the help and the errors in it,
 * and executes the program with the same words (cmd/program.c); the program,
 * which has only this command, reads them again.
 */
#ifndef HOLDFAST_CLI_PROGRAMS_H
#define HOLDFAST_CLI_PROGRAMS_H

#include "command_line.h"

/* clang-format off */
#define SERVE_GRAMMAR {                                                        \
    .name = "serve",                                                           \
    .accepts = OPTION(STORE) | OPTION(HELP) | OPTION(LISTEN) |                 \
               OPTION(CLIENTS_MAX) | OPTION(USERS) | OPTION(PASSWORD_FILE) |   \
               OPTION(TLS_CERT) | OPTION(TLS_KEY) | OPTION(TLS_CA) |           \
               OPTION(READ_ONLY) | OPTION(IDLE) | OPTION(REQUEST_TIME) |       \
               OPTION(BUFFERS_MAX) | OPTION(HTTP) | OPTION(HTTP_TOKEN_FILE) |  \
               OPTION(ALLOW_BREAK) | OPTION(ALLOW_EDIT) }

#define TOP_GRAMMAR {                                                          \
    .name = "top",                                                             \
    .accepts = OPTIONS_COMMON | OPTION(ONE_SAMPLE) | OPTION(INTERVAL) |        \
               OPTION(SORT),                                                   \
    .operands_min = 0,                                                         \
    .operands_max = 1,                                                         \
    .operands = "[PATTERN]" }
/* clang-format on */

#endif
