/* SPDX-License-Identifier: Apache-2.0 */
/* peer_queues.c - who puts and who takes jobs, and our queue; see
 * peer_queues.h. */
#include "peers/peer_queues.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "holdfast/queue.h"

#define SLOTS_MAX 64
#define JOBS_MAX (1 << 20)

/* ---------------------------------------------------------------- holdfast */

static bool is_ok(hf_status status, const hf_error *err)
{
    return status == HF_OK || bench_fail("%s", err->message);
}

static bool holdfast_put(void *store, const char *queue, const char *payload)
{
    hf_error err = HF_ERROR_INIT;

    return is_ok(hf_queue_put(store, hf_str(queue), hf_str(""),
                              hf_view(payload, PEER_JOB_SIZE), NULL, &err),
                 &err);
}

static long holdfast_left(void *store, const char *queue)
{
    hf_error err = HF_ERROR_INIT;
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    if (!is_ok(hf_queue_inspect(store, hf_str(queue), &info, &err), &err))
        return -1;
    return (long)(info.ready + info.taken + info.delayed + info.behind +
                  info.dead);
}

static void *holdfast_new_worker(void *store, const char *queue, int lease_ms)
{
    hf_error err = HF_ERROR_INIT;
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *worker = NULL;

    options.ttl_ms = lease_ms;
    return is_ok(hf_queue_new(store, hf_str(queue), &options, &worker, &err),
                 &err)
               ? worker
               : NULL;
}

/* The job before is ended by the same request. */
static bool holdfast_take(void *worker, char *payload)
{
    hf_error err = HF_ERROR_INIT;
    hf_job job = HF_JOB_INIT;

    if (!is_ok(hf_queue_next(worker, HF_QUEUE_DONE, 0, HF_FOREVER, &err),
               &err) ||
        !is_ok(hf_queue_job(worker, &job, &err), &err))
        return false;
    memcpy(payload, job.payload.data, PEER_JOB_SIZE);
    return true;
}

static bool holdfast_done(void *worker)
{
    (void)worker; /* it takes at once again */
    return true;
}

const peer_queue peer_queue_holdfast = {
    peer_open_client,    holdfast_put,  holdfast_left,
    holdfast_new_worker, holdfast_take, holdfast_done,
};

static const struct {
    const char *who;
    const peer_queue *queue;
} queues[] = {
    {"holdfast-volatile", &peer_queue_holdfast},
    {"holdfast-file", &peer_queue_holdfast},
    {"holdfast-server", &peer_queue_holdfast},
    {"sqlite", &peer_queue_sqlite},
    {"sqlite-wal", &peer_queue_sqlite_durable},
};

static const peer_queue *find_queue(const char *who)
{
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        if (strcmp(queues[i].who, who) == 0)
            return queues[i].queue;
    }
    return NULL;
}

/* --------------------------------------------------------------- who puts */

static int64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool put_one(const peer_queue *queue, void *store, const char *name,
                    int number)
{
    char head[48], payload[PEER_JOB_SIZE + 1];

    snprintf(head, sizeof(head), "%" PRId64 " %d", monotonic_ns(), number);
    snprintf(payload, sizeof(payload), "%-*s", PEER_JOB_SIZE, head);
    return queue->put(store, name, payload);
}

static bool put_all(const peer_queue *queue, void *store, const char *name,
                    int count)
{
    static int number;
    int64_t start = monotonic_ns();

    for (int i = 0; i < count; i++) {
        if (!put_one(queue, store, name, number++))
            return false;
    }
    printf("%" PRId64 "\n", (monotonic_ns() - start) / count);
    return true;
}

static void obey_lines(const peer_queue *queue, void *store)
{
    char line[128], name[64];
    int count;

    while (fgets(line, sizeof(line), stdin) != NULL) {
        if (sscanf(line, "left %63s", name) == 1)
            printf("%ld\n", queue->left(store, name));
        else if (sscanf(line, "put %63s %d", name, &count) != 2 || count < 1 ||
                 !put_all(queue, store, name, count))
            puts("error cannot do that");
        fflush(stdout);
    }
}

/* -------------------------------------------------------------- who takes */

/* Shared by the threads of a process, one for each slot. */
typedef struct slots {
    const peer_queue *queue;
    int every;
    int hold_ms;
    void *workers[SLOTS_MAX];
    pthread_mutex_t mutex; /* of those below */
    int started;
    int number;
    int distinct;
    bool seen[JOBS_MAX];
} slots;

static void count_job(slots *self, const char *payload)
{
    int64_t now_ns = monotonic_ns();
    int64_t put_ns = 0;
    int job = 0;

    (void)sscanf(payload, "%" SCNd64 " %d", &put_ns, &job);
    pthread_mutex_lock(&self->mutex);
    if (job >= 0 && job < JOBS_MAX && !self->seen[job]) {
        self->seen[job] = true;
        self->distinct++;
    }
    if (++self->number % self->every == 0) {
        printf("%d %d %" PRId64 "\n", self->number, self->distinct,
               now_ns - put_ns);
        fflush(stdout);
    }
    pthread_mutex_unlock(&self->mutex);
}

static void *run_slot(void *user)
{
    slots *self = user;
    char payload[PEER_JOB_SIZE + 1] = "";
    void *worker;

    pthread_mutex_lock(&self->mutex);
    worker = self->workers[self->started++];
    pthread_mutex_unlock(&self->mutex);
    while (self->queue->take(worker, payload)) {
        count_job(self, payload);
        if (self->hold_ms > 0)
            usleep((useconds_t)self->hold_ms * 1000);
        if (!self->queue->done(worker))
            break;
    }
    exit(1);
}

static int number_of(const char *word)
{
    return (int)strtol(word, NULL, 10);
}

static int work(const peer_queue *queue, void *store, char **words)
{
    static slots self = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    int count = number_of(words[2]);
    pthread_t thread;

    self.queue = queue;
    self.every = number_of(words[3]);
    self.hold_ms = number_of(words[4]);
    if (count < 1 || count > SLOTS_MAX || self.every < 1)
        return 64;
    for (int i = 0; i < count; i++) {
        self.workers[i] =
            queue->new_worker(store, words[1], number_of(words[5]));
        if (self.workers[i] == NULL)
            return 1;
    }
    for (int i = 0; i < count; i++) {
        if (pthread_create(&thread, NULL, run_slot, &self) != 0)
            return 1;
    }
    while (getchar() != EOF)
        continue;
    return 0;
}

int peer_queues_main(const char *who, const char *version,
                     const peer_place *place, int count, char **words)
{
    const peer_queue *queue = find_queue(who);
    bool puts_jobs = count == 1 && strcmp(words[0], "put") == 0;
    void *store;

    if (queue == NULL ||
        (!puts_jobs && (count != 6 || strcmp(words[0], "work") != 0)))
        return 64;
    store = queue->open(place);
    if (store == NULL)
        return 1;
    printf("ready %s\n", version);
    fflush(stdout);
    if (!puts_jobs)
        return work(queue, store, words);
    obey_lines(queue, store);
    return 0;
}
