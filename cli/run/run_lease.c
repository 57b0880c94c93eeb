/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_lease.c - the lock of `run`.
 *
 * Opening the store blocks, so it and the acquire run on a thread, and the
 * main thread handles signals. If a signal ends the wait, the acquire is
 * cancelled: it leaves the wait queue, and a lock that is granted meanwhile is
 * released, so that the name is not blocked for a whole lease.
 */
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "holder_text.h"
#include "holdfast/election.h"
#include "holdfast/redisson.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "lease_clock.h"

/* Lost, for a reason not known yet; short, since the command must be stopped.
 */
#define REASON_WAIT_MS 20

/* How long a signal waits for the cancelled acquire to end; the library needs
 * at most 200 ms if the store does not answer. */
#define CANCEL_WAIT_MS 300

/* The same while a job is ended: one more request, of 5 s unless the store's
 * URL says otherwise. */
#define END_WAIT_MS 30000

/* By then a release that the library does not wait for has been sent. */
#define UNDO_WAIT_MS 20

static void raise_flag(int fd)
{
    uint64_t one = 1;

    /* Cannot fail: the counter is far below its limit. */
    (void)!write(fd, &one, sizeof(one));
}

/* On the library's thread. */
static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    struct lease *lease = user;

    (void)lock;
    atomic_store(&lease->lost, (int)reason);
    raise_flag(lease->lost_fd);
}

static hf_status make_lock(struct lease *lease, const char *name,
                           hf_lock **lock)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;

    options.ttl_ms = lease->plan->ttl_ms;
    options.max_hold_ms = lease->plan->max_hold_ms;
    options.priority = lease->plan->priority;
    options.min_hold_ms = lease->plan->min_hold_ms;
    options.delay_ms = lease->plan->delay_ms;
    options.lost_margin_ms = lease->plan->margin_ms;
    options.on_lost = on_lost;
    options.user = lease;
    if (lease->plan->claims)
        return hf_once_new(lease->client, hf_str(name), &lease->plan->claim,
                           &options, lock, &lease->err);
    if (lease->plan->takes_jobs)
        return hf_queue_new(lease->client, hf_str(name), &options, lock,
                            &lease->err);
    if (lease->plan->text != NULL)
        return hf_election_new(lease->client, hf_str(name),
                               hf_str(lease->plan->text), &options, lock,
                               &lease->err);
    if (lease->plan->redisson)
        return hf_redisson_lock_new(lease->client, hf_str(name),
                                    lease->plan->redisson_kind, &options, lock,
                                    &lease->err);
    if (lease->plan->permits > 0)
        return hf_semaphore_new(lease->client, hf_str(name),
                                lease->plan->permits, &options, lock,
                                &lease->err);
    if (lease->plan->shared)
        return hf_rwlock_new(lease->client, hf_str(name), 0, &options, lock,
                             NULL, &lease->err);
    return hf_lock_new(lease->client, hf_str(name), &options, lock,
                       &lease->err);
}

static hf_status make_locks(struct lease *lease)
{
    hf_status status = HF_OK;

    while (status == HF_OK && lease->count < lease->plan->name_count) {
        status = make_lock(lease, lease->plan->names[lease->count],
                           &lease->locks[lease->count]);
        lease->count += status == HF_OK;
    }
    return status;
}

/* In the dispatch of acquire_thread(). */
static void on_acquired(void *user, hf_status status, const hf_error *err)
{
    struct lease *lease = user;

    lease->status = status;
    if (status != HF_OK)
        lease->err = *err;
    if (status == HF_WRONG_TYPE)
        holder_name_type(lease->locks, lease->count, &lease->err);
    raise_flag(lease->done_fd);
}

/* Of those that are held, the first. */
static void say_holder(const struct lease *lease)
{
    const struct run_plan *plan = lease->plan;
    char text[HOLDER_TEXT_SIZE] = "";
    size_t i = 0;

    while (i < plan->name_count && text[0] == '\0')
        holder_find(lease->client, hf_str(plan->names[i++]), text);
    if (text[0] != '\0')
        notice(run_verb, "waiting for %s \"%s\": %s", plan->what,
               plan->names[i - 1], text);
}

/* Dispatch until on_acquired() was called. */
static hf_status await_acquire(struct lease *lease, hf_call *call)
{
    struct pollfd watched[2] = {{-1, POLLIN, 0}, {lease->cancel_fd, POLLIN, 0}};
    hf_status status = hf_client_fd(lease->client, &watched[0].fd, &lease->err);
    int64_t began_ms = now_ms();
    bool says = lease->plan->says_holder;
    size_t said = 0;

    while (status == HF_OK && !lease_is_done(lease)) {
        int ms = says ? holder_ms_to_say(began_ms, said) : -1;

        if (poll(watched, 2, ms) == 0) {
            say_holder(lease);
            said++;
        }
        if ((watched[1].revents & POLLIN) != 0) {
            hf_call_cancel(call);
            watched[1].fd = -1;
        }
        status = hf_client_dispatch(lease->client, NULL, &lease->err);
    }
    return status;
}

static void clear_loss(struct lease *lease)
{
    uint64_t count;

    (void)!read(lease->lost_fd, &count, sizeof(count));
    atomic_store(&lease->lost, (int)HF_OK);
}

/* Afterwards on_lost() is not called any more. */
static void drop_lost(struct lease *lease)
{
    while (lease->count > 0)
        hf_lock_free(lease->locks[--lease->count]);
    clear_loss(lease);
}

/* The handle that takes jobs is kept. */
static hf_status open_lock(struct lease *lease)
{
    hf_status status = HF_OK;

    if (lease->client == NULL)
        status = call_open(lease->plan->call, &lease->client, &lease->err);
    else if (!lease->plan->takes_jobs)
        drop_lost(lease);
    return status == HF_OK ? make_locks(lease) : status;
}

static hf_status start_acquire(struct lease *lease, const hf_async *async)
{
    int64_t wait_ms = lease->plan->wait_ms;

    if (lease->plan->takes_jobs)
        return hf_queue_next_start(lease->locks[0], lease->outcome,
                                   lease->delay_ms, wait_ms, async,
                                   &lease->err);
    return hf_lock_acquire_all_start(lease->locks, lease->count, wait_ms, async,
                                     &lease->err);
}

static void *acquire_thread(void *user)
{
    struct lease *lease = user;
    hf_async async = HF_ASYNC_INIT;
    hf_call *call = NULL;
    hf_status status = open_lock(lease);

    async.done = on_acquired;
    async.user = lease;
    async.call = &call;
    if (status == HF_OK)
        status = start_acquire(lease, &async);
    if (status == HF_OK)
        status = await_acquire(lease, call);
    if (status != HF_OK) {
        lease->status = status;
        raise_flag(lease->done_fd);
    }
    return NULL;
}

static int start_thread(struct lease *lease)
{
    int failed = pthread_create(&lease->thread, NULL, acquire_thread, lease);

    if (failed == 0)
        return EXIT_YES;
    complain(run_verb, "pthread_create: %s", strerror(failed));
    return EXIT_SYSTEM;
}

int lease_begin(struct lease *lease, const struct run_plan *plan)
{
    lease->plan = plan;
    lease->err = (hf_error)HF_ERROR_INIT;
    lease->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lease->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lease->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lease->done_fd < 0 || lease->lost_fd < 0 || lease->cancel_fd < 0) {
        complain(run_verb, "eventfd: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    return start_thread(lease);
}

int lease_begin_again(struct lease *lease)
{
    uint64_t count;

    (void)!read(lease->done_fd, &count, sizeof(count));
    lease->err = (hf_error)HF_ERROR_INIT;
    return start_thread(lease);
}

bool lease_is_done(const struct lease *lease)
{
    struct pollfd flag = {lease->done_fd, POLLIN, 0};

    return poll(&flag, 1, 0) == 1;
}

/* A loss that was reported is of the job before. If the new one is lost by now,
 * lease_lost() sees that it is not valid. */
void lease_join(struct lease *lease)
{
    pthread_join(lease->thread, NULL);
    if (lease->plan->takes_jobs)
        clear_loss(lease);
}

void lease_cancel(struct lease *lease)
{
    struct pollfd done = {lease->done_fd, POLLIN, 0};

    raise_flag(lease->cancel_fd);
    if (poll(&done, 1, lease->ends_job ? END_WAIT_MS : CANCEL_WAIT_MS) != 1)
        return; /* it opens a store that does not answer */
    lease_join(lease);
    /* A lock that is not released expires. */
    if (lease->status == HF_OK && lease_release(lease, NULL) != HF_OK)
        return;
    if (lease->status == HF_INDETERMINATE)
        (void)poll(NULL, 0, UNDO_WAIT_MS);
}

/* Of the lock that ends first. */
static int64_t remaining_ms(const struct lease *lease)
{
    int64_t least_ms = INT64_MAX;

    for (size_t i = 0; i < lease->count; i++) {
        int64_t left_ms = hf_lock_remaining_ms(lease->locks[i]);

        least_ms = left_ms < least_ms ? left_ms : least_ms;
    }
    return least_ms;
}

hf_status lease_lost(const struct lease *lease)
{
    struct pollfd lost = {lease->lost_fd, POLLIN, 0};
    int reason = atomic_load(&lease->lost);

    if (reason != HF_OK)
        return (hf_status)reason;
    if (remaining_ms(lease) > 0)
        return HF_OK;
    /* The library's thread is about to report why; after a pause of the whole
     * process it may be late. */
    (void)poll(&lost, 1, REASON_WAIT_MS);
    reason = atomic_load(&lease->lost);
    return reason != HF_OK ? (hf_status)reason : HF_INDETERMINATE;
}

int64_t lease_valid_until_ms(const struct lease *lease)
{
    /* In this order: if we are paused between the two, the result is too
     * early. */
    int64_t at_ms = now_ms();

    return at_ms + remaining_ms(lease) + lease->plan->margin_ms;
}

/* The words of all locks; `word` writes one of at most HF_OWNER_SIZE bytes. */
static char *words_of(const struct lease *lease,
                      void (*word)(const hf_lock *lock, char *text))
{
    char *text = malloc(lease->count * (HF_OWNER_SIZE + 1));
    size_t size = 0;

    for (size_t i = 0; text != NULL && i < lease->count; i++) {
        if (i > 0)
            text[size++] = ' ';
        word(lease->locks[i], text + size);
        size += strlen(text + size);
    }
    return text;
}

static void write_token(const hf_lock *lock, char *text)
{
    (void)snprintf(text, HF_OWNER_SIZE, "%" PRIu64, hf_lock_token(lock));
}

char *lease_tokens(const struct lease *lease)
{
    return words_of(lease, write_token);
}

char *lease_owners(const struct lease *lease)
{
    return words_of(lease, hf_lock_owner);
}

/* One that was lost says more than one whose release failed. */
hf_status lease_release(struct lease *lease, hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < lease->count; i++) {
        hf_error one = HF_ERROR_INIT;
        hf_status released = hf_lock_release(lease->locks[i], &one);
        bool lost = released == HF_LOST || released == HF_EXPIRED;

        if (released == HF_OK || (status != HF_OK && !lost))
            continue;
        status = released;
        if (err != NULL)
            *err = one;
    }
    return status;
}

void lease_close(struct lease *lease)
{
    for (size_t i = 0; i < lease->count; i++)
        hf_lock_free(lease->locks[i]);
    hf_client_close(lease->client);
    close(lease->done_fd);
    close(lease->cancel_fd);
    close(lease->lost_fd);
}
