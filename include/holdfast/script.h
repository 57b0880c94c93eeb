/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/script.h - Lua scripts that run atomically on every store.
 *
 * Contents: hf_script_load(), hf_script_run(), hf_script_free()
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
#include "holdfast/reply.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * On the embedded store it runs on the caller's thread, and takes up to 174 KiB
 * of its stack (cjson with 900 levels: 81 KiB); with less than 192 KiB left it
 * is HF_NO_MEMORY. Other calls take up to 25 KiB. On PostgreSQL it runs on the
 * client's own thread: meanwhile no other call of the client is done, and none
 * of its leases is renewed.
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

/** The `_start` forms; see #HF_START. */
HF_START(hf_script_load_start, hf_bytes source, hf_script **script);
HF_START_OF(hf_script_run_start, hf_script *script, const hf_bytes *keys,
            size_t key_count, const hf_bytes *args, size_t arg_count,
            hf_reply **reply);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SCRIPT_H */
