/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pooler.h - a PgBouncer of one test before a PostgreSQL, which gives each
 * transaction to another session of it. HF_TEST_PGBOUNCER names its program. It
 * dies with the thread that started it. Not thread-safe.
 */
#ifndef TESTS_SUPPORT_POOLER_H
#define TESTS_SUPPORT_POOLER_H

#include "support/postgres_server.h"

typedef struct pooler pooler;

/* With so many sessions of the server. NULL, with a line on stderr: it could
 * not be started. */
pooler *pooler_start(const postgres_server *server, int sessions);
/* NULL is allowed. */
void pooler_stop(pooler *self);
int pooler_port(const pooler *self);

#endif
