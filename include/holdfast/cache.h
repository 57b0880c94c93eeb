/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/cache.h - cache entries, each filled by one client at a time.
 *
 * Contents:
 * - hf_cache_get_or_fill(): the value, computed if there is none
 * - hf_cache_fill_done(), hf_cache_fill_renew(), hf_cache_fill_key(): in a fill
 * - hf_cache_get(), hf_cache_put(), hf_cache_delete()
 * - hf_cache_invalidate(): all entries with a tag, in one step
 * - hf_cache_get_many(), hf_cache_put_many(), hf_cache_delete_many(),
 *   hf_cache_invalidate_many()
 *
 * Each has a `_start` form but those of the second line.
 *
 * @code
 * hf_status get_user(hf_client *client, hf_bytes key, hf_cache_fill_fn load,
 *                    hf_buffer *row, hf_error *err)
 * {
 *     hf_cache_options options = HF_CACHE_OPTIONS_INIT;
 *
 *     options.ttl_ms = 60000;
 *     options.stale_ms = 30000; // then returned while it is loaded again
 *     return hf_cache_get_or_fill(client, key, load, NULL, &options, row, NULL,
 *                                 err);
 * }
 * @endcode
 *
 * Entries
 * =======
 *
 * The value is a plain string under the caller's key, so any other client can
 * read it. What is known about it is in a second key (scripts/README.md). A
 * value that another program stores under the key is judged by what that key
 * says; without it, it is a fresh entry.
 *
 * An entry is **fresh** for `ttl_ms`. Then it is **stale**: for `stale_ms` it
 * is returned to others while one client fills it again, and for `error_ms`,
 * also counted from the end of `ttl_ms`, if that fill fails. After both it is
 * gone. The limits are those of the call that stored it.
 *
 * A **fill** holds a lease on the entry, so that one client of all that share
 * the store runs it; the others are woken when it ends. If its process dies,
 * another takes over when the lease ends. Its value is not stored if it has
 * lost the lease, or if since its begin the entry was put or deleted or one of
 * its tags invalidated: the value may be older than that.
 *
 * A **tag** is a name that entries share. In a cluster the tags of an entry
 * must be in its hash slot: `{shop}prices` for `{shop}item:17`. An entry whose
 * tags are named in the options is read with one request; one with other tags
 * needs a second.
 *
 * A key in the cache has no `}` unless it has a hash tag. HF_WRONG_TYPE: the
 * key holds something other than a string, which is left alone.
 */
#ifndef HOLDFAST_CACHE_H
#define HOLDFAST_CACHE_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most tags of an entry. */
#define HF_CACHE_TAGS_MAX 16

/** Flags of hf_cache_options. */
enum {
    HF_CACHE_STALE = 1u << 0,    /**< get: return a stale value too */
    HF_CACHE_ABSENT = 1u << 1,   /**< put: remember that there is no value */
    HF_CACHE_NO_WAIT = 1u << 2,  /**< get_or_fill: wait for no other fill */
    HF_CACHE_NO_RENEW = 1u << 3, /**< get_or_fill: do not renew its lease */
    HF_CACHE_RETRY = 1u << 4 /**< get_or_fill: fill after another has failed */
};

/** Options of the functions below. Each says which it uses. */
typedef struct hf_cache_options {
    size_t struct_size; /**< #HF_CACHE_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_CACHE_* bits */
    uint32_t reserved0; /**< must be 0 */
    /** How long an entry is fresh, ms, 1..#HF_TTL_MAX_MS. Put and get_or_fill
     *  need it. */
    int64_t ttl_ms;
    /** How long after that it may be returned while it is filled again, ms,
     *  0..#HF_TTL_MAX_MS. */
    int64_t stale_ms;
    /** How long after `ttl_ms` it may be returned if filling it fails, ms,
     *  0..#HF_TTL_MAX_MS. A fill that fails within this time is not tried again
     *  for a second. */
    int64_t error_ms;
    /** How long to remember that there is no value, if a fill reports
     *  HF_NOT_FOUND, ms; 0: `ttl_ms`, but at most 1000; -1: not at all. */
    int64_t absent_ms;
    /** Lease of a fill, ms, 1..#HF_TTL_MAX_MS; 0: 10000. The
     *  library's thread renews it each third of that time until
     *  hf_cache_fill_done(). If the process dies, another client fills the
     *  entry after at most this long. */
    int64_t lease_ms;
    /** Longest time to wait for the fill of another client, ms; 0: 10000;
     *  1..#HF_FOREVER. */
    int64_t wait_ms;
    /** Shorten `ttl_ms` and `absent_ms` by a random part, up to so many
     * percent, 0..100, so that entries stored together do not expire together.
     */
    int32_t jitter_percent;
    /** Refresh early: a fresh entry is filled again with a probability that
     *  grows to 1 as its end comes near, the earlier the longer its last fill
     *  took. (XFetch: Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic
     *  Cache Stampede Prevention", VLDB 2015.) The paper's beta in percent,
     *  1..10000; 0: 100; -1: never early. */
    int32_t early_percent;
    /** The entry's tags, each a name like a key; NULL: none. */
    const hf_bytes *tags;
    size_t tag_count; /**< 0..#HF_CACHE_TAGS_MAX */
} hf_cache_options;

/* clang-format off */
#define HF_CACHE_OPTIONS_INIT \
    { sizeof(hf_cache_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0 }
/* clang-format on */

/** Where the value of hf_cache_get_or_fill() comes from. */
typedef enum hf_cache_source {
    HF_CACHE_HIT = 1,     /**< it was fresh */
    HF_CACHE_OLD = 2,     /**< it is stale: a fill is under way */
    HF_CACHE_OLD_ERROR,   /**< it is stale: a fill failed, or took too long */
    HF_CACHE_FILLED,      /**< the caller's fill; it is stored */
    HF_CACHE_FILLED_ALONE /**< the caller's fill; it could not be stored */
} hf_cache_source;

/** How hf_cache_get_or_fill() got its value. */
typedef struct hf_cache_info {
    size_t struct_size;     /**< #HF_CACHE_INFO_INIT sets it */
    hf_cache_source source; /**< where it comes from */
    hf_status fill_status;  /**< of the caller's fill, or of storing it */
} hf_cache_info;

/* clang-format off */
#define HF_CACHE_INFO_INIT \
    { sizeof(hf_cache_info), (hf_cache_source)0, HF_OK }
/* clang-format on */

/** A fill under way. It ends with hf_cache_fill_done(). */
typedef struct hf_cache_fill hf_cache_fill;

/**
 * Compute the value of an entry, and pass it to hf_cache_fill_done(), which
 * must be called exactly once: of a blocking call on the same thread before
 * this function returns, of a started one on any thread at any time.
 *
 * @param user  as given to the call
 * @param fill  the fill
 */
typedef void (*hf_cache_fill_fn)(void *user, hf_cache_fill *fill);

/**
 * Get the value of a cache entry; compute and store it if there is none.
 *
 * A fresh entry is one request. Otherwise one client calls `fill`, on this
 * thread; of the others those that find a stale value which may still be
 * returned get that, and the rest wait. If the fill fails, they try in turn.
 * `value` is returned even if it could not be stored.
 *
 * @param key    the entry
 * @param fill   computes the value
 * @param user   passed to `fill`
 * @param opts   all but HF_CACHE_STALE and HF_CACHE_ABSENT; `ttl_ms` is needed
 * @param value  [out] the value
 * @param info   [out] where it comes from; may be NULL
 *
 * @retval HF_OK         `*value` is set
 * @retval HF_NOT_FOUND  there is no value, as a fill has reported
 * @retval HF_TIMEOUT    another fill was under way for `wait_ms`; with
 *                       #HF_CACHE_NO_WAIT: one is under way
 * @retval HF_CANCELLED  interrupted while waiting (hf_client_interrupt())
 *
 * Any other status is what `fill` reported, or the fill of another call that
 * this one waited for: a loader that fails is not tried by one caller after
 * another. With HF_CACHE_RETRY it is, and after HF_CANCELLED.
 *
 * Blocks: `wait_ms`, and as long as `fill`.
 */
HF_API HF_MUST_USE hf_status
hf_cache_get_or_fill(hf_client *client, hf_bytes key, hf_cache_fill_fn fill,
                     void *user, const hf_cache_options *opts, hf_buffer *value,
                     hf_cache_info *info, hf_error *err);

/**
 * End a fill.
 *
 * The fill must not be used afterwards.
 *
 * @param fill    the fill
 * @param status  HF_OK: `value` is the value; HF_NOT_FOUND: there is none; any
 *                other: the fill failed, and the caller of get_or_fill gets
 *                this status
 * @param value   copied; ignored unless `status` is HF_OK
 *
 * @retval HF_OK       the fill has ended
 * @retval HF_INVALID  the client is closed; the fill of a started call has
 *                     ended without its value being stored
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_cache_fill_done(hf_cache_fill *fill,
                                                hf_status status,
                                                hf_bytes value, hf_error *err);

/**
 * Renew the lease of a fill, for `lease_ms` from now, and find out whether its
 * value can still be stored. Needed with HF_CACHE_NO_RENEW only.
 *
 * @param fill  the fill
 *
 * @retval HF_OK    renewed
 * @retval HF_LOST  another client fills the entry, or it was changed: the value
 *                  will not be stored
 */
HF_API HF_MUST_USE hf_status hf_cache_fill_renew(hf_cache_fill *fill,
                                                 hf_error *err);

/**
 * The key that is filled, without the client's prefix.
 *
 * @param fill  the fill
 *
 * @return a view, valid until hf_cache_fill_done()
 */
HF_API hf_bytes hf_cache_fill_key(const hf_cache_fill *fill);

/**
 * Get the value of a cache entry if it is fresh.
 *
 * @param key    the entry
 * @param opts   HF_CACHE_STALE, `tags`; NULL: neither
 * @param value  [out] the value
 *
 * @retval HF_OK         `*value` is set
 * @retval HF_NOT_FOUND  no fresh entry, or one without a value
 */
HF_API HF_MUST_USE hf_status hf_cache_get(hf_client *client, hf_bytes key,
                                          const hf_cache_options *opts,
                                          hf_buffer *value, hf_error *err);

/**
 * Store a cache entry. A fill under way will not store its value.
 *
 * @param key    the entry
 * @param value  its value; with HF_CACHE_ABSENT ignored
 * @param opts   HF_CACHE_ABSENT, `ttl_ms`, `stale_ms`, `error_ms`,
 *               `jitter_percent`, `tags`; `ttl_ms` is needed
 *
 * @retval HF_OK    it is stored
 * @retval HF_HELD  the key is a lock that is held
 */
HF_API HF_MUST_USE hf_status hf_cache_put(hf_client *client, hf_bytes key,
                                          hf_bytes value,
                                          const hf_cache_options *opts,
                                          hf_error *err);

/**
 * Delete a cache entry. A fill under way will not store its value.
 *
 * @param key  the entry
 *
 * @retval HF_OK         it is deleted
 * @retval HF_NOT_FOUND  no such entry
 * @retval HF_HELD       the key is a lock that is held
 */
HF_API HF_MUST_USE hf_status hf_cache_delete(hf_client *client, hf_bytes key,
                                             hf_error *err);

/**
 * Invalidate all entries with a tag, in one step, however many there are. They
 * are not returned any more, not even stale, and expire later.
 *
 * @param tag  the tag
 *
 * @retval HF_OK         done
 * @retval HF_NOT_FOUND  no entry has this tag
 */
HF_API HF_MUST_USE hf_status hf_cache_invalidate(hf_client *client,
                                                 hf_bytes tag, hf_error *err);

/* ----------------------------------------------------------------- batches */

/** One entry of hf_cache_put_many(). */
typedef struct hf_cache_put_item {
    hf_bytes key;   /**< the entry */
    hf_bytes value; /**< its value */
} hf_cache_put_item;

/**
 * Batch form of hf_cache_get().
 *
 * @param keys      `count` entries
 * @param count     how many
 * @param opts      for all of them
 * @param values    [out] `count` buffers
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  each is HF_OK or 1xx
 */
HF_API HF_MUST_USE hf_status
hf_cache_get_many(hf_client *client, const hf_bytes *keys, size_t count,
                  const hf_cache_options *opts, hf_buffer *values,
                  hf_status *statuses, hf_error *err);

/**
 * Batch form of hf_cache_put().
 *
 * @param items     `count` entries and values
 * @param count     how many
 * @param opts      for all of them
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  each is HF_OK or 1xx
 */
HF_API HF_MUST_USE hf_status hf_cache_put_many(
    hf_client *client, const hf_cache_put_item *items, size_t count,
    const hf_cache_options *opts, hf_status *statuses, hf_error *err);

/**
 * Batch form of hf_cache_delete().
 *
 * @param keys      `count` entries
 * @param count     how many
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  each is HF_OK or 1xx
 */
HF_API HF_MUST_USE hf_status hf_cache_delete_many(hf_client *client,
                                                  const hf_bytes *keys,
                                                  size_t count,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Batch form of hf_cache_invalidate().
 *
 * @param tags      `count` tags
 * @param count     how many
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  each is HF_OK or 1xx
 */
HF_API HF_MUST_USE hf_status hf_cache_invalidate_many(hf_client *client,
                                                      const hf_bytes *tags,
                                                      size_t count,
                                                      hf_status *statuses,
                                                      hf_error *err);

/* ----------------------------------------------------------------- started */

/**
 * Starts hf_cache_get_or_fill().
 *
 * hf_client_dispatch() calls `fill`, which may return before the fill has
 * ended: hf_cache_fill_done() can be called later, on any thread. The value is
 * stored on the library's own thread; hf_client_dispatch() counts the fill as
 * in progress until then. A value that may be returned during the fill (stale,
 * or fresh and refreshed early) completes the call before `fill` is called.
 *
 * hf_call_cancel() completes the call with HF_CANCELLED. If `fill` has been
 * called, the fill continues and its value is stored; if not, it will not be
 * called. hf_client_interrupt() has no effect.
 *
 * hf_client_close() completes the call with HF_UNAVAILABLE or HF_INDETERMINATE,
 * and `fill` is not called any more. A fill that was begun must still be ended
 * with hf_cache_fill_done(), which then returns HF_INVALID and frees it; its
 * value is not stored, and other clients wait until its lease ends. Until then
 * the fill keeps the client's memory allocated, like a lock.
 *
 * @param user   passed to `fill`; valid until the call has completed and the
 *               fill, if it was called, has ended
 *
 * @retval HF_OK  started; done() gets what hf_cache_get_or_fill() returns
 */
HF_START(hf_cache_get_or_fill_start, hf_bytes key, hf_cache_fill_fn fill,
         void *user, const hf_cache_options *opts, hf_buffer *value,
         hf_cache_info *info);

/** The `_start` forms; see #HF_START. */
HF_START(hf_cache_get_start, hf_bytes key, const hf_cache_options *opts,
         hf_buffer *value);
HF_START(hf_cache_put_start, hf_bytes key, hf_bytes value,
         const hf_cache_options *opts);
HF_START(hf_cache_delete_start, hf_bytes key);
HF_START(hf_cache_invalidate_start, hf_bytes tag);
HF_START(hf_cache_get_many_start, const hf_bytes *keys, size_t count,
         const hf_cache_options *opts, hf_buffer *values, hf_status *statuses);
HF_START(hf_cache_put_many_start, const hf_cache_put_item *items, size_t count,
         const hf_cache_options *opts, hf_status *statuses);
HF_START(hf_cache_delete_many_start, const hf_bytes *keys, size_t count,
         hf_status *statuses);
HF_START(hf_cache_invalidate_many_start, const hf_bytes *tags, size_t count,
         hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_CACHE_H */
