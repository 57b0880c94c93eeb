/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/value.h - values: byte strings with an expiry.
 *
 * Contents:
 * - hf_value_set(), hf_value_get(), hf_value_get_expire(), hf_value_append(),
 *   hf_value_delete()
 * - hf_value_cas(), hf_value_delete_if(), hf_value_expire_if(): only if the
 *   current value matches
 * - hf_value_get_versioned(), hf_value_cas_versioned(),
 *   hf_value_delete_versioned(): the same by version, for large values
 * - hf_value_get_revised(), hf_value_put_revised(), hf_value_delete_revised():
 *   with a number that never comes again; hf_value_changes_after(): which have
 *   changed since one, hf_value_changes_free()
 * - hf_value_put_fenced(): unless a newer holder of a lock has written
 * - hf_value_add(): counters
 * - hf_value_get_many(), hf_value_set_many(), hf_value_cas_many(),
 *   hf_value_add_many()
 *
 * Each has a `_start` form.
 *
 * @code
 * hf_status repaint(hf_client *client, hf_bytes key, hf_error *err)
 * {
 *     hf_buffer current = HF_BUFFER_INIT;
 *     hf_bytes expected = hf_str("blue");
 *     hf_status status = hf_value_cas(client, key, &expected, hf_str("green"),
 *                                     NULL, &current, err);
 *
 *     if (status == HF_CONFLICT)
 *         printf("it is %s\n", (const char *)current.data);
 *     hf_buffer_free(&current);
 *     return status;
 * }
 * @endcode
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
    HF_SET_GET = 1u << 3      /**< return the previous value */
};

/** Options of hf_value_set() and hf_value_set_many(). */
typedef struct hf_value_set_options {
    size_t struct_size; /**< #HF_VALUE_SET_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_SET_* bits; NX and XX exclude each other */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live, ms, 1..#HF_TTL_MAX_MS (EX and PX of Redis); 0: none. */
    int64_t ttl_ms;
    /** Instant of expiry, ms of Unix time by the store's clock (EXAT and PXAT
     *  of Redis), 1..253402300799999 (the year 9999); 0: none. An instant in
     *  the past deletes the key. At most one of ttl_ms, expires_unix_ms and
     *  HF_SET_KEEPTTL may be given. */
    int64_t expires_unix_ms;
} hf_value_set_options;

/* clang-format off */
#define HF_VALUE_SET_OPTIONS_INIT { sizeof(hf_value_set_options), 0, 0, 0, 0 }
/* clang-format on */

/**
 * Set a value and its expiry in one atomic step: SET of Redis with all its
 * options.
 *
 * Without options the value replaces what the key held, of any type, and the
 * key does not expire. This is one command of the store, which does not look
 * whether the key is a lock that is held: that would be lost. Nor do
 * hf_value_append() and hf_value_get_expire(), which change it, and what
 * hf_value_cas(), hf_value_delete_if() and hf_value_expire_if() do to a lock if
 * they are given all of its value. The others refuse it:
 * docs/reference/objects.md. A refused call (HF_CONFLICT, HF_NOT_FOUND) changes
 * nothing, the time to live included.
 *
 * @param key       the key
 * @param value     the bytes to store
 * @param opts      NULL for defaults
 * @param previous  [out] with HF_SET_GET: the previous value, `data` NULL if
 *                  there was none; also written on HF_CONFLICT and
 *                  HF_NOT_FOUND. May be NULL.
 *
 * @retval HF_OK          the value and its expiry are set
 * @retval HF_CONFLICT    HF_SET_NX, and the key exists
 * @retval HF_NOT_FOUND   HF_SET_XX, and the key does not exist
 * @retval HF_WRONG_TYPE  HF_SET_GET, and the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_set(hf_client *client, hf_bytes key,
                                          hf_bytes value,
                                          const hf_value_set_options *opts,
                                          hf_buffer *previous, hf_error *err);

/**
 * Read a value.
 *
 * @param key    the key
 * @param value  [out] the bytes; free them with hf_buffer_free()
 *
 * @retval HF_OK          `*value` is set
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_get(hf_client *client, hf_bytes key,
                                          hf_buffer *value, hf_error *err);

/** Flags of hf_value_expire_options. */
enum {
    HF_EXPIRE_PERSIST = 1u << 0 /**< remove the time to live */
};

/** A new expiry: exactly one of the flag and the two times is given. */
typedef struct hf_value_expire_options {
    size_t struct_size;      /**< #HF_VALUE_EXPIRE_OPTIONS_INIT sets it */
    uint32_t flags;          /**< HF_EXPIRE_* bits */
    uint32_t reserved0;      /**< must be 0 */
    int64_t ttl_ms;          /**< as in hf_value_set_options */
    int64_t expires_unix_ms; /**< as in hf_value_set_options */
} hf_value_expire_options;

/* clang-format off */
#define HF_VALUE_EXPIRE_OPTIONS_INIT \
    { sizeof(hf_value_expire_options), 0, 0, 0, 0 }
/* clang-format on */

/**
 * Read a value and set its expiry in one atomic step: GETEX of Redis. If the
 * reply is lost, the call is sent again, unless it gives an instant: the first
 * sending may have deleted the key.
 *
 * @param key    the key
 * @param opts   the new expiry
 * @param value  [out] the bytes; free them with hf_buffer_free()
 *
 * @retval HF_OK          `*value` and the expiry are set
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_get_expire(
    hf_client *client, hf_bytes key, const hf_value_expire_options *opts,
    hf_buffer *value, hf_error *err);

/**
 * Delete a value, with what is known about it as a cache entry; a fill of that
 * which is under way stores its value: see hf_key_delete().
 *
 * @param key  the key
 *
 * @retval HF_OK          the key was deleted
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string; it was left alone
 * @retval HF_HELD        it is a lock that is held
 */
HF_API HF_MUST_USE hf_status hf_value_delete(hf_client *client, hf_bytes key,
                                             hf_error *err);

/**
 * Compare and set: replace a value only if it is the expected one.
 *
 * Values are compared byte for byte. The key keeps its time to live unless the
 * options say otherwise. If the reply is lost, the call is sent again and
 * learns the outcome, until its deadline; HF_INDETERMINATE remains for a server
 * that cannot be reached again by then, and for #HF_CAS_ONCE. After it, reading
 * the key tells the outcome only if no one else would write the same bytes.
 *
 * @param key       the key
 * @param expected  the current value; NULL: the key must not exist
 * @param value     the new value
 * @param opts      NULL for defaults
 * @param current   [out] on HF_CONFLICT the current value; may be NULL
 *
 * @retval HF_OK          the value was replaced
 * @retval HF_CONFLICT    the key holds another value
 * @retval HF_NOT_FOUND   a value was expected, and the key does not exist
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_cas(hf_client *client, hf_bytes key,
                                          const hf_bytes *expected,
                                          hf_bytes value,
                                          const hf_cas_options *opts,
                                          hf_buffer *current, hf_error *err);

/**
 * Compare and delete: delete a value only if it is the expected one. Lost
 * replies are handled as by hf_value_cas().
 *
 * @param key       the key
 * @param expected  the value to delete
 * @param current   [out] on HF_CONFLICT the current value; may be NULL
 *
 * @retval HF_OK          the key was deleted
 * @retval HF_CONFLICT    the key holds another value
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_delete_if(hf_client *client, hf_bytes key,
                                                hf_bytes expected,
                                                hf_buffer *current,
                                                hf_error *err);

/**
 * Compare and expire: set the expiry of a key only if it holds the expected
 * value. Lost replies are handled as by hf_value_cas().
 *
 * @param key       the key
 * @param expected  the value
 * @param opts      the new expiry
 * @param current   [out] on HF_CONFLICT the current value; may be NULL
 *
 * @retval HF_OK          the expiry is set
 * @retval HF_CONFLICT    the key holds another value
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_expire_if(
    hf_client *client, hf_bytes key, hf_bytes expected,
    const hf_value_expire_options *opts, hf_buffer *current, hf_error *err);

/** Bytes of a version. */
#define HF_VALUE_VERSION_SIZE 40

/**
 * Read a value and its version, by which hf_value_cas_versioned() and
 * hf_value_delete_versioned() recognise it.
 *
 * The version is a digest of the value (SHA-1). So any write of other bytes, by
 * any client, changes it; it is the same again if the same bytes are written
 * again, also after the key was deleted or expired; and it does not cover the
 * time to live. It does not protect against someone who writes values that were
 * made to have the same SHA-1.
 *
 * @param key      the key
 * @param value    [out] the bytes; free them with hf_buffer_free()
 * @param version  [out] #HF_VALUE_VERSION_SIZE hexadecimal digits; free them
 *                 with hf_buffer_free()
 *
 * @retval HF_OK          `*value` and `*version` are set
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_get_versioned(hf_client *client,
                                                    hf_bytes key,
                                                    hf_buffer *value,
                                                    hf_buffer *version,
                                                    hf_error *err);

/**
 * Compare the version and set: as hf_value_cas(), for values that are too large
 * to send for a comparison. The store reads the current value: about 2.5 ms
 * per MiB on a server.
 *
 * @param key       the key
 * @param expected  the current version; NULL: the key must not exist
 * @param value     the new value
 * @param opts      NULL for defaults
 * @param version   [out] on HF_OK the new version, on HF_CONFLICT the current
 *                  one; may be NULL
 *
 * @retval HF_OK          the value was replaced
 * @retval HF_CONFLICT    the value has another version
 * @retval HF_NOT_FOUND   a version was expected, and the key does not exist
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_cas_versioned(
    hf_client *client, hf_bytes key, const hf_bytes *expected, hf_bytes value,
    const hf_cas_options *opts, hf_buffer *version, hf_error *err);

/**
 * Compare the version and delete: as hf_value_delete_if().
 *
 * @param key       the key
 * @param expected  the version to delete
 * @param version   [out] on HF_CONFLICT the current version; may be NULL
 *
 * @retval HF_OK          the key was deleted
 * @retval HF_CONFLICT    the value has another version
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_delete_versioned(hf_client *client,
                                                       hf_bytes key,
                                                       hf_bytes expected,
                                                       hf_buffer *version,
                                                       hf_error *err);

/** Instead of a revision: the key must not exist. */
#define HF_REVISION_NONE 0
/** Instead of a revision: whatever the key holds, or nothing. */
#define HF_REVISION_ANY 18446744073709551615u

/**
 * Read a value and its revision, by which hf_value_put_revised() and
 * hf_value_delete_revised() recognise it.
 *
 * A revision is a number, 1..2^53-1. Each put and each delete with a revision
 * gets one that is greater than all before it in the same store, in a cluster
 * in the same hash slot: the counter is that of the fencing tokens of locks. So
 * no revision comes again, also if the same bytes are written again, or the key
 * was deleted in between.
 *
 * A value that was written in another way, by any program, gets a revision at
 * the next of these calls, this one included. Such writes are noticed by the
 * SHA-1 of the value: one that restores the bytes of the last revision before
 * any of these calls has succeeded is not noticed, nor is one of the time to
 * live. hf_key_rename(), hf_key_copy() and hf_load() write in another way.
 *
 * The revision is in the key `PREFIXhf:revision:{KEY}`, which expires with the
 * value. An embedded store runs this call as a write: it waits for other
 * writers, and a read-only store refuses it if the value has no revision yet.
 * The store computes the SHA-1 of the value in each of these calls, in a put
 * also of the new one: about 2.5 ms per MiB on a server.
 *
 * @param key       the key; with a `}` it needs a hash tag
 * @param value     [out] the bytes; free them with hf_buffer_free()
 * @param revision  [out] the revision
 *
 * @retval HF_OK           `*value` and `*revision` are set
 * @retval HF_NOT_FOUND    no such key
 * @retval HF_HELD         it is a lock that is held
 * @retval HF_WRONG_TYPE   the key does not hold a string
 * @retval HF_CORRUPT      the counter holds 2^53-1
 * @retval HF_DENIED       the embedded store is read-only
 * @retval HF_UNSUPPORTED  a quorum
 */
HF_API HF_MUST_USE hf_status hf_value_get_revised(hf_client *client,
                                                  hf_bytes key,
                                                  hf_buffer *value,
                                                  uint64_t *revision,
                                                  hf_error *err);

/**
 * Set a value if it has the expected revision; it gets the next. If the reply
 * is lost, the call is HF_INDETERMINATE: read the value and its revision again.
 *
 * @param key       the key; with a `}` it needs a hash tag
 * @param value     the bytes to store
 * @param expected  the current revision, #HF_REVISION_NONE or #HF_REVISION_ANY
 * @param opts      NULL for defaults; of the flags only HF_SET_KEEPTTL
 * @param revision  [out] on HF_OK the new revision, on HF_CONFLICT the current
 *                  one; may be NULL
 *
 * @retval HF_OK           the value and its expiry are set
 * @retval HF_CONFLICT     the value has another revision
 * @retval HF_NOT_FOUND    a revision was expected, and the key does not exist
 * @retval HF_HELD         it is a lock that is held
 * @retval HF_WRONG_TYPE   the key does not hold a string
 * @retval HF_CORRUPT      the counter holds 2^53-1
 * @retval HF_UNSUPPORTED  a quorum
 */
HF_API HF_MUST_USE hf_status hf_value_put_revised(
    hf_client *client, hf_bytes key, hf_bytes value, uint64_t expected,
    const hf_value_set_options *opts, uint64_t *revision, hf_error *err);

/**
 * Delete a value if it has the expected revision. The deletion has a revision
 * too, which hf_value_changes_after() returns. Lost replies are handled as by
 * hf_value_put_revised().
 *
 * @param key       the key; with a `}` it needs a hash tag
 * @param expected  the current revision, or #HF_REVISION_ANY
 * @param revision  [out] on HF_OK that of the deletion, on HF_CONFLICT the
 *                  current one; may be NULL
 *
 * @retval HF_OK           the key was deleted
 * @retval HF_CONFLICT     the value has another revision
 * @retval HF_NOT_FOUND    no such key
 * @retval HF_HELD         it is a lock that is held
 * @retval HF_WRONG_TYPE   the key does not hold a string
 * @retval HF_CORRUPT      the counter holds 2^53-1
 * @retval HF_UNSUPPORTED  a quorum
 */
HF_API HF_MUST_USE hf_status hf_value_delete_revised(hf_client *client,
                                                     hf_bytes key,
                                                     uint64_t expected,
                                                     uint64_t *revision,
                                                     hf_error *err);

/** Changes that are kept, for each store, in a cluster for each hash slot. */
#define HF_VALUE_CHANGES_KEPT 1000

/** A value that has changed. */
typedef struct hf_value_change {
    hf_bytes key;      /**< a NUL follows it */
    uint64_t revision; /**< of its last change */
} hf_value_change;

/** What has changed, owned by the caller; free with hf_value_changes_free(). */
typedef struct hf_value_changes {
    hf_value_change *items; /**< by revision, each key once */
    size_t count;
    uint64_t revision; /**< where to continue: `after` of the next call */
    bool gap; /**< other values may have changed before the first of these:
                   read all that matter */
} hf_value_changes;

/* clang-format off */
#define HF_VALUE_CHANGES_INIT { NULL, 0, 0, false }
/* clang-format on */

/**
 * Free what was read, and reset it.
 *
 * @param changes  may be NULL
 */
HF_API void hf_value_changes_free(hf_value_changes *changes);

/**
 * Wait until values have changed since a revision, and return which. A program
 * that keeps `revision` of the result, and passes it to the next call, learns
 * of each change, also after it was restarted or the connection was broken.
 *
 * Changes are those that have a revision: by hf_value_put_revised() and
 * hf_value_delete_revised(); writes and deletions by other programs, and
 * writes of other kinds, when hf_value_get_revised() has noticed them; and the
 * expiry of values, by the time to live of hf_value_put_revised(), which is
 * noted when anyone calls one of these functions, this one while it waits
 * included. Deletions by hf_value_delete(), hf_key_delete() and hf_key_rename()
 * are not among them, nor is the end of a time to live that hf_key_expire() has
 * set. Several changes of a key are one. Read the key to learn what it holds:
 * HF_NOT_FOUND if it was deleted or has expired.
 *
 * Of each store, in a cluster of each hash slot, the #HF_VALUE_CHANGES_KEPT
 * keys that changed last are kept, at about 100 bytes each. If there were more
 * since `after`, or the list was lost with the store's data, `gap` is set with
 * the next change. A store that has lost its last writes, as by a failover, has
 * no later change than `after`: that is a gap too, but only if it is asked
 * before the next change.
 *
 * @param pattern  keys, as of hf_watch_open(): `*` for all. In a cluster one
 *                 key without special characters (`*?[` and backslash), or a
 *                 pattern that begins with a hash tag
 * @param after    a revision; 0: all that is kept, with a gap
 * @param wait_ms  0..#HF_FOREVER
 * @param changes  [out] at most 100; what it held before is not freed
 *
 * @retval HF_OK           `*changes` is set; with a gap alone `count` is 0
 * @retval HF_TIMEOUT      there was none within wait_ms
 * @retval HF_CANCELLED    interrupted (hf_client_interrupt())
 * @retval HF_CORRUPT      the counter holds 2^53-1
 * @retval HF_DENIED       the embedded store is read-only
 * @retval HF_UNSUPPORTED  a quorum; or a pattern that spans slots of a cluster;
 *                         or in a transaction
 *
 * Blocks: up to wait_ms plus request_ms. Without a reply it asks again until
 * wait_ms has passed.
 */
HF_API HF_MUST_USE hf_status hf_value_changes_after(
    hf_client *client, hf_bytes pattern, uint64_t after, int64_t wait_ms,
    hf_value_changes *changes, hf_error *err);

/**
 * Set a value with the fencing token of the lock that protects it: refused, in
 * the same step, if a write of this key with a higher token was seen, that is,
 * if the lock has had a newer holder who has written.
 *
 * The highest token is stored in the key `PREFIXhf:fence:{KEY}` for 7 days
 * after the last write that was accepted, longer than any lease, also if the
 * value is deleted or expires. hf_value_put_fenced() and hf_hash_put_fenced()
 * of the same key share it; other writes do not look at it. If the reply is
 * lost, the call is HF_INDETERMINATE; it may be repeated with the same token.
 *
 * @param key      the key; with a `}` it needs a hash tag
 * @param value    the bytes to store
 * @param token    hf_lock_token(); 1..2^53-1
 * @param opts     NULL for defaults; of the flags only HF_SET_KEEPTTL
 * @param highest  [out] on HF_CONFLICT the highest token; may be NULL
 *
 * @retval HF_OK          the value and its expiry are set
 * @retval HF_CONFLICT    a higher token was seen
 * @retval HF_CORRUPT     the fence holds something else than a token: delete it
 *                        once no old holder is left
 * @retval HF_HELD        the key itself is a lock, an election or permits that
 *                        are held: protect another key by them
 * @retval HF_WRONG_TYPE  the fence is of another type
 */
HF_API HF_MUST_USE hf_status hf_value_put_fenced(
    hf_client *client, hf_bytes key, hf_bytes value, uint64_t token,
    const hf_value_set_options *opts, uint64_t *highest, hf_error *err);

/**
 * Add to a counter: a value that is a decimal integer, exact in all of its 64
 * bits. A missing key counts as 0. A result that is out of bounds or does not
 * fit in 64 bits is refused and changes nothing. If the reply is lost, the call
 * is HF_INDETERMINATE.
 *
 * @param key    the key
 * @param delta  what to add; may be negative or 0
 * @param opts   NULL: no bounds, no time to live
 * @param value  [out] on HF_OK the result, on HF_CONFLICT the current number;
 *               may be NULL
 *
 * @retval HF_OK          the result is stored
 * @retval HF_CONFLICT    the result would be out of bounds
 * @retval HF_WRONG_TYPE  the key holds another type, or no integer in the form
 *                        that INCRBY of Redis takes
 */
HF_API HF_MUST_USE hf_status hf_value_add(hf_client *client, hf_bytes key,
                                          int64_t delta,
                                          const hf_add_options *opts,
                                          int64_t *value, hf_error *err);

/**
 * Append bytes to a value: APPEND of Redis. A value that does not exist is
 * created, without an expiry; another one keeps its own.
 *
 * @param key    the key
 * @param value  the bytes
 * @param size   [out] bytes of the value afterwards; may be NULL
 *
 * @retval HF_OK          appended
 * @retval HF_INVALID     also if the value would be larger than #HF_VALUE_MAX
 * @retval HF_WRONG_TYPE  the key does not hold a string
 */
HF_API HF_MUST_USE hf_status hf_value_append(hf_client *client, hf_bytes key,
                                             hf_bytes value, size_t *size,
                                             hf_error *err);

/**
 * Read many values at once.
 *
 * @param keys      `count` keys
 * @param count     any number
 * @param values    [out] `count` buffers, each started with #HF_BUFFER_INIT and
 *                  set if its status is HF_OK
 * @param statuses  [out] `count` statuses, each as of hf_value_get()
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_value_get_many(hf_client *client,
                                               const hf_bytes *keys,
                                               size_t count, hf_buffer *values,
                                               hf_status *statuses,
                                               hf_error *err);

/** An item of hf_value_set_many(). */
typedef struct hf_value_set_item {
    hf_bytes key;
    hf_bytes value;
} hf_value_set_item;

/**
 * Set many values at once, each as by hf_value_set().
 *
 * @param items     `count` keys and values
 * @param count     any number
 * @param opts      for all of them; NULL for defaults. HF_SET_GET returns
 *                  nothing.
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_value_set_many(
    hf_client *client, const hf_value_set_item *items, size_t count,
    const hf_value_set_options *opts, hf_status *statuses, hf_error *err);

/** An item of hf_value_cas_many(); see hf_value_cas(). */
typedef struct hf_value_cas_item {
    hf_bytes key;
    const hf_bytes *expected; /**< NULL: the key must not exist */
    hf_bytes value;
    hf_buffer *current; /**< [out] on HF_CONFLICT; may be NULL */
} hf_value_cas_item;

/**
 * Compare and set many values at once, each as by hf_value_cas().
 *
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for all of them; NULL for defaults
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_value_cas_many(
    hf_client *client, const hf_value_cas_item *items, size_t count,
    const hf_cas_options *opts, hf_status *statuses, hf_error *err);

/** An item of hf_value_add_many(); see hf_value_add(). */
typedef struct hf_value_add_item {
    hf_bytes key;
    int64_t delta;
    int64_t *value; /**< [out] on HF_OK and HF_CONFLICT; may be NULL */
} hf_value_add_item;

/**
 * Add to many counters at once, each as by hf_value_add().
 *
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for all of them; NULL for defaults
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_value_add_many(
    hf_client *client, const hf_value_add_item *items, size_t count,
    const hf_add_options *opts, hf_status *statuses, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_value_set_start, hf_bytes key, hf_bytes value,
         const hf_value_set_options *opts, hf_buffer *previous);
HF_START(hf_value_get_start, hf_bytes key, hf_buffer *value);
HF_START(hf_value_get_expire_start, hf_bytes key,
         const hf_value_expire_options *opts, hf_buffer *value);
HF_START(hf_value_append_start, hf_bytes key, hf_bytes value, size_t *size);
HF_START(hf_value_delete_start, hf_bytes key);
HF_START(hf_value_cas_start, hf_bytes key, const hf_bytes *expected,
         hf_bytes value, const hf_cas_options *opts, hf_buffer *current);
HF_START(hf_value_delete_if_start, hf_bytes key, hf_bytes expected,
         hf_buffer *current);
HF_START(hf_value_expire_if_start, hf_bytes key, hf_bytes expected,
         const hf_value_expire_options *opts, hf_buffer *current);
HF_START(hf_value_get_versioned_start, hf_bytes key, hf_buffer *value,
         hf_buffer *version);
HF_START(hf_value_cas_versioned_start, hf_bytes key, const hf_bytes *expected,
         hf_bytes value, const hf_cas_options *opts, hf_buffer *version);
HF_START(hf_value_delete_versioned_start, hf_bytes key, hf_bytes expected,
         hf_buffer *version);
HF_START(hf_value_get_revised_start, hf_bytes key, hf_buffer *value,
         uint64_t *revision);
HF_START(hf_value_put_revised_start, hf_bytes key, hf_bytes value,
         uint64_t expected, const hf_value_set_options *opts,
         uint64_t *revision);
HF_START(hf_value_delete_revised_start, hf_bytes key, uint64_t expected,
         uint64_t *revision);
HF_START(hf_value_changes_after_start, hf_bytes pattern, uint64_t after,
         int64_t wait_ms, hf_value_changes *changes);
HF_START(hf_value_put_fenced_start, hf_bytes key, hf_bytes value,
         uint64_t token, const hf_value_set_options *opts, uint64_t *highest);
HF_START(hf_value_add_start, hf_bytes key, int64_t delta,
         const hf_add_options *opts, int64_t *value);
HF_START(hf_value_get_many_start, const hf_bytes *keys, size_t count,
         hf_buffer *values, hf_status *statuses);
HF_START(hf_value_set_many_start, const hf_value_set_item *items, size_t count,
         const hf_value_set_options *opts, hf_status *statuses);
HF_START(hf_value_cas_many_start, const hf_value_cas_item *items, size_t count,
         const hf_cas_options *opts, hf_status *statuses);
HF_START(hf_value_add_many_start, const hf_value_add_item *items, size_t count,
         const hf_add_options *opts, hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_VALUE_H */
