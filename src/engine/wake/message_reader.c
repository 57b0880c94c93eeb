/* SPDX-License-Identifier: Apache-2.0 */
/* message_reader.c - see message_reader.h. */
#include "engine/wake/message_reader.h"

#include <string.h>

#include "util/container.h"

static bool read_message(hf_bytes note, hf__message *message)
{
    const char *bytes = note.data;
    hf__message_head head;

    if (note.size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    bytes += sizeof(head);
    note.size -= sizeof(head);
    if (head.channel_size > note.size)
        return false;
    message->event_class = head.event_class;
    message->channel = hf_view(bytes, head.channel_size);
    message->text =
        hf_view(bytes + head.channel_size, note.size - head.channel_size);
    return true;
}

static void on_note(hf__ring_reader *ring, uint32_t kind, hf_bytes note)
{
    hf__message_reader *reader =
        hf__container_of(ring, hf__message_reader, ring);
    hf__message message = {.number = ring->position};

    if (kind != HF__NOTE_EVENT)
        message.kind = (hf__channel_kind)kind;
    if (kind == HF__NOTE_GAP || !read_message(note, &message))
        reader->lost(reader);
    else
        reader->got(reader, &message);
}

void hf__message_reader_init(hf__message_reader *reader, hf__wake_inbox *inbox)
{
    hf__ring_reader_init(&reader->ring, inbox, HF__RING_MESSAGES);
    reader->ring.note = on_note;
}

void hf__message_reader_done(hf__message_reader *reader)
{
    hf__ring_reader_done(&reader->ring);
}

hf_status hf__message_reader_start(hf__message_reader *reader,
                                   int64_t deadline_ms, hf_error *err)
{
    hf_status status = hf__ring_reader_join(&reader->ring, deadline_ms, err);

    if (status != HF_OK)
        return status;
    status = hf__ring_reader_start(&reader->ring, err);
    if (status != HF_OK)
        hf__ring_reader_leave(&reader->ring);
    return status;
}

void hf__message_reader_stop(hf__message_reader *reader)
{
    hf__ring_reader_stop(&reader->ring);
    hf__ring_reader_leave(&reader->ring);
}

hf_status hf__message_reader_lock(hf__message_reader *reader,
                                  int64_t deadline_ms, hf_error *err)
{
    return hf__env_lock(reader->ring.inbox->env, deadline_ms, err);
}

void hf__message_reader_unlock(hf__message_reader *reader)
{
    hf__env_unlock(reader->ring.inbox->env);
}

hf__subscribed hf__message_subscribe(hf__message_reader *reader,
                                     hf__channel_kind kind, hf_bytes name)
{
    hf__env *env = reader->ring.inbox->env;
    hf__subscribed made;

    made.since = env->rings[HF__RING_MESSAGES].head->head;
    made.listed = hf__subscription_add(env, reader->ring.slot, kind, name);
    return made;
}

void hf__message_unsubscribe(hf__message_reader *reader, hf__channel_kind kind,
                             hf_bytes name, hf__subscribed subscribed)
{
    hf__subscription_remove(reader->ring.inbox->env, reader->ring.slot, kind,
                            name, subscribed.listed);
}

void hf__message_want(hf__message_reader *reader, uint32_t classes)
{
    hf__ring_reader_want(&reader->ring, classes);
}
