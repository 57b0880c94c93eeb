/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - see query.h. */
#include "http/query.h"

#include <stdlib.h>
#include <string.h>

#include "http/query_reply.h"
#include "http/query_run.h"
#include "lease_clock.h"
#include "read_number.h"

/* --------------------------------------------------------------- the server */

static hf_status run_clients(struct http_call *call)
{
    const hf_bytes words[] = {WORD("client"), WORD("list")};

    return put_command(call, 2, words, TEXT_MAX);
}

static hf_status run_slowlog(struct http_call *call)
{
    const hf_bytes words[] = {WORD("slowlog"), WORD("get"), WORD("64")};

    return put_command(call, 3, words, STRING_MAX);
}

static hf_status run_info(struct http_call *call)
{
    const hf_bytes words[] = {WORD("info"), WORD("everything")};

    return put_command(call, 2, words, TEXT_MAX);
}

/* ------------------------------------------------------------------ queries */

static const struct http_query queries[] = {
    {"/keys", false, {"cursor", "match", "db"}, 0, query_keys},
    {"/value", false, {"name", "at", "db"}, 1, query_value},
    {"/clients", false, {NULL}, 0, run_clients},
    {"/slowlog", false, {NULL}, 0, run_slowlog},
    {"/info", false, {NULL}, 0, run_info},
    {"/delete", true, {"name", "type", "db"}, 1, query_delete},
    {"/expire",
     true,
     {"name", "ttl_ms", "forever", "type", "db"},
     1,
     query_expire},
    {"/set", true, {"name", "value", "old", "field", "db"}, 3, query_set},
};

const struct http_query *http_query_find(const char *path)
{
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        if (strcmp(queries[i].path, path) == 0)
            return &queries[i];
    }
    return NULL;
}

int http_query_word(const struct http_query *query, const char *name)
{
    for (int i = 0; i < HTTP_QUERY_WORDS && query->names[i] != NULL; i++) {
        if (strcmp(query->names[i], name) == 0)
            return i;
    }
    return -1;
}

static unsigned code_of(hf_status status, const hf_error *err)
{
    if (strncmp(err->message, "READONLY", 8) == 0)
        return 403;
    switch (status) {
    case HF_OK:
        return 200;
    case HF_DENIED:
        return 403;
    case HF_NOT_FOUND:
        return 404;
    case HF_WRONG_TYPE:
    case HF_CONFLICT:
        return 409;
    default:
        return hf_status_kind(status) == HF_KIND_USAGE ? 400 : 503;
    }
}

/* Get the own client, at the database that the query is for. */
static hf_status open_database(const struct http_query *query,
                               struct http_call *call)
{
    struct http_own *own = &call->source->own;
    char text[8] = "0";
    int64_t db = HTTP_ANY_DATABASE;
    int i = http_query_word(query, "db");

    if (i >= 0) {
        if ((call->words[i].data != NULL &&
             !copy_text(call->words[i], text, sizeof(text))) ||
            !number_integer(text, &db) || db < 0 || db >= HTTP_DATABASES)
            return fail_query(call, HF_INVALID,
                              "db is not the number of a database");
    }
    return http_own_client(own, (int)db, &call->client, &call->err);
}

/* Of several commands, without which of them it was. */
static const char *message_of(const hf_error *err)
{
    const char *message = err->message;
    size_t digits;

    if (strncmp(message, "item ", 5) != 0)
        return message;
    digits = strspn(message + 5, "0123456789");
    return strncmp(message + 5 + digits, ": ", 2) == 0 ? message + digits + 7
                                                       : message;
}

/* Into a text of JSON; what it was is dropped if there is an error. */
static hf_status run_into(const struct http_query *query,
                          struct http_call *call, FILE *file)
{
    struct json json;
    hf_status status;

    json_begin(&json, file);
    call->json = &json;
    status = open_database(query, call);
    if (status == HF_OK && now_ms() >= call->until_ms)
        status = fail_query(call, HF_UNAVAILABLE, "the server is too busy");
    if (status == HF_OK)
        status = query->writes ? end_change(call, query->run(call))
                               : query->run(call);
    if (status == HF_OK && call->cut)
        json_bool(&json, "cut", true);
    if (status != HF_OK && fseek(file, 0, SEEK_SET) == 0) {
        json_begin(&json, file);
        json_text(&json, "error",
                  call->err.message[0] != '\0' ? message_of(&call->err)
                  : status == HF_NOT_FOUND     ? "there is no such key"
                                               : hf_status_name(status));
    }
    json_end(&json);
    return status;
}

unsigned http_query_run(const struct http_query *query,
                        struct http_source *source, const hf_bytes *words,
                        int64_t until_ms, char **text, size_t *size)
{
    struct http_call call = {
        .source = source, .until_ms = until_ms, .err = HF_ERROR_INIT};
    FILE *file = open_memstream(text, size);
    hf_status status;
    int failed;

    if (file == NULL) {
        *text = NULL;
        return 503;
    }
    memcpy(call.words, words, sizeof(call.words));
    status = run_into(query, &call, file);
    failed = ferror(file);
    if (fclose(file) == 0 && failed == 0)
        return code_of(status, &call.err);
    free(*text);
    *text = NULL;
    return 503;
}
