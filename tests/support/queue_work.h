/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_work.h - putting jobs into a work queue and taking them, in a test of a
 * store. Each fails the test unless the store did as told.
 */
#ifndef TESTS_SUPPORT_QUEUE_WORK_H
#define TESTS_SUPPORT_QUEUE_WORK_H

#include <stdlib.h>
#include <string.h>

#include "holdfast/queue.h"
#include "support/byte_proxy.h"
#include "support/store_fixture.h"
#include "support/told.h"

static inline void put_with(fixture *f, hf_bytes queue, const char *id,
                            const hf_queue_options *opts)
{
    expect_status(HF_OK, hf_queue_put(f->client, queue, hf_str(id), hf_str(id),
                                      opts, ERR));
}

static inline void put(fixture *f, hf_bytes queue, const char *id)
{
    put_with(f, queue, id, NULL);
}

/* `ttl_ms` not 0: a lease that is not renewed. */
static inline hf_lock *worker_for(fixture *f, hf_client *client, hf_bytes queue,
                                  int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = ttl_ms;
    opts.flags = ttl_ms != 0 ? HF_LOCK_NO_RENEW : 0;
    expect_status(HF_OK, hf_queue_new(client, queue, &opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

static inline hf_lock *worker(fixture *f, hf_bytes queue)
{
    return worker_for(f, f->other, queue, 0);
}

static inline hf_job job_of(hf_lock *lock)
{
    hf_job job = HF_JOB_INIT;

    expect_status(HF_OK, hf_queue_job(lock, &job, ERR));
    return job;
}

static inline void expect_job(hf_lock *lock, const char *id)
{
    assert_string_equal(job_of(lock).id.data, id);
}

static inline void take(hf_lock *lock, const char *id)
{
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_job(lock, id);
}

static inline void do_next(hf_lock *lock, const char *id)
{
    take(lock, id);
    expect_status(HF_OK, hf_queue_done(lock, ERR));
}

static inline hf_queue_info info_of(fixture *f, hf_bytes queue)
{
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    expect_status(HF_OK, hf_queue_inspect(f->client, queue, &info, ERR));
    return info;
}

#define assert_counts(f, queue, r, t, l, b, d)                                 \
    do {                                                                       \
        hf_queue_info counted = info_of((f), (queue));                         \
                                                                               \
        assert_int_equal(counted.ready, (r));                                  \
        assert_int_equal(counted.taken, (t));                                  \
        assert_int_equal(counted.delayed, (l));                                \
        assert_int_equal(counted.behind, (b));                                 \
        assert_int_equal(counted.dead, (d));                                   \
    } while (0)

/* Start to take, and wait until the queue has so many waiters. */
static inline void queue_up(fixture *f, hf_bytes queue, hf_client *client,
                            hf_lock *lock, told *said, int64_t waiters)
{
    hf_async async = tell(said);

    expect_status(HF_OK, hf_lock_acquire_start(lock, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(client), info_of(f, queue).waiters == waiters), 5000);
    assert_int_equal(said->count, 0);
}

/* A client of its own, behind a proxy; NULL: the store is not for that. */
static inline byte_proxy *begin_proxy(fixture *f, hf_client **client)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    byte_proxy *proxy;

    *client = NULL;
    if ((f->store != FIXTURE_REDIS_UNIX && f->store != FIXTURE_REDIS_TCP) ||
        f->rights != FIXTURE_RIGHTS_ALL)
        return NULL;
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    *client = fixture_client_at(f, byte_proxy_unix_url(proxy), &opts);
    return proxy;
}

/* How often the server has run a script. */
static inline long count_scripts(const fixture *f)
{
    static char answer[65536];
    const char *at;

    assert_true(redis_server_command(f->server, "INFO commandstats", answer,
                                     sizeof(answer)));
    at = strstr(answer, "cmdstat_evalsha:calls=");
    return at == NULL ? 0
                      : strtol(at + strlen("cmdstat_evalsha:calls="), NULL, 10);
}

#endif
