/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.c - when a request is sent again, for both kinds of connection.
 *
 * A request is QUEUED until its first byte is given to the kernel, then
 * WRITTEN, then DONE. When a connection breaks, what is QUEUED may be sent on
 * the next one. What is WRITTEN may have been applied: it is sent again only if
 * it is repeatable, and is doubtful from then on; otherwise it is
 * HF_INDETERMINATE. An error reply that says "not executed" makes it QUEUED
 * again.
 */
#include "store/redis/server/retry.h"

#include <string.h>

#include "store/error_line.h"
#include "store/known_commands.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/rand.h"

#define DELAY_FIRST_MS 20
#define DELAY_MAX_MS 500

bool hf__retry_is_safe(const hf__request *request)
{
    const hf__known_command *known;

    if (request->wait_ms != 0)
        return false;
    if (request->repeatable)
        return true;
    if (request->script != NULL || request->word_count == 0)
        return false;
    known = hf__known_find(request->words[0]);
    return known != NULL && (known->flags & HF__KNOWN_READS) != 0;
}

int64_t hf__retry_delay_ms(unsigned tries)
{
    int64_t longest = DELAY_FIRST_MS;

    while (tries-- > 0 && longest < DELAY_MAX_MS)
        longest *= 2;
    if (longest > DELAY_MAX_MS)
        longest = DELAY_MAX_MS;
    return hf__rand_between(longest / 2, longest);
}

/* Does it say that nothing was changed? It is about the last sending. */
static bool denies_effect(hf_status status)
{
    return hf_status_kind(status) == HF_KIND_RETRY || status == HF_DENIED ||
           status == HF_UNSUPPORTED || status == HF_NO_MEMORY;
}

void hf__retry_fail(hf__request *request, bool doubtful, const hf_error *err)
{
    hf__fail_copy(&request->error, err);
    if (doubtful && denies_effect(err->status))
        request->error.status = HF_INDETERMINATE;
    request->status = request->error.status;
}

/* Is it a user's script: the client's own, or the words of EVAL? */
static bool is_users_script(const hf__request *request)
{
    const hf__known_command *known;

    if (request->script != NULL)
        return request->script->index == HF__SCRIPT_USER;
    /* With fewer words the error is about their number. */
    if (request->word_count < 3)
        return false;
    known = hf__known_find(request->words[0]);
    return known != NULL && (known->categories & HF__CATEGORY_SCRIPTING) != 0;
}

/* A user's script may return any error, such as "BUSY later", after it has run.
 * Only the server's own texts say that it has not. */
static bool is_users_own(const hf__request *request, hf_bytes line)
{
    static const char *const servers[] = {
        "NOSCRIPT No matching script",
        "LOADING Redis is loading",
        "LOADING Valkey is loading",
        "BUSY Redis is busy",
        "BUSY Valkey is busy",
        "TRYAGAIN Multiple keys request",
        "MASTERDOWN Link with MASTER is down",
        "CLUSTERDOWN The cluster is down",
        "CLUSTERDOWN Hash slot not served",
        "READONLY You can't write against a read only",
        "UNBLOCKED force unblock",
        "NOREPLICAS Not enough good replicas",
        "NOAUTH Authentication required",
        "DENIED Redis is running in protected mode",
        ("HFLATE " HF__LATE_TEXT), /* of ours, in a transaction */
    };
    size_t at;

    if (!is_users_script(request))
        return false;
    for (at = 0; at < sizeof(servers) / sizeof(servers[0]); at++) {
        if (strlen(servers[at]) <= line.size &&
            memcmp(servers[at], line.data, strlen(servers[at])) == 0)
            return false;
    }
    return true;
}

/* Can the narrower script be sent instead? */
static bool has_narrower(const hf__request *request, bool doubtful,
                         const hf_error *err, const hf__redirect *redirect)
{
    if (request->narrow == NULL || doubtful)
        return false;
    return redirect->kind == HF__REDIRECT_TRY_AGAIN ||
           (err->status == HF_FULL && request->narrow->if_full);
}

hf__verdict hf__retry_judge(hf__request *request, bool doubtful,
                            hf__redirect *redirect)
{
    hf_error err = HF_ERROR_INIT;
    hf__verdict verdict;
    hf_bytes line;

    redirect->kind = HF__REDIRECT_NONE;
    redirect->counts = false;
    if (request->reply.kind != HF_REPLY_ERROR) {
        request->status = HF_OK;
        return hf__request_accepts(request) ? HF__VERDICT_ANSWER
                                            : HF__VERDICT_BREAK;
    }
    line = hf_view(request->reply.bytes.data, request->reply.bytes.size);
    verdict = hf__redis_error(
        line, request->script != NULL || is_users_script(request), &err);
    if (verdict == HF__VERDICT_LOAD && request->script == NULL)
        verdict = HF__VERDICT_ANSWER;
    if (hf_status_kind(err.status) == HF_KIND_RETRY && err.status != HF_FULL &&
        is_users_own(request, line)) {
        (void)hf__error_line(&err, HF_SCRIPT, line, NULL);
        verdict = HF__VERDICT_ANSWER;
    } else {
        hf__redirect_read(line, redirect);
        if (has_narrower(request, doubtful, &err, redirect)) {
            hf__request_narrow(request);
            verdict = HF__VERDICT_LOAD;
        }
    }
    if (verdict == HF__VERDICT_LOAD || verdict == HF__VERDICT_BACK_OFF)
        request->sends--;
    else
        redirect->counts = true;
    hf__retry_fail(request, doubtful, &err);
    if (request->keeps_error && verdict == HF__VERDICT_ANSWER &&
        redirect->kind == HF__REDIRECT_NONE &&
        request->status != HF_INDETERMINATE) {
        request->status = HF_OK;
        return verdict;
    }
    hf__reply_set_nil(&request->reply);
    hf__arena_free(&request->arena);
    return verdict;
}
