/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c - see completion.h. */
#include "core/completion.h"

#include <errno.h>

#include "core/client.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/fork.h"

void hf__completions_init(hf__completions *self, size_t calls_max,
                          size_t bytes_max)
{
    memset(self, 0, sizeof(*self));
    self->calls_max = calls_max;
    self->bytes_max = bytes_max;
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->changed);
    self->end = &self->first;
    self->fd = -1;
    self->reader_fd = -1;
}

void hf__completions_done(hf__completions *self, bool forked)
{
    hf__event_fd_free(self->fd);
    hf__event_fd_free(self->reader_fd);
    if (forked)
        return;
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}

static void raise_locked(hf__completions *self)
{
    if (self->fd < 0 || self->raised)
        return;
    self->raised = true;
    hf__event_fd_raise(self->fd);
}

static void lower_locked(hf__completions *self)
{
    if (!self->raised)
        return;
    self->raised = false;
    hf__event_fd_lower(self->fd);
}

/* Wake the threads in hf_client_wait(). */
static void wake_all_locked(hf__completions *self)
{
    if (self->sleeping > 0)
        pthread_cond_broadcast(&self->changed);
    if (!self->reading || self->reader_raised ||
        pthread_equal(self->reader, pthread_self()))
        return;
    self->reader_raised = true;
    hf__event_fd_raise(self->reader_fd);
}

void hf__call_complete(hf_call *call)
{
    hf__completions *self = &call->client->completions;
    size_t size = hf__arena_size(&call->request.arena);

    pthread_mutex_lock(&self->mutex);
    call->completed = true;
    call->bytes += size;
    self->bytes += size;
    call->next = NULL;
    *self->end = call;
    self->end = &call->next;
    self->waiting++;
    self->completed++;
    raise_locked(self);
    wake_all_locked(self);
    pthread_mutex_unlock(&self->mutex);
}

bool hf__call_lock_pending(hf_call *call)
{
    pthread_mutex_t *mutex = &call->client->completions.mutex;

    pthread_mutex_lock(mutex);
    if (!call->completed)
        return true;
    pthread_mutex_unlock(mutex);
    return false;
}

void hf__call_unlock_pending(hf_call *call)
{
    pthread_mutex_unlock(&call->client->completions.mutex);
}

static hf_status outcome_of(hf_call *call, hf_error *err)
{
    const hf__request *request = &call->request;

    if (request->status == HF_OK)
        return call->finish != NULL ? call->finish(call, err) : HF_OK;
    if (request->status == HF_UNAVAILABLE && !call->says_cancelled &&
        (atomic_load(&call->progress) & HF__CALL_CANCELLED) != 0)
        return hf__fail(err, HF_CANCELLED, "cancelled before it was sent");
    return hf__fail_copy(err, &request->error);
}

/* false: done() forked, and this is the child, where any mutex may be locked by
 * a thread that it does not have. */
static bool deliver_call(hf_client *client, hf_call *call)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = outcome_of(call, &error);

    call->done(call->user, status, status == HF_OK ? NULL : &error);
    if (client->fork_generation != hf__fork_generation())
        return false;
    hf__call_unref(call);
    return true;
}

static hf_call *take_locked(hf__completions *self)
{
    hf_call *call = self->first;

    if (call == NULL)
        return NULL;
    self->first = call->next;
    if (call->next == NULL)
        self->end = &self->first;
    self->waiting--;
    self->held--;
    self->bytes -= call->bytes;
    return call;
}

/* How many are to be delivered: those that complete meanwhile wait for the next
 * dispatch, so that the caller gets its turn. */
static size_t begin_delivery(hf__completions *self)
{
    size_t left;

    pthread_mutex_lock(&self->mutex);
    self->delivering++;
    lower_locked(self);
    left = self->waiting;
    pthread_mutex_unlock(&self->mutex);
    return left;
}

/* true: the client was closed, and no other dispatch uses it. */
static bool end_delivery_locked(hf__completions *self)
{
    return --self->delivering == 0 && self->closed;
}

/*
 * Deliver so many; returns how many are still under way. Each is taken from the
 * list alone, so that a done() that closes the client or dispatches finds the
 * rest. The client may be gone afterwards.
 */
static size_t deliver_completed(hf_client *client, size_t left)
{
    hf__completions *self = &client->completions;
    bool raised = false; /* here */
    size_t running;
    hf_call *call;
    bool last;

    pthread_mutex_lock(&self->mutex);
    while (left-- > 0 && (call = take_locked(self)) != NULL) {
        /* A loop that done() runs polls for the others. */
        if (self->first != NULL && !self->raised) {
            raise_locked(self);
            raised = true;
        }
        pthread_mutex_unlock(&self->mutex);
        if (!deliver_call(client, call)) {
            running = 0;
            last = end_delivery_locked(self);
            goto free_client;
        }
        pthread_mutex_lock(&self->mutex);
        self->running--;
        self->delivered++;
    }
    /* To an edge-triggered loop, what is left is news. */
    if (raised)
        lower_locked(self);
    if (self->first != NULL)
        raise_locked(self);
    running = self->closed ? 0 : self->running;
    last = end_delivery_locked(self);
    pthread_mutex_unlock(&self->mutex);
free_client:
    if (last)
        hf__client_unref(client);
    return running;
}

static bool has_completed(hf__completions *self)
{
    bool any;

    pthread_mutex_lock(&self->mutex);
    any = self->first != NULL;
    pthread_mutex_unlock(&self->mutex);
    return any;
}

bool hf__completions_close(hf__completions *self, hf_client *client,
                           bool forked)
{
    bool last;

    if (forked) {
        self->closed = true;
        return self->delivering == 0;
    }
    pthread_mutex_lock(&self->mutex);
    self->closed = true;
    self->delivering++;
    pthread_mutex_unlock(&self->mutex);
    while (has_completed(self)) {
        (void)deliver_completed(client, begin_delivery(self));
        if (hf__client_forked(client)) /* by a done() */
            return --self->delivering == 0;
    }
    pthread_mutex_lock(&self->mutex);
    last = --self->delivering == 0;
    pthread_mutex_unlock(&self->mutex);
    return last;
}

hf_status hf_client_dispatch(hf_client *client, size_t *running, hf_error *err)
{
    hf_status status = hf__client_enter(client, err);
    size_t left;

    if (status != HF_OK)
        return status;
    left = begin_delivery(&client->completions); /* it keeps the client */
    hf__life_leave(&client->life);
    left = deliver_completed(client, left);
    if (running != NULL)
        *running = left;
    return HF_OK;
}

hf_status hf_client_fd(hf_client *client, int *fd, hf_error *err)
{
    hf_status status = hf__check_out(fd, "fd", err);
    hf__completions *self;

    if (status == HF_OK)
        status = hf__client_enter(client, err);
    if (status != HF_OK)
        return status;
    self = &client->completions;
    pthread_mutex_lock(&self->mutex);
    if (self->fd < 0) {
        self->fd = hf__event_fd_new();
        if (self->fd < 0)
            status = hf__fail_errno(err, HF_SYSTEM, errno, "eventfd");
        else if (self->first != NULL)
            raise_locked(self);
    }
    if (status == HF_OK)
        *fd = self->fd;
    pthread_mutex_unlock(&self->mutex);
    hf__life_leave(&client->life);
    return status;
}

typedef struct sleep_call {
    hf__sleeper sleeper;
    hf__completions *completions;
} sleep_call;

static void wake_sleeper(hf__sleeper *sleeper)
{
    hf__completions *self =
        hf__container_of(sleeper, sleep_call, sleeper)->completions;

    pthread_mutex_lock(&self->mutex);
    wake_all_locked(self);
    pthread_mutex_unlock(&self->mutex);
}

/* Read replies here, unless another thread does. false: there are none to be
 * read. Unlocks meanwhile. */
static bool read_locked(hf_client *client, int64_t until_ms)
{
    hf__completions *self = &client->completions;
    hf__store *store = client->store;
    bool read;

    if (store->ops->await == NULL || self->reading)
        return false;
    if (self->reader_fd < 0)
        self->reader_fd = hf__event_fd_new();
    if (self->reader_fd < 0)
        return false;
    self->reading = true;
    self->reader = pthread_self();
    pthread_mutex_unlock(&self->mutex);
    read = store->ops->await(store, self->reader_fd, until_ms);
    pthread_mutex_lock(&self->mutex);
    self->reading = false;
    if (self->reader_raised)
        hf__event_fd_lower(self->reader_fd);
    self->reader_raised = false;
    return read;
}

/* Until a call has completed, which another thread may have dispatched since,
 * the client is interrupted, or time is up. */
static hf_status sleep_until(hf_client *client, int64_t until_ms,
                             unsigned interrupts)
{
    hf__completions *self = &client->completions;
    hf_status status = HF_OK;
    bool reads = true;
    uint64_t before;

    pthread_mutex_lock(&self->mutex);
    before = self->completed;
    self->sleeping++;
    while (self->first == NULL && self->completed == before) {
        status = hf__client_interrupted(client, interrupts) ? HF_CANCELLED
                 : hf__clock_boot_ms() >= until_ms          ? HF_TIMEOUT
                                                            : HF_OK;
        if (status != HF_OK)
            break;
        if (reads) {
            reads = read_locked(client, until_ms);
            continue;
        }
        hf__cond_wait_until(&self->changed, &self->mutex, until_ms);
        reads = true;
    }
    self->sleeping--;
    pthread_mutex_unlock(&self->mutex);
    return status;
}

/* A thread that is cancelled within would leave a mutex locked, the socket lent
 * and the client in use. */
static hf_status sleep_to_the_end(hf_client *client, int64_t until_ms,
                                  unsigned interrupts)
{
    hf_status status;
    int state;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    status = sleep_until(client, until_ms, interrupts);
    (void)pthread_setcancelstate(state, NULL);
    return status;
}

hf_status hf_client_wait(hf_client *client, int64_t wait_ms, hf_error *err)
{
    hf_status status = hf__check_wait(wait_ms, err);
    sleep_call self = {{.wake = wake_sleeper}, NULL};
    unsigned interrupts;

    if (status == HF_OK)
        status = hf__client_enter_blocking(client, err);
    if (status != HF_OK)
        return status;
    interrupts = atomic_load(&client->interrupts.count);
    self.completions = &client->completions;
    hf__sleeper_add(&client->interrupts, &self.sleeper);
    status = sleep_to_the_end(
        client, hf__clock_after(hf__clock_boot_ms(), wait_ms), interrupts);
    hf__sleeper_remove(&client->interrupts, &self.sleeper);
    hf__life_leave(&client->life);
    if (status == HF_TIMEOUT)
        return hf__fail(err, HF_TIMEOUT,
                        "timed out: no call has completed within %lld ms",
                        (long long)wait_ms);
    return status == HF_OK ? HF_OK : hf__fail(err, status, HF__INTERRUPTED);
}
