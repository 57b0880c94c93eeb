/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_redisson.c - threads that share a lock with those of Fleet.java.
 *
 * usage: fleet_redisson PORT KIND NAME MILLISECONDS THREADS
 *
 * KIND is lock, fair, fenced, readwrite, semaphore, permit or latch. Each
 * thread acquires the lock again and again. Who holds it alone counts in
 * `counter`, without protection: "COUNT SIDE NANOSECONDS", where SIDE is c or
 * java and the time, on CLOCK_MONOTONIC, is that of the release; and in `copy`.
 * Readers compare the two.
 *
 * KIND latch: the two processes, a thread each, count the latches NAME:0,
 * NAME:1 and so on down, and await each before the next. Fleet.java sets them
 * to 2.
 *
 * Prints "ready", waits for a line, and at the end prints how often it held the
 * lock to write and to read, then how many us after the release of the other
 * side each acquisition was.
 */
#include <holdfast.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOLD_NS 500000
#define WAIT_MS 30000
#define THREADS_MAX 64
#define LATCHES 1000
#define HANDOVERS_MAX 1000000

static hf_client *client;
static const char *kind;
static hf_bytes name;
static int64_t end_ns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* These are guarded by it. */
static int64_t handovers[HANDOVERS_MAX];
static size_t handover_count;
static int64_t written, read_count;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void check(hf_status status, const hf_error *err)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "fleet_redisson: %s\n", err->message);
    exit(1);
}

static void get(const char *key, char text[64])
{
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;

    check(hf_value_get(client, hf_str(key), &value, &err), &err);
    snprintf(text, 64, "%.*s", (int)value.size, (const char *)value.data);
    hf_buffer_free(&value);
}

static void set(const char *key, const char *text)
{
    hf_error err = HF_ERROR_INIT;

    check(hf_value_set(client, hf_str(key), hf_str(text), NULL, NULL, &err),
          &err);
}

static void hold(void)
{
    struct timespec pause = {0, HOLD_NS};

    nanosleep(&pause, NULL);
}

static void note_handover(int64_t took_ns)
{
    pthread_mutex_lock(&mutex);
    if (handover_count < HANDOVERS_MAX)
        handovers[handover_count++] = took_ns / 1000;
    pthread_mutex_unlock(&mutex);
}

/* Read, pause, write: two at once lose an update. */
static void write_once(int64_t acquired_ns)
{
    char text[64], side[8];
    int64_t count, released_ns;

    get("counter", text);
    if (sscanf(text, "%" SCNd64 " %7s %" SCNd64, &count, side, &released_ns) !=
        3)
        exit(3);
    if (strcmp(side, "java") == 0)
        note_handover(acquired_ns - released_ns);
    hold();
    snprintf(text, sizeof(text), "%" PRId64, count + 1);
    set("copy", text);
    snprintf(text, sizeof(text), "%" PRId64 " c %" PRId64, count + 1, now_ns());
    set("counter", text);
    pthread_mutex_lock(&mutex);
    written++;
    pthread_mutex_unlock(&mutex);
}

static void read_once(void)
{
    char before[64], copy[64];

    get("counter", before);
    before[strcspn(before, " ")] = '\0';
    hold();
    get("copy", copy);
    if (strcmp(before, copy) != 0) {
        fprintf(stderr, "read %s and %s while another writes\n", before, copy);
        exit(1);
    }
    pthread_mutex_lock(&mutex);
    read_count++;
    pthread_mutex_unlock(&mutex);
}

static hf_lock *make(hf_redisson_kind which)
{
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock;

    check(hf_redisson_lock_new(client, name, which, NULL, &lock, &err), &err);
    return lock;
}

static void run_once(hf_lock *lock, bool writes)
{
    hf_error err = HF_ERROR_INIT;

    check(hf_lock_acquire(lock, WAIT_MS, &err), &err);
    if (writes)
        write_once(now_ns());
    else
        read_once();
    check(hf_lock_release(lock, &err), &err);
}

static void *work_semaphore(void *unused)
{
    hf_error err = HF_ERROR_INIT;

    while (now_ns() < end_ns) {
        check(hf_redisson_semaphore_acquire(client, name, 1, WAIT_MS, &err),
              &err);
        write_once(now_ns());
        check(hf_redisson_semaphore_release(client, name, 1, &err), &err);
    }
    return unused;
}

static void *work_latch(void *unused)
{
    hf_error err = HF_ERROR_INIT;
    char text[256];

    for (int i = 0; i < LATCHES; i++) {
        snprintf(text, sizeof(text), "%.*s:%d", (int)name.size,
                 (const char *)name.data, i);
        check(hf_redisson_latch_arrive(client, hf_str(text), &err), &err);
        check(hf_redisson_latch_await(client, hf_str(text), WAIT_MS, &err),
              &err);
        read_count++;
    }
    return unused;
}

/* The kinds of KIND: to write, and to read if readers share it. */
static const struct member {
    const char *text;
    hf_redisson_kind writes;
    hf_redisson_kind reads;
} members[] = {
    {"lock", HF_REDISSON_LOCK, HF_REDISSON_LOCK},
    {"fair", HF_REDISSON_FAIR_LOCK, HF_REDISSON_FAIR_LOCK},
    {"fenced", HF_REDISSON_FENCED_LOCK, HF_REDISSON_FENCED_LOCK},
    {"permit", HF_REDISSON_PERMIT, HF_REDISSON_PERMIT},
    {"readwrite", HF_REDISSON_WRITE_LOCK, HF_REDISSON_READ_LOCK},
};

static const struct member *find_kind(const char *text)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (strcmp(text, members[i].text) == 0)
            return &members[i];
    }
    exit(2);
}

static void *work_lock(void *unused)
{
    const struct member *which = find_kind(kind);
    hf_lock *writer = make(which->writes);
    hf_lock *reader = make(which->reads);

    for (int round = 0; now_ns() < end_ns; round++) {
        bool reads = which->reads != which->writes && round % 4 != 0;

        run_once(reads ? reader : writer, !reads);
    }
    hf_lock_free(writer);
    hf_lock_free(reader);
    return unused;
}

static void *work(void *unused)
{
    if (strcmp(kind, "semaphore") == 0)
        return work_semaphore(unused);
    if (strcmp(kind, "latch") == 0)
        return work_latch(unused);
    return work_lock(unused);
}

int main(int argc, char **argv)
{
    hf_error err = HF_ERROR_INIT;
    pthread_t threads[THREADS_MAX];
    char url[64];
    int count;

    if (argc != 6)
        return 2;
    kind = argv[2];
    name = hf_str(argv[3]);
    count = strcmp(kind, "latch") == 0 ? 1 : (int)strtol(argv[5], NULL, 10);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%s/0", argv[1]);
    check(hf_client_open(url, NULL, &client, &err), &err);
    puts("ready");
    fflush(stdout);
    (void)getchar();
    end_ns = now_ns() + strtoll(argv[4], NULL, 10) * 1000000;
    for (int i = 0; i < count && i < THREADS_MAX; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    printf("%" PRId64 " %" PRId64 "\n", written, read_count);
    for (size_t i = 0; i < handover_count; i++)
        printf("%" PRId64 "\n", handovers[i]);
    hf_client_close(client);
    return 0;
}
