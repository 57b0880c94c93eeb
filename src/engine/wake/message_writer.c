/* SPDX-License-Identifier: Apache-2.0 */
/* message_writer.c - see message_writer.h. */
#include "engine/wake/message_writer.h"

#include <string.h>

static bool has_room(const hf__tx *tx, size_t size)
{
    const hf__buf *notes = &tx->noted[HF__RING_MESSAGES].notes;

    return size <= notes->limit - hf__buf_size(notes);
}

bool hf__message_put(hf__tx *tx, uint32_t kind, uint32_t event_class,
                     hf_bytes channel, hf_bytes text)
{
    hf__message_head head = {(uint32_t)channel.size, event_class};
    unsigned char *at = hf__ring_put(tx, HF__RING_MESSAGES, kind,
                                     sizeof(head) + channel.size + text.size);

    if (at == NULL)
        return false;
    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    if (channel.size > 0)
        memcpy(at, channel.data, channel.size);
    if (text.size > 0)
        memcpy(at + channel.size, text.data, text.size);
    return true;
}

int64_t hf__message_publish(hf__tx *tx, hf__channel_kind kind, hf_bytes channel,
                            hf_bytes text)
{
    uint64_t readers;
    int64_t count;

    if (!hf__tx_notes(tx, HF__RING_MESSAGES))
        return 0;
    count = hf__subscription_count(tx->env, kind, channel, kind == HF__CHANNEL,
                                   &readers);
    if (readers == 0)
        return 0;
    if (!has_room(tx, hf__note_size(sizeof(hf__message_head) + channel.size +
                                    text.size)))
        return -1;
    if (!hf__message_put(tx, kind, 0, channel, text)) {
        hf__tx_no_memory(tx);
        return 0;
    }
    tx->noted[HF__RING_MESSAGES].readers |= readers;
    return count;
}

int64_t hf__message_subscribers(hf__tx *tx, hf__channel_kind kind,
                                hf_bytes channel)
{
    uint64_t readers;

    if (!hf__tx_notes(tx, HF__RING_MESSAGES))
        return 0;
    return hf__subscription_count(tx->env, kind, channel, false, &readers);
}
