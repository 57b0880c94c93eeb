/* SPDX-License-Identifier: Apache-2.0 */
/* acquire_begin.c - see acquire_begin.h. */
#include "lease/acquire_begin.h"

#include "lease/watchdog.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/mem.h"

static void ended(hf__async_run *run)
{
    hf__acquiring *self = hf__container_of(run, hf__acquiring, run);
    hf_error error = HF_ERROR_INIT;
    hf_status status;

    (void)hf__async_stop(run);
    if (atomic_load(&run->cancelled)) /* also during the first try */
        self->acquire.procedure.cancelled = true;
    status = hf__acquire_end(&self->acquire, &error);
    self->done(self->user, status, &error);
    hf__free(self);
}

bool hf__acquiring_first(const hf__acquiring *self)
{
    return self->run.state == HF__ASYNC_FIRST;
}

void hf__acquiring_cancel(hf__acquiring *self)
{
    hf__async_cancel(&self->run);
}

hf__request *hf__acquiring_begin(hf__acquiring *self)
{
    hf__acquire *acquire = &self->acquire;
    hf_lock *lock = acquire->steps.lock;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_error *detail = &acquire->detail;
    bool acquires, busy;
    hf_status status = HF_OK;

    if (hf__lease_wants_renewal(lock, self->lease_ms))
        status = hf__watchdog_start(watchdog, detail);
    pthread_mutex_lock(&watchdog->mutex);
    if (status == HF_OK)
        status = hf__lock_begin_locked(lock, self->lease_ms, &busy, detail);
    acquires = status == HF_OK && lock->state == HF__LOCK_ACQUIRING;
    if (acquires)
        lock->acquiring = self->call;
    pthread_mutex_unlock(&watchdog->mutex);
    if (!acquires) {
        self->done(self->user, status, detail);
        hf__free(self);
        return NULL;
    }
    return hf__async_begin_with(&self->run, hf__acquire_first(acquire));
}

hf__acquiring *hf__acquiring_new(hf_lock *lock, int64_t wait_ms,
                                 int64_t lease_ms)
{
    hf__acquiring *self = hf__calloc(1, sizeof(*self));
    int64_t until_ms =
        wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);

    if (self == NULL)
        return NULL;
    hf__acquire_init(&self->acquire, lock, wait_ms, until_ms,
                     hf__interrupt_mark_of(lock), true);
    hf__async_init(&self->run, &self->acquire.procedure, ended);
    self->lease_ms = lease_ms;
    return self;
}
