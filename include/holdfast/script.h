/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/script.h - scripts: Lua that runs atomically on every store.
 */
#ifndef HOLDFAST_SCRIPT_H
#define HOLDFAST_SCRIPT_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a script's answer is, in the terms of RESP2. */
typedef enum hf_reply_kind {
    HF_REPLY_NIL = 0,     /**< no value */
    HF_REPLY_INTEGER = 1, /**< a 64-bit integer */
    HF_REPLY_STRING = 2,  /**< bytes */
    HF_REPLY_STATUS = 3,  /**< a status line such as "OK" */
    HF_REPLY_ERROR = 4,   /**< an error line, inside an array only */
    HF_REPLY_ARRAY = 5    /**< a list of replies */
} hf_reply_kind;

/** An answer, or a part of one. */
typedef struct hf_reply hf_reply;

/** A script that was loaded. */
typedef struct hf_script hf_script;

/** Longest script, bytes. */
#define HF_SCRIPT_MAX 1048576

/**
 * Load a Lua 5.1 script: check its syntax and have the store remember it.
 *
 * The script sees what Redis gives to EVAL: KEYS, ARGV, redis.call(),
 * redis.pcall(), redis.error_reply(), redis.status_reply(), redis.sha1hex(),
 * redis.log(), and Lua's base, string, table and math libraries. It runs
 * atomically on every store. As in Redis, an error does not undo the commands
 * before it; a script that the embedded store had to stop is undone whole.
 *
 * @param client  open client
 * @param source  1..#HF_SCRIPT_MAX bytes of text
 * @param script  [out] end it with hf_script_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the script can be run
 * @retval HF_SCRIPT         a syntax error; the message gives the line
 * @retval HF_INVALID        empty, too long, or not text
 * @retval HF_UNAVAILABLE    not loaded
 * @retval HF_INDETERMINATE  no answer; harmless to load again
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not loaded
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_script_load(hf_client *client, hf_bytes source,
                                            hf_script **script, hf_error *err);

/**
 * Free a script. The store may go on remembering its text.
 *
 * @param script  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_script_free(hf_script *script);

/** Most keys plus arguments of one hf_script_run(). */
#define HF_SCRIPT_ARGUMENTS_MAX 100000

/**
 * Run a script.
 *
 * Keys get the client's prefix; arguments do not.
 *
 * @param script     a loaded script
 * @param keys       `key_count` keys: KEYS of the script
 * @param key_count  0..#HF_SCRIPT_ARGUMENTS_MAX together with arg_count
 * @param args       `arg_count` arguments: ARGV of the script
 * @param arg_count  see key_count
 * @param reply      [out] the answer; end it with hf_reply_free()
 * @param err        [out] may be NULL
 *
 * @retval HF_OK             the script ran to its end; `*reply` is set
 * @retval HF_SCRIPT         it raised an error; the message is the error's
 *                           text. What it had written before stays. On the
 *                           embedded store also: it exceeded its budget of
 *                           time or memory, and nothing was written.
 * @retval HF_WRONG_TYPE     a command met a key of another type
 * @retval HF_INVALID        bad key or count
 * @retval HF_UNAVAILABLE    it did not run
 * @retval HF_INDETERMINATE  no answer: it may have run, or still run
 * @retval HF_DENIED         the store refused a command
 * @retval HF_FULL           the store has no room
 * @retval HF_NO_MEMORY      it may have run if the answer does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_script_run(
    hf_script *script, const hf_bytes *keys, size_t key_count,
    const hf_bytes *args, size_t arg_count, hf_reply **reply, hf_error *err);

/**
 * Free an answer. Only for what hf_script_run() returned, not for its parts.
 *
 * @param reply  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_reply_free(hf_reply *reply);

/**
 * Kind of an answer.
 *
 * @param reply  the answer; NULL counts as nil
 * @return the kind
 *
 * Never blocks. Since 0.1.
 */
HF_API hf_reply_kind hf_reply_type(const hf_reply *reply);

/**
 * The number in an integer answer.
 *
 * @param reply  the answer
 * @return the number; 0 for any other kind
 *
 * Never blocks. Since 0.1.
 */
HF_API int64_t hf_reply_integer(const hf_reply *reply);

/**
 * The bytes of a string, status or error answer.
 *
 * @param reply  the answer
 * @return a view that lives as long as the whole answer, with a NUL behind it;
 *         empty for any other kind
 *
 * Never blocks. Since 0.1.
 */
HF_API hf_bytes hf_reply_bytes(const hf_reply *reply);

/**
 * How many parts an array answer has.
 *
 * @param reply  the answer
 * @return the count; 0 for any other kind
 *
 * Never blocks. Since 0.1.
 */
HF_API size_t hf_reply_count(const hf_reply *reply);

/**
 * One part of an array answer.
 *
 * @param reply  the answer
 * @param index  0..hf_reply_count() - 1
 * @return the part, owned by the whole answer; NULL (which counts as nil)
 *         outside the range
 *
 * Never blocks. Since 0.1.
 */
HF_API const hf_reply *hf_reply_at(const hf_reply *reply, size_t index);

/** Starts hf_script_load(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_script_load_start(hf_client *client,
                                                  hf_bytes source,
                                                  hf_script **script,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_script_run(). Since 0.1. */
HF_API HF_MUST_USE hf_status
hf_script_run_start(hf_script *script, const hf_bytes *keys, size_t key_count,
                    const hf_bytes *args, size_t arg_count, hf_reply **reply,
                    const hf_async *async, hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SCRIPT_H */
