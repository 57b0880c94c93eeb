/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_5_lock.c - a lock that is exclusive, re-entrant, and renewed as long
 * as its work takes. Here the work takes three times as long as the lease.
 *
 *     ./article_5_lock [STORE]
 */
#include <time.h>

#include "example.h"

static void lost(hf_lock *lock, hf_status reason, void *user)
{
    (void)lock;
    (void)user;
    fprintf(stderr, "lost: %s\n", hf_status_text(reason));
}

static void work(void)
{
    const struct timespec three_s = {3, 0};

    nanosleep(&three_s, NULL);
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    hf_client *other = open_store(argc, argv); /* as if in another process */
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *ours = NULL;
    hf_lock *theirs = NULL;
    hf_error err = HF_ERROR_INIT;
    uint64_t token;

    opts.ttl_ms = 1000; /* so long others wait if we are killed */
    opts.on_lost = lost;
    need(hf_lock_new(client, hf_str("yang37"), &opts, &ours, &err), &err);
    need(hf_lock_new(other, hf_str("yang37"), &opts, &theirs, &err), &err);

    need(hf_lock_acquire(ours, 10000, &err), &err);
    need(hf_lock_acquire(ours, 10000, &err), &err); /* re-entry */
    token = hf_lock_token(ours);
    work();
    printf("after three leases: %s\n",
           hf_lock_is_held(ours) ? "still held" : "lost");
    printf("another client: %s\n", hf_status_name(hf_lock_try(theirs, &err)));

    need(hf_lock_release(ours, &err), &err);
    need(hf_lock_release(ours, &err), &err); /* once for each acquire */
    need(hf_lock_acquire(theirs, 10000, &err), &err);
    printf("after the release: held by the other, with a %s token\n",
           hf_lock_token(theirs) > token ? "greater" : "lower");
    need(hf_lock_release(theirs, &err), &err);
    hf_lock_free(ours);
    hf_lock_free(theirs);
    hf_client_close(other);
    hf_client_close(client);
}
