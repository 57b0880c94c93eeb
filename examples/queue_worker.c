/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_worker.c - jobs of a work queue, each given to one worker, and results
 * that only the worker that has the job can store.
 *
 *     ./queue_worker STORE put TEXT [DELAY_MS]
 *     ./queue_worker STORE work      do jobs until none has come for a second
 */
#include "example.h"

/* In a cluster, what is in braces keeps both keys in one slot. */
static const hf_bytes queue = {"{mail}", 6};
static const hf_bytes sent = {"{mail}:sent", 11};

/* Store the result, if no one else has been given the job meanwhile. */
static hf_status store(hf_client *client, hf_lock *worker, const hf_job *job)
{
    const hf_field result = {job->id, job->payload};
    hf_async txn = HF_ASYNC_INIT;
    hf_status status = hf_txn_new(client, NULL, &txn.txn, NULL);

    if (status == HF_OK)
        status = hf_txn_if_held(txn.txn, worker, NULL);
    if (status == HF_OK)
        status = hf_hash_put_start(client, sent, &result, 1, NULL, &txn, NULL);
    if (status == HF_OK)
        status = hf_txn_exec(txn.txn, NULL);
    hf_txn_free(txn.txn);
    if (status == HF_OK)
        printf("done: %s\n", (const char *)job->payload.data);
    return status;
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    const hf_bytes text = hf_str(argc > 3 ? argv[3] : "");
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_job job = HF_JOB_INIT;
    hf_lock *worker = NULL;
    hf_status status = argc > 3 ? HF_TIMEOUT : HF_EXPIRED; /* no job yet */

    opts.delay_ms = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
    need(hf_queue_new(client, queue, NULL, &worker, &err), &err);
    if (argc > 3)
        need(hf_queue_put(client, queue, text, text, &opts, &err), &err);
    while (status == HF_OK || status == HF_EXPIRED) { /* too late: has none */
        if (status == HF_OK)
            need(hf_queue_job(worker, &job, &err), &err);
        if (status == HF_OK)
            status = store(client, worker, &job);
        status = hf_queue_next(worker,
                               status == HF_OK ? HF_QUEUE_DONE : HF_QUEUE_AGAIN,
                               hf_queue_backoff(&job, 1000, 60000), 1000, &err);
    }
    hf_lock_free(worker);
    hf_client_close(client);
}
