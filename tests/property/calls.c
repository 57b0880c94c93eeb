/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - the tables of calls as one list, and making one of them. */
#include <poll.h>

#include "property.h"

static const struct {
    const call *rows;
    const size_t *count;
} tables[] = {
    {value_calls, &value_call_count},
    {revised_calls, &revised_call_count},
    {key_calls, &key_call_count},
    {hash_calls, &hash_call_count},
    {counter_calls, &counter_call_count},
    {timeline_calls, &timeline_call_count},
    {txn_calls, &txn_call_count},
    {fenced_calls, &fenced_call_count},
    {cache_calls, &cache_call_count},
    {member_calls, &member_call_count},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

size_t call_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < TABLES; i++)
        count += *tables[i].count;
    return count;
}

const call *call_at(size_t i)
{
    size_t table = 0;

    while (i >= *tables[table].count)
        i -= *tables[table++].count;
    return &tables[table].rows[i];
}

/* ------------------------------------------------------------- asynchronous */

static struct {
    bool done;
    hf_status status;
} end;

static void on_done(void *user, hf_status status, const hf_error *err)
{
    (void)user;
    (void)err;
    end.status = status;
    end.done = true;
}

const hf_async *call_begin(void)
{
    static hf_async async = HF_ASYNC_INIT;

    async.done = on_done;
    end.done = false;
    return &async;
}

hf_status call_await(place *at, hf_status started)
{
    struct pollfd pfd = {-1, POLLIN, 0};
    hf_status status = started;

    if (status == HF_OK)
        status = hf_client_fd(at->client, &pfd.fd, NULL);
    while (status == HF_OK && !end.done) {
        (void)poll(&pfd, 1, -1);
        status = hf_client_dispatch(at->client, NULL, NULL);
    }
    return status == HF_OK ? end.status : status;
}
