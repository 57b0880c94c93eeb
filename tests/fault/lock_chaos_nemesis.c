/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_chaos_nemesis.c - faults of workers, connections, disks and clocks; one
 * at a time, and a worker may be hurt during any other. Owns the time line.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lock_chaos.h"

#define NS_PER_MS 1000000

/* ---------------------------------------------------------------- time line */

size_t fault_begin(const char *format, ...)
{
    size_t i = shared->fault_count < FAULTS_MAX ? shared->fault_count++
                                                : FAULTS_MAX - 1;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(shared->faults[i].text, sizeof(shared->faults[i].text),
                    format, arguments);
    va_end(arguments);
    shared->faults[i].from_ns = history_now_ns();
    return i;
}

void fault_end(size_t i)
{
    shared->faults[i].to_ns = history_now_ns();
}

void lapse_begin(lapse_kind kind)
{
    lapse *it = &shared->lapses[shared->lapse_count++ % LAPSES_MAX];

    *it = (lapse){kind, history_now_ns(), 0};
}

void lapse_end(void)
{
    lapse *it = &shared->lapses[(shared->lapse_count - 1) % LAPSES_MAX];

    it->to_ns = history_now_ns();
    if (it->kind == LAST_LOST)
        atomic_fetch_add(&shared->epoch, 1);
}

void rest_ms(size_t ms)
{
    struct timespec span = {(time_t)(ms / 1000), (long)(ms % 1000) * NS_PER_MS};

    (void)nanosleep(&span, NULL);
}

/* ------------------------------------------------------------------ workers */

static void kill_worker(nemesis_state *self)
{
    size_t i = prng_below(&self->random, WORKERS);
    size_t at = fault_begin("kill -9 worker %zu", i);

    worker_kill(i);
    rest_ms(prng_below(&self->random, 300));
    if (!worker_start(self->at, self->round, i))
        perror("fork");
    fault_end(at);
}

static void stop_worker(nemesis_state *self)
{
    size_t i = prng_below(&self->random, WORKERS);
    size_t at;

    if (shared->pids[i] <= 0)
        return;
    at = fault_begin("stop worker %zu", i);
    (void)kill(shared->pids[i], SIGSTOP);
    rest_ms(TTL_MS / 5 + prng_below(&self->random, 2 * TTL_MS));
    (void)kill(shared->pids[i], SIGCONT);
    fault_end(at);
}

static rlim_t descriptors_of(pid_t pid)
{
    char path[64];
    rlim_t count = 0;
    DIR *entries;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    entries = opendir(path);
    while (entries != NULL && readdir(entries) != NULL)
        count++;
    if (entries != NULL)
        (void)closedir(entries);
    return count;
}

/* It can open none until then. */
static void exhaust_descriptors(nemesis_state *self)
{
    size_t i = prng_below(&self->random, WORKERS);
    struct rlimit before, none;
    size_t at = fault_begin("no descriptors for worker %zu", i);

    if (shared->pids[i] > 0 &&
        prlimit(shared->pids[i], RLIMIT_NOFILE, NULL, &before) == 0) {
        none = before;
        none.rlim_cur = descriptors_of(shared->pids[i]) - 2;
        (void)prlimit(shared->pids[i], RLIMIT_NOFILE, &none, NULL);
        for (size_t k = 0; k < self->at->proxy_count; k++)
            byte_proxy_break(self->at->proxies[k], BYTE_END_RESET);
        rest_ms(prng_below(&self->random, 2 * TTL_MS));
        (void)prlimit(shared->pids[i], RLIMIT_NOFILE, &before, NULL);
    }
    fault_end(at);
}

static void hurt_worker(nemesis_state *self)
{
    if (prng_chance(&self->random, 45))
        kill_worker(self);
    else
        stop_worker(self);
}

/* Mostly short, so that there are many. */
static size_t some_ms(nemesis_state *self, size_t most_ms)
{
    size_t limit_ms = prng_chance(&self->random, 70) ? most_ms / 8 : most_ms;

    return prng_below(&self->random, limit_ms + 1);
}

void meanwhile(nemesis_state *self, size_t most_ms)
{
    rest_ms(some_ms(self, most_ms / 2));
    if (prng_chance(&self->random, 30))
        hurt_worker(self);
    else
        rest_ms(some_ms(self, most_ms / 2));
}

/* -------------------------------------------------------------- connections */

static void cut(nemesis_state *self, byte_proxy *proxy)
{
    byte_end end = (byte_end)prng_below(&self->random, BYTE_END_HALF + 1);

    if (prng_chance(&self->random, 50))
        byte_proxy_break(proxy, end);
    else
        byte_proxy_cut(proxy, (byte_way)prng_below(&self->random, 2),
                       prng_below(&self->random, 2000), end);
}

static void delay(nemesis_state *self, byte_proxy *proxy)
{
    byte_proxy_delay(proxy, (byte_way)prng_below(&self->random, 2),
                     1 + (int64_t)prng_below(&self->random, 400));
}

static void freeze(nemesis_state *self, byte_proxy *proxy)
{
    (void)self;
    byte_proxy_freeze(proxy);
}

static void darken(nemesis_state *self, byte_proxy *proxy)
{
    (void)self;
    byte_proxy_darken(proxy);
}

static void swallow(nemesis_state *self, byte_proxy *proxy)
{
    byte_proxy_swallow(proxy, (byte_way)prng_below(&self->random, 2));
}

static void refuse(nemesis_state *self, byte_proxy *proxy)
{
    (void)self;
    byte_proxy_refuse(proxy, true);
    byte_proxy_break(proxy, BYTE_END_RESET);
}

/* What was swallowed is missing on a connection, so none may continue. */
static void mend_network(const chaos_place *at, bool swallowed)
{
    for (size_t i = 0; i < at->proxy_count; i++) {
        if (swallowed)
            byte_proxy_break(at->proxies[i], BYTE_END_RESET);
        byte_proxy_refuse(at->proxies[i], false);
        byte_proxy_heal(at->proxies[i]);
    }
}

/* Of one proxy, or of several. */
static void break_network(nemesis_state *self)
{
    static const struct {
        const char *name;
        void (*inflict)(nemesis_state *, byte_proxy *);
    } ways[] = {{"cut", cut},         {"delay", delay},
                {"freeze", freeze},   {"black hole", darken},
                {"swallow", swallow}, {"refuse", refuse}};
    size_t way = prng_below(&self->random, sizeof(ways) / sizeof(ways[0]));
    size_t first = prng_below(&self->random, self->at->proxy_count);
    size_t count = 1 + prng_below(&self->random, self->at->proxy_count);
    size_t at =
        fault_begin("network: %s, %zu from %zu", ways[way].name, count, first);

    for (size_t i = 0; i < count; i++)
        ways[way].inflict(
            self, self->at->proxies[(first + i) % self->at->proxy_count]);
    meanwhile(self, 2 * TTL_MS);
    mend_network(self->at, ways[way].inflict == swallow);
    fault_end(at);
}

/* ------------------------------------------------------------ disk and clock
 */

static void fill_disk(nemesis_state *self)
{
    static char noise[65536];
    char path[96];
    size_t at;
    int fd;

    if (!self->at->own_disk)
        return;
    at = fault_begin("disk full");
    (void)snprintf(path, sizeof(path), "%s/ballast", self->at->folder);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    while (fd >= 0 && write(fd, noise, sizeof(noise)) > 0)
        continue;
    meanwhile(self, 2 * TTL_MS);
    if (fd >= 0)
        (void)close(fd);
    (void)unlink(path);
    fault_end(at);
}

static void set_clock(nemesis_state *self, int64_t by_ms)
{
    size_t at = fault_begin("clock %+lld ms", (long long)by_ms);

    if (by_ms > 0)
        lapse_begin(LAPSED);
    wall_clock_step(self->at->clock, by_ms);
    if (by_ms > 0)
        lapse_end();
    fault_end(at);
}

static void step_clock(nemesis_state *self)
{
    int64_t by_ms = 1 + (int64_t)prng_below(&self->random, 4 * TTL_MS);

    if (self->sets_back && prng_chance(&self->random, 60))
        by_ms = -by_ms;
    self->offset_ms += by_ms;
    if (self->offset_ms > self->highest_ms)
        self->highest_ms = self->offset_ms;
    set_clock(self, by_ms);
}

/* ----------------------------------------------------------------- schedule */

#define ALL (~0u)
#define EMBEDDED (1u << VOLATILE | 1u << ON_DISK)
#define PROXIED (1u << SINGLE | 1u << QUORUM)

static const chaos_fault own_faults[] = {
    {ALL, kill_worker},         {ALL, stop_worker},
    {ALL, hurt_worker},         {ALL, exhaust_descriptors},
    {PROXIED, break_network},   {PROXIED, break_network},
    {1u << ON_DISK, fill_disk}, {EMBEDDED | PROXIED, step_clock},
};
#define OWN_FAULT_COUNT (sizeof(own_faults) / sizeof(own_faults[0]))

static void inflict_one(nemesis_state *self)
{
    const chaos_fault *it;

    do {
        size_t i =
            prng_below(&self->random, OWN_FAULT_COUNT + server_fault_count);

        it = i < OWN_FAULT_COUNT ? &own_faults[i]
                                 : &server_faults[i - OWN_FAULT_COUNT];
    } while ((it->kinds & 1u << self->at->kind) == 0);
    it->inflict(self);
}

bool nemesis(chaos_place *at, unsigned round, int64_t until_ms)
{
    nemesis_state self = {.at = at, .round = round};

    if (at->sentinel != NULL)
        at->master = redis_sentinel_master(at->sentinel);
    self.random = prng_of(options.seed, round, 0);
    self.sets_back = prng_chance(&self.random, 30);
    while (history_now_ns() / NS_PER_MS < until_ms && !self.skip &&
           atomic_load(&shared->odd) == 0 &&
           atomic_load(&shared->used) < RECORDS_MAX) {
        inflict_one(&self);
        rest_ms(prng_below(&self.random, 200));
    }
    if (self.offset_ms < self.highest_ms)
        set_clock(&self, self.highest_ms - self.offset_ms);
    if (!self.skip && !masters_are_expected(at)) {
        printf("%s, round %u: not counted: another master\n", at->name, round);
        self.skip = true;
    }
    return !self.skip;
}
