/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_faults_test.c - work queues of which something was lost or is full:
 * dead waiters, one of the two keys, replies. Nothing is given twice, and
 * nothing that was put is lost with it.
 */
#include <stdio.h>

#include "holdfast/command.h"
#include "holdfast/queue.h"
#include "holdfast/semaphore.h"
#include "support/byte_proxy.h"
#include "support/queue_work.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* Waiters that one call skips. */
#define SKIPPED 128

/* `hf:KIND:{NAME}`. */
static hf_bytes own_key(char text[128], const char *kind, hf_bytes name)
{
    int size = snprintf(text, 128, "hf:%s:{%.*s}", kind, (int)name.size,
                        (const char *)name.data);

    return hf_view(text, (size_t)size);
}

/* What no worker would write. */
static void need_all_rights(const fixture *f)
{
    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip();
}

/* ----------------------------------------------------------------- waiters */

/* Entries of workers that were killed: they began to wait before all others. */
static void add_dead_waiters(fixture *f, hf_bytes queue, int count)
{
    char text[128], score[16], entry[80];
    hf_bytes add[] = {bytes("ZADD"), own_key(text, "wait", queue), bytes(""),
                      bytes("")};

    for (int i = 1; i <= count; i++) {
        (void)snprintf(score, sizeof(score), "%d", i);
        (void)snprintf(entry, sizeof(entry), "30000 hf:inbox:%016x-%015x", i,
                       i);
        add[2] = hf_str(score);
        add[3] = hf_str(entry);
        expect_status(HF_OK, hf_command(f->client, 4, add, NULL, ERR));
    }
}

/* It is given one behind dead waiters, and its own entry is behind these. */
TEST(queue_gives_an_owner_one_job)
{
    fixture *f = *state;
    hf_bytes queue = fixture_key(f, "q");
    hf_lock *lock = worker_for(f, f->client, queue, 0);
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    told said = {0};

    need_all_rights(f);
    opts.delay_ms = slowed_ms(300);
    put_with(f, queue, "a", &opts);
    queue_up(f, queue, f->client, lock, &said, 1);
    add_dead_waiters(f, queue, SKIPPED + 10);
    await_told(f->client, &said, 1);
    expect_job(lock, "a");
    put(f, queue, "b");
    put(f, queue, "c");
    assert_counts(f, queue, 2, 1, 0, 0, 0);
    do_next(worker(f, queue), "b");
    expect_status(HF_OK, hf_queue_done(lock, ERR));
    do_next(worker(f, queue), "c");
    assert_no_key(f->client, queue);
}
