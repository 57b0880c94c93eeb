/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.c - a timerfd on CLOCK_BOOTTIME that the loop watches.
 *
 * Setting it is one system call from any thread. Setting also clears an
 * expiry that was not read yet, so an alarm put off before its ring began does
 * not ring at the old instant.
 */
#include "util/loop.h"

#include <assert.h>
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/poll.h"

struct hf__alarm {
    hf__task task; /* first: a task is cast to its alarm */
    hf__loop *loop;
    void (*ring)(void *user);
    void *user;
    hf__poll poll; /* of fd */
    int fd;
    uint32_t fork_generation;
    /* Written by every set, read before every ring: what a thread did before
     * it set the alarm is seen by the ring that follows. */
    uint32_t sets;
};

static void on_readable(hf__poll *poll, int events)
{
    hf__alarm *alarm = poll->user;
    uint64_t expiries;
    ssize_t got;

    (void)events;
    do {
        got = read(alarm->fd, &expiries, sizeof(expiries));
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(expiries))
        return; /* set again since */
    (void)__atomic_load_n(&alarm->sets, __ATOMIC_ACQUIRE);
    alarm->ring(alarm->user);
}

static void close_poll(hf__task *task)
{
    hf__alarm *alarm = (hf__alarm *)task;

    hf__poll_stop(hf__loop_poller(alarm->loop), &alarm->poll);
}

hf_status hf__alarm_new(hf__loop *loop, void (*ring)(void *user), void *user,
                        hf__alarm **alarm, hf_error *err)
{
    hf__alarm *self = hf__calloc(1, sizeof(*self));
    hf_status status = HF_SYSTEM;
    int rc;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "no memory for an alarm");
    self->loop = loop;
    self->ring = ring;
    self->user = user;
    self->fork_generation = hf__fork_generation();
    self->fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (self->fd < 0) {
        hf__fail_errno(err, HF_SYSTEM, errno, "cannot create a timer");
        goto free_alarm;
    }
    self->poll = (hf__poll){on_readable, self, self->fd, false};
    /* Not by a task: the loop thread may be waiting for a mutex of ours. */
    rc = hf__poll_watch(hf__loop_poller(loop), &self->poll, HF__POLL_IN);
    if (rc != 0) {
        hf__fail_errno(err, HF_SYSTEM, rc, "cannot watch a timer");
        goto close_fd;
    }
    *alarm = self;
    return HF_OK;

close_fd:
    close(self->fd);
free_alarm:
    hf__free(self);
    return status;
}

void hf__alarm_set(hf__alarm *alarm, int64_t at_ms)
{
    struct itimerspec at = {.it_value = {0, 0}};
    int rc;

    if (at_ms < 1)
        at_ms = 1; /* zero would turn it off */
    if (at_ms != INT64_MAX) {
        at.it_value.tv_sec = (time_t)(at_ms / 1000);
        at.it_value.tv_nsec = (long)(at_ms % 1000) * 1000000;
    }
    __atomic_add_fetch(&alarm->sets, 1, __ATOMIC_RELEASE);
    rc = timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME, &at, NULL);
    assert(rc == 0);
    (void)rc;
}

void hf__alarm_free(hf__alarm *alarm)
{
    if (alarm == NULL)
        return;
    if (alarm->fork_generation == hf__fork_generation()) {
        assert(!hf__loop_here(alarm->loop));
        alarm->task.run = close_poll;
        hf__loop_call(alarm->loop, &alarm->task);
    }
    close(alarm->fd);
    hf__free(alarm);
}
