/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side.c - from operations to requests of the store interface.
 *
 * Commands inside a script are its arguments, keys too: no store here is a
 * cluster, and the script is the same one for all of them.
 */
#include "side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "newer.h"
#include "store/drivers.h"
#include "util/clock.h"
#include "util/sha1.h"
#include "util/url.h"

/* Far above what anything here needs, also on a loaded machine. */
#define REQUEST_MS 60000
#define CONNECT_MS 10000
#define SCRIPT_BUDGET_MS 20000

static const char call_source[] = "return redis.call(unpack(ARGV))";

/* ARGV: for each command the number of its words, then the words. ZADD is that
 * of side_reset_errno(). */
static const char batch_source[] =
    "local out, at, n = {}, 1, 0\n"
    "while at <= #ARGV do\n"
    "    local size = tonumber(ARGV[at])\n"
    "    n = n + 1\n"
    "    if size > 0 and ARGV[at + 1]:lower():find('^sort') then\n"
    "        redis.pcall('zadd', 'k', 'no number', 'm')\n"
    "    end\n"
    "    out[n] = redis.pcall(unpack(ARGV, at + 1, at + size))\n"
    "    at = at + size + 1\n"
    "end\n"
    "return out\n";

bool side_open(side *one, const char *name, const char *url)
{
    hf_error err = HF_ERROR_INIT;
    hf__store_config config = {.connect_ms = CONNECT_MS,
                               .script_budget_ms = SCRIPT_BUDGET_MS};
    hf__url parsed;
    hf_status status = hf__url_parse(url, &parsed, &err);

    one->name = name;
    one->loop = NULL;
    if (status == HF_OK) {
        one->loop = hf__loop_new();
        config.url = &parsed;
        config.loop = one->loop;
        status = one->loop == NULL ? HF_NO_MEMORY
                                   : hf__store_open(&config, &one->store, &err);
        hf__url_done(&parsed);
    }
    if (status != HF_OK) {
        fprintf(stderr, "differential: cannot open %s: %s\n", url, err.message);
        hf__loop_free(one->loop);
        return false;
    }
    return true;
}

void side_close(side *one)
{
    one->store->ops->close(one->store);
    hf__loop_free(one->loop);
}

/* ---------------------------------------------------------------- requests */

static void make_script(hf__script *script, char sha1[HF__SHA1_HEX_SIZE],
                        const char *source)
{
    hf__sha1_hex(source, strlen(source), sha1);
    *script = (hf__script)HF__USER_SCRIPT(source, strlen(source), sha1);
}

/* The arguments of a batch: counts between the words. */
static void join_batch(const op *ops, size_t count, op *joined,
                       hf__arena *arena)
{
    char text[24];

    for (size_t i = 0; i < count; i++) {
        int size = snprintf(text, sizeof(text), "%zu", ops[i].word_count);

        op_add_word(joined, arena, op_copy(arena, text, (size_t)size));
        for (size_t w = 0; w < ops[i].word_count; w++)
            op_add_word(joined, arena, ops[i].words[w]);
    }
}

static const char *source_of(const op *first, hf__arena *arena)
{
    switch (first->kind) {
    case OP_CALL:
        return call_source;
    case OP_BATCH:
        return batch_source;
    case OP_SCRIPT:
        return newer_source(first->source, arena);
    default:
        return NULL;
    }
}

static void perform(side *one, const op *ops, size_t count,
                    hf__request *request, hf__arena *arena)
{
    const char *source = source_of(&ops[0], arena);
    char sha1[HF__SHA1_HEX_SIZE];
    hf__script script;
    op joined = {.kind = OP_BATCH};

    hf__request_init(request);
    if (ops[0].kind == OP_BATCH)
        join_batch(ops, count, &joined, arena);
    else
        joined = ops[0];
    if (source != NULL) {
        make_script(&script, sha1, source);
        request->script = &script;
    }
    request->words = joined.words;
    request->word_count = joined.word_count;
    request->key_count = ops[0].kind == OP_SCRIPT ? joined.key_count : 0;
    request->deadline_ms = hf__clock_boot_ms() + REQUEST_MS;
    request->keeps_error = ops[0].kind == OP_PLAIN;
    one->store->ops->perform(one->store, request);
    request->script = NULL;
}

/* ------------------------------------------------------------------ faults */

static op *mutate_before(const mutation *fault, const op *ops, size_t count,
                         hf__arena *arena)
{
    op *changed = op_alloc(arena, count * sizeof(*changed));

    for (size_t i = 0; i < count; i++) {
        op copy = ops[i];

        copy.words = NULL;
        copy.word_count = 0;
        for (size_t w = 0; w < ops[i].word_count; w++)
            op_add_word(&copy, arena, ops[i].words[w]);
        fault->before(&copy, arena);
        changed[i] = copy;
    }
    return changed;
}

static void mutate_after(const mutation *fault, const op *ops, size_t count,
                         hf__request *request)
{
    hf_reply *reply = &request->reply;

    if (request->status != HF_OK)
        return;
    if (ops[0].kind != OP_BATCH) {
        fault->after(&ops[0], reply, &request->arena);
        return;
    }
    if (reply->kind != HF_REPLY_ARRAY)
        return;
    for (size_t i = 0; i < count && i < reply->array.count; i++)
        fault->after(&ops[i], &reply->array.items[i], &request->arena);
}

void side_perform(side *one, const op *ops, size_t count, hf__request *request,
                  hf__arena *arena)
{
    const mutation *fault = one->mutation;
    bool before =
        fault != NULL && fault->before != NULL && ops[0].kind != OP_SCRIPT;

    perform(one, before ? mutate_before(fault, ops, count, arena) : ops, count,
            request, arena);
    if (fault != NULL && fault->after != NULL)
        mutate_after(fault, ops, count, request);
}

/* A score that is not a number resets it and changes nothing. */
void side_reset_errno(side *one)
{
    hf_bytes words[] = {hf_str("zadd"), hf_str("k"), hf_str("no number"),
                        hf_str("m")};
    op sent = {.kind = OP_PLAIN, .words = words, .word_count = 4};
    hf__request request;
    hf__arena arena;

    hf__arena_init(&arena);
    perform(one, &sent, 1, &request, &arena);
    hf__request_done(&request);
    hf__arena_free(&arena);
}

static void must(side *one, const char *name, const char *argument)
{
    hf_bytes words[] = {hf_str(name), hf_str(argument)};
    op sent = {.kind = OP_PLAIN, .words = words, .word_count = 2};
    hf__request request;
    hf__arena arena;

    hf__arena_init(&arena);
    perform(one, &sent, 1, &request, &arena);
    if (request.status != HF_OK) {
        fprintf(stderr, "differential: %s: %s %s: %s\n", one->name, name,
                argument, request.error.message);
        exit(2);
    }
    hf__request_done(&request);
    hf__arena_free(&arena);
}

void side_flush(side *one)
{
    must(one, "flushall", "sync");
    must(one, "script", "flush");
}
