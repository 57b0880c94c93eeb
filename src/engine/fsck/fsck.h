/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck.h - checking a whole data file.
 *
 * It reads by pread() only and trusts no number in the file, so that no file
 * can make it crash, loop or use unbounded memory: it keeps two bits per page,
 * one entry per large collection and the counts of sorted sets. It runs before
 * LMDB opens a file (open_store.c), and for `store check` in a child process
 * (check_store.c), which may neither use the heap nor locks: nothing here does.
 */
#ifndef HF__ENGINE_FSCK_H
#define HF__ENGINE_FSCK_H

#include "engine/files/files.h"
#include "engine/files/keyhead.h"
#include "engine/files/pages.h"
#include "engine/streams/stream_records.h"

typedef struct hf__fsck hf__fsck;
struct hf__item;
struct hf__fsck {
    /* Filled by the caller; the rest zero. */
    int fd;
    uint64_t file_size;
    hf__meta meta;
    void (*report)(hf__fsck *fsck, const hf__finding *found);
    /* Called every few hundred pages. false: stop. May be NULL. */
    bool (*keep_going)(hf__fsck *fsck, uint64_t done, uint64_t total);
    /* Called, in order, for each record that belongs to an intact key, and for
     * each key that is not intact, with the reason; the header is intact if
     * hf__fsck_run() has not found otherwise. Then free pages are not checked.
     * NULL: not wanted. */
    void (*keep)(hf__fsck *fsck, const struct hf__item *item,
                 const hf__finding *why);
    void *user;

    /* Results. */
    uint64_t findings;
    bool stopped;   /* by keep_going */
    bool failed;    /* I/O error at error_page */
    bool no_memory; /* the rest was not checked */
    uint64_t error_page;
    uint64_t pages_done;

    /* Internal. */
    bool broken; /* part of the tree could not be read */
    bool again;  /* the second walk, for `keep`: findings are not reported */
    hf__finding last; /* of the second walk */
    struct hf__fsck_memory *memory;
    struct hf__groups *groups;      /* fsck_groups.h */
    struct hf__kept_counts *counts; /* fsck_counts.c's */
    unsigned char *scratch;         /* HF__SUM_PART bytes */
};

/* HF_OK, HF_CORRUPT, HF_INVALID (not a store), HF_UNSUPPORTED (newer format),
 * HF_TIMEOUT (stopped), HF_SYSTEM (I/O error), HF_NO_MEMORY. */
hf_status hf__fsck_run(hf__fsck *fsck);

/*
 * Check the whole data file, which is not written meanwhile. HF_CORRUPT:
 * damaged, first as `err` says; HF_TIMEOUT: no error found by deadline_ms, but
 * there is more.
 */
hf_status hf__fsck_file(int dir_fd, int64_t deadline_ms, hf_error *err);

/* ------------------------------------------- between the parts of it */

/* One record of the data's tree. */
typedef struct hf__item {
    uint64_t page;
    uint32_t index; /* in the page */
    hf_bytes key;
    size_t value_size;
    unsigned char *value; /* its first value_held bytes */
    size_t value_held;
    uint64_t value_page; /* where a large value begins; 0: not large */
} hf__item;

/* Bytes of a value in memory at once. */
#define HF__FSCK_HELD (16u * 65536u)

void hf__fsck_report(hf__fsck *fsck, hf__finding_code code, uint64_t page,
                     hf_bytes key, uint64_t a, uint64_t b);
/* Read a part of the file. false: I/O error; sets fsck->failed. */
bool hf__fsck_read(hf__fsck *fsck, void *to, size_t size, uint64_t offset);
/* Read a part of a large value. */
bool hf__fsck_value(hf__fsck *fsck, const hf__item *item, size_t offset,
                    void *to, size_t size);
/* Copy the key of a record, at most `room` bytes; returns its size. */
size_t hf__fsck_key_at(hf__fsck *fsck, uint64_t page, uint32_t index,
                       unsigned char *to, size_t room);
/* Zeroed memory, freed by hf__fsck_unmap(). NULL: none; sets
 * fsck->no_memory. */
void *hf__fsck_map(hf__fsck *fsck, size_t size);
void hf__fsck_unmap(void *memory, size_t size);

/* fsck_content.c: is the record of libraries of functions intact? */
bool hf__fsck_functions(hf__fsck *fsck, const hf__item *item);

/* fsck_records.c: check one record; after all, check that they fit together. */
void hf__fsck_record(hf__fsck *fsck, hf__item *item);
/* After hf__fsck_compare(): pass a record to `keep`. */
void hf__fsck_keep(hf__fsck *fsck, hf__item *item);
void hf__fsck_compare(hf__fsck *fsck);
void hf__fsck_drop_keys(hf__fsck *fsck);

/* fsck_counts.c. The counts come first, in order; `name` is keyid, level and
 * position. Then the records of all orders. `wrong` is called for a key id of
 * which a count is not the sum of what is below it. */
void hf__fsck_counts_add(hf__fsck *fsck, hf_bytes name, hf__count count);
void hf__fsck_counts_order(hf__fsck *fsck, uint64_t keyid, hf_bytes position);
void hf__fsck_counts_end(hf__fsck *fsck,
                         void (*wrong)(hf__fsck *fsck, uint64_t keyid));
void hf__fsck_counts_drop(hf__fsck *fsck);

/* fsck_streams.c: of the records of one stream. */
typedef struct hf__stream_tally {
    uint64_t records;
    uint64_t entries;
    uint64_t packs;
    uint64_t pending_sum; /* of ids by group, less those by consumer */
    uint64_t pending;     /* records of them by group */
    uint64_t group_pending, consumer_pending; /* as their records say */
    hf__stream_id last;                       /* of the entries so far */
    bool bent; /* records are damaged or out of order */
} hf__stream_tally;

/* Has the record a name of one of a stream? Then count it. */
bool hf__fsck_stream_is_named(const hf__item *item);
void hf__fsck_stream_add(const hf__item *item, hf__stream_tally *at);
/* An element of a key, which is a group if the key is a stream. */
void hf__fsck_stream_group(hf_bytes name, hf_bytes value, hf__stream_tally *at);
/* All records of the stream were counted: do its counts of what is pending
 * agree? */
bool hf__fsck_stream_agrees(const hf__stream_tally *at);

/* fsck_content.c: check the content of a small collection. false: damaged. */
bool hf__fsck_content(hf__fsck *fsck, hf_bytes key, uint8_t type,
                      const unsigned char *content, size_t size,
                      uint64_t count);

#endif
