/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_kill.c - processes that add entries to a stream, and consumers of a
 * group, are killed at any instant: no entry whose addition was acknowledged is
 * lost, one that was delivered is pending until its XACK was sent, with the
 * consumer that has got it, and one whose XACK was acknowledged is not.
 *
 *     stream_kill [--kills N] [--store volatile|file|server] [--cheat]
 *
 * What each process has sent, and what was acknowledged, is in shared memory.
 * With --cheat consumers read with NOACK, which must be noticed.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/command.h"
#include "holdfast/reply.h"
#include "support/prng.h"
#include "support/test_clock.h"

#define ADDERS 2
#define CONSUMERS 4
#define PROCESSES (ADDERS + CONSUMERS)
#define ENTRIES_MAX 20000
#define WORDS_MAX 12

/* For a process to start and do something on a busy machine. */
#define START_MS 60000

typedef struct record {
    atomic_int added;  /* acknowledged */
    atomic_int got;    /* 1 + the consumer that has got it last */
    atomic_int acking; /* XACK was about to be sent */
    atomic_int acked;  /* acknowledged */
} record;

static struct shared {
    atomic_int next; /* entry to be added */
    atomic_long done[PROCESSES];
    record entries[ENTRIES_MAX];
    char failure[256]; /* of a call */
} * shared;

static pid_t pids[PROCESSES];
static const char *url;
static bool cheats;

/* ---------------------------------------------------------------- processes */

static hf_reply *run_words(hf_client *client, const char *const *texts,
                           hf_error *err)
{
    hf_bytes words[WORDS_MAX];
    hf_reply *reply = NULL;
    size_t count = 0;

    for (; texts[count] != NULL; count++)
        words[count] = hf_str(texts[count]);
    if (hf_command(client, count, words, &reply, err) == HF_OK)
        return reply;
    hf_reply_free(reply);
    return NULL;
}

#define RUN(client, err, ...)                                                  \
    run_words(client, (const char *const[]){__VA_ARGS__, NULL}, err)

static void add_entries(hf_client *client, hf_error *err)
{
    int n;

    while ((n = atomic_fetch_add(&shared->next, 1)) < ENTRIES_MAX) {
        char text[24];
        hf_reply *reply;

        (void)snprintf(text, sizeof(text), "%d", n);
        reply = RUN(client, err, "XADD", "jobs", "*", "n", text);
        if (reply == NULL)
            return;
        hf_reply_free(reply);
        atomic_store(&shared->entries[n].added, 1);
        (void)usleep(300);
    }
    for (;;)
        (void)usleep(100000);
}

/* The number in the entry's only field. */
static int number_of(const hf_reply *entry)
{
    const hf_reply *fields = hf_reply_at(entry, 1);

    return (int)strtol(hf_reply_bytes(hf_reply_at(fields, 1)).data, NULL, 10);
}

static bool do_entry(hf_client *client, const hf_reply *entry, int self,
                     hf_error *err)
{
    record *one = &shared->entries[number_of(entry)];
    const char *id = hf_reply_bytes(hf_reply_at(entry, 0)).data;
    hf_reply *reply;

    atomic_store(&one->got, 1 + self);
    (void)usleep(200);
    atomic_store(&one->acking, 1);
    reply = RUN(client, err, "XACK", "jobs", "g", id);
    if (reply == NULL)
        return false;
    hf_reply_free(reply);
    atomic_store(&one->acked, 1);
    return true;
}

/* First what was pending when it was killed. */
static void consume_entries(hf_client *client, int self, hf_error *err)
{
    bool again = true;
    char name[16];

    (void)snprintf(name, sizeof(name), "c%d", self);
    for (;;) {
        const char *from = again ? "0" : ">";
        hf_reply *reply =
            cheats ? RUN(client, err, "XREADGROUP", "GROUP", "g", name, "NOACK",
                         "BLOCK", "100", "STREAMS", "jobs", from)
                   : RUN(client, err, "XREADGROUP", "GROUP", "g", name, "COUNT",
                         "3", "BLOCK", "100", "STREAMS", "jobs", from);
        const hf_reply *entries = hf_reply_at(hf_reply_at(reply, 0), 1);
        size_t count = hf_reply_count(entries);

        if (reply == NULL)
            return;
        atomic_fetch_add(&shared->done[ADDERS + self], 1);
        for (size_t i = 0; i < count; i++) {
            if (!do_entry(client, hf_reply_at(entries, i), self, err))
                return;
        }
        again = again && count > 0;
        hf_reply_free(reply);
    }
}

static bool start(int i)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    atomic_store(&shared->done[i], i < ADDERS ? 1 : 0);
    pids[i] = fork();
    if (pids[i] != 0)
        return pids[i] > 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (hf_client_open(url, NULL, &client, &err) == HF_OK) {
        if (i < ADDERS)
            add_entries(client, &err);
        else
            consume_entries(client, i - ADDERS, &err);
    }
    (void)snprintf(shared->failure, sizeof(shared->failure), "%s", err.message);
    _exit(1);
}

static bool kill_some(long kills)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (long i = 0; i < kills; i++) {
        int victim = (int)prng_below(&random, PROCESSES);
        int64_t limit_ms = test_now_ms() + START_MS;

        while (atomic_load(&shared->done[victim]) == 0) {
            if (test_now_ms() > limit_ms || shared->failure[0] != '\0') {
                printf("violation: no progress: %s\n", shared->failure);
                return false;
            }
            (void)usleep(1000);
        }
        (void)usleep((useconds_t)prng_below(&random, 10000));
        kill_child(pids[victim]);
        if (!start(victim))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------- checks */

typedef struct sums {
    long entries, pending, lost, unpending, again, wrong;
} sums;

/* Those who were killed may have been sent an entry without having seen it. */
static void check_entry(const record *one, const hf_reply *pending,
                        bool delivered, sums *to)
{
    int got = atomic_load(&one->got);
    char name[16];

    (void)snprintf(name, sizeof(name), "c%d", got - 1);
    to->entries++;
    if (pending == NULL) {
        to->unpending += delivered && atomic_load(&one->acking) == 0;
        return;
    }
    to->pending++;
    to->again += atomic_load(&one->acked) != 0;
    to->wrong +=
        got != 0 &&
        strcmp(hf_reply_bytes(hf_reply_at(pending, 1)).data, name) != 0;
}

static bool is_same_id(const hf_reply *one, const hf_reply *two)
{
    return strcmp(hf_reply_bytes(hf_reply_at(one, 0)).data,
                  hf_reply_bytes(hf_reply_at(two, 0)).data) == 0;
}

/* Both replies are in the order of ids. */
static bool check_entries(const hf_reply *all, const hf_reply *pending,
                          const char *last, long kills)
{
    bool delivered = strcmp(last, "0-0") != 0;
    size_t at = 0;
    sums to = {0};

    for (size_t i = 0; i < hf_reply_count(all); i++) {
        const hf_reply *entry = hf_reply_at(all, i);
        bool is_pending = at < hf_reply_count(pending) &&
                          is_same_id(entry, hf_reply_at(pending, at));
        record *one = &shared->entries[number_of(entry)];

        check_entry(one, is_pending ? hf_reply_at(pending, at) : NULL,
                    delivered, &to);
        at += is_pending ? 1 : 0;
        atomic_store(&one->added, 0);
        if (strcmp(hf_reply_bytes(hf_reply_at(entry, 0)).data, last) == 0)
            delivered = false;
    }
    for (int n = 0; n < ENTRIES_MAX; n++)
        to.lost += atomic_load(&shared->entries[n].added);
    printf("%ld kills, %ld entries, %ld pending; %ld lost, %ld delivered and "
           "not pending, %ld pending after XACK, %ld with another consumer\n",
           kills, to.entries, to.pending, to.lost, to.unpending, to.again,
           to.wrong);
    if (to.lost + to.unpending + to.again + to.wrong == 0 && to.entries > 0 &&
        at == hf_reply_count(pending) && !delivered)
        return true;
    printf("violation: lost, or not pending with its consumer\n");
    return false;
}

static bool check_stream(hf_client *client, long kills)
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *all = RUN(client, &err, "XRANGE", "jobs", "-", "+");
    hf_reply *pending =
        RUN(client, &err, "XPENDING", "jobs", "g", "-", "+", "99999");
    hf_reply *groups = RUN(client, &err, "XINFO", "GROUPS", "jobs");
    bool fine = false;

    /* Its number of pending entries, and the last one delivered. */
    if (groups != NULL &&
        hf_reply_integer(hf_reply_at(hf_reply_at(groups, 0), 5)) ==
            (int64_t)hf_reply_count(pending))
        fine = check_entries(
            all, pending,
            hf_reply_bytes(hf_reply_at(hf_reply_at(groups, 0), 7)).data, kills);
    else
        printf("violation: XINFO and XPENDING differ %s\n", err.message);
    hf_reply_free(all);
    hf_reply_free(pending);
    hf_reply_free(groups);
    return fine;
}

static bool run(const char *store_url, long kills)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    hf_reply *reply = NULL;
    bool fine = true;

    url = store_url;
    if (hf_client_open(url, NULL, &client, &err) == HF_OK)
        reply =
            RUN(client, &err, "XGROUP", "CREATE", "jobs", "g", "0", "MKSTREAM");
    hf_client_close(client); /* before a fork */
    for (int i = 0; i < PROCESSES; i++)
        fine = reply != NULL && start(i) && fine;
    hf_reply_free(reply);
    fine = fine && kill_some(kills);
    for (int i = 0; i < PROCESSES; i++)
        kill_child(pids[i]);
    if (!fine || hf_client_open(url, NULL, &client, &err) != HF_OK)
        return false;
    fine = check_stream(client, kills);
    hf_client_close(client);
    return fine;
}

int main(int argc, char **argv)
{
    kill_options opts = kill_options_of(argc, argv, 50);

    cheats = opts.cheats;
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = share_memory(sizeof(*shared));
    return place_run(opts.store, run, opts.kills) ? 0 : 1;
}
