/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/value.h - values: bytes with an expiry, replaced atomically.
 */
#ifndef HOLDFAST_VALUE_H
#define HOLDFAST_VALUE_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of hf_value_set(). */
enum {
    HF_SET_NX = 1u << 0,      /**< only if the key does not exist */
    HF_SET_XX = 1u << 1,      /**< only if the key exists */
    HF_SET_KEEPTTL = 1u << 2, /**< keep the key's time to live */
    HF_SET_GET = 1u << 3      /**< hand back the value before the call */
};

/** Options of hf_value_set(). */
typedef struct hf_value_set_options {
    size_t struct_size; /**< #HF_VALUE_SET_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_SET_* bits; NX and XX exclude each other */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live, ms, 1..#HF_TTL_MAX_MS (EX and PX of Redis); 0: none. */
    int64_t ttl_ms;
    /** Instant of expiry, ms of Unix time on the store's clock (EXAT and PXAT
     *  of Redis), 1..253402300799999 (the year 9999); 0: none. An instant in
     *  the past deletes the key. At most one of ttl_ms, expires_unix_ms and
     *  HF_SET_KEEPTTL. */
    int64_t expires_unix_ms;
} hf_value_set_options;

/* clang-format off */
#define HF_VALUE_SET_OPTIONS_INIT { sizeof(hf_value_set_options), 0, 0, 0, 0 }
/* clang-format on */

/**
 * Set a value together with its expiry in one atomic step: the SET of Redis
 * with all its options.
 *
 * Without options the value replaces whatever the key held, of any type, and
 * the key does not expire. A refused call (HF_CONFLICT, HF_NOT_FOUND) changes
 * nothing, the time to live included.
 *
 * @param client    open client
 * @param key       the key
 * @param value     the bytes to store
 * @param opts      NULL for defaults
 * @param previous  [out] with HF_SET_GET: the value before the call, `data`
 *                  NULL if there was none; written also on HF_CONFLICT and
 *                  HF_NOT_FOUND. May be NULL.
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the value and its expiry are set
 * @retval HF_CONFLICT       HF_SET_NX and the key exists
 * @retval HF_NOT_FOUND      HF_SET_XX and the key does not exist
 * @retval HF_WRONG_TYPE     HF_SET_GET and the key holds no string
 * @retval HF_INVALID        bad key, value or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed, unless HF_SET_GET was asked:
 *                           then the value may be set and only the copy of the
 *                           previous one be missing
 *
 * Since 0.1. See SET in the Redis command reference.
 */
HF_API HF_MUST_USE hf_status hf_value_set(hf_client *client, hf_bytes key,
                                          hf_bytes value,
                                          const hf_value_set_options *opts,
                                          hf_buffer *previous, hf_error *err);

/**
 * Read a value.
 *
 * @param client  open client
 * @param key     the key
 * @param value   [out] the bytes; end with hf_buffer_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*value` is set
 * @retval HF_NOT_FOUND      no such key
 * @retval HF_WRONG_TYPE     the key holds no string
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the value does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_get(hf_client *client, hf_bytes key,
                                          hf_buffer *value, hf_error *err);

/**
 * Delete a value.
 *
 * @param client  open client
 * @param key     the key
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the key is gone
 * @retval HF_NOT_FOUND      there was no such key
 * @retval HF_WRONG_TYPE     the key holds no string; it was left alone
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_delete(hf_client *client, hf_bytes key,
                                             hf_error *err);

/** Flags of hf_value_cas() and hf_hash_cas(). */
enum {
    /** Send it at most once: a lost answer is HF_INDETERMINATE. Otherwise a
     *  server keeps a mark, by which a second sending finds out what became of
     *  the first: a key `PREFIXhf:cas:...` of about 150 bytes for each call
     * that is under way at once (in a cluster: for each slot), for twice the
     * client's `request_ms`. That takes one more read and one more write, at a
     * server that is busy a third of the rate (docs/adr/0025). */
    HF_CAS_ONCE = 1u << 0
};

/** Options of hf_value_cas() and hf_hash_cas(). Zero means the default. */
typedef struct hf_cas_options {
    size_t struct_size; /**< #HF_CAS_OPTIONS_INIT sets it */
    /** New time to live of the key, ms, 1..#HF_TTL_MAX_MS; 0: keep what it
     *  has (a key that is created does not expire). */
    int64_t ttl_ms;
    uint32_t flags;     /**< HF_CAS_* bits */
    uint32_t reserved0; /**< must be 0 */
} hf_cas_options;

/* clang-format off */
#define HF_CAS_OPTIONS_INIT { sizeof(hf_cas_options), 0, 0, 0 }
/* clang-format on */

/**
 * Compare and set: replace a value only if it is what the caller believes.
 *
 * The comparison is byte for byte. The key keeps its time to live unless the
 * options say otherwise. A call whose answer was lost asks again and finds out
 * what happened, until its deadline; HF_INDETERMINATE is left for a server that
 * is not reached again by then, and for #HF_CAS_ONCE. After it a look at the
 * key tells what happened only if nobody else would write the same bytes.
 *
 * @param client    open client
 * @param key       the key
 * @param expected  NULL: the key must not exist; else its present value
 * @param value     the new value
 * @param opts      NULL for defaults
 * @param current   [out] on HF_CONFLICT the present value; may be NULL
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the value was replaced
 * @retval HF_CONFLICT       the key holds another value; nothing was changed
 * @retval HF_NOT_FOUND      a value was expected and there is none
 * @retval HF_WRONG_TYPE     the key holds no string; nothing was changed
 * @retval HF_INVALID        bad key, value or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed, or `*current` does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_cas(hf_client *client, hf_bytes key,
                                          const hf_bytes *expected,
                                          hf_bytes value,
                                          const hf_cas_options *opts,
                                          hf_buffer *current, hf_error *err);

/**
 * Compare and delete: delete a value only if it is what the caller believes.
 * What was said of lost answers and marks at hf_value_cas() holds here, too.
 *
 * @param client    open client
 * @param key       the key
 * @param expected  the value to find
 * @param current   [out] on HF_CONFLICT the present value; may be NULL
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the key is gone
 * @retval HF_CONFLICT       the key holds another value; nothing was changed
 * @retval HF_NOT_FOUND      there was no such key
 * @retval HF_WRONG_TYPE     the key holds no string; nothing was changed
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed, or `*current` does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_delete_if(hf_client *client, hf_bytes key,
                                                hf_bytes expected,
                                                hf_buffer *current,
                                                hf_error *err);

/** Starts hf_value_set(). Since 0.1. */
HF_API HF_MUST_USE hf_status
hf_value_set_start(hf_client *client, hf_bytes key, hf_bytes value,
                   const hf_value_set_options *opts, hf_buffer *previous,
                   const hf_async *async, hf_error *err);

/** Starts hf_value_get(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_value_get_start(hf_client *client, hf_bytes key,
                                                hf_buffer *value,
                                                const hf_async *async,
                                                hf_error *err);

/** Starts hf_value_delete(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_value_delete_start(hf_client *client,
                                                   hf_bytes key,
                                                   const hf_async *async,
                                                   hf_error *err);

/** Starts hf_value_cas(). Since 0.1. */
HF_API HF_MUST_USE hf_status
hf_value_cas_start(hf_client *client, hf_bytes key, const hf_bytes *expected,
                   hf_bytes value, const hf_cas_options *opts,
                   hf_buffer *current, const hf_async *async, hf_error *err);

/** Starts hf_value_delete_if(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_value_delete_if_start(
    hf_client *client, hf_bytes key, hf_bytes expected, hf_buffer *current,
    const hf_async *async, hf_error *err);

/**
 * Read many values at once.
 *
 * The functions whose names end in `_many` run independent calls: they go to
 * the store together, up to 1024 at once, which spares the way there and back
 * for each, and in no particular order. Each 1024 have `request_ms` of their
 * own, while the store answers. None of them is atomic as a whole.
 *
 * @param client    open client
 * @param keys      `count` keys
 * @param count     any number
 * @param values    [out] `count` buffers, started with #HF_BUFFER_INIT; those
 *                  whose status is HF_OK are set
 * @param statuses  [out] `count` statuses: what hf_value_get() would have
 *                  returned for each
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    an argument is NULL, in which case nothing was done; or
 *                       the first status that is no answer. So it may be with
 *                       every other status that is neither HF_OK nor 1xx.
 * @retval HF_NO_MEMORY  nothing was done, or as above
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_get_many(hf_client *client,
                                               const hf_bytes *keys,
                                               size_t count, hf_buffer *values,
                                               hf_status *statuses,
                                               hf_error *err);

/** One of many sets: the parameters of hf_value_set(). */
typedef struct hf_value_set_item {
    hf_bytes key;
    hf_bytes value;
} hf_value_set_item;

/**
 * Set many values at once, each as hf_value_set() does. See
 * hf_value_get_many().
 *
 * @param client    open client
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for each; NULL for defaults; HF_SET_GET hands nothing back
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_set_many(
    hf_client *client, const hf_value_set_item *items, size_t count,
    const hf_value_set_options *opts, hf_status *statuses, hf_error *err);

/** One of many compare-and-sets: the parameters of hf_value_cas(). */
typedef struct hf_value_cas_item {
    hf_bytes key;
    const hf_bytes *expected; /**< NULL: the key must not exist */
    hf_bytes value;
    hf_buffer *current; /**< [out] on HF_CONFLICT; may be NULL */
} hf_value_cas_item;

/**
 * Compare and set many values at once, each as hf_value_cas() does. See
 * hf_value_get_many().
 *
 * @param client    open client
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for each; NULL for defaults
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_cas_many(
    hf_client *client, const hf_value_cas_item *items, size_t count,
    const hf_cas_options *opts, hf_status *statuses, hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_VALUE_H */
