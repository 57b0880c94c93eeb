/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_calls.c - see pg_calls.h. Nothing is prepared, as a pooler may give each
 * query to another session.
 */
#include "records/postgres/pg_calls.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/postgres/pg_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/hash_bytes.h"
#include "util/order.h"

#define COLUMNS                                                                \
    "SELECT outcome, store_us, absent, payloads, expires, ats, versions FROM "
enum { OUTCOME, STORE_US, ABSENT, PAYLOADS, EXPIRES, ATS, VERSIONS, COUNT };

/* Of commit_records(), in setup.sql. */
#define PARAMS 18

/* Of the messages that have the commit's records: those after have none, and
 * their receivers read. */
#define RECORDS_MAX ((size_t)4 << 20)
/* Of all parameters together: also of the longest keys, 2 MiB, and of 65536
 * messages with 2 MiB of text, which is the most that a request sends. */
#define WORDS_MAX (HF__PG_WRITE_MAX + RECORDS_MAX + ((size_t)12 << 20))

void hf__pg_statements_init(hf__pg_statements *statements, const char *schema,
                            hf_bytes inbox)
{
    (void)snprintf(statements->read, sizeof(statements->read),
                   COLUMNS "%s.read_records($1, $2, $3)", schema);
    (void)snprintf(statements->commit, sizeof(statements->commit),
                   COLUMNS "%s.commit_records($1, $2, $3, $4, $5, $6, $7, $8, "
                           "$9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
                   schema);
    (void)snprintf(statements->early, sizeof(statements->early),
                   "CALL %s.commit_early($1, $2, $3, $4, $5, $6, $7, $8, $9, "
                   "$10, $11, $12, $13, $14, $15, $16, $17, $18, "
                   "NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                   schema);
    statements->client = hf__pg_presence(inbox);
}

bool hf__pg_accepts(hf__backend_call *call)
{
    size_t size = 0;

    for (size_t i = 0; hf__pg_commits(call) && i < call->write_count; i++)
        size += call->writes[i].payload.size;
    if (size <= HF__PG_WRITE_MAX)
        return true;
    call->outcome = HF__BACKEND_FAILED;
    call->status = hf__fail(&call->error, HF_FULL,
                            "a request on PostgreSQL may write %zu MiB at most",
                            HF__PG_WRITE_MAX >> 20);
    return false;
}

/* ----------------------------------------------------------------- sending */

/* Parameters, as they are put one after the other. */
typedef struct params {
    hf__buf words;
    size_t begins[PARAMS + 1];
    Oid types[PARAMS];
    int count;
} params;

static void begin_param(params *of, Oid type)
{
    of->types[of->count] = type;
    of->begins[of->count++] = hf__buf_size(&of->words);
}

static bool put_int4(params *of, int32_t number)
{
    begin_param(of, HF__PG_INT4);
    return hf__pg_put_int4(&of->words, number);
}

static bool put_int8(params *of, int64_t number)
{
    begin_param(of, HF__PG_INT8);
    return hf__pg_put_int8(&of->words, number);
}

static bool put_keys(params *of, const hf__backend_call *call)
{
    bool put;

    begin_param(of, HF__PG_BYTEAS);
    put = hf__pg_put_array(&of->words, HF__PG_BYTEA, call->record_count);
    for (size_t i = 0; put && i < call->record_count; i++)
        put = hf__pg_put_element(&of->words, call->records[i].key);
    return put;
}

static bool put_versions(params *of, const hf__backend_call *call)
{
    bool put;

    begin_param(of, HF__PG_INT8S);
    put = hf__pg_put_array(&of->words, HF__PG_INT8, call->record_count);
    for (size_t i = 0; put && i < call->record_count; i++)
        put =
            hf__pg_put_element8(&of->words, (int64_t)call->records[i].version);
    return put;
}

static int32_t slot_of(hf_bytes key)
{
    return (int32_t)(hf__hash(key, 2) & INT32_MAX);
}

static int order_slots(const void *one, const void *other)
{
    int32_t a;
    int32_t b;

    memcpy(&a, one, sizeof(a));
    memcpy(&b, other, sizeof(b));
    return (a > b) - (a < b);
}

/* In their order, as all clients take them. */
static bool put_slots(params *of, const hf__backend_call *call)
{
    int32_t slots[HF__SCRATCH_KEYS + 1];
    size_t count = 0;
    bool put;

    for (size_t i = 0; i < call->record_count && count < HF__SCRATCH_KEYS; i++)
        slots[count++] = slot_of(call->records[i].key);
    qsort(slots, count, sizeof(slots[0]), order_slots);
    begin_param(of, HF__PG_INT4S);
    put = hf__pg_put_array(&of->words, HF__PG_INT4, count);
    for (size_t i = 0; put && i < count; i++)
        put = hf__pg_put_element4(&of->words, slots[i]);
    return put;
}

static bool put_writes(params *of, const hf__backend_call *call)
{
    size_t count = call->write_count;
    bool put;

    begin_param(of, HF__PG_INT4S);
    put = hf__pg_put_array(&of->words, HF__PG_INT4, count);
    for (size_t i = 0; put && i < count; i++)
        put = hf__pg_put_element4(&of->words, (int32_t)call->writes[i].at + 1);
    begin_param(of, HF__PG_BYTEAS);
    put = put && hf__pg_put_array(&of->words, HF__PG_BYTEA, count);
    for (size_t i = 0; put && i < count; i++)
        put = hf__pg_put_element(&of->words, call->writes[i].payload);
    begin_param(of, HF__PG_INT8S);
    put = put && hf__pg_put_array(&of->words, HF__PG_INT8, count);
    for (size_t i = 0; put && i < count; i++)
        put = hf__pg_put_element8(&of->words, call->writes[i].expire_ms);
    return put;
}

static bool put_messages(params *of, const hf__backend_call *call)
{
    size_t count = call->message_count;
    size_t begins;
    bool put;

    begin_param(of, HF__PG_TEXTS);
    put = hf__pg_put_array(&of->words, HF__PG_TEXT, count);
    for (size_t i = 0; put && i < count; i++) {
        char channel[HF__PG_CHANNEL_SIZE];

        hf__pg_channel(channel, call->messages[i].channel);
        put = hf__pg_put_element(&of->words, hf_str(channel));
    }
    begin_param(of, HF__PG_TEXTS);
    begins = hf__buf_size(&of->words);
    put = put && hf__pg_put_array(&of->words, HF__PG_TEXT, count);
    for (size_t i = 0; put && i < count; i++) {
        bool has_room = hf__buf_size(&of->words) - begins <=
                        RECORDS_MAX - 2 * HF__PG_MESSAGE_MAX;

        put = hf__pg_put_message(&of->words, has_room ? call : NULL,
                                 call->messages[i].text);
    }
    return put;
}

static bool put_required(params *of, const hf__backend_call *call)
{
    bool put;

    begin_param(of, HF__PG_INT8S);
    put = hf__pg_put_array(&of->words, HF__PG_INT8, call->required_count);
    for (size_t i = 0; put && i < call->required_count; i++)
        put =
            hf__pg_put_element8(&of->words, hf__pg_presence(call->required[i]));
    return put;
}

/* Who has the turn after this: who is given a lease, as it may give it back
 * soon. 0: no one. */
static int64_t next_client(const hf__backend_call *call, int64_t client)
{
    if (call->required_count == 1 && call->message_count > 0)
        return hf__pg_presence(call->required[0]);
    return call->grants ? client : 0;
}

static bool put_turn(params *of, const hf__backend_call *call, int64_t client)
{
    return put_int4(of, slot_of(call->first_key)) && put_int8(of, client) &&
           put_int8(of, next_client(call, client)) &&
           put_int8(of, call->late_us);
}

/* The server gives up a little before this client does, which then knows that
 * nothing was written. */
static bool put_waits(params *of, const hf__backend_call *call)
{
    int64_t left_ms = (call->deadline_ms - hf__clock_boot_ms()) * 7 / 8;
    char byte = call->doubtful ? 1 : 0;

    if (!put_int4(of,
                  (int32_t)hf__at_most(hf__at_least(left_ms, 1), INT32_MAX)))
        return false;
    begin_param(of, HF__PG_BOOL);
    return hf__buf_append(&of->words, &byte, 1);
}

static bool put_params(params *of, const hf__backend_call *call, int64_t client,
                       PGconn *conn)
{
    if (!put_keys(of, call))
        return false;
    if (hf__pg_commits(call) &&
        !(put_versions(of, call) && put_slots(of, call) &&
          put_writes(of, call) && put_int8(of, call->now_us) &&
          put_int8(of, (int64_t)call->version) && put_messages(of, call) &&
          put_required(of, call) && put_turn(of, call, client)))
        return false;
    /* By its session the server knows whether there is no pooler between. */
    return put_waits(of, call) &&
           (!hf__pg_commits(call) || put_int4(of, PQbackendPID(conn)));
}

/* What it is until take_row() says otherwise. */
static void expect_result(hf__backend_call *call)
{
    call->outcome = hf__pg_unanswered(call);
    call->status =
        hf__fail(&call->error, HF_CORRUPT, "PostgreSQL sent no result");
}

static const char *statement_of(const hf__pg_statements *statements,
                                const hf__backend_call *call)
{
    if (!hf__pg_commits(call))
        return statements->read;
    return call->early ? statements->early : statements->commit;
}

bool hf__pg_send(PGconn *conn, const hf__pg_statements *statements,
                 hf__backend_call *call)
{
    params of = {.count = 0};
    const char *values[PARAMS];
    int sizes[PARAMS];
    int forms[PARAMS];
    bool sent = false;

    expect_result(call);
    hf__buf_init(&of.words, WORDS_MAX);
    if (put_params(&of, call, statements->client, conn)) {
        of.begins[of.count] = hf__buf_size(&of.words);
        for (int i = 0; i < of.count; i++) {
            values[i] = (const char *)hf__buf_front(&of.words) + of.begins[i];
            sizes[i] = (int)(of.begins[i + 1] - of.begins[i]);
            forms[i] = 1;
        }
        sent = PQsendQueryParams(conn, statement_of(statements, call), of.count,
                                 of.types, values, sizes, forms, 1) == 1;
    }
    hf__buf_done(&of.words);
    if (!sent && PQstatus(conn) == CONNECTION_OK) {
        call->outcome = HF__BACKEND_FAILED;
        call->status = hf__fail(&call->error, HF_NO_MEMORY, "out of memory");
    }
    return sent;
}

/* --------------------------------------------------------------- receiving */

static hf_bytes value_of(const PGresult *result, int column)
{
    if (PQgetisnull(result, 0, column))
        return hf_view(NULL, 0);
    return hf_view(PQgetvalue(result, 0, column),
                   (size_t)PQgetlength(result, 0, column));
}

static int64_t number_of(hf_bytes bytes)
{
    return bytes.data != NULL && bytes.size == 8 ? hf__pg_get_int8(bytes.data)
                                                 : 0;
}

static hf_status fail_reply(hf__backend_call *call)
{
    return hf__fail(&call->error, HF_CORRUPT,
                    "PostgreSQL sent a malformed reply");
}

/* Of a row that someone else has written. */
static hf_status fail_row(hf__backend_call *call, hf_bytes key)
{
    char text[HF__QUOTED_SIZE];

    return hf__fail(&call->error, HF_CORRUPT,
                    "the row of %s has an expire_ms, at_us or version that no "
                    "client writes",
                    hf__quoted(text, key));
}

static hf_status take_records(const PGresult *result, hf__backend_call *call)
{
    hf__pg_reader readers[COUNT];

    for (int i = PAYLOADS; i < COUNT; i++) {
        if (hf__pg_read_array(&readers[i], value_of(result, i),
                              call->record_count) != call->record_count)
            return fail_reply(call);
    }
    for (size_t i = 0; i < call->record_count; i++) {
        hf__backend_record *to = &call->records[i];
        hf_bytes payload = hf__pg_read_element(&readers[PAYLOADS]);
        const char *copy =
            hf__arena_copy(&call->arena, payload.data, payload.size);

        if (copy == NULL)
            return hf__fail(&call->error, HF_NO_MEMORY, "out of memory");
        to->payload = hf_view(copy, payload.size);
        to->expire_ms = number_of(hf__pg_read_element(&readers[EXPIRES]));
        to->at_us = number_of(hf__pg_read_element(&readers[ATS]));
        to->version =
            (uint64_t)number_of(hf__pg_read_element(&readers[VERSIONS]));
        if (!hf__backend_sound(to))
            return fail_row(call, to->key);
    }
    return HF_OK;
}

static hf_status take_absent(const PGresult *result, hf__backend_call *call)
{
    hf_bytes absent = value_of(result, ABSENT);

    call->absent =
        absent.size == 4 ? (size_t)hf__pg_get_int4(absent.data) - 1 : SIZE_MAX;
    return call->absent < call->required_count ? HF_OK : fail_reply(call);
}

static void take_row(const PGresult *result, hf__backend_call *call)
{
    static const hf__backend_outcome outcomes[] = {
        HF__BACKEND_DONE, HF__BACKEND_CONFLICT, HF__BACKEND_ABSENT,
        HF__BACKEND_TIMING};
    hf_bytes outcome = value_of(result, OUTCOME);
    uint32_t number = outcome.size == 4
                          ? (uint32_t)hf__pg_get_int4(outcome.data)
                          : UINT32_MAX;

    if (number >= sizeof(outcomes) / sizeof(outcomes[0])) {
        call->outcome = hf__pg_unanswered(call);
        call->status = fail_reply(call);
        return;
    }
    call->status = HF_OK;
    call->error = (hf_error)HF_ERROR_INIT;
    call->outcome = outcomes[number];
    call->store_us = number_of(value_of(result, STORE_US));
    if (!hf__pg_commits(call) || call->outcome == HF__BACKEND_CONFLICT)
        call->status = take_records(result, call);
    else if (call->outcome == HF__BACKEND_ABSENT)
        call->status = take_absent(result, call);
    if (call->status != HF_OK)
        call->outcome = HF__BACKEND_FAILED;
}

/* With an error nothing was written, unless it is of another severity: then the
 * server is about to end the session, or the connection broke. An early commit
 * may be done before the error; not if rights or settings are the cause, as
 * those have another code after it. */
static bool is_undone(const PGresult *result, const hf__backend_call *call)
{
    const char *severity =
        PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    return severity != NULL && strcmp(severity, "ERROR") == 0 &&
           (!call->early || (code != NULL && (strncmp(code, "42", 2) == 0 ||
                                              strncmp(code, "0A", 2) == 0)));
}

void hf__pg_take(PGconn *conn, const PGresult *result, hf__backend_call *call)
{
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
        PQnfields(result) == COUNT) {
        take_row(result, call);
        return;
    }
    call->status = hf__pg_failed(conn, result, &call->error);
    call->outcome = !hf__pg_commits(call) || is_undone(result, call)
                        ? HF__BACKEND_FAILED
                        : HF__BACKEND_UNKNOWN;
}
