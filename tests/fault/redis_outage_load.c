/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_outage_load.c - the load of redis_outage.c and its audit.
 *
 * A quarter of the threads each: increments by a script that must not be
 * repeated; locks with a critical section; values, written and read back;
 * compare-and-set. Each increment has a field of its own, so in the end its
 * effect can be seen: what was acknowledged is there once, what was refused is
 * not there, what is HF_INDETERMINATE is there once or not at all. The last may
 * also happen later, out of some buffer on the way: the writer of a value then
 * uses another key, and each key holds what was acknowledged last.
 *
 * Each call is timed. Threads only write their own `worker`.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "redis_outage.h"
#include "support/test_clock.h"

#define LOCKS 4
#define LOCK_WAIT_MS 200

/* Most increments of one thread. */
#define INCREMENTS_MAX 100000

/* The control thread sleeps this long at a time, and keeps the worst of each
 * span. */
#define CONTROL_MS 5
#define SPAN_MS 100
#define SPANS 4096

typedef struct worker {
    struct load *load;
    unsigned number;
    pthread_t thread;
    atomic_ullong counts[LOAD_STATUSES];
    atomic_llong success_ms; /* the last one */
    int64_t late_ns;         /* the most, of all calls */
    unsigned late;           /* calls that ended too late */
    unsigned broken;         /* broken promises */
    uint16_t *outcomes;      /* of its increments: statuses */
    unsigned increments;
    /* the acknowledged number in this thread's key */
    unsigned generation; /* of the key */
    int64_t known;
} worker;

struct load {
    hf_client *client;
    hf_script *incr;
    unsigned threads;
    int64_t late_ns; /* a call may be */
    atomic_bool stop;
    atomic_int allowed;
    _Atomic(const char *) fault;
    atomic_llong worst_ns;       /* past a deadline, since load_name() */
    atomic_ullong tokens[LOCKS]; /* the highest seen */
    worker *workers;
    pthread_t control;
    atomic_llong asleep_ns[SPANS]; /* longer than it wanted to */
};

/* ------------------------------------------------------------------- time */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The second number of a schedstat: ns that a thread waited for a processor. */
static int64_t read_queued(int fd)
{
    char text[96];
    ssize_t size = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    char *second;

    if (size <= 0)
        return 0;
    text[size] = '\0';
    second = strchr(text, ' ');
    return second == NULL ? 0 : strtoll(second, NULL, 10);
}

/* The newest of the library's threads, one a client, which are named
 * "holdfast"; this program is not. */
static int open_loop_stat(void)
{
    char path[64 + 256], name[32];
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    long newest = 0;
    ssize_t size;
    int fd;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        size = fd < 0 ? -1 : read(fd, name, sizeof(name));
        if (fd >= 0)
            close(fd);
        if (size == 9 && memcmp(name, "holdfast\n", 9) == 0 &&
            strtol(entry->d_name, NULL, 10) > newest)
            newest = strtol(entry->d_name, NULL, 10);
    }
    if (dir != NULL)
        closedir(dir);
    snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", newest);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int load_loop = -1;
static _Thread_local int own_loop = -1;

void stopwatch_use_newest(void)
{
    own_loop = open_loop_stat();
}

static int64_t queued_ns(void)
{
    static _Thread_local int own = -1;

    if (own < 0)
        own = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    return read_queued(own) + read_queued(own_loop >= 0 ? own_loop : load_loop);
}

void stopwatch_start(stopwatch *self)
{
    self->queued_ns = queued_ns();
    self->began_ns = now_ns();
}

int64_t stopwatch_read(const stopwatch *self, int64_t *queued)
{
    int64_t took = now_ns() - self->began_ns;

    if (queued != NULL)
        *queued = queued_ns() - self->queued_ns;
    return took;
}

/* A thread that only sleeps: how late it wakes is due to the machine. */
static void *run_control(void *user)
{
    load *self = user;
    struct timespec span = {0, CONTROL_MS * 1000000};

    while (!atomic_load(&self->stop)) {
        int64_t began = now_ns();
        int64_t late;
        atomic_llong *worst;

        nanosleep(&span, NULL);
        late = now_ns() - began - CONTROL_MS * 1000000;
        worst = &self->asleep_ns[now_ns() / 1000000 / SPAN_MS % SPANS];
        if (late > atomic_load(worst))
            atomic_store(worst, late);
    }
    return NULL;
}

/* The worst of it since an instant. */
static int64_t worst_sleep(const load *self, int64_t since_ns)
{
    int64_t first = since_ns / 1000000 / SPAN_MS;
    int64_t last = now_ns() / 1000000 / SPAN_MS;
    int64_t worst = 0;

    for (int64_t span = first; span <= last; span++) {
        int64_t late = atomic_load(&self->asleep_ns[span % SPANS]);

        worst = late > worst ? late : worst;
    }
    return worst;
}

/* ------------------------------------------------------------------ account */

static void broken(worker *self, const char *what, const char *detail)
{
    self->broken++;
    fprintf(stderr, "%s: thread %u: %s: %s\n", atomic_load(&self->load->fault),
            self->number, what, detail);
}

/* Is the status one of an outage, or one that the call may return? */
static bool is_expected(const load *of, hf_status status)
{
    return status == HF_OK || status == HF_UNAVAILABLE ||
           status == HF_INDETERMINATE || status == HF_TIMEOUT ||
           status == HF_LOST || status == HF_EXPIRED ||
           (int)status == atomic_load(&of->allowed);
}

/* A call has returned. */
static hf_status told(worker *self, const char *what, const stopwatch *watch,
                      int64_t wait_ms, hf_status status, const hf_error *err)
{
    int64_t queued;
    int64_t took = stopwatch_read(watch, &queued);
    int64_t late = took - queued - (LOAD_REQUEST_MS + wait_ms) * 1000000;
    char text[400];

    /* It may have waited for another thread of the load on the same lock. */
    if (late > self->load->late_ns)
        late -= worst_sleep(self->load, watch->began_ns);
    atomic_fetch_add(&self->counts[status < LOAD_STATUSES ? status : 0], 1);
    if (status == HF_OK)
        atomic_store(&self->success_ms, test_now_ms());
    if (late > self->late_ns)
        self->late_ns = late;
    if (late > atomic_load(&self->load->worst_ns))
        atomic_store(&self->load->worst_ns, late);
    if (late > self->load->late_ns) {
        self->late++;
        snprintf(text, sizeof(text), "%s took %lld ms, %lld of them queued: %s",
                 hf_status_name(status), (long long)(took / 1000000),
                 (long long)(queued / 1000000),
                 status == HF_OK ? "" : err->message);
        broken(self, what, text);
    }
    if (!is_expected(self->load, status))
        broken(self, what, err->message);
    return status;
}

/* ------------------------------------------------------------------- calls */

static void increment(worker *self)
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    char name[16], field[16];
    hf_bytes key, argument;
    stopwatch watch;
    hf_status status;

    if (self->increments == INCREMENTS_MAX)
        return;
    snprintf(name, sizeof(name), "count%u", self->number);
    snprintf(field, sizeof(field), "%u", self->increments);
    key = hf_str(name);
    argument = hf_str(field);
    stopwatch_start(&watch);
    status =
        hf_script_run(self->load->incr, &key, 1, &argument, 1, &reply, &err);
    told(self, "increment", &watch, 0, status, &err);
    self->outcomes[self->increments++] = (uint16_t)status;
    hf_reply_free(reply);
}

/* No holder of the lock has a token below one that was seen before. */
static void check_token(worker *self, const hf_lock *lock, unsigned which)
{
    atomic_ullong *highest = &self->load->tokens[which];
    unsigned long long seen = atomic_load(highest);
    uint64_t token = hf_lock_token(lock);

    if (token <= seen && hf_lock_is_held(lock))
        broken(self, "lock", "a token was issued twice, or decreased");
    while (token > seen && !atomic_compare_exchange_weak(highest, &seen, token))
        continue;
}

static void use_lock(worker *self, hf_lock *const *locks, unsigned turn)
{
    hf_lock *lock = locks[turn % LOCKS];
    hf_error err = HF_ERROR_INIT;
    stopwatch watch;
    hf_status status;

    stopwatch_start(&watch);
    status = hf_lock_acquire(lock, LOCK_WAIT_MS, &err);
    if (told(self, "acquire", &watch, LOCK_WAIT_MS, status, &err) != HF_OK)
        return;
    check_token(self, lock, turn % LOCKS);
    test_rest();
    stopwatch_start(&watch);
    status = hf_lock_release(lock, &err);
    told(self, "release", &watch, 0, status, &err);
}

static void name_key(const worker *self, char name[32])
{
    snprintf(name, 32, "value%u.%u", self->number, self->generation);
}

/* Is what was acknowledged there? */
static void look(worker *self)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    char name[32];
    stopwatch watch;
    hf_status status;

    name_key(self, name);
    stopwatch_start(&watch);
    status = hf_value_get(self->load->client, hf_str(name), &value, &err);
    if (told(self, "get", &watch, 0, status, &err) != HF_OK)
        return;
    if (strtoll(value.data, NULL, 10) != self->known)
        broken(self, name, "differs from what was acknowledged");
    hf_buffer_free(&value);
}

/* The outcome of writing the next number. */
static void written(worker *self, hf_status status)
{
    if (status == HF_OK)
        self->known++;
    if (status != HF_INDETERMINATE)
        return;
    self->generation++;
    self->known = 0;
}

static void write_value(worker *self)
{
    hf_error err = HF_ERROR_INIT;
    char name[32], text[24];
    stopwatch watch;

    name_key(self, name);
    snprintf(text, sizeof(text), "%lld", (long long)self->known + 1);
    stopwatch_start(&watch);
    written(self, told(self, "set", &watch, 0,
                       hf_value_set(self->load->client, hf_str(name),
                                    hf_str(text), NULL, NULL, &err),
                       &err));
    if (self->known > 0)
        look(self);
}

/* No other thread writes here: HF_CONFLICT is a broken promise. */
static void step_value(worker *self)
{
    hf_error err = HF_ERROR_INIT;
    char name[32], old[24], text[24];
    hf_bytes expected;
    stopwatch watch;

    name_key(self, name);
    snprintf(old, sizeof(old), "%lld", (long long)self->known);
    snprintf(text, sizeof(text), "%lld", (long long)self->known + 1);
    expected = hf_str(old);
    stopwatch_start(&watch);
    written(self, told(self, "cas", &watch, 0,
                       hf_value_cas(self->load->client, hf_str(name),
                                    self->known == 0 ? NULL : &expected,
                                    hf_str(text), NULL, NULL, &err),
                       &err));
}

static void *run_worker(void *user)
{
    worker *self = user;
    load *of = self->load;
    hf_lock *locks[LOCKS] = {NULL};

    for (unsigned i = 0; i < LOCKS; i++) {
        hf_lock_options options = HF_LOCK_OPTIONS_INIT;
        char lock[16];

        options.ttl_ms = 1000;
        snprintf(lock, sizeof(lock), "lock%u", i);
        if (hf_lock_new(of->client, hf_str(lock), &options, &locks[i], NULL) !=
            HF_OK)
            broken(self, "lock", "no handle");
    }
    for (unsigned turn = 0; !atomic_load(&of->stop); turn++) {
        if (self->number % 4 == 0)
            increment(self);
        else if (self->number % 4 == 1)
            use_lock(self, locks, turn);
        else if (self->number % 4 == 2)
            write_value(self);
        else
            step_value(self);
        test_rest();
    }
    for (unsigned i = 0; i < LOCKS; i++)
        hf_lock_free(locks[i]);
    return NULL;
}

/* ------------------------------------------------------------------ public */

static void ignore(void *user, hf_status status, const hf_error *err)
{
    (void)user;
    (void)status;
    (void)err;
}

/* Make the client start its thread. */
static void start_loop(load *self)
{
    static int64_t ttl_ms; /* it is written whenever the reply arrives */
    hf_async async = HF_ASYNC_INIT;

    async.done = ignore;
    if (hf_key_ttl_start(self->client, hf_str("none"), &ttl_ms, &async, NULL) !=
        HF_OK)
        exit(1);
    load_loop = open_loop_stat();
}

load *load_start(const char *url, unsigned threads, int64_t late_ms)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    load *self = calloc(1, sizeof(*self));
    hf_error err = HF_ERROR_INIT;

    options.request_ms = LOAD_REQUEST_MS;
    options.connect_ms = LOAD_REQUEST_MS / 2;
    if (self == NULL ||
        hf_client_open(url, &options, &self->client, &err) != HF_OK ||
        hf_script_load(
            self->client,
            hf_str("return redis.call('hincrby', KEYS[1], ARGV[1], 1)"),
            &self->incr, &err) != HF_OK) {
        fprintf(stderr, "no load: %s\n", err.message);
        exit(1);
    }
    self->threads = threads;
    self->late_ns = late_ms * 1000000;
    load_name(self, "nothing is wrong");
    start_loop(self);
    if (pthread_create(&self->control, NULL, run_control, self) != 0)
        exit(1);
    self->workers = calloc(threads, sizeof(worker));
    for (unsigned i = 0; i < threads; i++) {
        self->workers[i].load = self;
        self->workers[i].number = i;
        self->workers[i].outcomes = calloc(INCREMENTS_MAX, sizeof(uint16_t));
        if (pthread_create(&self->workers[i].thread, NULL, run_worker,
                           &self->workers[i]) != 0)
            exit(1);
    }
    return self;
}

void load_allow(load *self, hf_status status)
{
    atomic_store(&self->allowed, (int)status);
}

void load_name(load *self, const char *fault)
{
    atomic_store(&self->fault, fault);
    atomic_store(&self->worst_ns, INT64_MIN);
}

int64_t load_worst_ns(const load *self)
{
    return atomic_load(&self->worst_ns);
}

uint64_t load_count(const load *self, hf_status status)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < self->threads; i++)
        sum += atomic_load(&self->workers[i].counts[status]);
    return sum;
}

unsigned load_recovered(const load *self, int64_t since_ms)
{
    unsigned count = 0;

    for (unsigned i = 0; i < self->threads; i++)
        count += atomic_load(&self->workers[i].success_ms) >= since_ms;
    return count;
}

unsigned load_threads(const load *self)
{
    return self->threads;
}

/* A key's value as a number; none: 0. */
static int64_t number_at(hf_client *client, const char *name)
{
    hf_buffer value = HF_BUFFER_INIT;
    int64_t number = 0;

    if (hf_value_get(client, hf_str(name), &value, NULL) == HF_OK)
        number = strtoll(value.data, NULL, 10);
    hf_buffer_free(&value);
    return number;
}

/* Compare with what is there: how often each increment was applied. */
static unsigned audit_increments(const worker *self, const unsigned *there,
                                 unsigned long long sums[3])
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < self->increments; i++) {
        hf_status status = (hf_status)self->outcomes[i];
        unsigned least = status == HF_OK;
        unsigned most = status == HF_OK || status == HF_INDETERMINATE;

        sums[0] += status == HF_OK;
        sums[1] += status == HF_INDETERMINATE;
        sums[2] += status == HF_INDETERMINATE && there[i] == 1;
        if (there[i] >= least && there[i] <= most)
            continue;
        fprintf(stderr,
                "thread %u: increment %u was %s, and is there %u times\n",
                self->number, i, hf_status_name(status), there[i]);
        wrong++;
    }
    return wrong;
}

static unsigned audit_counters(const load *self, hf_client *client)
{
    static unsigned there[INCREMENTS_MAX];
    unsigned long long sums[3] = {0};
    unsigned wrong = 0;

    for (unsigned i = 0; i < self->threads; i += 4) {
        hf_fields fields = HF_FIELDS_INIT;
        char name[16];

        snprintf(name, sizeof(name), "count%u", i);
        memset(there, 0, sizeof(there));
        if (hf_hash_get_all(client, hf_str(name), &fields, NULL) != HF_OK)
            wrong++;
        for (size_t at = 0; at < fields.count; at++) {
            unsigned long field = strtoul(fields.items[at].name.data, NULL, 10);

            if (field < INCREMENTS_MAX)
                there[field] =
                    (unsigned)strtoul(fields.items[at].value.data, NULL, 10);
        }
        hf_fields_free(&fields);
        wrong += audit_increments(&self->workers[i], there, sums);
    }
    printf("increments: %llu acknowledged, %llu unknown, of which %llu have "
           "happened\n",
           sums[0], sums[1], sums[2]);
    return wrong + (sums[0] == 0);
}

static unsigned audit_values(const load *self, hf_client *client)
{
    unsigned wrong = 0;

    for (unsigned i = 2; i < self->threads; i++) {
        const worker *of = &self->workers[i];
        char name[32];
        int64_t there;

        if (i % 4 < 2)
            continue;
        name_key(of, name);
        there = number_at(client, name);
        if (there != of->known) {
            fprintf(stderr, "%s: %lld there, %lld expected\n", name,
                    (long long)there, (long long)of->known);
            wrong++;
        }
    }
    return wrong;
}

unsigned load_stop(load *self, const char *url)
{
    hf_client *client = NULL;
    unsigned wrong = 0;
    int64_t late_ns = INT64_MIN;

    atomic_store(&self->stop, true);
    pthread_join(self->control, NULL);
    for (unsigned i = 0; i < self->threads; i++) {
        pthread_join(self->workers[i].thread, NULL);
        wrong += self->workers[i].broken;
        if (self->workers[i].late_ns > late_ns)
            late_ns = self->workers[i].late_ns;
    }
    for (int status = 0; status < LOAD_STATUSES; status++) {
        if (load_count(self, (hf_status)status) > 0)
            printf("%s %llu  ", hf_status_name((hf_status)status),
                   (unsigned long long)load_count(self, (hf_status)status));
    }
    printf("\nlatest: %.1f ms past its deadline\n", (double)late_ns / 1e6);
    if (hf_client_open(url, NULL, &client, NULL) != HF_OK)
        return wrong + 1;
    wrong += audit_counters(self, client) + audit_values(self, client);
    hf_client_close(client);
    hf_script_free(self->incr);
    hf_client_close(self->client);
    for (unsigned i = 0; i < self->threads; i++)
        free(self->workers[i].outcomes);
    free(self->workers);
    free(self);
    return wrong;
}
