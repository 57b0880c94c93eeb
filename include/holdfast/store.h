/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/store.h - looking after a whole store.
 *
 * Contents:
 * - hf_store_info(): kind, versions, sizes, counts
 * - hf_store_diagnose(): configuration and health
 * - hf_store_check(), hf_store_compact(), hf_store_salvage(): embedded stores
 * - hf_store_setup(): what a store needs in a database
 * - hf_store_dump(), hf_store_load(): all keys, from any store to any other
 *
 * @code
 * static void print(void *user, const char *name, const char *value)
 * {
 *     fprintf((FILE *)user, "%s: %s\n", name, value);
 * }
 *
 * hf_status describe(hf_client *client, hf_error *err)
 * {
 *     return hf_store_info(client, print, stdout, err);
 * }
 * @endcode
 */
#ifndef HOLDFAST_STORE_H
#define HOLDFAST_STORE_H

#include "holdfast/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Receives a fact about a store.
 *
 * @param user   as passed to hf_store_info()
 * @param name   lower-case words with spaces, unique among the facts
 * @param value  text; numbers are decimal, and their unit is part of the name.
 *               Both are valid until the function returns.
 */
typedef void (*hf_store_info_fn)(void *user, const char *name,
                                 const char *value);

/**
 * Report facts about the store, for people: kind, address or path, versions,
 * sizes, counts. Names and order may change between versions. No password is
 * among them.
 *
 * @param line  called for each fact on the calling thread; it must not use the
 *              client
 * @param user  passed to `line`
 *
 * @retval HF_OK  all facts were reported; a server that did not answer is
 *                reported as the fact "error"
 *
 * Blocks: up to connect_ms for a server. Counting the keys of an embedded store
 * takes no lock that writers need.
 */
HF_API HF_MUST_USE hf_status hf_store_info(hf_client *client,
                                           hf_store_info_fn line, void *user,
                                           hf_error *err);

/** Severity of a diagnostic. */
typedef enum hf_level {
    HF_LEVEL_OK = 0,      /**< as it should be */
    HF_LEVEL_NOTE = 1,    /**< for information */
    HF_LEVEL_WARNING = 2, /**< locks or data may be lost, now or soon */
    HF_LEVEL_ERROR = 3    /**< something required does not work */
} hf_level;

/** A diagnostic. Texts are one line without a password, and valid until the
 *  function that receives them returns. */
typedef struct hf_store_diagnostic {
    hf_level level;
    /** For an error the status that calls would return, else #HF_OK. */
    hf_status status;
    /** The server, as "host:port" or a path; "": the whole store. */
    const char *node;
    /** What was checked: lower-case words with spaces, unique for each node.
     *  Names do not change in later versions. */
    const char *name;
    const char *value;  /**< what was found */
    const char *remedy; /**< what to do about it; "": nothing */
} hf_store_diagnostic;

/**
 * Receives a diagnostic.
 *
 * @param user        as passed to hf_store_diagnose()
 * @param diagnostic  valid until the function returns
 */
typedef void (*hf_store_diagnostic_fn)(void *user,
                                       const hf_store_diagnostic *diagnostic);

/** Options of hf_store_diagnose(). */
typedef struct hf_store_diagnose_options {
    size_t struct_size; /**< #HF_STORE_DIAGNOSE_OPTIONS_INIT sets it */
    /** Small requests to time on each server, one after another; 0: 200; range
     *  1..100000. */
    uint32_t requests;
    uint32_t reserved0; /**< must be 0 */
    /** Longest time for the whole diagnosis, ms; 0: 30000; range 1..3600000. */
    int64_t limit_ms;
} hf_store_diagnose_options;

/* clang-format off */
#define HF_STORE_DIAGNOSE_OPTIONS_INIT \
    { sizeof(hf_store_diagnose_options), 0, 0, 0 }
/* clang-format on */

/**
 * Diagnose a store's configuration and health: is it reachable, how fast is it,
 * can it drop locks, what would a restart lose, does this client have the
 * rights it needs, what can the store do.
 *
 * For each server of the store: version, round-trip times, clock, eviction,
 * memory, persistence, replication, access list, TLS and certificate,
 * capabilities. For an embedded store: location, file system, durability,
 * space, permissions, who has it open.
 *
 * Nothing is changed: rights are checked by ACL DRYRUN, or by commands without
 * effect; one message is published, to this client itself. What a server does
 * not reveal to this user is reported as unknown.
 *
 * @param opts    NULL for defaults
 * @param report  called for each diagnostic on the calling thread; it must not
 *                use the client
 * @param user    passed to `report`
 *
 * @retval HF_OK       all was checked; the diagnostics have the results
 * @retval HF_TIMEOUT  limit_ms passed; the diagnostics so far are valid
 *
 * Blocks: up to limit_ms and one request.
 */
HF_API HF_MUST_USE hf_status
hf_store_diagnose(hf_client *client, const hf_store_diagnose_options *opts,
                  hf_store_diagnostic_fn report, void *user, hf_error *err);

/**
 * Receives a fault found by hf_store_check().
 *
 * @param user   as passed to hf_store_check()
 * @param fault  one line, bytes of keys quoted; valid until the function
 *               returns
 */
typedef void (*hf_store_fault_fn)(void *user, const char *fault);

/**
 * Receives the progress of a check, several times a second.
 *
 * @param user   as passed to hf_store_check()
 * @param done   pages read
 * @param total  pages to read; 0: not known yet
 */
typedef void (*hf_store_progress_fn)(void *user, uint64_t done, uint64_t total);

/** Options of hf_store_check(). */
typedef struct hf_store_check_options {
    size_t struct_size; /**< #HF_STORE_CHECK_OPTIONS_INIT sets it */
    /** Longest time it may take, ms; 0: as long as it makes progress;
     *  range 1..#HF_TTL_MAX_MS. */
    int64_t limit_ms;
    /** Most faults to report; 0: 100; range 1..10000. */
    uint32_t faults_max;
    /** NULL: progress is not reported. */
    hf_store_progress_fn progress;
} hf_store_check_options;

/* clang-format off */
#define HF_STORE_CHECK_OPTIONS_INIT \
    { sizeof(hf_store_check_options), 0, 0, NULL }
/* clang-format on */

/**
 * Check an embedded store for corruption. Nothing is repaired, and no data is
 * written.
 *
 * Every page is read: the trees, the order of all keys, that each page is used
 * once or is free. Then every record: its form, counts and checksum, that each
 * large collection has all its elements and its indexes agree, and that every
 * element has a key. The values in large hashes and lists have no checksum of
 * their own.
 *
 * A store in use is checked as of one instant. Others are not held up, but
 * space that they free is not reused until the check has ended: the file may
 * grow, and a store near its `max_size` may return HF_FULL. A separate process
 * does the reading, so that nothing in the file can crash or block the caller;
 * it causes no SIGCHLD.
 *
 * @param url     as for hf_client_open()
 * @param opts    NULL for defaults
 * @param report  called for each fault on the calling thread; NULL: only the
 *                status matters
 * @param user    passed to `report` and to `opts->progress`
 *
 * @retval HF_OK           no faults found
 * @retval HF_CORRUPT      faults found; hf_client_open() refuses the store once
 *                         no one has it open
 * @retval HF_NOT_FOUND    there is no store, or only one from before the last
 *                         boot
 * @retval HF_INVALID      the URL or an option is invalid, or the path holds
 *                         something other than a store
 * @retval HF_UNSUPPORTED  not an embedded store, or one of a newer format
 * @retval HF_UNAVAILABLE  other processes held it up; nothing is known
 * @retval HF_TIMEOUT      limit_ms passed; the faults reported are real
 * @retval HF_DENIED       no permission for a file
 * @retval HF_SYSTEM       a system call failed, the disk did not answer for 60
 *                         s, or the reading process was killed
 *
 * Blocks: as long as reading the file takes; see `limit_ms`.
 */
HF_API HF_MUST_USE hf_status hf_store_check(const char *url,
                                            const hf_store_check_options *opts,
                                            hf_store_fault_fn report,
                                            void *user, hf_error *err);

/** What hf_store_compact() did. */
typedef struct hf_store_compaction {
    size_t struct_size;   /**< #HF_STORE_COMPACTION_INIT sets it */
    uint64_t keys;        /**< expired keys removed */
    uint64_t elements;    /**< elements of deleted keys removed */
    uint64_t size_before; /**< of the data file, bytes */
    uint64_t size_after;  /**< of the data file, bytes */
    bool rewritten;       /**< a new file was written */
    bool in_use;          /**< it was not: others have the store open */
    /** [in] the new `max_size` of the store, bytes, rounded down to 64 KiB; 0:
     *  as it is. [out] what it is now. That of a store in use is not lowered.
     */
    uint64_t max_size;
} hf_store_compaction;

/* clang-format off */
#define HF_STORE_COMPACTION_INIT \
    { sizeof(hf_store_compaction), 0, 0, 0, 0, false, false, 0 }
/* clang-format on */

/**
 * Compact an embedded store: remove expired keys and what is left of deleted
 * ones, then copy the data to a new file without free pages.
 *
 * The first part works in steps of about a millisecond; others can write
 * between them. The second part needs exclusive access: if the store is open
 * elsewhere, in another client of this process included, it is left out. While
 * it runs, opening the store waits. It needs room for a second copy of the live
 * data. If it is killed, either the old file or the new one remains.
 *
 * @param url     as for hf_client_open()
 * @param result  [in,out] start it with #HF_STORE_COMPACTION_INIT; filled on
 *                HF_OK and HF_FULL
 *
 * @retval HF_OK           see `result`
 * @retval HF_FULL         no room for the second copy, or more content than
 *                         `max_size`; expired keys were removed
 * @retval HF_NOT_FOUND    there is no store
 * @retval HF_INVALID      the URL, struct_size or max_size is invalid, or the
 *                         path holds something other than a store
 * @retval HF_UNSUPPORTED  not an embedded store, or one of a newer format
 * @retval HF_UNAVAILABLE  other processes held it up
 * @retval HF_CORRUPT      the store is damaged; it was left alone
 * @retval HF_DENIED       no permission for a file
 * @retval HF_SYSTEM       a system call failed
 *
 * Blocks: as long as reading and writing the data takes.
 */
HF_API HF_MUST_USE hf_status hf_store_compact(const char *url,
                                              hf_store_compaction *result,
                                              hf_error *err);

/**
 * Receives what hf_store_salvage() could not copy.
 *
 * @param user  as passed to hf_store_salvage()
 * @param key   the name of the key; NULL data: not known, as part of the file
 *              cannot be read. Valid until the function returns
 * @param why   one line, bytes of keys quoted; valid until the function returns
 */
typedef void (*hf_store_lost_fn)(void *user, hf_bytes key, const char *why);

/** What hf_store_salvage() did. */
typedef struct hf_store_salvaged {
    size_t struct_size; /**< #HF_STORE_SALVAGED_INIT sets it */
    uint64_t keys;      /**< keys copied */
    uint64_t lost;      /**< keys that were not, with a known name */
    uint64_t faults;    /**< other damage, which may have been keys */
    bool complete;      /**< the new store was written */
} hf_store_salvaged;

/* clang-format off */
#define HF_STORE_SALVAGED_INIT \
    { sizeof(hf_store_salvaged), 0, 0, 0, false }
/* clang-format on */

/**
 * Copy what is intact of a damaged store on disk to a new one.
 *
 * A key is copied as a whole, with its expiry, or not at all: every key that
 * hf_store_check() finds nothing wrong with, and whose records can be read. The
 * new store passes hf_store_check(). The damaged one stays as it is. Values
 * in large collections have no checksum, so damage in one is copied unnoticed.
 *
 * A disk that cannot read a page ends it with HF_SYSTEM: copy the file to
 * another disk first.
 *
 * @param url      the damaged store, which no one may have open; `file:` only
 * @param new_url  the new store, `file:`; its directory is created, or empty
 * @param lost     called for each key that is not copied, and for other damage,
 *                 on the calling thread; may be NULL
 * @param user     passed to `lost`
 * @param result   [in,out] start it with #HF_STORE_SALVAGED_INIT; filled on
 *                 HF_OK and HF_CORRUPT; may be NULL
 *
 * @retval HF_OK           all keys were copied
 * @retval HF_CORRUPT      with `result->complete`: the new store has what could
 *                         be copied, and something could not; otherwise the
 *                         damage is such that nothing can be copied
 * @retval HF_CONFLICT     the new store's directory is not empty
 * @retval HF_FULL         no room for the copy
 * @retval HF_NOT_FOUND    there is no store at `url`
 * @retval HF_INVALID      a URL or struct_size is invalid, or `url` holds
 *                         something other than a store
 * @retval HF_UNSUPPORTED  not a store on disk, or one of a newer format
 * @retval HF_UNAVAILABLE  a process has the store open
 * @retval HF_DENIED       no permission for a file
 * @retval HF_SYSTEM       a system call failed
 *
 * Blocks: as long as reading and writing the data takes.
 */
HF_API HF_MUST_USE hf_status hf_store_salvage(const char *url,
                                              const char *new_url,
                                              hf_store_lost_fn lost, void *user,
                                              hf_store_salvaged *result,
                                              hf_error *err);

/* --------------------------------------------------------- dump and load */

/**
 * Progress and result of a dump or a load. Start it with
 * #HF_STORE_TRANSFER_INIT.
 */
typedef struct hf_store_transfer {
    size_t struct_size;  /**< #HF_STORE_TRANSFER_INIT sets it */
    uint64_t keys;       /**< keys dumped, or loaded */
    uint64_t bytes;      /**< of the dump, written or read */
    uint64_t keys_total; /**< dump: keys in the store when it began, whether or
                              not they match the pattern; 0: not known */
    uint64_t existing;   /**< load: keys skipped because they exist */
    uint64_t expired;    /**< load: keys skipped because they expired */
    /** Keys of the source that are not in the dump because their type or name
     *  is not supported: types of modules, names above 512 KiB, streams whose
     *  DUMP is larger than #HF_VALUE_MAX. */
    uint64_t left_out;
    /** Keys of the source that kept changing while they were read: the dump has
     *  elements of different moments, or nothing, of each. */
    uint64_t changed;
    bool complete;    /**< the end of the dump was written, or reached */
    uint64_t refused; /**< load: keys that the store cannot hold */
} hf_store_transfer;

/* clang-format off */
#define HF_STORE_TRANSFER_INIT \
    { sizeof(hf_store_transfer), 0, 0, 0, 0, 0, 0, 0, false, 0 }
/* clang-format on */

/**
 * Receives the progress of a dump or a load, often; on the calling thread.
 *
 * @param user    as passed to hf_store_dump() or hf_store_load()
 * @param so_far  valid until the function returns
 */
typedef void (*hf_store_transfer_fn)(void *user,
                                     const hf_store_transfer *so_far);

/**
 * Receives the next bytes of a dump, on the calling thread. It may take its
 * time, and use the client.
 *
 * @param user  as passed to hf_store_dump()
 * @param data  `size` bytes, valid until the function returns
 * @param size  1..2 MiB
 * @return 0; or an errno number (such as ECANCELED), which ends the dump
 */
typedef int (*hf_store_write_fn)(void *user, const void *data, size_t size);

/**
 * Provides the next bytes of a dump, on the calling thread. It may take its
 * time, and use the client.
 *
 * @param user  as passed to hf_store_load()
 * @param data  [out] room for `size` bytes
 * @param size  at least 1
 * @param got   [out] bytes provided, at most `size`; 0: end of the dump
 * @return 0; or an errno number, which ends the load
 */
typedef int (*hf_store_read_fn)(void *user, void *data, size_t size,
                                size_t *got);

/** Options of hf_store_dump(). */
typedef struct hf_store_dump_options {
    size_t struct_size; /**< #HF_STORE_DUMP_OPTIONS_INIT sets it */
    /** Only keys that match, as by MATCH of SCAN, 1..#HF_NAME_MAX bytes, and
     * what belongs to them: the items of a timeline, the highest fencing token.
     * Tags of cache entries match by their own names; an entry without them
     * counts as invalidated once it is loaded. Empty: all. */
    hf_bytes pattern;
    /** NULL: progress is not reported. */
    hf_store_transfer_fn progress;
    /** Called for each key that is left out, with its type; may be NULL. */
    void (*left_out)(void *user, hf_bytes key, const char *type);
} hf_store_dump_options;

/* clang-format off */
#define HF_STORE_DUMP_OPTIONS_INIT \
    { sizeof(hf_store_dump_options), { NULL, 0 }, NULL, NULL }
/* clang-format on */

/**
 * Write all keys of a store, with their contents and expiry, as a stream of
 * bytes that hf_store_load() can put into any store.
 *
 * Others may keep writing. Each key that exists from the beginning to the end
 * is in the dump once. A string is dumped as of one instant, content and
 * expiry; so is a collection of up to 4096 elements and 1 MiB. A larger one is
 * read in pieces: what was in it all the time is in the dump. If its type,
 * count, expiry or (of a list) its ends have changed meanwhile, it is read
 * again, up to 3 times, and then counted in `result->changed`. Different keys
 * may be of different instants. What belongs to a key, such as the items of a
 * timeline, is read with it and comes before it in the dump.
 *
 * Of the library's own keys the fencing tokens are dumped, so that they do not
 * go back; wait queues are not. Keys that expire before they are read are not
 * in the dump. Fields of hashes keep their deadlines; of a hash above 4096
 * fields or 1 MiB, value and deadline are read one after the other.
 *
 * The libraries of functions (FUNCTION LOAD) are in it, too, and count as one
 * key; not with a pattern, nor if the user may not run FUNCTION DUMP. An
 * earlier version of the library does not load such a dump.
 *
 * Memory: 24 bytes for each key, one whole string (at most 512 MiB), and a few
 * MiB.
 *
 * @param client  an open client without a prefix: a dump has full names
 * @param opts    NULL for defaults
 * @param write   receives the bytes
 * @param user    passed to `write` and to the functions in `opts`
 * @param result  [in,out] may be NULL; filled on every status but HF_INVALID
 *
 * @retval HF_OK           all matching keys are in the dump
 * @retval HF_UNSUPPORTED  with `result->complete`: the dump is complete, but
 *                         keys were left out, and the message names one;
 *                         otherwise as in base.h
 * @retval HF_SYSTEM       write() did not return 0
 *
 * After other statuses the dump is of no use. Blocks: as long as it takes; each
 * request up to request_ms, and 1 s more for each MiB it moves.
 */
HF_API HF_MUST_USE hf_status hf_store_dump(hf_client *client,
                                           const hf_store_dump_options *opts,
                                           hf_store_write_fn write, void *user,
                                           hf_store_transfer *result,
                                           hf_error *err);

/** Flags of hf_store_load(). */
enum {
    HF_LOAD_REPLACE = 1u << 0, /**< replace keys that exist */
    HF_LOAD_SKIP = 1u << 1,    /**< skip keys that exist */
    /** Only read the dump, and count the keys that the store cannot hold;
     *  nothing is stored. */
    HF_LOAD_CHECK = 1u << 2,
    /** On a server without HPEXPIRE: load hashes whose fields expire without
     *  the deadlines of their fields. Their fields stay. */
    HF_LOAD_DROP_FIELD_TTL = 1u << 3,
    /** Leave out keys that the store cannot hold, and continue. */
    HF_LOAD_CONTINUE = 1u << 4,
    /** With HF_LOAD_CHECK: also look up each key in the store, one request
     *  for each. Those that exist are counted as `existing` and, unless they
     *  would be replaced or skipped, reported by refused(); those that have
     *  expired are counted as `expired`. */
    HF_LOAD_LOOK_UP = 1u << 5
};

/** Options of hf_store_load(). */
typedef struct hf_store_load_options {
    size_t struct_size; /**< #HF_STORE_LOAD_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_LOAD_* bits; REPLACE and SKIP exclude each
                             other */
    uint32_t reserved0; /**< must be 0 */
    /** NULL: progress is not reported. */
    hf_store_transfer_fn progress;
    /** Receives the keys that the store cannot hold: hashes with fields that
     *  expire, on a server without HPEXPIRE; and see HF_LOAD_LOOK_UP. `type`
     *  says which. NULL: they are only counted. */
    void (*refused)(void *user, hf_bytes key, const char *type);
} hf_store_load_options;

/* clang-format off */
#define HF_STORE_LOAD_OPTIONS_INIT \
    { sizeof(hf_store_load_options), 0, 0, NULL, NULL }
/* clang-format on */

/**
 * Put the keys of a dump into a store.
 *
 * Each key appears at once, complete and with its expiry. Large ones are built
 * under a name `hf:load:...`, which expires ten minutes after a load that died.
 * Expiry is an instant: time passes for a key while its dump lies in a file,
 * and a key that has expired is not loaded, nor is a field.
 *
 * An object of several keys (a timeline, a cache entry, a fenced value) appears
 * at once, too: what belongs to its key is stored before that. A load that ends
 * early may leave such keys without the object; no one sees them, and a load
 * with HF_LOAD_SKIP or HF_LOAD_REPLACE completes it. A timeline or a cache
 * entry that is replaced does not exist for a moment, or until the next load if
 * this one ends there. Dumps by version 0.1.0 have their keys in another order,
 * and of these only each key appears at once.
 *
 * Without a flag, a key that exists ends the load: it keeps its value, and the
 * message names it; the keys before it, and up to 255 after it, are loaded. A
 * fencing token never goes back, whatever the flags.
 *
 * Libraries of functions are loaded before any key, all of them or none: with
 * HF_LOAD_SKIP none if one of them exists, or a function of a name in them; and
 * with HF_LOAD_REPLACE such a function of another library ends the load. In a
 * cluster this holds for each server: where one refuses them, the message says
 * how many have them already.
 *
 * A damaged dump is refused where the damage is found; the keys before it are
 * loaded. HF_LOAD_CHECK finds it in advance.
 *
 * Memory: one whole string (embedded store), one element of a collection, and a
 * few MiB; with HF_LOAD_REPLACE 24 bytes more for each key.
 *
 * @param client  an open client without a prefix: a dump has full names
 * @param opts    NULL for defaults
 * @param read    provides the bytes
 * @param user    passed to `read` and to the function in `opts`
 * @param result  [in,out] may be NULL; filled on every status but HF_INVALID
 *                for an argument
 *
 * @retval HF_OK           all keys of the dump were loaded, or are counted in
 *                         `result`
 * @retval HF_CONFLICT     without a flag: a key exists, or a library of
 *                         functions; with HF_LOAD_REPLACE: a function of a name
 *                         in the dump's libraries is in another library
 * @retval HF_CORRUPT      the dump is damaged or truncated; the message says
 *                         where
 * @retval HF_UNSUPPORTED  with `result->complete`: the whole dump was loaded
 *                         (or, with HF_LOAD_CHECK, read), but for keys that the
 *                         store cannot hold (`refused`) and keys of its source
 *                         that are not in it (`left_out`); otherwise the
 *                         dump or an option is newer than this library, or
 *                         fields of a key expire and the server has no
 *                         HPEXPIRE: that key is named and not written, the
 *                         load ends
 * @retval HF_INVALID      the input is not a dump, or an argument is invalid,
 *                         or the client has a prefix; nothing was changed
 * @retval HF_SYSTEM       read() did not return 0
 * @retval HF_WRONG_TYPE   the name of a fencing token holds something else
 *
 * Whatever the status, no key is loaded in part. Blocks: as long as it takes;
 * each request up to request_ms, and 1 s more for each MiB it moves.
 */
HF_API HF_MUST_USE hf_status hf_store_load(hf_client *client,
                                           const hf_store_load_options *opts,
                                           hf_store_read_fn read, void *user,
                                           hf_store_transfer *result,
                                           hf_error *err);

/**
 * Called with the SQL of hf_store_setup().
 *
 * @param user  as passed to hf_store_setup()
 * @param sql   several statements with comments, valid during the call
 */
typedef void (*hf_store_setup_fn)(void *user, const char *sql);

/**
 * Set up a database as a store: in PostgreSQL, a schema with tables and
 * functions. It can be done again, also by a newer release, and changes no
 * data. Clients that are open meanwhile continue.
 *
 * Who sets it up needs the right to create the schema; who then uses the store
 * needs USAGE of the schema and EXECUTE of its functions.
 *
 * @param url    as for hf_client_open(), with its environment
 * @param print  NULL: run the SQL; otherwise only call this with it, for an
 *               administrator to run
 * @param user   passed to `print`
 *
 * @retval HF_OK           it is set up, or was printed
 * @retval HF_INVALID      the URL is invalid
 * @retval HF_UNSUPPORTED  this store needs no setup, or the package for it is
 *                         not installed
 * @retval HF_DENIED       login refused, no right to create the schema, or in
 *                         the schema is something of another user, or others
 *                         may create objects in it; the message names it
 * @retval HF_UNAVAILABLE  no connection, or the database cannot do it now
 * @retval HF_NO_MEMORY    out of memory
 * @retval HF_SYSTEM       the package for this store cannot be loaded, or
 *                         others can change it
 *
 * Blocks: for connect_ms at most to connect (2 s), then as long as the database
 * takes.
 */
HF_API HF_MUST_USE hf_status hf_store_setup(const char *url,
                                            hf_store_setup_fn print, void *user,
                                            hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_STORE_H */
