/* SPDX-License-Identifier: Apache-2.0 */
/* query_change.c - what --allow-edit lets the page change. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "complain.h"
#include "holdfast/client.h"
#include "http/page.h"
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

/* Has this library added it to a name, also behind a prefix? */
static bool is_internal(hf_bytes name)
{
    const char *text = name.data;
    bool found = name.size >= 3 && memcmp(text, "hf:", 3) == 0;

    for (size_t i = 0; !found && i + 4 <= name.size; i++)
        found = memcmp(text + i, ":hf:", 4) == 0;
    return found;
}

/* Is it, by its name, what Redisson keeps next to a lock or a semaphore? */
static bool is_redisson(hf_bytes name)
{
    static const char queue[] = "redisson_", permits[] = ":timeout",
                      reader[] = ":rwlock_timeout:";
    const size_t size = sizeof(permits) - 1;
    const char *text = name.data;

    if (name.size >= sizeof(queue) - 1 &&
        memcmp(text, queue, sizeof(queue) - 1) == 0)
        return true;
    return name.size > size && text[0] == '{' &&
           (memcmp(text + name.size - size, permits, size) == 0 ||
            memmem(text, name.size, reader, sizeof(reader) - 1) != NULL);
}

/* What page_change replies below 0, from -1 on. */
static const char *const refusals[] = {
    "the key has another type than was shown",
    "the value has been changed since it was shown",
    "a lock is held here: break it instead",
    "a semaphore is held here: break it instead",
    "an election is held here: break it instead",
    "parties wait at this barrier",
    "a claim of once is held here",
    "this is a semaphore, whose permits are stored here",
};

#define ARGUMENTS_MAX 3

/* us of Unix time, in 16 digits. A store's clock is never behind it. */
static void put_clock(char *text, size_t size)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(text, size, "%016" PRId64,
                   (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

/* `shown` is the type, data NULL: any. The arguments end with one that was not
 * given. 0 in `*changed`: there is no such key or field, or nothing to change.
 */
static hf_status change_key(struct http_call *call, const char *verb,
                            hf_bytes shown,
                            const hf_bytes arguments[ARGUMENTS_MAX],
                            bool *changed)
{
    char clock[24];
    hf_bytes words[7 + ARGUMENTS_MAX] = {WORD("eval"), WORD(page_change),
                                         WORD("1"), call->words[0], WORD(verb)};
    size_t count = 7;
    int64_t reply = 0;
    hf_status status;

    *changed = false;
    if (is_internal(call->words[0]))
        return fail_query(call, HF_CONFLICT,
                          "a key with hf: in its name belongs to Holdfast");
    if (is_redisson(call->words[0]))
        return fail_query(call, HF_CONFLICT,
                          "by its name the key belongs to a lock of Redisson");
    put_clock(clock, sizeof(clock));
    words[5] = shown.data == NULL ? WORD("") : shown;
    words[6] = WORD(clock);
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i].data != NULL; i++)
        words[count++] = arguments[i];
    status = ask_integer(call, count, words, &reply);
    *changed = status == HF_OK && reply > 0;
    if (status == HF_OK && reply < 0 &&
        reply >= -(int64_t)(sizeof(refusals) / sizeof(refusals[0])))
        return fail_query(call, HF_CONFLICT, refusals[-1 - reply]);
    return status;
}

/* The answer says whether it was changed. */
static hf_status put_change(struct http_call *call, hf_status status,
                            bool changed, const char *what)
{
    if (changed)
        report_change(call, what);
    json_bool(call->json, "changed", changed);
    return status;
}

hf_status query_delete(struct http_call *call)
{
    const hf_bytes none[ARGUMENTS_MAX] = {{NULL, 0}};
    bool changed;
    hf_status status = change_key(call, "del", call->words[1], none, &changed);

    return put_change(call, status, changed, "was deleted");
}

hf_status query_expire(struct http_call *call)
{
    hf_bytes arguments[ARGUMENTS_MAX] = {call->words[1]};
    bool is_forever = call->words[1].data == NULL && call->words[2].size == 1 &&
                      memcmp(call->words[2].data, "1", 1) == 0;
    char text[32], what[64] = "does not expire any more";
    int64_t ttl_ms;
    bool changed;
    hf_status status;

    if (!is_forever &&
        (call->words[2].data != NULL || call->words[1].data == NULL))
        return fail_query(call, HF_INVALID,
                          "either ttl_ms or forever=1 must be given");
    if (!is_forever && (!copy_text(call->words[1], text, sizeof(text)) ||
                        !number_integer(text, &ttl_ms) || ttl_ms < 1 ||
                        ttl_ms > HF_TTL_MAX_MS))
        return fail_query(call, HF_INVALID,
                          "ttl_ms is not a number of milliseconds");
    if (!is_forever)
        (void)snprintf(what, sizeof(what), "expires in %" PRId64 " ms", ttl_ms);
    status = change_key(call, is_forever ? "persist" : "pexpire",
                        call->words[3], arguments, &changed);
    return put_change(call, status, changed, what);
}

hf_status query_set(struct http_call *call)
{
    const hf_bytes *given = call->words;
    const hf_bytes arguments[ARGUMENTS_MAX] = {given[2], given[1], given[3]};
    bool changed;
    hf_status status =
        change_key(call, "set", WORD(given[3].data == NULL ? "string" : "hash"),
                   arguments, &changed);

    if (status == HF_OK && !changed)
        return HF_NOT_FOUND;
    return put_change(call, status, changed, "was changed");
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
