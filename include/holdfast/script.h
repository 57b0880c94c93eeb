/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/script.h - Lua scripts that run atomically on every store.
 *
 * Contents:
 * - hf_script_load(), hf_script_run(), hf_script_free()
 * - hf_reply_type(), hf_reply_integer(), hf_reply_bytes(), hf_reply_count(),
 *   hf_reply_at(), hf_reply_free()
 *
 * hf_script_load() and hf_script_run() have a `_start` form.
 *
 * @code
 * int64_t count(hf_script *script, hf_bytes key, hf_error *err)
 * {
 *     hf_reply *reply = NULL; // of "return redis.call('INCR', KEYS[1])"
 *     int64_t number = 0;
 *
 *     if (hf_script_run(script, &key, 1, NULL, 0, &reply, err) == HF_OK)
 *         number = hf_reply_integer(reply);
 *     hf_reply_free(reply);
 *     return number;
 * }
 * @endcode
 */
#ifndef HOLDFAST_SCRIPT_H
#define HOLDFAST_SCRIPT_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The type of a reply, in the terms of RESP2. */
typedef enum hf_reply_kind {
    HF_REPLY_NIL = 0,     /**< no value */
    HF_REPLY_INTEGER = 1, /**< a 64-bit integer */
    HF_REPLY_STRING = 2,  /**< bytes */
    HF_REPLY_STATUS = 3,  /**< a status line such as "OK" */
    HF_REPLY_ERROR = 4,   /**< an error, only within an array */
    HF_REPLY_ARRAY = 5    /**< replies */
} hf_reply_kind;

/** A reply of a script, or an element of one. */
typedef struct hf_reply hf_reply;

/** A loaded script. */
typedef struct hf_script hf_script;

/** Longest script, bytes. */
#define HF_SCRIPT_MAX 1048576

/**
 * Load a Lua 5.1 script: check its syntax and make the store remember it.
 *
 * The script has what EVAL of Redis provides: KEYS, ARGV, redis.call(),
 * redis.pcall(), redis.error_reply(), redis.status_reply(), redis.sha1hex(),
 * redis.log(), and Lua's base, string, table and math libraries. It runs
 * atomically on every store. As in Redis, an error does not undo the commands
 * before it; but a script that the embedded store had to stop is undone
 * completely.
 *
 * @param source  1..#HF_SCRIPT_MAX bytes of text
 * @param script  [out] free it with hf_script_free()
 *
 * @retval HF_OK      the script can be run
 * @retval HF_SCRIPT  a syntax error; the message gives the line
 */
HF_API HF_MUST_USE hf_status hf_script_load(hf_client *client, hf_bytes source,
                                            hf_script **script, hf_error *err);

/**
 * Free a script. The store may keep its text.
 *
 * @param script  may be NULL
 */
HF_API void hf_script_free(hf_script *script);

/** Most keys plus arguments of one hf_script_run(). */
#define HF_SCRIPT_ARGUMENTS_MAX 100000

/**
 * Run a script. The client's prefix is added to keys, not to arguments.
 *
 * @param script     a loaded script
 * @param keys       `key_count` keys: KEYS of the script
 * @param key_count  0..#HF_SCRIPT_ARGUMENTS_MAX together with arg_count
 * @param args       `arg_count` arguments: ARGV of the script
 * @param arg_count  see key_count
 * @param reply      [out] free it with hf_reply_free()
 *
 * @retval HF_OK             the script ran to its end; `*reply` is set
 * @retval HF_SCRIPT         it raised an error, which is the message; what it
 *                           had written remains. On the embedded store also: it
 *                           exceeded its budget of time or memory, and nothing
 *                           was written.
 * @retval HF_WRONG_TYPE     a command met a key of another type
 * @retval HF_INDETERMINATE  no reply arrived: it may have run, or still be
 *                           running
 */
HF_API HF_MUST_USE hf_status hf_script_run(
    hf_script *script, const hf_bytes *keys, size_t key_count,
    const hf_bytes *args, size_t arg_count, hf_reply **reply, hf_error *err);

/**
 * Free a reply. Only for one returned by hf_script_run(), not for its elements.
 *
 * @param reply  may be NULL
 */
HF_API void hf_reply_free(hf_reply *reply);

/**
 * The type of a reply.
 *
 * @param reply  NULL counts as nil
 * @return the type
 */
HF_API hf_reply_kind hf_reply_type(const hf_reply *reply);

/**
 * The number in an integer reply.
 *
 * @param reply  the reply
 * @return the number; 0 for any other type
 */
HF_API int64_t hf_reply_integer(const hf_reply *reply);

/**
 * The bytes of a string, status or error reply.
 *
 * @param reply  the reply
 * @return a view, followed by a NUL, that is valid until the whole reply is
 *         freed; empty for any other type
 */
HF_API hf_bytes hf_reply_bytes(const hf_reply *reply);

/**
 * The number of elements of an array reply.
 *
 * @param reply  the reply
 * @return the count; 0 for any other type
 */
HF_API size_t hf_reply_count(const hf_reply *reply);

/**
 * An element of an array reply.
 *
 * @param reply  the reply
 * @param index  0..hf_reply_count() - 1
 * @return the element, owned by the whole reply; NULL (which counts as nil)
 *         outside the range
 */
HF_API const hf_reply *hf_reply_at(const hf_reply *reply, size_t index);

/** Starts hf_script_load(). */
HF_API HF_MUST_USE hf_status hf_script_load_start(hf_client *client,
                                                  hf_bytes source,
                                                  hf_script **script,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_script_run(). */
HF_API HF_MUST_USE hf_status
hf_script_run_start(hf_script *script, const hf_bytes *keys, size_t key_count,
                    const hf_bytes *args, size_t arg_count, hf_reply **reply,
                    const hf_async *async, hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SCRIPT_H */
