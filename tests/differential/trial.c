/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - running a list of operations on both sides. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands.h"
#include "compare.h"
#include "report.h"
#include "round.h"
#include "util/clock.h"

/* Time between the two clock readings of one request, in addition to the
 * duration of the round: rounding on both sides. */
#define ROUNDING_MS 3

/* The server is the reference: it must have replied. */
static void need_answer(const side *one, const hf__request *request)
{
    /* What EVALSHA replies for a script that the server does not have. */
    if (strncmp(request->error.message, "NOSCRIPT", 8) == 0)
        return;
    switch (request->status) {
    case HF_UNAVAILABLE:
    case HF_INDETERMINATE:
    case HF_NO_MEMORY:
    case HF_SYSTEM:
        fprintf(stderr, "differential: %s: %s\n", one->name,
                request->error.message);
        exit(2);
    default:
        break;
    }
}

static void describe(difference *found, const hf__request *tested,
                     const hf__request *server, size_t item, bool batch)
{
    report_answer(found->tested, sizeof(found->tested), tested, item, batch);
    report_answer(found->server, sizeof(found->server), server, item, batch);
}

static bool request_differs(pair *both, const op *ops, size_t count,
                            int64_t start_ms, difference *found)
{
    hf__request tested, server;
    hf__arena arena;
    size_t item;

    hf__arena_init(&arena);
    side_perform(&both->tested, ops, count, &tested, &arena);
    side_perform(&both->server, ops, count, &server, &arena);
    need_answer(&both->server, &server);
    item = compare_answers(ops, count, &tested, &server,
                           hf__clock_boot_ms() - start_ms + ROUNDING_MS);
    if (item != COMPARE_SAME) {
        found->index = item;
        describe(found, &tested, &server, item, ops[0].kind == OP_BATCH);
    }
    hf__request_done(&tested);
    hf__request_done(&server);
    hf__arena_free(&arena);
    return item != COMPARE_SAME;
}

/* A server deletes an expired key when a command accesses it; SCAN accesses
 * all. */
static void meet_keys(side *one)
{
    hf_bytes words[] = {hf_str("scan"), hf_str("0"), hf_str("count"),
                        hf_str("1000000")};
    op scan = {.kind = OP_PLAIN, .words = words, .word_count = 4};
    hf__request request;
    hf__arena arena;

    if (one->store->capabilities & HF__CAP_LOCAL)
        return;
    hf__arena_init(&arena);
    side_perform(one, &scan, 1, &request, &arena);
    need_answer(one, &request);
    hf__request_done(&request);
    hf__arena_free(&arena);
}

static bool is_sort(const op *next)
{
    return next->word_count > 0 && next->words[0].size >= 4 &&
           strncasecmp(next->words[0].data, "sort", 4) == 0;
}

static void prepare(pair *both, const op *next)
{
    if (is_sort(next) && (next->kind == OP_PLAIN || next->kind == OP_CALL))
        side_reset_errno(&both->server);
    if (next->kind != OP_PLAIN || command_rule(next->words[0]) != RULE_COUNT)
        return;
    meet_keys(&both->tested);
    meet_keys(&both->server);
}

/* -------------------------------------------------------------- exchanging */

/* The last version of RDB that both sides read. */
#define RDB_VERSION_MAX 11

static void send(side *one, hf__request *request, hf__arena *arena,
                 size_t count, hf_bytes *words)
{
    op sent = {.kind = OP_PLAIN, .words = words, .word_count = count};

    side_perform(one, &sent, 1, request, arena);
}

static bool is_exchangeable(const hf__request *dump)
{
    const hf_reply *reply = &dump->reply;

    return dump->status == HF_OK && reply->kind == HF_REPLY_STRING &&
           reply->bytes.size > 10 &&
           reply->bytes.data[reply->bytes.size - 10] <= RDB_VERSION_MAX;
}

static void restore(side *one, hf_bytes key, const hf__request *dump,
                    const hf__request *left, hf__arena *arena)
{
    int64_t ms = left->reply.kind == HF_REPLY_INTEGER ? left->reply.integer : 0;
    const hf_reply *value = &dump->reply;
    hf__request request;
    char text[24];

    (void)snprintf(text, sizeof(text), "%lld", (long long)(ms > 0 ? ms : 0));
    send(one, &request, arena, 5,
         (hf_bytes[]){hf_str("restore"), key, hf_str(text),
                      hf_view(value->bytes.data, value->bytes.size),
                      hf_str("replace")});
    if (request.status != HF_OK) {
        fprintf(stderr, "differential: %s: RESTORE: %s\n", one->name,
                request.error.message);
        exit(2);
    }
    hf__request_done(&request);
}

/* Each side gets the value, and the time to live, that the other one has. */
static void exchange(pair *both, hf_bytes key)
{
    side *sides[] = {&both->tested, &both->server};
    hf__request dumps[2], left[2];
    hf__arena arena;

    hf__arena_init(&arena);
    for (size_t i = 0; i < 2; i++) {
        send(sides[i], &dumps[i], &arena, 2, (hf_bytes[]){hf_str("dump"), key});
        send(sides[i], &left[i], &arena, 2, (hf_bytes[]){hf_str("pttl"), key});
    }
    if (is_exchangeable(&dumps[0]) && is_exchangeable(&dumps[1])) {
        restore(sides[0], key, &dumps[1], &left[1], &arena);
        restore(sides[1], key, &dumps[0], &left[0], &arena);
    }
    for (size_t i = 0; i < 2; i++) {
        hf__request_done(&dumps[i]);
        hf__request_done(&left[i]);
    }
    hf__arena_free(&arena);
}

/* ------------------------------------------------------------------ running */

bool trial_differs(pair *both, const op_list *list, difference *found)
{
    int64_t start_ms;
    size_t count;

    side_flush(&both->tested);
    side_flush(&both->server);
    start_ms = hf__clock_boot_ms();
    for (size_t at = 0; at < list->count; at += count) {
        count = op_request_size(list, at);
        if (list->ops[at].kind == OP_WAIT) {
            hf__clock_sleep_until(hf__clock_boot_ms() + ROUND_WAIT_MS);
            continue;
        }
        if (list->ops[at].kind == OP_EXCHANGE) {
            exchange(both, list->ops[at].words[0]);
            continue;
        }
        prepare(both, &list->ops[at]);
        if (request_differs(both, &list->ops[at], count, start_ms, found)) {
            found->index += at;
            return true;
        }
    }
    return false;
}
