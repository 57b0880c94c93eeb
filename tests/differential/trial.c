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
        prepare(both, &list->ops[at]);
        if (request_differs(both, &list->ops[at], count, start_ms, found)) {
            found->index += at;
            return true;
        }
    }
    return false;
}
