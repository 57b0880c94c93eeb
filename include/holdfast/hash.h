/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/hash.h - hashes: named fields under one key with one expiry.
 *
 * Contents:
 * - hf_hash_put(), hf_hash_put_fenced()
 * - hf_hash_get(), hf_hash_get_fields(), hf_hash_get_all()
 * - hf_hash_cas(), hf_hash_add()
 * - hf_hash_expire_fields(), hf_hash_ttl_fields()
 * - hf_hash_delete(), hf_hash_delete_fields()
 * - hf_hash_put_many()
 * - hf_fields_free()
 *
 * Each but the last has a `_start` form.
 *
 * @code
 * hf_status log_in(hf_client *client, hf_bytes key, hf_error *err)
 * {
 *     hf_field fields[2] = {{hf_str("user"), hf_str("ann")},
 *                           {hf_str("role"), hf_str("admin")}};
 *     hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
 *
 *     opts.flags = HF_HASH_REPLACE;
 *     opts.ttl_ms = 1800000; // the fields and the expiry in one step
 *     return hf_hash_put(client, key, fields, 2, &opts, err);
 * }
 * @endcode
 */
#ifndef HOLDFAST_HASH_H
#define HOLDFAST_HASH_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A field of a hash and its value. */
typedef struct hf_field {
    hf_bytes name;
    hf_bytes value;
} hf_field;

/** The fields of a hash, owned by the caller; free with hf_fields_free(). */
typedef struct hf_fields {
    hf_field *items; /**< in no particular order */
    size_t count;
} hf_fields;

/* clang-format off */
#define HF_FIELDS_INIT { NULL, 0 }
/* clang-format on */

/**
 * Free what hf_hash_get_all() returned, and reset it.
 *
 * @param fields  may be NULL
 */
HF_API void hf_fields_free(hf_fields *fields);

/** Most fields of one call: Lua's unpack() and managed servers' limits on
 *  arguments are above it. */
#define HF_HASH_FIELDS_MAX 1000

/** Flags of hf_hash_put(). */
enum {
    HF_HASH_NX = 1u << 0,      /**< only if the key does not exist */
    HF_HASH_XX = 1u << 1,      /**< only if the key exists */
    HF_HASH_REPLACE = 1u << 2, /**< delete all other fields */
    HF_HASH_PERSIST = 1u << 3  /**< remove the key's time to live */
};

/** Options of hf_hash_put() and hf_hash_put_many(). */
typedef struct hf_hash_put_options {
    size_t struct_size; /**< #HF_HASH_PUT_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_HASH_* bits; NX and XX exclude each other */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live of the key, ms, 1..#HF_TTL_MAX_MS, set in the same step;
     *  0: keep what it has (a key that is created does not expire). Excludes
     *  HF_HASH_PERSIST. */
    int64_t ttl_ms;
    /** Time to live of the fields that are written, ms, 1..#HF_TTL_MAX_MS; 0:
     *  they do not expire by themselves. See hf_hash_expire_fields(). */
    int64_t field_ttl_ms;
} hf_hash_put_options;

/* clang-format off */
#define HF_HASH_PUT_OPTIONS_INIT { sizeof(hf_hash_put_options), 0, 0, 0, 0 }
/* clang-format on */

/**
 * Write fields of a hash, and the key's time to live, in one atomic step.
 * Without HF_HASH_REPLACE it does not look whether the key is a lease that is
 * held, nor do hf_hash_cas() and hf_hash_add(): see docs/reference/objects.md.
 *
 * @param key     the key
 * @param fields  `count` fields; the last of two with the same name wins
 * @param count   1..#HF_HASH_FIELDS_MAX
 * @param opts    NULL: keep other fields and the time to live
 *
 * @retval HF_OK          all fields and the expiry are set
 * @retval HF_CONFLICT    HF_HASH_NX, and the key exists
 * @retval HF_NOT_FOUND   HF_HASH_XX, and the key does not exist
 * @retval HF_HELD        HF_HASH_REPLACE, and it is a held election or lock of
 *                        Redisson
 * @retval HF_WRONG_TYPE  the key does not hold a hash
 * @retval HF_UNSUPPORTED field_ttl_ms, and the server has no HPEXPIRE
 */
HF_API HF_MUST_USE hf_status hf_hash_put(hf_client *client, hf_bytes key,
                                         const hf_field *fields, size_t count,
                                         const hf_hash_put_options *opts,
                                         hf_error *err);

/**
 * Write fields as by hf_hash_put(), with the fencing token of the lock that
 * protects the hash: see hf_value_put_fenced().
 *
 * @param key      the key; with a `}` it needs a hash tag
 * @param fields   `count` fields
 * @param count    1..#HF_HASH_FIELDS_MAX
 * @param token    hf_lock_token(); 1..2^53-1
 * @param opts     NULL for defaults; of the flags only HF_HASH_REPLACE and
 *                 HF_HASH_PERSIST
 * @param highest  [out] on HF_CONFLICT the highest token; may be NULL
 *
 * @retval HF_OK          all fields and the expiry are set
 * @retval HF_CONFLICT    a higher token was seen
 * @retval HF_CORRUPT     as for hf_value_put_fenced()
 * @retval HF_HELD        it is an election or a lock of Redisson that is held
 * @retval HF_WRONG_TYPE  the key does not hold a hash, or the fence no string
 * @retval HF_UNSUPPORTED field_ttl_ms, and the server has no HPEXPIRE
 */
HF_API HF_MUST_USE hf_status hf_hash_put_fenced(hf_client *client, hf_bytes key,
                                                const hf_field *fields,
                                                size_t count, uint64_t token,
                                                const hf_hash_put_options *opts,
                                                uint64_t *highest,
                                                hf_error *err);

/**
 * Read a field.
 *
 * @param key    the key
 * @param field  the field's name
 * @param value  [out] the bytes; free them with hf_buffer_free()
 *
 * @retval HF_OK          `*value` is set
 * @retval HF_NOT_FOUND   no such key, or no such field
 * @retval HF_WRONG_TYPE  the key does not hold a hash
 */
HF_API HF_MUST_USE hf_status hf_hash_get(hf_client *client, hf_bytes key,
                                         hf_bytes field, hf_buffer *value,
                                         hf_error *err);

/**
 * Read some fields.
 *
 * @param key     the key
 * @param names   `count` names of fields
 * @param count   1..#HF_HASH_FIELDS_MAX
 * @param values  [out] `count` buffers, each started with #HF_BUFFER_INIT;
 *                `data` stays NULL if there is no such field. Free each with
 *                hf_buffer_free().
 *
 * @retval HF_OK          at least one of the fields exists
 * @retval HF_NOT_FOUND   none of them exists
 * @retval HF_WRONG_TYPE  the key does not hold a hash
 */
HF_API HF_MUST_USE hf_status hf_hash_get_fields(hf_client *client, hf_bytes key,
                                                const hf_bytes *names,
                                                size_t count, hf_buffer *values,
                                                hf_error *err);

/**
 * Read all fields.
 *
 * @param key     the key
 * @param fields  [out] at least one field; free them with hf_fields_free()
 *
 * @retval HF_OK          `*fields` is set
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key does not hold a hash
 */
HF_API HF_MUST_USE hf_status hf_hash_get_all(hf_client *client, hf_bytes key,
                                             hf_fields *fields, hf_error *err);

/**
 * Compare and set a field: replace it only if it has the expected value. Lost
 * replies are handled as by hf_value_cas(). The key keeps its time to live
 * unless the options say otherwise.
 *
 * @param key       the key
 * @param field     the field's name
 * @param expected  its current value; NULL: the field must not exist
 * @param value     the new value
 * @param opts      NULL for defaults; ttl_ms is the key's
 * @param current   [out] on HF_CONFLICT the current value; may be NULL
 *
 * @retval HF_OK          the field was replaced
 * @retval HF_CONFLICT    the field holds another value
 * @retval HF_NOT_FOUND   a value was expected, and the field does not exist
 * @retval HF_WRONG_TYPE  the key does not hold a hash
 */
HF_API HF_MUST_USE hf_status hf_hash_cas(hf_client *client, hf_bytes key,
                                         hf_bytes field,
                                         const hf_bytes *expected,
                                         hf_bytes value,
                                         const hf_cas_options *opts,
                                         hf_buffer *current, hf_error *err);

/**
 * Add to a field that is a decimal integer, as hf_value_add() does to a value.
 * A missing field counts as 0.
 *
 * @param key    the key
 * @param field  the field's name
 * @param delta  what to add; may be negative or 0
 * @param opts   NULL: no bounds, no time to live; ttl_ms is the key's
 * @param value  [out] on HF_OK the result, on HF_CONFLICT the current number;
 *               may be NULL
 *
 * @retval HF_OK          the result is stored
 * @retval HF_CONFLICT    the result would be out of bounds
 * @retval HF_WRONG_TYPE  the key does not hold a hash, or the field no integer
 */
HF_API HF_MUST_USE hf_status hf_hash_add(hf_client *client, hf_bytes key,
                                         hf_bytes field, int64_t delta,
                                         const hf_add_options *opts,
                                         int64_t *value, hf_error *err);

/**
 * Delete fields. A hash without fields does not exist. This is one command of
 * the store, as is hf_hash_expire_fields(): it does not look whether the key is
 * an election, which it would end if it is given its fields.
 *
 * @param key      the key
 * @param names    `count` names of fields
 * @param count    1..#HF_HASH_FIELDS_MAX
 * @param deleted  [out] how many of them existed; may be NULL
 *
 * @retval HF_OK          none of the fields exists
 * @retval HF_WRONG_TYPE  the key does not hold a hash
 */
HF_API HF_MUST_USE hf_status
hf_hash_delete_fields(hf_client *client, hf_bytes key, const hf_bytes *names,
                      size_t count, size_t *deleted, hf_error *err);

/**
 * Set or remove the time to live of fields: HPEXPIRE and HPERSIST of Redis.
 *
 * A field whose time has passed does not exist; with its last field the key
 * does not either. Writing a field removes its time to live, unless it is set
 * again (`field_ttl_ms` of hf_hash_put()); adding to a number keeps it.
 *
 * Embedded stores can do this, and servers from Redis 7.4 and Valkey 9 on. On
 * an older server nothing is written: only a loop that removes them could keep
 * its readers from seeing fields that have expired.
 *
 * @param key     the key
 * @param ttl_ms  1..#HF_TTL_MAX_MS from now by the store's clock; -1: the
 *                fields no longer expire by themselves
 * @param names   `count` names of fields
 * @param count   1..#HF_HASH_FIELDS_MAX
 * @param found   [out] how many of them exist, and so have the new time to
 *                live; may be NULL
 *
 * @retval HF_OK           at least one of the fields exists
 * @retval HF_NOT_FOUND    no such key, or none of the fields
 * @retval HF_WRONG_TYPE   the key does not hold a hash
 * @retval HF_UNSUPPORTED  the server has no HPEXPIRE
 */
HF_API HF_MUST_USE hf_status hf_hash_expire_fields(hf_client *client,
                                                   hf_bytes key, int64_t ttl_ms,
                                                   const hf_bytes *names,
                                                   size_t count, size_t *found,
                                                   hf_error *err);

/**
 * Get the remaining times to live of fields: HPTTL of Redis.
 *
 * @param key      the key
 * @param names    `count` names of fields
 * @param count    1..#HF_HASH_FIELDS_MAX
 * @param ttls_ms  [out] `count` of them: ms to live; -1: the field does not
 *                 expire by itself; -2: no such field
 *
 * @retval HF_OK           at least one of the fields exists
 * @retval HF_NOT_FOUND    no such key, or none of the fields
 * @retval HF_WRONG_TYPE   the key does not hold a hash
 * @retval HF_UNSUPPORTED  the server has no HPTTL
 */
HF_API HF_MUST_USE hf_status hf_hash_ttl_fields(hf_client *client, hf_bytes key,
                                                const hf_bytes *names,
                                                size_t count, int64_t *ttls_ms,
                                                hf_error *err);

/**
 * Delete a hash with all its fields.
 *
 * @param key  the key
 *
 * @retval HF_OK          the key was deleted
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_HELD        it is an election or a lock of Redisson that is held
 * @retval HF_WRONG_TYPE  the key does not hold a hash; it was left alone
 */
HF_API HF_MUST_USE hf_status hf_hash_delete(hf_client *client, hf_bytes key,
                                            hf_error *err);

/** An item of hf_hash_put_many(); see hf_hash_put(). */
typedef struct hf_hash_put_item {
    hf_bytes key;
    const hf_field *fields;
    size_t count; /**< of fields */
} hf_hash_put_item;

/**
 * Write many hashes at once, each as by hf_hash_put().
 *
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for all of them; NULL for defaults
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_hash_put_many(
    hf_client *client, const hf_hash_put_item *items, size_t count,
    const hf_hash_put_options *opts, hf_status *statuses, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_hash_put_start, hf_bytes key, const hf_field *fields, size_t count,
         const hf_hash_put_options *opts);
HF_START(hf_hash_get_start, hf_bytes key, hf_bytes field, hf_buffer *value);
HF_START(hf_hash_get_all_start, hf_bytes key, hf_fields *fields);
HF_START(hf_hash_expire_fields_start, hf_bytes key, int64_t ttl_ms,
         const hf_bytes *names, size_t count, size_t *found);
HF_START(hf_hash_ttl_fields_start, hf_bytes key, const hf_bytes *names,
         size_t count, int64_t *ttls_ms);
HF_START(hf_hash_delete_fields_start, hf_bytes key, const hf_bytes *names,
         size_t count, size_t *deleted);
HF_START(hf_hash_delete_start, hf_bytes key);
HF_START(hf_hash_cas_start, hf_bytes key, hf_bytes field,
         const hf_bytes *expected, hf_bytes value, const hf_cas_options *opts,
         hf_buffer *current);
HF_START(hf_hash_add_start, hf_bytes key, hf_bytes field, int64_t delta,
         const hf_add_options *opts, int64_t *value);
HF_START(hf_hash_put_fenced_start, hf_bytes key, const hf_field *fields,
         size_t count, uint64_t token, const hf_hash_put_options *opts,
         uint64_t *highest);
HF_START(hf_hash_get_fields_start, hf_bytes key, const hf_bytes *names,
         size_t count, hf_buffer *values);
HF_START(hf_hash_put_many_start, const hf_hash_put_item *items, size_t count,
         const hf_hash_put_options *opts, hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_HASH_H */
