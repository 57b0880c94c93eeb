/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_epoll.c - asynchronous calls in an epoll(7) loop: wait for a lock, and
 * count under it, while the loop serves its own timer.
 *
 *     ./loop_epoll [STORE]
 */
#include <holdfast/loop/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "example.h"

typedef struct job {
    hf_client *client;
    hf_lock *lock;
    int64_t count;
    bool done;
} job;

static hf_async then(job *self, hf_done_fn done)
{
    hf_async async = HF_ASYNC_INIT;

    async.done = done;
    async.user = self;
    return async;
}

static void released(void *user, hf_status status, const hf_error *err)
{
    job *self = user;

    need(status, err);
    printf("counted to %d\n", (int)self->count);
    self->done = true;
}

static void counted(void *user, hf_status status, const hf_error *err)
{
    job *self = user;
    hf_async async = then(self, released);
    hf_error failure = HF_ERROR_INIT;

    need(status, err);
    need(hf_lock_release_start(self->lock, &async, &failure), &failure);
}

static void acquired(void *user, hf_status status, const hf_error *err)
{
    job *self = user;
    hf_async async = then(self, counted);
    hf_error failure = HF_ERROR_INIT;

    need(status, err);
    need(hf_value_add_start(self->client, hf_str("count"), 1, NULL,
                            &self->count, &async, &failure),
         &failure);
}

int main(int argc, char **argv)
{
    const struct itimerspec every_10_ms = {{0, 10000000}, {0, 10000000}};
    job self = {open_store(argc, argv), NULL, 0, false};
    hf_async async = then(&self, acquired);
    hf_error err = HF_ERROR_INIT;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_data_t completions = {.fd = -1};
    uint64_t ticks;

    event.data.fd = timer;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event) != 0)
        return 1;
    timerfd_settime(timer, 0, &every_10_ms, NULL);
    need(hf_epoll_attach(epoll, self.client, completions, &err), &err);

    need(hf_lock_new(self.client, hf_str("job"), NULL, &self.lock, &err), &err);
    need(hf_lock_acquire_start(self.lock, 10000, &async, &err), &err);
    while (!self.done && epoll_wait(epoll, &event, 1, -1) >= 0) {
        if (event.data.fd != timer)
            need(hf_client_dispatch(self.client, NULL, &err), &err);
        else if (read(timer, &ticks, sizeof(ticks)) < 0)
            perror("timerfd"); /* the loop's own work is here */
    }
    hf_lock_free(self.lock);
    need(hf_epoll_detach(epoll, self.client, &err), &err);
    hf_client_close(self.client);
    close(timer);
    close(epoll);
}
