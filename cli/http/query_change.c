/* SPDX-License-Identifier: Apache-2.0 */
/* query_change.c - what --allow-edit lets the page change. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "holdfast/key.h"
#include "http/query_reply.h"
#include "http/query_run.h"
#include "read_number.h"

#define WHAT "serve --http"

/* Of a name in the log, so that what was done fits into its line. */
#define SHOWN_MAX 300

static void report_change(const struct http_call *call, const char *what)
{
    hf_bytes name = call->words[0];

    complain(WHAT, "database %d, key \"%.*s\"%s %s", call->source->own.db,
             (int)(name.size < SHOWN_MAX ? name.size : SHOWN_MAX),
             (const char *)name.data, name.size > SHOWN_MAX ? "..." : "", what);
}

/* Those that this library adds to names, also behind a prefix. */
static bool is_internal(hf_bytes name)
{
    const char *text = name.data;
    bool found = name.size >= 3 && memcmp(text, "hf:", 3) == 0;

    for (size_t i = 0; !found && i + 4 <= name.size; i++)
        found = memcmp(text + i, ":hf:", 4) == 0;
    return found;
}

/* hf_key_type() of what is a lease on its name, and how it is called. */
static const char *const leases[][2] = {{"lock", "a lock"},
                                        {"semaphore", "a semaphore"},
                                        {"election", "an election"}};

/* The store's client may see every key, but only of database 0. */
hf_status check_change(struct http_call *call)
{
    hf_client *client =
        call->source->own.db == 0 ? call->source->client : call->client;
    hf_buffer type = HF_BUFFER_INIT;
    char why[80];
    hf_status status;

    if (is_internal(call->words[0]))
        return fail_query(call, HF_CONFLICT,
                          "a key with hf: in its name belongs to Holdfast");
    status = hf_key_type(client, call->words[0], &type, &call->err);
    if (status == HF_NOT_FOUND)
        status = HF_OK;
    for (size_t i = 0; i < sizeof(leases) / sizeof(leases[0]); i++) {
        if (status != HF_OK || type.size != strlen(leases[i][0]) ||
            memcmp(type.data, leases[i][0], type.size) != 0)
            continue;
        (void)snprintf(why, sizeof(why), "%s is held here: break it instead",
                       leases[i][1]);
        status = fail_query(call, HF_CONFLICT, why);
    }
    hf_buffer_free(&type);
    return status;
}

/* A command that replies how many keys it has changed. */
static hf_status change_key(struct http_call *call, size_t count,
                            const hf_bytes *words, const char *what)
{
    int64_t changed;
    hf_status status = ask_integer(call, count, words, &changed);

    if (status == HF_OK && changed > 0)
        report_change(call, what);
    json_bool(call->json, "changed", status == HF_OK && changed > 0);
    return status;
}

hf_status query_delete(struct http_call *call)
{
    const hf_bytes words[] = {WORD("del"), call->words[0]};

    return change_key(call, 2, words, "was deleted");
}

hf_status query_expire(struct http_call *call)
{
    const hf_bytes words[] = {WORD("pexpire"), call->words[0], call->words[1]};
    const hf_bytes forever[] = {WORD("persist"), call->words[0]};
    char text[32], what[64];
    int64_t ttl_ms;

    if (call->words[1].data == NULL && call->words[2].size == 1 &&
        memcmp(call->words[2].data, "1", 1) == 0)
        return change_key(call, 2, forever, "does not expire any more");
    if (call->words[2].data != NULL || call->words[1].data == NULL)
        return fail_query(call, HF_INVALID,
                          "either ttl_ms or forever=1 must be given");
    if (!copy_text(call->words[1], text, sizeof(text)) ||
        !number_integer(text, &ttl_ms) || ttl_ms < 1 || ttl_ms > HF_TTL_MAX_MS)
        return fail_query(call, HF_INVALID,
                          "ttl_ms is not a number of milliseconds");
    (void)snprintf(what, sizeof(what), "expires in %" PRId64 " ms", ttl_ms);
    return change_key(call, 3, words, what);
}

/* A string; or a field of a hash, with its time to live. Only if it has still
 * the value that the page has shown: 1; 0: it has another; -1: there is none.
 */
static const char set_script[] =
    "local key, old, value, field = KEYS[1], ARGV[1], ARGV[2], ARGV[3]\n"
    "local now = field and redis.call('hget', key, field)\n"
    "if not field then now = redis.call('get', key) end\n"
    "if not now then return -1 end\n"
    "if now ~= old then return 0 end\n"
    "if not field then\n"
    "    redis.call('set', key, value, 'keepttl')\n"
    "    return 1\n"
    "end\n"
    "local at = redis.call('hpexpiretime', key, 'fields', 1, field)[1]\n"
    "local function keep()\n"
    "    if at > 0 then\n"
    "        redis.call('hpexpireat', key, at, 'fields', 1, field)\n"
    "    end\n"
    "end\n"
    "keep()\n" /* if that is refused, before anything has changed */
    "redis.call('hset', key, field, value)\n"
    "keep()\n"
    "return 1\n";

hf_status query_set(struct http_call *call)
{
    const hf_bytes *given = call->words;
    const hf_bytes words[] = {WORD("eval"), WORD(set_script), WORD("1"),
                              given[0],     given[2],         given[1],
                              given[3]};
    int64_t changed;
    hf_status status =
        ask_integer(call, given[3].data == NULL ? 6 : 7, words, &changed);

    if (status == HF_OK && changed < 0)
        return HF_NOT_FOUND;
    if (status == HF_OK && changed == 0)
        return fail_query(call, HF_CONFLICT,
                          "the value has been changed since it was shown");
    if (status == HF_OK)
        report_change(call, "was changed");
    json_bool(call->json, "changed", status == HF_OK);
    return status;
}

hf_status end_change(struct http_call *call, hf_status status)
{
    static const char doubt[] = "; the key may have been changed";
    char *message = call->err.message;
    size_t most = sizeof(call->err.message) - sizeof(doubt);
    size_t size = strlen(message);

    if (status != HF_TIMEOUT && status != HF_INDETERMINATE)
        return status;
    report_change(call, "may have been changed");
    http_own_done(&call->source->own);
    memcpy(message + (size < most ? size : most), doubt, sizeof(doubt));
    return status;
}
