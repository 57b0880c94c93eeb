/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.c - a queue whose jobs are finished once, though workers may be
 * killed or stopped at any time. Jobs are items of a timeline; a worker locks
 * the one it works at, and finishes it by a transaction.
 *
 *     ./job_queue STORE add COUNT     queue jobs 1..COUNT
 *     ./job_queue STORE work [MS]     do jobs, each in MS, until none is left
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "example.h"

#define DAY_MS (24 * 3600 * 1000)

/* In a cluster, what is in braces keeps all keys in one slot. */
static const hf_bytes jobs = {"{jobs}", 6};
static const hf_bytes results = {"{jobs}:results", 14};
static const hf_bytes done = {"{jobs}:done", 11};

static void add(hf_client *client, long count)
{
    hf_error err = HF_ERROR_INIT;

    for (long i = 1; i <= count; i++)
        need(hf_timeline_add(client, jobs, HF_INT(i), hf_str("a payload"),
                             DAY_MS, NULL, &err),
             &err);
}

/*
 * In one step, if we still hold the lock: write the result, count the job, and
 * remove it from the queue. If another worker may have the job by now, nothing
 * is changed.
 */
static hf_status finish(hf_client *client, hf_bytes id, const hf_lock *lock,
                        hf_error *err)
{
    const hf_field result = {id, hf_str("result")};
    hf_async queue = HF_ASYNC_INIT;
    int64_t count;
    hf_status status = hf_txn_new(client, NULL, &queue.txn, err);

    if (status == HF_OK)
        status = hf_txn_if_held(queue.txn, lock, err);
    if (status == HF_OK)
        status =
            hf_hash_put_start(client, results, &result, 1, NULL, &queue, err);
    if (status == HF_OK)
        status = hf_value_add_start(client, done, 1, NULL, &count, &queue, err);
    if (status == HF_OK)
        status = hf_timeline_remove_start(client, jobs, id, &queue, err);
    if (status == HF_OK)
        status = hf_txn_exec(queue.txn, err);
    hf_txn_free(queue.txn);
    return status;
}

/* Do a job, unless another worker has it or has done it. */
static void work_at(hf_client *client, hf_bytes id, long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = 1000; /* a job of a killed worker waits so long */
    need(hf_lock_new(
             client,
             HF_FORMAT("{jobs}:lock:%.*s", (int)id.size, (const char *)id.data),
             &opts, &lock, &err),
         &err);
    if (hf_lock_try(lock, &err) == HF_OK &&
        hf_timeline_get(client, jobs, id, &found, &err) == HF_OK) {
        nanosleep(&pause, NULL); /* the work, with found.items->payload */
        if (finish(client, id, lock, &err) == HF_OK)
            printf("done: %.*s\n", (int)id.size, (const char *)id.data);
        fflush(stdout);
    }
    hf_timeline_items_free(&found);
    hf_lock_free(lock); /* releases it */
}

static void work(hf_client *client, long ms)
{
    hf_timeline_page_options oldest = HF_TIMELINE_PAGE_OPTIONS_INIT;
    const struct timespec pause = {0, 50 * 1000000};
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    hf_error err = HF_ERROR_INIT;
    size_t left;

    oldest.flags = HF_TIMELINE_ASCENDING;
    do {
        need(hf_timeline_page(client, jobs, &oldest, &page, &err), &err);
        left = page.count;
        for (size_t i = 0; i < page.count; i++)
            work_at(client, page.items[i].id, ms);
        hf_timeline_items_free(&page);
        nanosleep(&pause, NULL);
    } while (left > 0);
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    long number = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

    if (argc > 3 && strcmp(argv[2], "add") == 0)
        add(client, number);
    else
        work(client, number);
    hf_client_close(client);
}
