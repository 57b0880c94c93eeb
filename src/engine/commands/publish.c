/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.c - messages to the subscribers of a channel, in all processes: those
 * of servers, and the inboxes of clients that have the store open.
 *
 * These commands need a write transaction: messages are sent with its commit,
 * and subscriptions are guarded by the writer lock.
 */
#include "engine/commands/command_row.h"
#include "engine/wake/message_writer.h"
#include "engine/wake/wake.h"
#include "store/store.h"

static void publish_outside(hf__tx *tx, hf_bytes channel, hf_bytes text)
{
    int64_t receivers = tx->outside->publish(tx->outside, channel, text);

    if (receivers < 0)
        hf__tx_no_memory(tx);
    hf__reply_integer(tx, receivers);
}

/* The variant is a hf__channel_kind, here and of PUBSUB. */
static void run_publish(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__channel_kind kind = (hf__channel_kind)hf__variant(tx);
    int64_t receivers;
    hf_bytes text, topic;

    (void)count;
    if (args[1].size + args[2].size > HF__MESSAGE_MAX) {
        hf__reply_error(tx, "ERR channel and message exceed 1 MiB");
        return;
    }
    if (tx->outside != NULL) {
        publish_outside(tx, args[1], args[2]);
        return;
    }
    receivers = hf__message_publish(tx, kind, args[1], args[2]);
    if (receivers < 0) {
        hf__reply_error(tx, "ERR messages of one transaction exceed 2 MiB");
        return;
    }
    if (kind == HF__CHANNEL) {
        hf__store_message(args[2], &text, &topic);
        receivers += hf__wake_publish(tx, args[1], text, topic);
    }
    hf__reply_integer(tx, receivers);
}

static int64_t count_subscribers(hf__tx *tx, hf__channel_kind kind,
                                 hf_bytes channel)
{
    int64_t inboxes = 0;
    uint32_t index;

    if (tx->outside != NULL)
        return tx->outside->listens(tx->outside, channel);
    if (kind == HF__CHANNEL && hf__wake_listens(tx->env, channel, &index))
        inboxes = 1;
    return inboxes + hf__message_subscribers(tx, kind, channel);
}

static void run_numsub(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__channel_kind kind = (hf__channel_kind)hf__variant(tx);

    hf__reply_array(tx, 2 * (count - 2));
    for (size_t i = 2; i < count; i++) {
        hf__reply_bytes(tx, args[i].data, args[i].size);
        hf__reply_integer(tx, count_subscribers(tx, kind, args[i]));
    }
}

#define WRITES HF__COMMAND_WRITES

/* The other subcommands of PUBSUB are the server's. */
const hf__command_entry hf__commands_publish[] = {
    {"publish", WRITES | HF__VARIANT(HF__CHANNEL), run_publish},
    {"spublish", WRITES | HF__VARIANT(HF__CHANNEL_SHARD), run_publish},
    {"pubsub", WRITES | HF__COMMAND_GROUP, hf__subcommand_run},
    {"pubsub|numsub", HF__VARIANT(HF__CHANNEL), run_numsub},
    {"pubsub|shardnumsub", HF__VARIANT(HF__CHANNEL_SHARD), run_numsub},
    {NULL, 0, NULL}};
