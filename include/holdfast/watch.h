/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/watch.h - being notified of changes to keys.
 *
 * Contents:
 * - hf_watch_open(), hf_watch_close()
 * - hf_watch_next(), which has a `_start` form; hf_change_free()
 *
 * @code
 * hf_status follow(hf_watch *watch, hf_error *err)
 * {
 *     hf_change change = HF_CHANGE_INIT;
 *     hf_status status;
 *
 *     while ((status = hf_watch_next(watch, &change, 60000, err)) == HF_OK) {
 *         if (change.kind == HF_CHANGE_GAP)
 *             puts("changes may have been missed");
 *         else
 *             printf("%d %s\n", change.kind, (const char *)change.key.data);
 *     }
 *     hf_change_free(&change);
 *     return status; // HF_TIMEOUT: no change for a minute
 * }
 * @endcode
 *
 * A watch reports changes by every program, with Holdfast or without. It
 * reports names, not values: read the key. A change may be reported twice, and
 * several changes of one key as one; none is lost without a #HF_CHANGE_GAP, but
 * SWAPDB of a server, which servers report to no one.
 * Locks, semaphores and timelines are keys, so acquiring and releasing a lock
 * are changes.
 */
#ifndef HOLDFAST_WATCH_H
#define HOLDFAST_WATCH_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Keys that are watched. */
typedef struct hf_watch hf_watch;

/** What happened. Values are ABI. */
typedef enum hf_change_kind {
    /** The key was written: created, replaced, or its content or expiry
     *  changed. On a server that forbids EXISTS it may also be gone. */
    HF_CHANGE_WRITTEN = 1,
    /** The key was deleted; on a server it may also have expired. */
    HF_CHANGE_DELETED = 2,
    /** The key expired. Embedded stores only, when a writer notices it: at the
     *  key's next use, or within a few later writes to any key. Until then the
     *  expiry is not reported, although the key is gone. Servers report it
     *  when they remove the key, as #HF_CHANGE_DELETED. */
    HF_CHANGE_EXPIRED = 3,
    /** Any watched key may have changed: read them again. The connection to a
     *  server broke, or is back (there is one gap for each); the watcher was
     *  too slow; all keys were removed (FLUSHALL). It has no key. */
    HF_CHANGE_GAP = 4
} hf_change_kind;

/** A change. Start it with #HF_CHANGE_INIT; it may be used again. */
typedef struct hf_change {
    size_t struct_size; /**< #HF_CHANGE_INIT sets it */
    hf_change_kind kind;
    hf_buffer key; /**< without the client's prefix; empty for a gap */
} hf_change;

/* clang-format off */
#define HF_CHANGE_INIT { sizeof(hf_change), (hf_change_kind)0, { NULL, 0 } }
/* clang-format on */

/**
 * Free the contents of a change.
 *
 * @param change  may be NULL
 */
HF_API void hf_change_free(hf_change *change);

/** The pattern is one key's name: `*` and the like have no meaning. */
#define HF_WATCH_KEY 1u

/** Options of hf_watch_open(). */
typedef struct hf_watch_options {
    size_t struct_size; /**< #HF_WATCH_OPTIONS_INIT sets it */
    uint32_t flags;     /**< #HF_WATCH_KEY, or 0 */
    uint32_t reserved0; /**< must be 0 */
    /** Most memory for changes that were not fetched yet, bytes; 0: 1 MiB;
     *  range 1024..2^30. If they need more, all of them become one gap. */
    int64_t max_bytes;
} hf_watch_options;

/* clang-format off */
#define HF_WATCH_OPTIONS_INIT { sizeof(hf_watch_options), 0, 0, 0 }
/* clang-format on */

/**
 * Watch the keys that match a pattern, from now on: a change that begins after
 * the return is reported.
 *
 * The library's own keys (`hf:...`) are only reported to patterns that begin
 * with `hf:`.
 *
 * On servers each watch has a connection of its own (in a cluster, one to each
 * master) and uses CLIENT TRACKING in broadcasting mode with the pattern's
 * beginning, up to its first special character, as the prefix; it needs no
 * configuration of the server. Each change costs the server one EXISTS for each
 * watch, which tells a deletion from a write. A broken connection is noticed
 * within 10 s. On embedded stores the first watch creates a file of 1.3 MB next
 * to the store; writers then note their changes there until the last watch is
 * closed, or its process has died.
 *
 * @param pattern  1..#HF_NAME_MAX bytes: `*`, `?`, `[a-z]`, `[^a-z]`, and
 *                 backslash, as of KEYS of Redis
 * @param opts     NULL for defaults
 * @param watch    [out] close it with hf_watch_close()
 *
 * @retval HF_OK           changes are being noted
 * @retval HF_UNSUPPORTED  a quorum; or the server has no RESP3
 * @retval HF_DENIED       the user may not use CLIENT TRACKING; or the embedded
 *                         store is read-only
 * @retval HF_SYSTEM       64 other programs watch the embedded store; or there
 *                         is no thread or descriptor
 *
 * Blocks: up to request_ms.
 */
HF_API HF_MUST_USE hf_status hf_watch_open(hf_client *client, hf_bytes pattern,
                                           const hf_watch_options *opts,
                                           hf_watch **watch, hf_error *err);

/**
 * Stop watching. hf_watch_next() of other threads must have returned; started
 * ones complete with HF_CANCELLED. It may be closed before or after its client.
 *
 * @param watch  may be NULL
 *
 * Not in on_lost.
 */
HF_API void hf_watch_close(hf_watch *watch);

/**
 * Fetch the next change, waiting for it if necessary.
 *
 * @param watch    an open watch
 * @param change   [out] the change; what it held before is freed
 * @param wait_ms  0..#HF_FOREVER
 *
 * @retval HF_OK         `*change` is set
 * @retval HF_TIMEOUT    there was none within wait_ms
 * @retval HF_CANCELLED  hf_client_interrupt(), or the client is being closed
 *
 * Each change goes to one of the threads that wait. Blocks: up to wait_ms.
 */
HF_API HF_MUST_USE hf_status hf_watch_next(hf_watch *watch, hf_change *change,
                                           int64_t wait_ms, hf_error *err);

/**
 * Start hf_watch_next() without a time limit. hf_client_interrupt() does not
 * end it; hf_call_cancel() does.
 *
 * @param watch   an open watch
 * @param change  [out] the change; what it held before is freed
 * @param async   how to report it
 *
 * @retval HF_OK  done() will be called
 */
HF_API HF_MUST_USE hf_status hf_watch_next_start(hf_watch *watch,
                                                 hf_change *change,
                                                 const hf_async *async,
                                                 hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_WATCH_H */
