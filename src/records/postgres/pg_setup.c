/* SPDX-License-Identifier: Apache-2.0 */
/* pg_setup.c - see pg_setup.h. */
#include "records/postgres/pg_setup.h"

#include <stdio.h>
#include <string.h>

#include "pg_setup_sql.h"
#include "records/postgres/pg_session.h"
#include "util/buf.h"
#include "util/error.h"

/* With a schema's name in each place. */
#define SQL_MAX ((size_t)64 << 10)
#define TAG_SIZE 20

#define NAME "holdfast"

/* What stands for the schema: its name before a point, and where it is made;
 * as a string, in quotes; and $$, which it may have in it. */
typedef enum sql_mark { MARK_NAME, MARK_STRING, MARK_TAG, MARK_NONE } sql_mark;

static sql_mark mark_at(const char *at, size_t *size)
{
    const size_t name_size = strlen(NAME);

    *size = name_size;
    if (strncmp(at, NAME, name_size) == 0 &&
        (at[name_size] == '.' || at[name_size] == ';'))
        return MARK_NAME;
    *size = name_size + 2;
    if (strncmp(at, "'" NAME "'", name_size + 2) == 0)
        return MARK_STRING;
    *size = 2;
    return strncmp(at, "$$", 2) == 0 ? MARK_TAG : MARK_NONE;
}

static bool put_text(hf__buf *buf, const char *text)
{
    return hf__buf_append(buf, text, strlen(text));
}

/* Of a quoted identifier; whatever standard_conforming_strings is. */
static bool put_string(hf__buf *buf, const char *schema)
{
    size_t size = strlen(schema);
    bool put = put_text(buf, "E'");

    for (size_t i = 1; put && i + 1 < size; i++) {
        if (schema[i] == '"')
            i++;
        else if (schema[i] == '\'' || schema[i] == '\\')
            put = hf__buf_append(buf, &schema[i], 1);
        put = put && hf__buf_append(buf, &schema[i], 1);
    }
    return put && put_text(buf, "'");
}

/* In place of $$: one that is not in the schema's name. */
static void choose_tag(char tag[TAG_SIZE], const char *schema)
{
    unsigned number = 0;

    do
        (void)snprintf(tag, TAG_SIZE, "$hf%u$", number++);
    while (strstr(schema, tag) != NULL);
}

static bool put_mark(hf__buf *buf, sql_mark mark, const char *schema,
                     const char *tag)
{
    if (mark == MARK_NAME)
        return put_text(buf, schema);
    return mark == MARK_STRING ? put_string(buf, schema) : put_text(buf, tag);
}

/* With a NUL. false: no memory. */
static bool put_sql(hf__buf *buf, const char *schema)
{
    char tag[TAG_SIZE];
    const char *at = setup_sql;
    bool put = true;

    choose_tag(tag, schema);
    while (put && *at != '\0') {
        size_t size;
        sql_mark mark = mark_at(at, &size);

        if (mark == MARK_NONE)
            size = 1;
        put = mark == MARK_NONE ? hf__buf_append(buf, at, 1)
                                : put_mark(buf, mark, schema, tag);
        at += size;
    }
    return put && hf__buf_append(buf, "", 1);
}

static hf_status run_sql(const hf__pg_account *account, const char *sql,
                         hf_error *err)
{
    PGconn *pg = NULL;
    hf_status status =
        hf__pg_connect(account, true, hf__pg_deadline(account), &pg, err);
    PGresult *result;

    if (status != HF_OK)
        return status;
    status = hf__pg_query(pg, sql, INT64_MAX, &result, err);
    if (status == HF_OK)
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
