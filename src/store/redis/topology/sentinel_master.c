/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_master.c - the master as other threads see it: a resolver of its
 * address, which rounds on the loop thread determine (sentinel_round.c).
 *
 * Locks: `mutex` guards what the header says, for moments; while it is held
 * only the address's own resolver and the loop's queue are called.
 */
#include "store/redis/topology/sentinel_master.h"

#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"

/* ---------------------------------------------------------------- resolver */

static void watch_get(hf__resolver *resolver, hf__resolved *resolved)
{
    hf__sentinel_watch *watch = (hf__sentinel_watch *)resolver;

    pthread_mutex_lock(&watch->mutex);
    if (watch->address != NULL) {
        hf__resolver_get(watch->address, resolved);
    } else {
        resolved->count = 0;
        resolved->host[0] = '\0';
        snprintf(resolved->text, sizeof(resolved->text),
                 "the master \"%.100s\" (%.120s)", watch->place->name,
                 watch->error.status != HF_OK ? watch->error.message
                                              : "sentinels are being asked");
    }
    pthread_mutex_unlock(&watch->mutex);
}

static void watch_refresh(hf__resolver *resolver)
{
    hf__sentinel_watch *watch = (hf__sentinel_watch *)resolver;

    pthread_mutex_lock(&watch->mutex);
    if (watch->address != NULL)
        hf__resolver_refresh(watch->address);
    if (!watch->closing && !watch->posted) {
        watch->posted = true;
        hf__loop_post(watch->context.loop, &watch->refresh_task);
    }
    pthread_mutex_unlock(&watch->mutex);
}

static bool watch_asks(hf__resolver *resolver)
{
    hf__sentinel_watch *watch = (hf__sentinel_watch *)resolver;
    bool asks;

    pthread_mutex_lock(&watch->mutex);
    asks = watch->address != NULL && hf__resolver_asks(watch->address);
    pthread_mutex_unlock(&watch->mutex);
    return asks;
}

static void watch_free(hf__resolver *resolver)
{
    (void)resolver;
}

const hf__resolver_ops hf__sentinel_master_resolver = {
    .get = watch_get,
    .refresh = watch_refresh,
    .asks = watch_asks,
    .free = watch_free,
};

/* ---------------------------------------------------------------- outcomes */

static void wake_locked(hf__sentinel_watch *watch)
{
    __atomic_add_fetch(&watch->heard, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&watch->heard, false);
}

/* The latest round has named no master. */
void hf__sentinel_watch_fail(hf__sentinel_watch *watch, const hf_error *err,
                             bool hopeless)
{
    bool known;

    pthread_mutex_lock(&watch->mutex);
    watch->error = *err;
    watch->hopeless = hopeless;
    known = watch->known;
    wake_locked(watch);
    pthread_mutex_unlock(&watch->mutex);
    if (known) /* else the caller that opens the store gets it */
        HF__LOG(watch->context.log, HF_LOG_WARNING,
                "the sentinels name no master: %s", err->message);
}

static void report_failover(const hf__sentinel_watch *watch,
                            const hf__sentinel_answer *before,
                            const hf__sentinel_answer *now)
{
    HF__LOG(
        watch->context.log, HF_LOG_WARNING,
        "failover: the master \"%.60s\" is now %.100s port %d, before it was "
        "%.100s port %d",
        watch->place->name, now->host, now->port, before->host, before->port);
}

static bool is_master(const hf__sentinel_watch *watch,
                      const hf__sentinel_answer *answer)
{
    return watch->address != NULL && watch->master.port == answer->port &&
           strcmp(watch->master.host, answer->host) == 0;
}

/* Make a resolver for the winner's address; false: failed. */
static bool make_address(const hf__sentinel_answer *winner,
                         hf__resolver **address, hf_error *err)
{
    hf__redis_where where;

    if (hf__redis_where_init(&where, winner->host, winner->port, err) != HF_OK)
        return false;
    if (hf__resolver_new(&where, 0, address, err) != HF_OK)
        *address = NULL;
    hf__redis_where_done(&where);
    return *address != NULL;
}

void hf__sentinel_watch_decide(hf__sentinel_watch *watch,
                               const hf__sentinel_answer *winner)
{
    bool same = is_master(watch, winner);
    hf__resolver *address = NULL;
    hf__resolver *before = NULL;
    hf__sentinel_answer old;
    hf_error err = HF_ERROR_INIT;

    if (!same && !make_address(winner, &address, &err)) {
        watch->unsure = true; /* try again */
        hf__sentinel_watch_fail(watch, &err, false);
        return;
    }
    pthread_mutex_lock(&watch->mutex);
    if (!same) {
        before = watch->address;
        watch->address = address;
    }
    old = watch->master;
    watch->master = *winner;
    watch->error.status = HF_OK;
    watch->hopeless = false;
    pthread_mutex_unlock(&watch->mutex);
    if (before != NULL)
        report_failover(watch, &old, winner);
    hf__resolver_free(before);
    if (!same)
        watch->moved(watch->user);
    /* Waiters connect only now, and to this master only. */
    pthread_mutex_lock(&watch->mutex);
    watch->known = true;
    wake_locked(watch);
    pthread_mutex_unlock(&watch->mutex);
}

hf_status hf__sentinel_watch_wait(hf__sentinel_watch *watch, int64_t until_ms,
                                  hf_error *err)
{
    hf_status status = HF_OK;
    uint32_t heard;
    bool over;

    for (;;) {
        heard = __atomic_load_n(&watch->heard, __ATOMIC_ACQUIRE);
        pthread_mutex_lock(&watch->mutex);
        over = watch->known;
        if (!over && (watch->hopeless || hf__clock_boot_ms() >= until_ms)) {
            over = true;
            if (watch->error.status != HF_OK)
                status = hf__fail_copy(err, &watch->error);
            else
                status = hf__fail(err, HF_UNAVAILABLE,
                                  "no sentinel replied in time");
        }
        pthread_mutex_unlock(&watch->mutex);
        if (over)
            return status;
        hf__futex_wait(&watch->heard, heard, until_ms, false);
    }
}
