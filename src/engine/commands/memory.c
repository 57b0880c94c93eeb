/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - MEMORY: what keys take in the data file.
 */
#include "engine/commands/command_row.h"
#include "engine/files/keyhead.h"
#include "engine/keys/elements.h"

/* Of LMDB for each record, with the position in its page. */
#define RECORD_OVERHEAD 10u

/* Elements looked at, as in Redis. */
#define SAMPLES 5

/* Their records of one kind, estimated by the first `samples`; 0: all. */
static uint64_t kind_size(hf__tx *tx, const hf__record *record,
                          unsigned char kind, uint64_t samples)
{
    uint64_t seen = 0;
    uint64_t size = 0;
    hf_bytes name, value;
    hf__walk walk;

    (void)hf__walk_begin(&walk, tx, kind, record->keyid);
    while ((samples == 0 || seen < samples) &&
           hf__walk_next(&walk, &name, &value, NULL)) {
        size += RECORD_OVERHEAD + walk.key.mv_size + value.size;
        seen++;
    }
    hf__walk_end(&walk);
    if (samples == 0)
        return size;
    return seen == 0 ? 0 : size * record->count / seen;
}

static bool read_samples(hf__tx *tx, const hf_bytes *args, size_t count,
                         int64_t *samples)
{
    *samples = SAMPLES;
    for (size_t i = 3; i < count; i += 2) {
        if (i + 1 < count && hf__arg_is(args[i], "samples")) {
            if (!hf__arg_integer(tx, args[i + 1], samples))
                return false;
            if (*samples >= 0)
                continue;
        }
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    }
    return true;
}

static void memory_usage(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const unsigned char kinds[] = {HF__RECORDS_OF_ID};
    hf__record *record;
    int64_t samples;
    uint64_t size;

    if (!read_samples(tx, args, count, &samples))
        return;
    record = hf__key_find(tx, args[2]);
    if (record == NULL) {
        hf__reply_nil(tx);
        return;
    }
    if (record->type == HF__TYPE_STREAM || record->type == HF__TYPE_STRING)
        samples = 0; /* its records are not one for each entry or byte */
    size = RECORD_OVERHEAD + 1 + HF__KEYHEAD_SIZE + record->key_size +
           record->content_size;
    for (size_t i = 0; record->form != HF__FORM_INLINE && i < sizeof(kinds);
         i++)
        size += kind_size(tx, record, kinds[i], (uint64_t)samples);
    hf__reply_integer(tx, (int64_t)size);
}

static void reply_pair(hf__tx *tx, const char *name, int64_t value)
{
    hf__reply_word(tx, name);
    hf__reply_integer(tx, value);
}

/* Of a database, from its root: what is free does not count. */
static void memory_stats(hf__tx *tx, const hf_bytes *args, size_t count)
{
    MDB_stat stat;
    int rc = mdb_stat(tx->txn, tx->env->dbi, &stat);

    (void)args;
    (void)count;
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return;
    }
    hf__reply_map(tx, 2);
    reply_pair(tx, "dataset.bytes",
               (int64_t)((stat.ms_branch_pages + stat.ms_leaf_pages +
                          stat.ms_overflow_pages) *
                         stat.ms_psize));
    reply_pair(tx, "dataset.records", (int64_t)stat.ms_entries);
}

static void memory_doctor(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const char text[] =
        "The data is in a file, which `holdfast store info` describes.\n";

    (void)args;
    (void)count;
    hf__reply_verbatim(tx, text, sizeof(text) - 1);
}

static void memory_malloc_stats(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const char text[] = "Stats not supported for the current allocator";

    (void)args;
    (void)count;
    hf__reply_verbatim(tx, text, sizeof(text) - 1);
}

static void memory_purge(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)args;
    (void)count;
    hf__reply_line(tx, "OK");
}

static void memory_help(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const char *const lines[] = {
        "DOCTOR",
        "    Return memory problems reports.",
        "MALLOC-STATS",
        "    Return internal statistics report from the memory allocator.",
        "PURGE",
        "    Attempt to purge dirty pages for reclamation by the allocator.",
        "STATS",
        "    Return information about the memory usage of the server.",
        "USAGE <key> [SAMPLES <count>]",
        "    Return memory in bytes used by <key> and its value. Nested values "
        "are",
        "    sampled up to <count> times (default: 5, 0 means sample all).",
        NULL};

    (void)args;
    (void)count;
    hf__reply_help(tx, lines);
}

const hf__command_entry hf__commands_memory[] = {
    {"memory", HF__COMMAND_GROUP, hf__subcommand_run},
    {"memory|usage", 0, memory_usage},
    {"memory|stats", 0, memory_stats},
    {"memory|doctor", 0, memory_doctor},
    {"memory|malloc-stats", 0, memory_malloc_stats},
    {"memory|purge", 0, memory_purge},
    {"memory|help", 0, memory_help},
    {NULL, 0, NULL}};
