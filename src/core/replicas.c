/* SPDX-License-Identifier: Apache-2.0 */
/* replicas.c - see replicas.h. */
#include "core/replicas.h"

#include <string.h>

#include "core/call.h"
#include "core/client.h"
#include "holdfast/lock.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/order.h"
#include "util/url.h"

#define WITHIN_MS_DEFAULT 1000
#define WITHIN_MS_MAX 3600000

/* ----------------------------------------------------------------- options */

static hf_status check_count(int64_t count, int64_t within_ms, hf_error *err)
{
    if (count < HF_REPLICAS_NONE || count > HF_REPLICAS_MAX)
        return hf__fail(err, HF_INVALID,
                        "replicas is %lld; it must be 1..%d, or %d for none",
                        (long long)count, HF_REPLICAS_MAX, HF_REPLICAS_NONE);
    return hf__check_option(within_ms, WITHIN_MS_MAX, "replicas_ms", err);
}

/* What is not 0 replaces what was there. */
static void merge_counts(hf__replicas *replicas, int64_t count,
                         int64_t within_ms)
{
    if (count != 0)
        replicas->count = count > 0 ? (uint32_t)count : 0;
    if (within_ms != 0)
        replicas->within_ms = within_ms;
}

static hf_status read_url(hf__replicas *replicas, hf__url *url, hf_error *err)
{
    const char *count_text = hf__url_param_take(url, "replicas");
    const char *within_text = hf__url_param_take(url, "replicas_ms");
    int64_t count = 0;
    int64_t within_ms = 0;
    hf_status status = HF_OK;

    if (count_text != NULL)
        status = hf__parse_int(count_text, 0, HF_REPLICAS_MAX, "replicas",
                               &count, err);
    if (status == HF_OK && within_text != NULL)
        status = hf__parse_int(within_text, 1, WITHIN_MS_MAX, "replicas_ms",
                               &within_ms, err);
    if (status == HF_OK)
        merge_counts(replicas, count, within_ms);
    return status;
}

hf_status hf__replicas_of_client(hf__replicas *replicas,
                                 const hf_client_options *options, hf__url *url,
                                 hf_error *err)
{
    hf_status status =
        check_count(options->replicas, options->replicas_ms, err);

    *replicas = (hf__replicas){0, WITHIN_MS_DEFAULT};
    if (status == HF_OK && options->reserved0 != 0)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "hf_client_options: reserved0 is not 0");
    if (status == HF_OK)
        status = read_url(replicas, url, err);
    if (status == HF_OK)
        merge_counts(replicas, options->replicas, options->replicas_ms);
    return status;
}

hf_status hf__replicas_of_lock(hf__replicas *replicas, const hf_client *client,
                               const hf_lock_options *options, hf_error *err)
{
    hf_status status =
        check_count(options->replicas, options->replicas_ms, err);

    if (status != HF_OK)
        return status;
    *replicas = client->replicas;
    merge_counts(replicas, options->replicas, options->replicas_ms);
    if (replicas->count > 0 &&
        (client->store->capabilities & HF__CAP_REPLICAS) == 0)
        return hf__fail(err, HF_UNSUPPORTED, HF__REPLICAS_NOWHERE);
    return HF_OK;
}

/* ------------------------------------------------------------------ request */

static bool wrote_nothing(const hf__request *request)
{
    (void)request;
    return false;
}

bool hf__wrote_number(const hf__request *request)
{
    return request->reply.kind == HF_REPLY_INTEGER &&
           request->reply.integer != 0;
}

/* The connection for what is to be counted is made for it, and that is what
 * finds out; the command itself asks for nothing. */
hf_status hf__replicas_probe(hf__store *store, const hf__replicas *replicas,
                             int64_t deadline_ms, hf_error *err)
{
    hf_bytes words[] = {hf_str(""), hf_str("0"), hf_str("1")};
    hf__request request;
    hf_status status = HF_OK;

    hf__operation_request(&request, &hf__op_wait, words, 3);
    hf__request_replicate(&request, replicas, wrote_nothing);
    request.began_ms = hf__clock_boot_ms();
    request.deadline_ms = deadline_ms;
    store->ops->perform(store, &request);
    if (request.status != HF_OK)
        status = hf__fail_copy(err, &request.error);
    hf__request_done(&request);
    return status;
}

hf_status hf__replicas_fail(const hf__request *request, hf_status status,
                            const char *done, hf_error *err)
{
    int64_t within_ms = hf__at_most(request->replicas->within_ms,
                                    request->deadline_ms - request->began_ms);

    if (request->acked < 0)
        return hf__fail(err, status,
                        "%s: it could not be counted how many of the %u "
                        "replicas acknowledged it",
                        done, request->replicas->count);
    return hf__fail(
        err, status, "%s: %d of %u replicas acknowledged it within %lld ms",
        done, request->acked, request->replicas->count, (long long)within_ms);
}

/* -------------------------------------------------------------------- calls */

/* What was sent twice may have been written by the first sending, on a
 * connection of which the count knows nothing. */
static hf_status finish_replicated(hf_call *call, hf_error *err)
{
    hf__request *request = &call->request;

    if (request->sends > 1)
        request->acked = -1;
    if (hf__request_missed(request) &&
        (request->wrote == NULL || request->wrote(request)))
        return hf__replicas_fail(request, HF_INDETERMINATE,
                                 "it is written, but may be lost", err);
    return call->then != NULL ? call->then(call, err) : HF_OK;
}

void hf__call_replicate(hf_call *call,
                        bool (*wrote)(const hf__request *request))
{
    if (call->client->replicas.count == 0)
        return;
    hf__request_replicate(&call->request, &call->client->replicas, wrote);
    if (call->finish != finish_replicated)
        call->then = call->finish;
    call->finish = finish_replicated;
}
