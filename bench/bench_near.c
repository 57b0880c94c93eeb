/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_near.c - the near cache: a hit against a lookup in a bare hash table,
 * and its hit ratio against LRU.
 *
 *     bench_near [--json] [--quick]
 *
 * The traces: Zipf's law with exponent 0.9 over 100 000 keys; and the same
 * law over 25 000 keys, with a scan after every 20 000 reads: of 10 000 of the
 * other 75 000 keys, in turn. The caches have room for a tenth of the keys, LRU
 * for as many entries as the near cache holds in the end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "holdfast/near.h"
#include "holdfast/value.h"
#include "util/hash_bytes.h"

#define KEYS 100000
#define VALUE_SIZE 100
#define STRIDE 7919
#define HOT 10000 /* of the lookups */

#define EXPONENT 0.9
#define SCAN_EVERY 20000
#define SCAN_SIZE 10000
#define ENTRY_SIZE 190 /* roughly, of the near cache */

typedef struct name {
    char text[24];
    uint32_t size;
} name;

static name names[KEYS];

static hf_bytes name_of(int number)
{
    return hf_view(names[number].text, names[number].size);
}

static void make_names(void)
{
    for (int i = 0; i < KEYS; i++)
        names[i].size = (uint32_t)snprintf(names[i].text, sizeof(names[i].text),
                                           "user:%08d:name", i);
}

static bool fill_store(hf_client *client)
{
    hf_error error = HF_ERROR_INIT;
    char value[VALUE_SIZE] = {0};

    for (int i = 0; i < KEYS; i++) {
        if (hf_value_set(client, name_of(i), hf_view(value, sizeof(value)),
                         NULL, NULL, &error) != HF_OK)
            return bench_fail("%s", error.message);
    }
    return true;
}

static hf_near *open_near(hf_client *client, int64_t max_bytes)
{
    hf_near_options options = HF_NEAR_OPTIONS_INIT;
    hf_error error = HF_ERROR_INIT;
    hf_near *near = NULL;

    options.max_bytes = max_bytes;
    if (hf_near_open(client, &options, &near, &error) != HF_OK)
        (void)bench_fail("%s", error.message);
    return near;
}

static bool get_value(hf_near *near, int number)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error error = HF_ERROR_INIT;

    if (hf_near_get(near, name_of(number), &value, &error) != HF_OK)
        return bench_fail("%s", error.message);
    hf_buffer_free(&value);
    return true;
}

/* -------------------------------------------------------------------- hits */

typedef struct bare_entry {
    struct bare_entry *next;
    uint64_t hash;
    size_t key_size;
    char bytes[sizeof(names[0].text) + VALUE_SIZE];
} bare_entry;

#define BARE_BUCKETS 16384

typedef struct looking {
    hf_near *near;
    bare_entry *entries;
    bare_entry *buckets[BARE_BUCKETS];
    int next;
    uint64_t sum; /* so that nothing is left out */
} looking;

static bool hit_near(void *user, int64_t count)
{
    looking *self = user;

    for (int64_t i = 0; i < count; i++) {
        self->next = (self->next + STRIDE) % HOT;
        if (!get_value(self->near, self->next))
            return false;
    }
    return true;
}

static bool hit_bare(void *user, int64_t count)
{
    looking *self = user;

    for (int64_t i = 0; i < count; i++) {
        hf_bytes key;
        const bare_entry *entry;
        uint64_t hash;

        self->next = (self->next + STRIDE) % HOT;
        key = name_of(self->next);
        hash = hf__hash(key, 0);
        entry = self->buckets[hash % BARE_BUCKETS];
        while (entry != NULL &&
               (entry->hash != hash || entry->key_size != key.size ||
                memcmp(entry->bytes, key.data, key.size) != 0))
            entry = entry->next;
        if (entry == NULL)
            return bench_fail("a key is missing");
        self->sum += (unsigned char)entry->bytes[key.size];
    }
    return true;
}

static bool fill_bare(looking *self)
{
    self->entries = calloc(HOT, sizeof(*self->entries));
    if (self->entries == NULL)
        return bench_fail("out of memory");
    for (int i = 0; i < HOT; i++) {
        bare_entry *entry = &self->entries[i];
        hf_bytes key = name_of(i);

        entry->hash = hf__hash(key, 0);
        entry->key_size = key.size;
        memcpy(entry->bytes, key.data, key.size);
        entry->next = self->buckets[entry->hash % BARE_BUCKETS];
        self->buckets[entry->hash % BARE_BUCKETS] = entry;
    }
    return true;
}

static bool bench_hits(const bench_run *run, hf_client *client)
{
    static looking self;
    const bench_figure figure = {.name = "near_hit",
                                 .store = "volatile",
                                 .ceiling = "bare hash table",
                                 .threads = 1,
                                 .asked_ratio = 0.3};
    bench_subject ours = {.run = hit_near, .user = &self, .busy = true};
    bench_subject raw = {.run = hit_bare, .user = &self, .busy = true};
    bench_result result;
    bool ok;

    self.near = open_near(client, 0);
    ok = self.near != NULL && fill_bare(&self) && hit_near(&self, HOT) &&
         bench_compare(run, &ours, &raw, &result);
    if (ok)
        bench_print(run, &figure, &result);
    hf_near_close(self.near);
    free(self.entries);
    return ok;
}

/* ------------------------------------------------------------------ traces */

static double *cumulated; /* of Zipf's law */
static uint64_t seed;

static double draw_number(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static bool make_zipf(int keys)
{
    double sum = 0;

    cumulated = malloc((size_t)keys * sizeof(*cumulated));
    if (cumulated == NULL)
        return bench_fail("out of memory");
    for (int i = 0; i < keys; i++)
        cumulated[i] = sum += 1 / pow(i + 1, EXPONENT);
    for (int i = 0; i < keys; i++)
        cumulated[i] /= sum;
    return true;
}

static int draw_zipf(int keys)
{
    double at = draw_number();
    int low = 0, high = keys - 1;

    while (low < high) {
        int middle = (low + high) / 2;

        if (cumulated[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef struct trace {
    const char *name;
    int keys; /* of Zipf's law; the rest are scanned */
    bool scans;
    int *reads;
    int count;
} trace;

static int next_scanned(const trace *self, int *scanned)
{
    int key = (*scanned)++;

    if (*scanned == KEYS)
        *scanned = self->keys;
    return key;
}

static bool make_trace(trace *self, int count)
{
    int scanned = self->keys;

    seed = 42;
    self->count = 0;
    self->reads = malloc(2 * (size_t)count * sizeof(*self->reads));
    if (self->reads == NULL || !make_zipf(self->keys))
        return bench_fail("out of memory");
    for (int i = 0; i < count; i++) {
        self->reads[self->count++] = draw_zipf(self->keys);
        for (int k = 0;
             self->scans && i % SCAN_EVERY == SCAN_EVERY - 1 && k < SCAN_SIZE;
             k++)
            self->reads[self->count++] = next_scanned(self, &scanned);
    }
    free(cumulated);
    return true;
}

/* A list by use, of keys by number. */
typedef struct lru {
    int newer[KEYS + 1], older[KEYS + 1]; /* KEYS: the ends */
    bool has[KEYS];
} lru;

static void lru_unlink(lru *self, int key)
{
    self->newer[self->older[key]] = self->newer[key];
    self->older[self->newer[key]] = self->older[key];
}

static double lru_ratio(const trace *of, uint64_t room)
{
    static lru self;
    uint64_t count = 0;
    int hits = 0;

    memset(self.has, 0, sizeof(self.has));
    self.newer[KEYS] = self.older[KEYS] = KEYS;
    for (int i = 0; i < of->count; i++) {
        int key = of->reads[i];

        hits += self.has[key];
        if (self.has[key]) {
            lru_unlink(&self, key);
        } else if (count++ >= room) {
            self.has[self.newer[KEYS]] = false;
            lru_unlink(&self, self.newer[KEYS]);
            count--;
        }
        self.has[key] = true;
        self.older[key] = self.older[KEYS];
        self.newer[key] = KEYS;
        self.newer[self.older[KEYS]] = key;
        self.older[KEYS] = key;
    }
    return (double)hits / of->count;
}

static void print_ratio(const bench_run *run, const trace *of, double ours,
                        double theirs, uint64_t entries)
{
    const char *form =
        run->json ? "{\"figure\":\"near_hit_ratio\",\"trace\":\"%s\","
                    "\"reads\":%d,\"entries\":%llu,\"s3_fifo\":%.4f,"
                    "\"lru\":%.4f}\n"
                  : "near_hit_ratio %s: %d reads, %llu entries: %.4f, LRU "
                    "%.4f\n";

    printf(form, of->name, of->count, (unsigned long long)entries, ours,
           theirs);
}

static bool bench_trace(const bench_run *run, hf_client *client, trace *of)
{
    hf_near_stats stats = HF_NEAR_STATS_INIT;
    hf_near *near = open_near(client, KEYS / 10 * ENTRY_SIZE);
    bool ok = near != NULL && make_trace(of, run->quick ? 100000 : 1000000);

    for (int i = 0; ok && i < of->count; i++)
        ok = get_value(near, of->reads[i]);
    if (ok && hf_near_read_stats(near, &stats, NULL) == HF_OK)
        print_ratio(run, of, (double)stats.hits / of->count,
                    lru_ratio(of, stats.entries), stats.entries);
    free(of->reads);
    hf_near_close(near);
    return ok;
}

/* -------------------------------------------------------------------- main */

static bool bench_all(const bench_run *run)
{
    trace zipf = {.name = "zipf", .keys = KEYS};
    trace scanned = {
        .name = "zipf_with_scans", .keys = KEYS / 4, .scans = true};
    hf_error error = HF_ERROR_INIT;
    char url[BENCH_PATH_SIZE];
    hf_client *client;
    bool ok;

    snprintf(url, sizeof(url), "volatile:%s/near", run->memory);
    if (hf_client_open(url, NULL, &client, &error) != HF_OK)
        return bench_fail("%s", error.message);
    make_names();
    ok = fill_store(client) && bench_hits(run, client) &&
         bench_trace(run, client, &zipf) && bench_trace(run, client, &scanned);
    hf_client_close(client);
    return ok;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    char *memory;
    bool ok;

    for (int i = 1; i < argc; i++) {
        run.json = run.json || strcmp(argv[i], "--json") == 0;
        run.quick = run.quick || strcmp(argv[i], "--quick") == 0;
    }
    if (argc > 1 + run.json + run.quick) {
        fprintf(stderr, "usage: bench_near [--json] [--quick]\n");
        return 64;
    }
    if (run.quick) {
        run.pairs = 1;
        run.slice_ms = 5;
    }
    memory = bench_make_directory("/dev/shm");
    if (memory == NULL)
        return 71;
    run.memory = memory;
    ok = bench_all(&run);
    bench_remove_directory(memory);
    return ok ? 0 : 1;
}
