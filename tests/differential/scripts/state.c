/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - see state.h. */
#include "state.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run/command_table.h"
#include "engine/run/execute.h"

static void print(hf__buf *to, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (!hf__buf_append(to, text, strlen(text)))
        abort();
}

void bytes_print(hf__buf *to, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        print(to, isprint(bytes[i]) && bytes[i] != '\\' ? "%c" : "\\%02x",
              bytes[i]);
}

void reply_print(hf__buf *to, const hf_reply *reply)
{
    switch (reply->kind) {
    case HF_REPLY_INTEGER:
        print(to, "(%lld)", (long long)reply->integer);
        break;
    case HF_REPLY_STRING:
    case HF_REPLY_STATUS:
    case HF_REPLY_ERROR:
        print(to, "%d'", reply->kind);
        bytes_print(to, reply->bytes.data, reply->bytes.size);
        print(to, "'");
        break;
    case HF_REPLY_ARRAY:
        print(to, "{");
        for (size_t i = 0; i < reply->array.count; i++)
            reply_print(to, &reply->array.items[i]);
        print(to, "}");
        break;
    default:
        print(to, "nil");
    }
}

const hf_reply *state_ask(hf__tx *tx, hf__request *request, hf_bytes *words,
                          size_t count)
{
    hf__job job = {request, NULL, 60000, 0, NULL};

    hf__request_init(request);
    request->words = words;
    request->word_count = count;
    job.command = hf__command_find(words[0]);
    hf__execute(tx, &job);
    return &request->reply;
}

static void print_answer(hf__buf *to, hf__tx *tx, hf_bytes *words, size_t count)
{
    hf__request request;

    print(to, " %.*s=", (int)words[0].size, (const char *)words[0].data);
    reply_print(to, state_ask(tx, &request, words, count));
    hf__request_done(&request);
}

/* Deadlines of fields are not in what DUMP returns. */
static void print_fields(hf__buf *to, hf__tx *tx, hf_bytes key)
{
    hf_bytes list[] = {hf_str("hkeys"), key};
    hf__request request;
    const hf_reply *fields = state_ask(tx, &request, list, 2);

    for (size_t i = 0;
         fields->kind == HF_REPLY_ARRAY && i < fields->array.count; i++) {
        const hf_reply *field = &fields->array.items[i];
        hf_bytes words[] = {hf_str("hpexpiretime"),
                            key,
                            hf_str("fields"),
                            hf_str("1"),
                            {field->bytes.data, field->bytes.size}};

        print_answer(to, tx, words, 5);
    }
    hf__request_done(&request);
}

static void print_key(hf__buf *to, hf__tx *tx, hf_bytes key)
{
    hf_bytes kind[] = {hf_str("type"), key};
    hf_bytes dump[] = {hf_str("dump"), key};
    hf_bytes ends[] = {hf_str("pexpiretime"), key};

    bytes_print(to, key.data, key.size);
    print_answer(to, tx, kind, 2);
    print_answer(to, tx, dump, 2);
    print_answer(to, tx, ends, 2);
    print_fields(to, tx, key);
    print(to, "\n");
}

static void print_notes(hf__buf *to, const hf__tx *tx)
{
    for (size_t i = 0; i < HF__RING_COUNT; i++) {
        print(to, "ring %zu: ", i);
        bytes_print(to, tx->noted[i].notes.data, tx->noted[i].notes.end);
        print(to, "\n");
    }
    for (size_t i = 0; i < tx->event_count; i++)
        print(to, "event %u %u\n", tx->events[i].inbox, tx->events[i].bucket);
}

void keys_print(hf__buf *to, hf__tx *tx)
{
    hf_bytes words[] = {hf_str("keys"), hf_str("*")};
    hf__request request;
    const hf_reply *keys = state_ask(tx, &request, words, 2);

    for (size_t i = 0; keys->kind == HF_REPLY_ARRAY && i < keys->array.count;
         i++)
        print_key(to, tx,
                  hf_view(keys->array.items[i].bytes.data,
                          keys->array.items[i].bytes.size));
    hf__request_done(&request);
}

void state_print(hf__buf *to, hf__tx *tx)
{
    print_notes(to, tx);
    keys_print(to, tx);
}
