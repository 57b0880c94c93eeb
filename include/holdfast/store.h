/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/store.h - describing, checking, compacting, dumping a store.
 */
#ifndef HOLDFAST_STORE_H
#define HOLDFAST_STORE_H

#include "holdfast/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One fact about a store.
 *
 * @param user   what was given beside the function
 * @param name   what it is: lower-case words with spaces, unique in one answer
 * @param value  text; numbers are decimal and without a unit, which stands in
 *               the name. Both are valid until the function returns.
 */
typedef void (*hf_store_info_fn)(void *user, const char *name,
                                 const char *value);

/**
 * Tell facts about the client's store, for people: kind, address or path,
 * versions, sizes, counts. Names and their order may change between versions;
 * no password is among them.
 *
 * @param client  open client
 * @param line    called for each fact, on the calling thread; it may not use
 *                the client
 * @param user    handed to `line`
 * @param err     [out] may be NULL
 *
 * @retval HF_OK       everything was told; a server that did not answer is
 *                     told as a line "error"
 * @retval HF_INVALID  an argument is NULL, or the client was opened before
 *                     fork()
 *
 * Blocks: up to the client's connect_ms for a server; reading the embedded
 * store's counts takes no lock that a writer needs. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_info(hf_client *client,
                                           hf_store_info_fn line, void *user,
                                           hf_error *err);

/** How much a remark on a store matters. */
typedef enum hf_level {
    HF_LEVEL_OK = 0,      /**< as it should be */
    HF_LEVEL_NOTE = 1,    /**< good to know */
    HF_LEVEL_WARNING = 2, /**< locks or data may be lost, or soon will */
    HF_LEVEL_ERROR = 3    /**< something that is needed does not work */
} hf_level;

/** One remark on a store. Texts are one line, end with a NUL, have no password
 *  in them, and are valid until the function that is told returns. */
typedef struct hf_store_diagnostic {
    hf_level level;
    /** On an error what a call would answer, else #HF_OK. */
    hf_status status;
    /** Which server, as "host:port" or a path; "": the store as a whole. */
    const char *node;
    /** What was looked at: lower-case words with spaces, unique among the
     *  remarks on one node. Names stay the same in later versions. */
    const char *name;
    const char *value;  /**< what was found */
    const char *remedy; /**< what to do about it; "": nothing */
} hf_store_diagnostic;

/**
 * Takes a remark.
 *
 * @param user    what was given beside the function
 * @param remark  valid until the function returns
 */
typedef void (*hf_store_diagnostic_fn)(void *user,
                                       const hf_store_diagnostic *remark);

/** Options of hf_store_diagnose(). Zero means the default of each. */
typedef struct hf_store_diagnose_options {
    size_t struct_size; /**< #HF_STORE_DIAGNOSE_OPTIONS_INIT sets it */
    /** How many small requests to measure on each server, one after the
     *  other; 0: 200; range 1..100000. */
    uint32_t requests;
    uint32_t reserved0; /**< must be 0 */
    /** Longest time for all of it, ms; 0: 30000; range 1..3600000. */
    int64_t limit_ms;
} hf_store_diagnose_options;

/* clang-format off */
#define HF_STORE_DIAGNOSE_OPTIONS_INIT \
    { sizeof(hf_store_diagnose_options), 0, 0, 0 }
/* clang-format on */

/**
 * Look at a store as a doctor does: is it reachable, how fast does it answer,
 * may it drop locks, what would a restart cost, is this client allowed what it
 * needs, what can the store do.
 *
 * Of a server, each one of a store that has several: version, time of round
 * trips, its clock, eviction, memory, persistence, replication, access list,
 * TLS and certificate, capabilities. Of an embedded store: place, file system,
 * durability, room, permissions, who has it open.
 *
 * Nothing is changed: what is tried is tried by ACL DRYRUN, or in a form that
 * has no effect; one message is published, to ourselves. What a server does not
 * tell this user is remarked as unknown.
 *
 * @param client  open client
 * @param opts    NULL for defaults
 * @param remark  called for each remark, on the calling thread; it may not use
 *                the client
 * @param user    handed to `remark`
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           all was told; how the store is, the remarks say
 * @retval HF_TIMEOUT      limit_ms have passed; the remarks are true
 * @retval HF_INVALID      an argument or option is wrong, or the client was
 *                         opened before fork()
 * @retval HF_UNSUPPORTED  an option is newer than this library
 *
 * Blocks: up to limit_ms and one request. Since 0.1.
 */
HF_API HF_MUST_USE hf_status
hf_store_diagnose(hf_client *client, const hf_store_diagnose_options *opts,
                  hf_store_diagnostic_fn remark, void *user, hf_error *err);

/**
 * One thing that is wrong with a store.
 *
 * @param user     what was given beside the function
 * @param finding  one line of text, bytes of keys quoted; valid until the
 *                 function returns
 */
typedef void (*hf_store_fault_fn)(void *user, const char *finding);

/**
 * How far a check is; called several times a second.
 *
 * @param user   what was given beside the function
 * @param done   pages that were read
 * @param total  pages that will be read; 0: not known yet
 */
typedef void (*hf_store_progress_fn)(void *user, uint64_t done, uint64_t total);

/** Options of hf_store_check(). Zero means the default of each. */
typedef struct hf_store_check_options {
    size_t struct_size; /**< #HF_STORE_CHECK_OPTIONS_INIT sets it */
    /** Longest time it may take, ms; 0: as long as it makes progress;
     *  range 1..#HF_TTL_MAX_MS. */
    int64_t limit_ms;
    /** Most findings to tell; 0: 100; range 1..10000. */
    uint32_t faults_max;
    /** NULL: no progress is told. */
    hf_store_progress_fn progress;
} hf_store_check_options;

/* clang-format off */
#define HF_STORE_CHECK_OPTIONS_INIT \
    { sizeof(hf_store_check_options), 0, 0, NULL }
/* clang-format on */

/**
 * Read a whole embedded store and tell what is wrong with it. Nothing is
 * repaired, and no data is written.
 *
 * Every page is read: the trees, the order of all keys, that each page is used
 * once or free; then every record: its form, its counts, its checksum, that
 * each large collection has all of its elements and its indexes agree, and
 * that no element is without a key. The values inside large collections have no
 * checksum of their own.
 *
 * A store in use is read as it was at one instant; nobody is held up, but room
 * that writers free meanwhile is not used again before the check has ended: the
 * file may grow, and a store near its `max_size` may answer HF_FULL. The
 * reading is done by a process of its own, so that whatever is in the file
 * cannot crash or stop the caller; no signal tells of that process's end.
 *
 * @param url      as for hf_client_open(), NULL included
 * @param opts     NULL for defaults
 * @param finding  called for each finding, on the calling thread; NULL: only
 *                 the status counts
 * @param user     handed to `finding` and to `opts->progress`
 * @param err      [out] may be NULL
 *
 * @retval HF_OK           nothing is wrong
 * @retval HF_CORRUPT      something is; hf_client_open() refuses the store as
 *                         soon as nobody has it open
 * @retval HF_NOT_FOUND    there is no store, or only one of before the last
 *                         boot
 * @retval HF_INVALID      the URL or an option is wrong, or the path holds
 *                         something that is not a store of ours
 * @retval HF_UNSUPPORTED  not an embedded store, or one of a newer format
 * @retval HF_UNAVAILABLE  others held it up; nothing is known
 * @retval HF_TIMEOUT      limit_ms have passed; the findings told are true
 * @retval HF_DENIED       file permission refused
 * @retval HF_SYSTEM       a call of the operating system failed, the disk
 *                         did not answer for 60 s, or the reading process was
 *                         killed by somebody
 * @retval HF_NO_MEMORY    nothing is known
 *
 * Blocks: for as long as reading the file takes, but see `limit_ms`. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_check(const char *url,
                                            const hf_store_check_options *opts,
                                            hf_store_fault_fn finding,
                                            void *user, hf_error *err);

/** What hf_store_compact() did. Start it with #HF_STORE_COMPACTION_INIT. */
typedef struct hf_store_compaction {
    size_t struct_size;   /**< #HF_STORE_COMPACTION_INIT sets it */
    uint64_t keys;        /**< expired keys removed */
    uint64_t elements;    /**< elements of keys that are gone, removed */
    uint64_t size_before; /**< of the data file, bytes */
    uint64_t size_after;  /**< of the data file, bytes */
    bool rewritten;       /**< the file was written anew without holes */
    bool in_use;          /**< it was not, because others have it open */
} hf_store_compaction;

/* clang-format off */
#define HF_STORE_COMPACTION_INIT \
    { sizeof(hf_store_compaction), 0, 0, 0, 0, false, false }
/* clang-format on */

/**
 * Make an embedded store small: remove every expired key and what is left of
 * deleted ones, then write the data file anew.
 *
 * The first part goes in steps of about a millisecond, between which others
 * write. The second needs the store for itself: if anybody has it open, this
 * process's other clients included, it is left out; while it runs, whoever
 * opens the store waits for it as for any other opening. It takes room for a
 * second copy of the live data. Killed at any instant, it leaves the old file
 * or the new one.
 *
 * @param url     as for hf_client_open(), NULL included
 * @param result  [in,out] start it with #HF_STORE_COMPACTION_INIT; filled on
 *                HF_OK, and on HF_FULL
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           see `result`
 * @retval HF_FULL         no room for the second copy; what had expired is gone
 * @retval HF_NOT_FOUND    there is no store
 * @retval HF_INVALID      the URL or struct_size is wrong, or the path holds
 *                         something that is not a store of ours
 * @retval HF_UNSUPPORTED  not an embedded store, or one of a newer format
 * @retval HF_UNAVAILABLE  others held it up
 * @retval HF_CORRUPT      the store is damaged; it was left as it is
 * @retval HF_DENIED       file permission refused
 * @retval HF_SYSTEM       a call of the operating system failed
 * @retval HF_NO_MEMORY    the file is the old one
 *
 * Blocks: for as long as reading and writing the data takes. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_compact(const char *url,
                                              hf_store_compaction *result,
                                              hf_error *err);

/* --------------------------------------------------------- dump and load */

/**
 * How far a dump or a load is, and what it came to. Start it with
 * #HF_STORE_TRANSFER_INIT.
 */
typedef struct hf_store_transfer {
    size_t struct_size;  /**< #HF_STORE_TRANSFER_INIT sets it */
    uint64_t keys;       /**< keys dumped, or loaded */
    uint64_t bytes;      /**< of the dump, written or read */
    uint64_t keys_total; /**< dump: keys in the store when it began, whatever
                              the pattern; 0: not known */
    uint64_t existing;   /**< load: keys left alone, as they were there */
    uint64_t expired;    /**< load: keys left out, as their time was over */
    /** Keys of the source that the dump does not hold, as their type or their
     *  name is none of ours: streams, types of modules, names above 512 KiB. */
    uint64_t left_out;
    /** Keys of the source that went on changing while they were read; of each
     *  the dump holds elements of different moments, or nothing. */
    uint64_t changed;
    bool complete; /**< the dump has its end: what there is of it is whole */
} hf_store_transfer;

/* clang-format off */
#define HF_STORE_TRANSFER_INIT \
    { sizeof(hf_store_transfer), 0, 0, 0, 0, 0, 0, 0, false }
/* clang-format on */

/**
 * Tells how far a dump or a load is, often; on the calling thread.
 *
 * @param user    what was given beside write() or read()
 * @param so_far  valid until the function returns
 */
typedef void (*hf_store_transfer_fn)(void *user,
                                     const hf_store_transfer *so_far);

/**
 * Takes the next bytes of a dump; on the calling thread. It may take its time
 * and use the client.
 *
 * @param user  what was given beside it
 * @param data  `size` bytes, valid until the function returns
 * @param size  1..2 MiB
 * @return 0, or an errno number (ECANCELED for instance), which ends the dump
 */
typedef int (*hf_store_write_fn)(void *user, const void *data, size_t size);

/**
 * Gives the next bytes of a dump; on the calling thread. It may take its time
 * and use the client.
 *
 * @param user  what was given beside it
 * @param data  [out] room for `size` bytes
 * @param size  at least 1
 * @param got   [out] how many there are, at most `size`; 0: the dump is over
 * @return 0, or an errno number, which ends the load
 */
typedef int (*hf_store_read_fn)(void *user, void *data, size_t size,
                                size_t *got);

/** Options of hf_store_dump(). Zero means the default of each. */
typedef struct hf_store_dump_options {
    size_t struct_size; /**< #HF_STORE_DUMP_OPTIONS_INIT sets it */
    /** Only keys that fit, as SCAN's MATCH; empty: all. */
    hf_bytes pattern;
    /** NULL: no progress is told. */
    hf_store_transfer_fn progress;
    /** Told of each key that is left out, and its type; may be NULL. */
    void (*left_out)(void *user, hf_bytes key, const char *type);
} hf_store_dump_options;

/* clang-format off */
#define HF_STORE_DUMP_OPTIONS_INIT \
    { sizeof(hf_store_dump_options), { NULL, 0 }, NULL, NULL }
/* clang-format on */

/**
 * Write all keys of a store, with their contents and instants of expiry, as a
 * stream of bytes that hf_store_load() puts into any store.
 *
 * Others may go on writing. Each key that is there from beginning to end is in
 * the dump once. A string is dumped as it was at one instant, content and
 * expiry; so is a collection of up to 4096 elements and 1 MiB. A larger one is
 * read in pieces: what was in it all the time is in the dump. If its type,
 * count, expiry or (of a list) its ends are not the same afterwards, it is read
 * again, up to 3 times, and then counted in `result->changed`. Keys are not of
 * one common instant.
 *
 * Of the library's own keys the fencing tokens are dumped, so that they do not
 * go back; queues of waiters are not. Keys that expire while they wait for
 * their turn are not in the dump.
 *
 * Memory: 24 bytes for each key, one string as a whole (at most 512 MiB), and
 * some MiB.
 *
 * @param client  open client without a prefix: a dump has whole names
 * @param opts    NULL for defaults
 * @param write   takes the bytes
 * @param user    handed to `write` and to the functions in `opts`
 * @param result  [in,out] may be NULL; filled on every status but HF_INVALID
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             all keys that fit are in the dump
 * @retval HF_UNSUPPORTED    with `result->complete`: the dump is whole, but
 *                           keys were left out, and the message names one;
 *                           else an option is newer than this library
 * @retval HF_INVALID        an argument is wrong, or the client has a prefix;
 *                           nothing was written
 * @retval HF_SYSTEM         write() did not answer 0
 * @retval HF_UNAVAILABLE    the store was lost; the dump is of no use
 * @retval HF_INDETERMINATE  likewise, no answer came; nothing was changed
 * @retval HF_DENIED         the store refused a command
 * @retval HF_NO_MEMORY      the dump is of no use
 *
 * Blocks: as long as it takes; each request up to request_ms, and 1 s more for
 * each MiB it moves. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_dump(hf_client *client,
                                           const hf_store_dump_options *opts,
                                           hf_store_write_fn write, void *user,
                                           hf_store_transfer *result,
                                           hf_error *err);

/** Flags of hf_store_load(). */
enum {
    HF_LOAD_REPLACE = 1u << 0, /**< replace keys that exist */
    HF_LOAD_SKIP = 1u << 1,    /**< leave keys alone that exist */
    HF_LOAD_CHECK = 1u << 2    /**< only read the dump; nothing is stored */
};

/** Options of hf_store_load(). Zero means the default of each. */
typedef struct hf_store_load_options {
    size_t struct_size; /**< #HF_STORE_LOAD_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_LOAD_* bits; REPLACE and SKIP exclude each
                             other */
    uint32_t reserved0; /**< must be 0 */
    /** NULL: no progress is told. */
    hf_store_transfer_fn progress;
} hf_store_load_options;

/* clang-format off */
#define HF_STORE_LOAD_OPTIONS_INIT \
    { sizeof(hf_store_load_options), 0, 0, NULL }
/* clang-format on */

/**
 * Put the keys of a dump into a store.
 *
 * Each key appears at once, whole and with its expiry. Large ones are built
 * under a name `hf:load:...` that expires by itself ten minutes after the load
 * has died. An instant of expiry is the same on every store: what a key had
 * left when it was dumped goes on running while the dump lies in a file, and a
 * key whose time is over is not loaded.
 *
 * Without a flag a key that exists ends the load: it keeps what it had, and
 * its name is in the message; the keys before it, and up to 255 behind it, are
 * loaded. A fencing token never goes back, whatever the flags.
 *
 * A damaged dump is refused where the damage is met; the keys before it are
 * loaded. HF_LOAD_CHECK finds out beforehand.
 *
 * Memory: one string as a whole (embedded store), one element of a
 * collection, and some MiB.
 *
 * @param client  open client without a prefix: a dump has whole names
 * @param opts    NULL for defaults
 * @param read    gives the bytes
 * @param user    handed to `read` and to the function in `opts`
 * @param result  [in,out] may be NULL; filled on every status but HF_INVALID
 *                for an argument
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             all keys of the dump are loaded, or counted in
 *                           `result`
 * @retval HF_CONFLICT       without a flag: a key exists
 * @retval HF_CORRUPT        the dump is damaged or cut off; the message names
 *                           the place
 * @retval HF_UNSUPPORTED    with `result->complete`: all of the dump is loaded,
 *                           but keys of its source were left out of it; else
 *                           the dump or an option is newer than this library
 * @retval HF_INVALID        what is read is no dump; or an argument is wrong;
 *                           or the client has a prefix; nothing was changed
 * @retval HF_SYSTEM         read() did not answer 0
 * @retval HF_FULL           the store has no room; no key is there in part
 * @retval HF_UNAVAILABLE    the store was lost; no key is there in part
 * @retval HF_INDETERMINATE  no answer came; no key is there in part
 * @retval HF_DENIED         the store refused a command
 * @retval HF_WRONG_TYPE     the name of a fencing token holds something else
 * @retval HF_NO_MEMORY      no key is there in part
 *
 * Blocks: as long as it takes; each request up to request_ms, and 1 s more for
 * each MiB it moves. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_load(hf_client *client,
                                           const hf_store_load_options *opts,
                                           hf_store_read_fn read, void *user,
                                           hf_store_transfer *result,
                                           hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_STORE_H */
