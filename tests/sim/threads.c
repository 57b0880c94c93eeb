/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - coroutines in place of threads, and util/cond.h for them. They
 * change only where a thread would sleep, with no mutex of ours held. */
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#include "sim.h"
#include "util/clock.h"
#include "util/cond.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define LEAVE(keep, to, size) __sanitizer_start_switch_fiber(keep, to, size)
#define ARRIVE(kept, from, size)                                               \
    __sanitizer_finish_switch_fiber(kept, from, size)
#else
#define LEAVE(keep, to, size) ((void)(keep), (void)(to), (void)(size))
#define ARRIVE(kept, from, size) ((void)(kept), (void)(from), (void)(size))
#endif

#define STACK (256 * 1024)

struct actor {
    ucontext_t here;
    ucontext_t back;
    client *of;
    void (*run)(void *user);
    void *user;
    int64_t until_ms;
    const pthread_cond_t *cond; /* that it waits for; NULL: none */
    bool woken;
    bool ended;
    actor *next;
    const void *main_stack;
    size_t main_size;
    void *fake; /* the sanitizer's */
    char *stack;
};

actor *sim_actor;
static actor *actors;

static void body(unsigned high, unsigned low)
{
    actor *self = (actor *)(uintptr_t)((uint64_t)high << 32 | low);

    ARRIVE(NULL, &self->main_stack, &self->main_size);
    self->run(self->user);
    self->ended = true;
    LEAVE(NULL, self->main_stack, self->main_size);
    (void)swapcontext(&self->here, &self->back);
}

actor *sim_actor_new(client *of, void (*run)(void *user), void *user)
{
    actor *self = calloc(1, sizeof(*self));
    uint64_t bits = (uint64_t)(uintptr_t)self;

    if (self == NULL || (self->stack = malloc(STACK)) == NULL)
        abort();
    self->of = of;
    self->run = run;
    self->user = user;
    self->woken = true;
    self->until_ms = INT64_MAX;
    self->next = actors;
    actors = self;
    (void)getcontext(&self->here);
    self->here.uc_stack.ss_sp = self->stack;
    self->here.uc_stack.ss_size = STACK;
    makecontext(&self->here, (void (*)(void))body, 2, (unsigned)(bits >> 32),
                (unsigned)bits);
    return self;
}

void sim_actor_free(actor *self)
{
    actor **at = &actors;

    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    free(self->stack);
    free(self);
}

void sim_actor_run(actor *self)
{
    void *fake = NULL;

    self->woken = false;
    sim_actor = self;
    sim_client = self->of;
    LEAVE(&fake, self->stack, STACK);
    (void)swapcontext(&self->back, &self->here);
    ARRIVE(fake, NULL, NULL);
    sim_actor = NULL;
    sim_client = NULL;
}

void sim_wait(int64_t until_ms)
{
    actor *self = sim_actor;

    self->until_ms = until_ms;
    LEAVE(&self->fake, self->main_stack, self->main_size);
    (void)swapcontext(&self->here, &self->back);
    ARRIVE(self->fake, &self->main_stack, &self->main_size);
    self->until_ms = INT64_MAX;
}

void sim_actor_wake(actor *self)
{
    self->woken = true;
}

int64_t sim_actor_until(const actor *self)
{
    if (self->ended || self->until_ms == INT64_MAX)
        return INT64_MAX;
    return self->until_ms + self->of->slept_us / 1000;
}

bool sim_actor_due(const actor *self)
{
    return !self->ended &&
           (self->woken || sim_actor_until(self) <= sim_now_ms());
}

bool sim_actor_ended(const actor *self)
{
    return self->ended;
}

client *sim_actor_client(const actor *self)
{
    return self->of;
}

/* -------------------------------------------------------------- conditions */

void hf__cond_init(pthread_cond_t *cond)
{
    pthread_cond_init(cond, NULL);
}

void hf__cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                         int64_t until_ms)
{
    if (sim_actor == NULL) {
        check_fail("the program waits for itself");
        abort();
    }
    sim_actor->cond = cond;
    pthread_mutex_unlock(mutex);
    sim_wait(until_ms);
    pthread_mutex_lock(mutex);
    sim_actor->cond = NULL;
}

static int wake(const pthread_cond_t *cond, bool all)
{
    for (actor *at = actors; at != NULL; at = at->next) {
        if (at->cond != cond || at->woken)
            continue;
        at->woken = true;
        if (!all)
            break;
    }
    return 0;
}

/* In place of the C library's, which would find no one. */
int pthread_cond_broadcast(pthread_cond_t *cond)
{
    return wake(cond, true);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    return wake(cond, false);
}
