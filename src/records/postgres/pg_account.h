/* SPDX-License-Identifier: Apache-2.0 */
/* pg_account.h - where a database is, and who logs in: from a URL to what libpq
 * takes; what its errors mean. */
#ifndef HF__RECORDS_PG_ACCOUNT_H
#define HF__RECORDS_PG_ACCOUNT_H

#include <libpq-fe.h>

#include "store/store.h"

#define HF__PG_SETTINGS 24
/* A host, or the folder of a socket, with its NUL. */
#define HF__PG_HOST_SIZE 1024
/* A quoted identifier of PostgreSQL, with its NUL. */
#define HF__PG_SCHEMA_SIZE 132

typedef struct hf__pg_account {
    const char *names[HF__PG_SETTINGS];
    char *values[HF__PG_SETTINGS]; /* owned; wiped */
    size_t count;
    int64_t connect_ms;              /* for all that opening takes */
    char schema[HF__PG_SCHEMA_SIZE]; /* quoted */
    /* Instead of the URL's, for the connection that listens; NULL: the same. */
    const char *listen_host;
    const char *listen_port;
    char *listen; /* they are in it */
} hf__pg_account;

/* HF_INVALID names the part of the URL; HF_UNSUPPORTED: an option of TLS that
 * libpq does not have. */
hf_status hf__pg_account_init(hf__pg_account *account,
                              const hf__store_config *config, hf_error *err);
void hf__pg_account_done(hf__pg_account *account);

/* What an error of the server means; the text goes into `err`. */
hf_status hf__pg_failed(const PGconn *conn, const PGresult *result,
                        hf_error *err);

#endif
