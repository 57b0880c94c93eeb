/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/command.h - any command of the store, word by word.
 *
 * Contents: hf_command(), hf_command_many(). Each has a `_start` form.
 *
 * For what the other headers do not have. The words are those of Redis: a
 * server gets them as they are; the embedded store has the commands that
 * docs/reference/embedded-commands.md lists, and runs them without Lua.
 *
 * @code
 * int64_t push(hf_client *client, hf_bytes list, hf_bytes item, hf_error *err)
 * {
 *     const hf_bytes words[] = {hf_str("LPUSH"), list, item};
 *     hf_reply *reply = NULL;
 *     int64_t length = 0;
 *
 *     if (hf_command(client, 3, words, &reply, err) == HF_OK)
 *         length = hf_reply_integer(reply);
 *     hf_reply_free(reply); // whatever the status
 *     return length;
 * }
 * @endcode
 */
#ifndef HOLDFAST_COMMAND_H
#define HOLDFAST_COMMAND_H

#include "holdfast/async.h"
#include "holdfast/reply.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most words of one command, its name included. */
#define HF_COMMAND_WORDS_MAX 1048576

/**
 * Run one command.
 *
 * Numbers in a reply have all their 64 bits. A command that the library knows
 * to be a read is sent again if its reply is lost; all others, and those that
 * wait for an element, are sent once.
 *
 * **Prefix.** Without a prefix the words are sent as they are. A client with a
 * prefix has it put before each word that is a key, in the command's own
 * syntax: the second of GET, all but the first of DEL, those that are counted
 * in EVAL. Refused are commands that reach other keys, such as KEYS, FLUSHALL,
 * SORT with BY or GET, and those that the library does not know. A reply that
 * names a key has it with the prefix.
 *
 * **Connections** are shared, so commands that change the state of one, or are
 * about it, are refused on every store: SELECT, AUTH, HELLO, RESET, QUIT,
 * MULTI, WATCH, SUBSCRIBE, MONITOR, CLIENT REPLY and TRACKING, WAIT and the
 * like.
 *
 * **Commands that wait for an element**, BLPOP, BRPOP, BLMOVE, BRPOPLPUSH,
 * BLMPOP, BZPOPMIN, BZPOPMAX and BZMPOP, and XREAD and XREADGROUP with BLOCK,
 * wait as long as their words say, however short request_ms is; 0 is no limit.
 * The reply is nil when that time is over. They do not hold up other calls.
 * They cannot be part of hf_command_many() or of a transaction, nor used by a
 * client that waits for replicas. XREADGROUP whose stream is deleted meanwhile
 * is HF_UNAVAILABLE, and HF_INVALID if its group is. If the stream expires in
 * an embedded store, the call waits until a write meets the key, or its time is
 * over.
 *
 * hf_client_interrupt() ends the wait of calls that block, hf_call_cancel()
 * that of one that was started, and hf_client_close() that of all. No element
 * is lost: the call returns HF_CANCELLED, and nothing was taken; or HF_OK, with
 * the element that came first; or, if the server does not answer,
 * HF_INDETERMINATE.
 *
 * On an embedded store the calls of one client that already wait are served in
 * the order in which they began to; among clients, the fastest. These, and
 * calls that were started, are run one by one by the client, each with a commit
 * of its own. At most 64 clients at a time can be those that have waited or
 * that watch changes; with more it is HF_SYSTEM. A call may end late by as long
 * as the store is busy, at most request_ms, and as the client's calls before it
 * take.
 *
 * On servers each call that waits has a connection of its own, at most 128 for
 * each client and server (HF_UNAVAILABLE). It may end 0.5 s late, and if the
 * server does not answer then, up to request_ms later still. Ending the wait
 * takes the right to run CLIENT UNBLOCK, and the client's connection for other
 * calls, which must not have broken since; otherwise the connection of the call
 * is closed (HF_INDETERMINATE). If that breaks, or the server is replaced, the
 * call is HF_INDETERMINATE, too: an element may have been taken, and be lost
 * with the reply. Where that matters, have BLMOVE put it into a list of your
 * own. When a server that is still there hands the key over to another one, the
 * command waits there; but XREAD with `$` is HF_UNAVAILABLE then, as entries
 * may have been added in between: read on from the last ID that you know.
 *
 * **Cluster.** The keys decide which server runs the command; one without keys
 * is run by any one server. Of a command that the library does not know, the
 * word after its name is taken for its only key.
 *
 * @param argc   1..#HF_COMMAND_WORDS_MAX
 * @param argv   `argc` words, each of 0 to #HF_VALUE_MAX bytes; the first is
 *               the name of the command, in any case
 * @param reply  [out] the reply; free it with hf_reply_free(). If the store
 *               replied with an error, the reply is that error (HF_REPLY_ERROR)
 *               with its code and its whole text, and the status is not HF_OK.
 *               Otherwise, without HF_OK it is NULL. `reply` may be NULL.
 *
 * @retval HF_OK           `*reply` is what the command replied
 * @retval HF_INVALID      no words, an empty name, or too many or too long
 *                         words: nothing was sent. Or the store's error has no
 *                         status of its own: wrong arity, a syntax error, a
 *                         value out of range.
 * @retval HF_UNSUPPORTED  the command is refused, as above, or the store does
 *                         not know it
 * @retval HF_CANCELLED    it waited, and that was ended before an element came
 * @retval HF_WRONG_TYPE   the key holds a value of another type
 * @retval HF_SCRIPT       a script in the words is invalid, or raised an error;
 *                         what it had written remains
 * @retval HF_UNAVAILABLE  of EVALSHA also: the store does not have the script
 *
 * Blocks: up to request_ms, and as long as the command waits.
 */
HF_API HF_MUST_USE hf_status hf_command(hf_client *client, size_t argc,
                                        const hf_bytes *argv, hf_reply **reply,
                                        hf_error *err);

/** One command of hf_command_many(). */
typedef struct hf_command_item {
    size_t argc;          /**< words, the name included */
    const hf_bytes *argv; /**< see hf_command() */
} hf_command_item;

/**
 * Run hf_command() for many commands at once. On the embedded store up to 128
 * that follow one another share a transaction if one of them writes, and then
 * take effect in their order; a failing one does not undo the others.
 *
 * @param items     `count` commands
 * @param count     any number
 * @param replies   [out] `count` replies, each as that of hf_command(), to be
 *                  freed one by one
 * @param statuses  [out] `count` statuses, each as of hf_command()
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_command_many(hf_client *client,
                                             const hf_command_item *items,
                                             size_t count, hf_reply **replies,
                                             hf_status *statuses,
                                             hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_command_start, size_t argc, const hf_bytes *argv, hf_reply **reply);
HF_START(hf_command_many_start, const hf_command_item *items, size_t count,
         hf_reply **replies, hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_COMMAND_H */
