/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_postgres.h - what test files on PostgreSQL share: one server for all
 * tests of the file, and one diagnostic of a store.
 */
#ifndef TESTS_SUPPORT_TEST_POSTGRES_H
#define TESTS_SUPPORT_TEST_POSTGRES_H

#include <stdio.h>
#include <string.h>

#include "holdfast/store.h"
#include "support/expect.h"
#include "support/postgres_server.h"

/* `server`, for all tests of the file; `fsync`: see postgres_server_start(). */
#define TESTS_ON_POSTGRES(fsync)                                               \
    static postgres_server *server;                                            \
    static int start_server(void **state)                                      \
    {                                                                          \
        (void)state;                                                           \
        server = postgres_server_start(fsync);                                 \
        return server != NULL ? 0 : -1;                                        \
    }                                                                          \
    static int stop_server(void **state)                                       \
    {                                                                          \
        (void)state;                                                           \
        postgres_server_stop(server);                                          \
        return 0;                                                              \
    }                                                                          \
    ALL_TESTS_WITH(start_server, stop_server)

typedef struct diagnosed {
    const char *name;
    hf_level level;
    char value[256];
} diagnosed;

static inline void take_diagnosed(void *user,
                                  const hf_store_diagnostic *diagnostic)
{
    diagnosed *of = user;

    if (strcmp(diagnostic->name, of->name) != 0)
        return;
    of->level = diagnostic->level;
    (void)snprintf(of->value, sizeof(of->value), "%s", diagnostic->value);
}

/* The diagnostic of this name; without one, ok and "". */
static inline diagnosed diagnose(hf_client *client, const char *name)
{
    diagnosed of = {.name = name, .level = HF_LEVEL_OK};

    expect_status(HF_OK,
                  hf_store_diagnose(client, NULL, take_diagnosed, &of, ERR));
    return of;
}

#endif
