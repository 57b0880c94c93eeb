/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll.c - epoll, and a list of instants.
 *
 * A turn calls back for all events of epoll_wait(), then for the instants that
 * have come. What a callback stops is removed from the rest of the turn, so its
 * memory may be freed immediately. The list is searched linearly: it has one
 * entry for each connection.
 */
#include "util/poll.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"

int hf__poller_open(hf__poller *poller)
{
    memset(poller, 0, sizeof(*poller));
    poller->fd = epoll_create1(EPOLL_CLOEXEC);
    return poller->fd < 0 ? errno : 0;
}

void hf__poller_close(hf__poller *poller)
{
    close(poller->fd);
}

/* -------------------------------------------------------------- descriptors */

static struct epoll_event event_of(hf__poll *poll, int events)
{
    struct epoll_event event = {.data.ptr = poll};

    if ((events & HF__POLL_IN) != 0)
        event.events |= EPOLLIN;
    if ((events & HF__POLL_OUT) != 0)
        event.events |= EPOLLOUT;
    return event;
}

void hf__poll_change(hf__poller *poller, hf__poll *poll, int events)
{
    struct epoll_event event = event_of(poll, events);

    (void)epoll_ctl(poller->fd, EPOLL_CTL_MOD, poll->fd, &event);
}

int hf__poll_watch(hf__poller *poller, hf__poll *poll, int events)
{
    struct epoll_event event = event_of(poll, events);
    bool added = poll->added;
    int rc;

    /* Before: on another thread, the callback may stop it at once. */
    poll->added = true;
    rc = epoll_ctl(poller->fd, added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, poll->fd,
                   &event);
    if (rc == 0)
        return 0;
    rc = errno;
    poll->added = added;
    return rc;
}

static void remove_from_kernel(hf__poller *poller, hf__poll *poll)
{
    struct epoll_event event = {.events = 0};

    if (poll->added)
        (void)epoll_ctl(poller->fd, EPOLL_CTL_DEL, poll->fd, &event);
    poll->added = false;
}

void hf__poll_stop(hf__poller *poller, hf__poll *poll)
{
    remove_from_kernel(poller, poll);
    for (int i = 0; i < poller->batch_size; i++) {
        if (poller->batch[i].data.ptr == poll)
            poller->batch[i].data.ptr = NULL;
    }
}

static void call_ready(hf__poller *poller, hf__poll *poll, uint32_t told)
{
    int events = 0;

    if ((told & (EPOLLIN | EPOLLHUP)) != 0)
        events |= HF__POLL_IN;
    if ((told & (EPOLLOUT | EPOLLHUP)) != 0)
        events |= HF__POLL_OUT;
    if ((told & EPOLLERR) != 0) {
        /* It would be reported repeatedly. */
        remove_from_kernel(poller, poll);
        events = HF__POLL_IN | HF__POLL_OUT | HF__POLL_ERROR;
    }
    poll->ready(poll, events);
}

/* ----------------------------------------------------------------- instants */

static void put_tick(hf__tick **list, hf__tick *tick)
{
    tick->next = *list;
    if (tick->next != NULL)
        tick->next->link = &tick->next;
    tick->link = list;
    *list = tick;
}

void hf__tick_stop(hf__tick *tick)
{
    if (tick->link == NULL)
        return;
    *tick->link = tick->next;
    if (tick->next != NULL)
        tick->next->link = tick->link;
    tick->link = NULL;
}

void hf__tick_set(hf__poller *poller, hf__tick *tick, int64_t at_ms)
{
    hf__tick_stop(tick);
    tick->at_ms = at_ms;
    put_tick(&poller->ticks, tick);
}

static int wait_ms(const hf__poller *poller)
{
    int64_t first_ms = INT64_MAX, now_ms;

    for (const hf__tick *tick = poller->ticks; tick != NULL; tick = tick->next)
        first_ms = tick->at_ms < first_ms ? tick->at_ms : first_ms;
    if (first_ms == INT64_MAX)
        return -1;
    now_ms = hf__clock_boot_ms();
    if (first_ms <= now_ms)
        return 0;
    return first_ms - now_ms < INT_MAX ? (int)(first_ms - now_ms) : INT_MAX;
}

/* One set by such a callback is called after the next descriptors. */
static void ring_all(hf__poller *poller)
{
    int64_t now_ms = hf__clock_boot_ms();
    hf__tick *due = NULL, *next;

    for (hf__tick *tick = poller->ticks; tick != NULL; tick = next) {
        next = tick->next;
        if (tick->at_ms > now_ms)
            continue;
        hf__tick_stop(tick);
        put_tick(&due, tick);
    }
    while (due != NULL) {
        hf__tick *tick = due;

        hf__tick_stop(tick);
        tick->ring(tick);
    }
}

/* -------------------------------------------------------------------- turns */

void hf__poller_turn(hf__poller *poller)
{
    int size =
        epoll_wait(poller->fd, poller->batch, HF__POLL_BATCH, wait_ms(poller));

    poller->batch_size = size > 0 ? size : 0;
    for (int i = 0; i < poller->batch_size; i++) {
        hf__poll *poll = poller->batch[i].data.ptr;

        if (poll != NULL)
            call_ready(poller, poll, poller->batch[i].events);
    }
    poller->batch_size = 0;
    ring_all(poller);
}
