/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/hash.h - hashes: fields and an expiry, written in one step.
 */
#ifndef HOLDFAST_HASH_H
#define HOLDFAST_HASH_H

#include "holdfast/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One field of a hash and its value. */
typedef struct hf_field {
    hf_bytes name;
    hf_bytes value;
} hf_field;

/** All fields of a hash, owned by the caller; end with hf_fields_free(). */
typedef struct hf_fields {
    hf_field *items; /**< in no particular order */
    size_t count;
} hf_fields;

/* clang-format off */
#define HF_FIELDS_INIT { NULL, 0 }
/* clang-format on */

/**
 * Free what hf_hash_get_all() returned and reset it.
 *
 * @param fields  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_fields_free(hf_fields *fields);

/** Most fields of one call: Lua's unpack() and managed servers' limits on
 *  arguments are above it. */
#define HF_HASH_FIELDS_MAX 1000

/** Flags of hf_hash_put(). */
enum {
    HF_HASH_NX = 1u << 0,      /**< only if the key does not exist */
    HF_HASH_XX = 1u << 1,      /**< only if the key exists */
    HF_HASH_REPLACE = 1u << 2, /**< drop the fields that are not given */
    HF_HASH_PERSIST = 1u << 3  /**< remove the key's time to live */
};

/** Options of hf_hash_put(). */
typedef struct hf_hash_put_options {
    size_t struct_size; /**< #HF_HASH_PUT_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_HASH_* bits; NX and XX exclude each other */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live of the key, ms, 1..#HF_TTL_MAX_MS, set in the same step;
     *  0: keep what it has (a key that is created does not expire). Excludes
     *  HF_HASH_PERSIST. */
    int64_t ttl_ms;
} hf_hash_put_options;

/* clang-format off */
#define HF_HASH_PUT_OPTIONS_INIT { sizeof(hf_hash_put_options), 0, 0, 0 }
/* clang-format on */

/**
 * Write fields of a hash and the key's time to live in one atomic step.
 *
 * @param client  open client
 * @param key     the key
 * @param fields  `count` fields; the last of two equal names wins
 * @param count   1..#HF_HASH_FIELDS_MAX
 * @param opts    NULL: merge into what is there, keep the time to live
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             all fields and the expiry are set
 * @retval HF_CONFLICT       HF_HASH_NX and the key exists
 * @retval HF_NOT_FOUND      HF_HASH_XX and the key does not exist
 * @retval HF_WRONG_TYPE     the key holds no hash; nothing was changed
 * @retval HF_INVALID        bad key, field, count or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied, whole or not at all
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_put(hf_client *client, hf_bytes key,
                                         const hf_field *fields, size_t count,
                                         const hf_hash_put_options *opts,
                                         hf_error *err);

/**
 * Read one field.
 *
 * @param client  open client
 * @param key     the key
 * @param field   the field
 * @param value   [out] the bytes; end with hf_buffer_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*value` is set
 * @retval HF_NOT_FOUND      no such key or no such field
 * @retval HF_WRONG_TYPE     the key holds no hash
 * @retval HF_INVALID        bad key or field
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the value does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_get(hf_client *client, hf_bytes key,
                                         hf_bytes field, hf_buffer *value,
                                         hf_error *err);

/**
 * Read all fields.
 *
 * @param client  open client
 * @param key     the key
 * @param fields  [out] end with hf_fields_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*fields` holds at least one field
 * @retval HF_NOT_FOUND      no such key
 * @retval HF_WRONG_TYPE     the key holds no hash
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the fields do not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_get_all(hf_client *client, hf_bytes key,
                                             hf_fields *fields, hf_error *err);

/**
 * Compare and set one field: replace it only if it is what the caller
 * believes. The key keeps its time to live unless the options say otherwise.
 *
 * @param client    open client
 * @param key       the key
 * @param field     the field
 * @param expected  NULL: the field must not exist; else its present value
 * @param value     the new value
 * @param opts      NULL for defaults; ttl_ms is the key's
 * @param current   [out] on HF_CONFLICT the present value; may be NULL
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the field was replaced
 * @retval HF_CONFLICT       the field holds another value; nothing was changed
 * @retval HF_NOT_FOUND      a value was expected and there is none
 * @retval HF_WRONG_TYPE     the key holds no hash; nothing was changed
 * @retval HF_INVALID        bad key, field, value or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed, or `*current` does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_cas(hf_client *client, hf_bytes key,
                                         hf_bytes field,
                                         const hf_bytes *expected,
                                         hf_bytes value,
                                         const hf_cas_options *opts,
                                         hf_buffer *current, hf_error *err);

/**
 * Delete fields; a hash without fields is gone.
 *
 * @param client   open client
 * @param key      the key
 * @param names    `count` field names
 * @param count    1..#HF_HASH_FIELDS_MAX
 * @param deleted  [out] how many of them existed; may be NULL
 * @param err      [out] may be NULL
 *
 * @retval HF_OK             none of the fields exists now
 * @retval HF_WRONG_TYPE     the key holds no hash
 * @retval HF_INVALID        bad key, field or count; nothing was sent
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status
hf_hash_delete_fields(hf_client *client, hf_bytes key, const hf_bytes *names,
                      size_t count, size_t *deleted, hf_error *err);

/**
 * Delete a whole hash.
 *
 * @param client  open client
 * @param key     the key
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the key is gone
 * @retval HF_NOT_FOUND      there was no such key
 * @retval HF_WRONG_TYPE     the key holds no hash; it was left alone
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_delete(hf_client *client, hf_bytes key,
                                            hf_error *err);

/** Starts hf_hash_put(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_put_start(
    hf_client *client, hf_bytes key, const hf_field *fields, size_t count,
    const hf_hash_put_options *opts, const hf_async *async, hf_error *err);

/** Starts hf_hash_get(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_get_start(hf_client *client, hf_bytes key,
                                               hf_bytes field, hf_buffer *value,
                                               const hf_async *async,
                                               hf_error *err);

/** Starts hf_hash_get_all(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_get_all_start(hf_client *client,
                                                   hf_bytes key,
                                                   hf_fields *fields,
                                                   const hf_async *async,
                                                   hf_error *err);

/** Starts hf_hash_delete_fields(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_delete_fields_start(
    hf_client *client, hf_bytes key, const hf_bytes *names, size_t count,
    size_t *deleted, const hf_async *async, hf_error *err);

/** Starts hf_hash_delete(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_delete_start(hf_client *client,
                                                  hf_bytes key,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_hash_cas(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_cas_start(
    hf_client *client, hf_bytes key, hf_bytes field, const hf_bytes *expected,
    hf_bytes value, const hf_cas_options *opts, hf_buffer *current,
    const hf_async *async, hf_error *err);

/** One of many puts: the parameters of hf_hash_put(). */
typedef struct hf_hash_put_item {
    hf_bytes key;
    const hf_field *fields;
    size_t count; /**< of fields */
} hf_hash_put_item;

/**
 * Put many hashes at once, each as hf_hash_put() does. See
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
HF_API HF_MUST_USE hf_status hf_hash_put_many(
    hf_client *client, const hf_hash_put_item *items, size_t count,
    const hf_hash_put_options *opts, hf_status *statuses, hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_HASH_H */
