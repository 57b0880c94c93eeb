/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c - a lock and values of one library, for bench_peers.py.
 *
 *     peer PORT WHO DIRECTORY
 *     peer PORT WHO DIRECTORY put|work ...    a queue: see queues.py
 *     peer --list
 *
 * prints "ready VERSION", then for each line that it reads how long one
 * operation took, ns, on average of those made in that time, or "error TEXT":
 *
 *     pair MS            an acquire and a release
 *     set MS THREADS     values, by so many threads
 *     get MS             values
 *     times COUNT VERB   so many operations: done, ns of each
 *
 * The protocol is that of tests/interop/driver.py. DIRECTORY is new for each
 * process. --list: the names of all that it was built with.
 */
#include <hiredis/hiredis.h>
#include <lmdb.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench.h"
#include "holdfast/base.h"
#include "peers/peer_locks.h"
#include "peers/peer_queues.h"
#include "peers/peer_stores.h"

#define TEXT_OF(x) #x
#define VERSION_OF(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
#define OURS VERSION_OF(HF_VERSION_MAJOR, HF_VERSION_MINOR, HF_VERSION_PATCH)
#define LMDB VERSION_OF(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)
#define HIREDIS VERSION_OF(HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH)
#define NONE "-"

typedef struct peer_way {
    const char *who;
    const char *version;
    const peer_library *library; /* NULL: no lock */
    const peer_store *store;     /* NULL: no values */
    const char *scheme;          /* of ours, on an embedded store */
    const char *parameters;
} peer_way;

static const peer_way ways[] = {
    {"holdfast-volatile", OURS, &peer_holdfast, &peer_values_holdfast,
     "volatile", ""},
    {"holdfast-file", OURS, &peer_holdfast, &peer_values_holdfast, "file", ""},
    {"holdfast-log", OURS, &peer_holdfast, &peer_values_holdfast, "file",
     "?durability=log"},
    {"holdfast-flush", OURS, &peer_holdfast, &peer_values_holdfast, "file",
     "?durability=flush"},
    {"holdfast-server", OURS, &peer_holdfast, &peer_values_holdfast, NULL,
     NULL},
    {"flock", NONE, &peer_flock, NULL, NULL, NULL},
    {"fcntl", NONE, &peer_fcntl, NULL, NULL, NULL},
    {"mutex", NONE, &peer_mutex, NULL, NULL, NULL},
    {"lmdb", LMDB, &peer_lmdb, &peer_values_lmdb, NULL, NULL},
    {"lmdb-durable", LMDB, NULL, &peer_durable_lmdb, NULL, NULL},
    {"sqlite", SQLITE_VERSION, &peer_sqlite, &peer_values_sqlite, NULL, NULL},
    {"sqlite-wal", SQLITE_VERSION, NULL, &peer_durable_sqlite_wal, NULL, NULL},
    {"sqlite-rollback", SQLITE_VERSION, NULL, &peer_durable_sqlite_rollback,
     NULL, NULL},
#ifdef HF_PEER_ROCKSDB
    {"rocksdb", HF_PEER_ROCKSDB, &peer_rocksdb, &peer_durable_rocksdb, NULL,
     NULL},
#endif
    {"hiredis", HIREDIS, &peer_hiredis, &peer_values_hiredis, NULL, NULL},
};

#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

typedef struct peer {
    const peer_way *way;
    peer_place place;
    void *lock;   /* NULL: not yet */
    void *values; /* NULL: not yet */
    int64_t next;
} peer;

static bool make_lock(peer *self)
{
    void *client;

    if (self->lock != NULL || self->way->library == NULL)
        return self->lock != NULL;
    client = self->way->library->open(&self->place);
    if (client != NULL)
        self->lock = self->way->library->new_lock(client);
    return self->lock != NULL;
}

static bool run_pairs(void *user, int64_t count)
{
    peer *self = user;
    const peer_library *library = self->way->library;

    for (int64_t i = 0; i < count; i++) {
        if (!library->acquire(self->lock) || !library->release(self->lock))
            return false;
    }
    return true;
}

static bool set_values(void *user, int64_t count)
{
    const char value[WRITERS_VALUE_SIZE] = {0};
    char name[BENCH_NAME_SIZE];
    peer *self = user;

    for (int64_t i = 0; i < count; i++) {
        writers_name(name, 0, (int)self->next++);
        if (!self->way->store->set(self->values, 0, name, value))
            return false;
    }
    return true;
}

static bool get_values(void *user, int64_t count)
{
    char name[BENCH_NAME_SIZE];
    peer *self = user;

    for (int64_t i = 0; i < count; i++) {
        writers_name(name, 0, (int)self->next++);
        if (!self->way->store->get(self->values, name))
            return false;
    }
    return true;
}

/* With something to get. */
static bool open_values(peer *self)
{
    const peer_store *store = self->way->store;

    if (self->values != NULL || store == NULL)
        return self->values != NULL;
    self->values = store->open(&self->place);
    return self->values != NULL &&
           (store->get == NULL || set_values(self, WRITERS_KEYS_EACH));
}

/* What a verb runs; no function: it cannot. */
static bench_subject find_subject(peer *self, const char *verb)
{
    bench_subject subject = {.user = self};

    if (strcmp(verb, "pair") == 0 && make_lock(self))
        subject.run = run_pairs;
    else if (strcmp(verb, "set") == 0 && open_values(self))
        subject.run = set_values;
    else if (strcmp(verb, "get") == 0 && open_values(self) &&
             self->way->store->get != NULL)
        subject.run = get_values;
    return subject;
}

static bool run_times(const bench_subject *subject, long count,
                      double *ops_per_s)
{
    double start = bench_now_s();

    if (!subject->run(subject->user, count))
        return false;
    *ops_per_s = (double)count / (bench_now_s() - start);
    return true;
}

static void obey(peer *self, const char *line)
{
    char verb[16] = "", counted[16] = "";
    double ops_per_s;
    long number = 0;
    int threads = 1;
    bool times = sscanf(line, "times %ld %15s", &number, counted) == 2;
    bench_subject subject;
    bool ok;

    (void)sscanf(line, "%15s %ld %d", verb, &number, &threads);
    subject = find_subject(self, times ? counted : verb);
    if (subject.run == NULL || number <= 0 || threads > WRITERS_MAX) {
        puts("error cannot do that");
        return;
    }
    if (times)
        ok = run_times(&subject, number, &ops_per_s);
    else if (threads > 1)
        ok = writers_run(self->way->store->set, self->values, threads,
                         (int)number, &ops_per_s);
    else
        ok = bench_slice(&subject, (int)number, &ops_per_s);
    if (ok)
        printf("%.1f\n", 1e9 / ops_per_s);
    else
        puts("error it failed");
}

static const peer_way *find_way(const char *who)
{
    for (size_t i = 0; i < WAY_COUNT; i++) {
        if (strcmp(ways[i].who, who) == 0)
            return &ways[i];
    }
    return NULL;
}

static void format_url(const peer_way *way, const char *port,
                       const char *directory, char *url, size_t size)
{
    if (way->scheme != NULL)
        snprintf(url, size, "%s:%s/store%s", way->scheme, directory,
                 way->parameters);
    else
        snprintf(url, size, "redis://127.0.0.1:%s/0", port);
}

int main(int argc, char **argv)
{
    char url[2 * BENCH_PATH_SIZE], line[64];
    peer self = {0};

    for (size_t i = 0; argc == 2 && i < WAY_COUNT; i++)
        puts(ways[i].who);
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return 0;
    self.way = argc >= 4 ? find_way(argv[2]) : NULL;
    if (self.way == NULL) {
        fputs("usage: peer PORT WHO DIRECTORY [put|work ...] | --list\n",
              stderr);
        return 64;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    format_url(self.way, argv[1], argv[3], url, sizeof(url));
    self.place = (peer_place){url, argv[3], (int)strtol(argv[1], NULL, 10)};
    if (argc > 4)
        return peer_queues_main(argv[2], self.way->version, &self.place,
                                argc - 4, argv + 4);
    printf("ready %s\n", self.way->version);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        obey(&self, line);
        fflush(stdout);
    }
    return 0;
}
