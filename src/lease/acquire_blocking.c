/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_blocking.c - asking for a lock, and waiting for it, on the calling
 * thread. The steps are those of acquire_steps.h. */
#include "core/wrong_type.h"
#include "lease/acquire_steps.h"
#include "util/clock.h"
#include "util/order.h"

static hf_status ask_once(hf__asking *asking, const char *inbox, hf_error *err)
{
    hf_client *client = asking->lock->client;
    hf_status status;

    hf__asking_fill(asking, inbox);
    status = hf__asking_read(
        asking, hf__run(client, &asking->request, asking->limit_ms, err), err);
    if (!asking->returning)
        status = hf__asking_heed_interrupt(asking, status, err);
    if (asking->returning) {
        hf__asking_fill_return(asking);
        hf__asking_read_return(asking, hf__run(client, &asking->request,
                                               asking->return_by_ms, NULL));
    }
    return status;
}

static void hold_back(const hf__asking *asking)
{
    int64_t pause_ms = hf__asking_hold_back(asking);

    if (pause_ms > 0)
        hf__clock_sleep_until(
            hf__at_most(asking->until_ms, hf__clock_boot_ms() + pause_ms));
}

/* For nothing but an interruption, which moves the counter, too. */
static void sleep_deaf(const hf__asking *asking, int64_t until_ms)
{
    hf__store *store = asking->lock->client->store;
    hf_bytes topic = asking->lock->keys.main;

    while (hf__clock_boot_ms() < until_ms) {
        uint32_t seq = store->ops->event_seq(store, topic, 0);

        if (hf__interrupted(asking->lock, asking->mark))
            return;
        (void)store->ops->event_wait(store, topic, seq, until_ms);
    }
}

/* Steps 4 and 5, inside the gate. */
static hf_status wait_at_store(hf__asking *asking, hf_error *err)
{
    hf__store *store = asking->lock->client->store;
    hf_bytes topic = asking->lock->keys.main;
    hf_status status;

    for (int round = 0;; round++) {
        uint32_t seq = store->ops->event_seq(
            store, topic,
            hf__at_most(
                asking->until_ms,
                hf__clock_after(hf__clock_boot_ms(), HF__ASKING_LISTEN_MS)));
        int64_t until_ms;

        status = ask_once(asking, store->ops->inbox(store), err);
        if (!hf__asking_may_retry(status) ||
            hf__clock_boot_ms() >= asking->until_ms)
            return status;
        hf__asking_watch_holder(asking, status, round);
        until_ms = hf__asking_next_try(asking, status, round);
        if (hf__asking_heeds_events(asking, status)) {
            if (store->ops->event_wait(store, topic, seq, until_ms)) {
                hold_back(asking);
                round = -1;
            }
        } else {
            sleep_deaf(asking, until_ms);
        }
        status = hf__asking_heed_interrupt(asking, status, err);
        if (!hf__asking_may_retry(status) ||
            hf__interrupted(asking->lock, asking->mark))
            return status;
    }
}

static void leave_queue(hf__asking *asking)
{
    hf_client *client = asking->lock->client;

    hf__asking_fill_leave(asking);
    (void)!hf__run(client, &asking->request, asking->limit_ms, NULL);
    hf__request_done(&asking->request);
}

static hf_status wait_in_turn(hf__asking *asking, hf_error *err)
{
    hf_client *client = asking->lock->client;
    hf__gate *gate;
    hf_status status = hf__gate_enter(&client->leases->gates, asking->lock,
                                      asking->lock->keys.main, asking->mark,
                                      asking->until_ms, &gate, err);

    if (status != HF_OK)
        return status;
    status = wait_at_store(asking, err);
    if (status != HF_OK && asking->queued)
        leave_queue(asking);
    hf__gate_leave(&client->leases->gates, gate);
    return status;
}

hf_status hf__lock_ask(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                       hf__attempt *attempt, hf__grant *grant, hf_error *err)
{
    hf_error detail = HF_ERROR_INIT; /* tries before a success leave theirs */
    hf__asking asking;
    hf_status status;

    hf__asking_init(&asking, lock, wait_ms, until_ms);
    asking.mark = attempt->mark;
    status = ask_once(&asking, "", &detail);
    if (asking.until_ms > 0 && hf__asking_may_retry(status)) {
        hf__sleeper_add(&lock->client->leases->interrupts, &attempt->sleeper);
        pthread_mutex_lock(&lock->client->leases->watchdog.mutex);
        lock->waits = true;
        pthread_cond_broadcast(&lock->changed);
        pthread_mutex_unlock(&lock->client->leases->watchdog.mutex);
        status = wait_in_turn(&asking, &detail);
    }
    if (status == HF_OK)
        *grant = asking.grant;
    status = hf__asking_end(&asking, status, &detail, err);
    if (status == HF_WRONG_TYPE)
        hf__wrong_type_ask(lock->client, &asking.request,
                           asking.request.deadline_ms, err);
    return status;
}
