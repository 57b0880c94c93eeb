/* SPDX-License-Identifier: Apache-2.0 */
/* pg_setup.c - see pg_setup.h. */
#include "records/postgres/pg_setup.h"

#include <string.h>

#include "pg_setup_sql.h"
#include "records/postgres/pg_account.h"
#include "util/buf.h"
#include "util/error.h"

/* With a schema's name in each place. */
#define SQL_MAX ((size_t)64 << 10)

/* Where the name of the schema is: "holdfast" before a point, and where it is
 * made. */
static const char *find_name(const char *from)
{
    static const char name[] = "holdfast";
    const char *at = strstr(from, name);

    while (at != NULL && at[sizeof(name) - 1] != '.' &&
           at[sizeof(name) - 1] != ';')
        at = strstr(at + 1, name);
    return at;
}

/* With a NUL. false: no memory. */
static bool put_sql(hf__buf *buf, const char *schema)
{
    const char *from = setup_sql;
    const char *name;

    while ((name = find_name(from)) != NULL) {
        if (!hf__buf_append(buf, from, (size_t)(name - from)) ||
            !hf__buf_append(buf, schema, strlen(schema)))
            return false;
        from = name + strlen("holdfast");
    }
    return hf__buf_append(buf, from, strlen(from) + 1);
}

static hf_status run_sql(const hf__pg_account *account, const char *sql,
                         hf_error *err)
{
    PGconn *pg = NULL;
    hf_status status = hf__pg_connect(account, true, &pg, err);
    PGresult *result;

    if (status != HF_OK)
        return status;
    result = PQexec(pg, sql); /* all in one transaction */
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = hf__pg_failed(pg, result, err);
    PQclear(result);
    PQfinish(pg);
    return status;
}

hf_status hf__pg_setup(const hf__store_config *config,
                       void (*print)(void *user, const char *sql), void *user,
                       hf_error *err)
{
    hf__pg_account account;
    hf__buf sql;
    hf_status status = hf__pg_account_init(&account, config, err);

    if (status != HF_OK)
        return status;
    hf__buf_init(&sql, SQL_MAX);
    if (!put_sql(&sql, account.schema))
        status = hf__fail(err, HF_NO_MEMORY, "out of memory");
    else if (print != NULL)
        print(user, (const char *)hf__buf_front(&sql));
    else
        status = run_sql(&account, (const char *)hf__buf_front(&sql), err);
    hf__buf_done(&sql);
    hf__pg_account_done(&account);
    return status;
}
