/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_worker.c - jobs of a work queue, each given to one worker, and results
 * that only the worker that has the job can store.
 *
 *     ./queue_worker STORE put TEXT [DELAY_MS]
 *     ./queue_worker STORE work      do jobs until none has come for a second
 */
#include <string.h>

#include "example.h"

/* In a cluster, what is in braces keeps both keys in one slot. */
static const hf_bytes queue = {"{mail}", 6};
static const hf_bytes results = {"{mail}:sent", 11};

/* Store the result, if no one else has been given the job meanwhile. */
static hf_status finish(hf_client *client, hf_lock *worker, const hf_job *job,
                        hf_error *err)
{
    const hf_field result = {job->id, job->payload};
    hf_async txn = HF_ASYNC_INIT;
    hf_status status = hf_txn_new(client, NULL, &txn.txn, err);

    if (status == HF_OK)
        status = hf_txn_if_held(txn.txn, worker, err);
    if (status == HF_OK)
        status =
            hf_hash_put_start(client, results, &result, 1, NULL, &txn, err);
    if (status == HF_OK)
        status = hf_txn_exec(txn.txn, err);
    hf_txn_free(txn.txn);
    return status == HF_OK ? hf_queue_done(worker, err) : status;
}

static void work(hf_client *client, hf_lock *worker)
{
    hf_error err = HF_ERROR_INIT;
    hf_job job = HF_JOB_INIT;

    while (hf_lock_acquire(worker, 1000, &err) == HF_OK) {
        need(hf_queue_job(worker, &job, &err), &err);
        if (finish(client, worker, &job, &err) == HF_OK)
            printf("done: %s\n", (const char *)job.payload.data);
        else if (hf_lock_is_held(worker)) /* try again later */
            need(hf_queue_again(worker, hf_queue_backoff(&job, 1000, 60000),
                                &err),
                 &err);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    hf_lock *worker = NULL;
    hf_error err = HF_ERROR_INIT;

    opts.delay_ms = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
    need(hf_queue_new(client, queue, NULL, &worker, &err), &err);
    if (argc > 3 && strcmp(argv[2], "put") == 0)
        need(hf_queue_put(client, queue, hf_str(argv[3]), hf_str(argv[3]),
                          &opts, &err),
             &err);
    else
        work(client, worker);
    hf_lock_free(worker);
    hf_client_close(client);
}
