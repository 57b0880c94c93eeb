/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_calls.c - every call of the API, blocking, asynchronous and in a batch,
 * with replies of any kind: what it returns can be read and is in range, and a
 * call that failed has returned nothing.
 *
 * An input is the number of a call and how it is made, then one reply after
 * another, each a byte for its kind and bytes for its content. After the last
 * one there is no reply.
 */
#include <string.h>

#include "fuzz.h"
#include "holdfast/script.h"
#include "support/answering_store.h"
#include "support/every_call.h"

/* Deeper than any call reads. */
#define DEPTH_MAX 4

/* Requests of one call: an endless server is the driver's affair. */
#define REQUESTS_MAX 64

typedef struct input {
    const uint8_t *at;
    const uint8_t *end;
    bool usual; /* the replies that let a call continue */
    unsigned requests;
} input;

static uint8_t take(input *self)
{
    return self->at < self->end ? *self->at++ : 0;
}

static hf_bytes take_bytes(input *self)
{
    size_t left = (size_t)(self->end - self->at);
    size_t size = take(self) % 48;
    hf_bytes taken;

    left -= left > 0;
    taken = hf_view(self->at, size < left ? size : left);
    self->at += taken.size;
    return taken;
}

static int64_t take_integer(input *self)
{
    static const int64_t extremes[] = {INT64_MIN,
                                       INT64_MIN + 1,
                                       INT32_MIN,
                                       INT32_MAX,
                                       (INT64_C(1) << 53) - 1,
                                       INT64_C(1) << 53,
                                       (INT64_C(1) << 53) + 1,
                                       INT64_MAX - 1,
                                       INT64_MAX};
    uint8_t which = take(self);

    if (which < sizeof(extremes) / sizeof(extremes[0]))
        return extremes[which];
    return (int8_t)take(self);
}

static const char *take_word(input *self)
{
    static const char *const known[] = {
        "0",
        "1",
        "18446744073709551615",
        "99999999999999999999",
        "none",
        "hash",
        "list",
        "set",
        "zset",
        "string",
        "stream",
        "",
        "0123456789abcdef0123456789abcdef01234567"};

    return known[take(self) % (sizeof(known) / sizeof(known[0]))];
}

static const char *take_error(input *self)
{
    static const char *const known[] = {
        "ERR made up",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "NOSCRIPT No matching script",
        "LOADING Redis is loading",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed",
        "MOVED 1 a:1",
        "NOPERM no",
        ""};

    return known[take(self) % (sizeof(known) / sizeof(known[0]))];
}

static void put_bytes(hf_reply *reply, hf_reply_kind kind, hf_bytes bytes,
                      hf__arena *arena)
{
    PROMISE(hf__reply_set_bytes(reply, kind, bytes.data, bytes.size, arena));
}

static void take_reply(input *self, int depth, hf__arena *arena,
                       hf_reply *reply)
{
    uint8_t kind = take(self);

    switch (kind % 8) {
    case 0:
        hf__reply_set_nil(reply);
        return;
    case 1:
        hf__reply_set_integer(reply, take_integer(self));
        return;
    case 2:
        put_bytes(reply, HF_REPLY_STRING, take_bytes(self), arena);
        return;
    case 3:
        put_bytes(reply, HF_REPLY_STRING, hf_str(take_word(self)), arena);
        return;
    case 4:
        put_bytes(reply, HF_REPLY_STATUS, take_bytes(self), arena);
        return;
    case 5:
        put_bytes(reply, HF_REPLY_ERROR, hf_str(take_error(self)), arena);
        return;
    default:
        PROMISE(hf__reply_set_array(
            reply, depth == DEPTH_MAX ? 0 : kind / 8 % 16, arena));
        for (size_t i = 0; i < reply->array.count; i++)
            take_reply(self, depth + 1, arena, &reply->array.items[i]);
    }
}

/* Of RESP only ":1", "+OK", "*0", "$n" and arrays of these are usual. */
static const char *read_usual(const char *text, hf__arena *arena,
                              hf_reply *reply)
{
    char *end;
    long number = strtol(text + 1, &end, 10);

    if (text[0] == ':') {
        hf__reply_set_integer(reply, number);
    } else if (text[0] == '+') {
        put_bytes(reply, HF_REPLY_STATUS, hf_str("OK"), arena);
        end = strchr(text, '\r');
    } else if (text[0] == '$') {
        put_bytes(reply, HF_REPLY_STRING, hf_view(end + 2, (size_t)number),
                  arena);
        end += 2 + number;
    } else {
        PROMISE(hf__reply_set_array(reply, (size_t)number, arena));
        text = end + 2;
        for (size_t i = 0; i < reply->array.count; i++)
            text = read_usual(text, arena, &reply->array.items[i]);
        return text;
    }
    return end + 2;
}

static bool answer(void *user, const char *target, hf__arena *arena,
                   hf_reply *reply)
{
    input *self = user;

    if (self->usual) {
        const char *text = every_usual_answer(target);

        PROMISE(text != NULL);
        (void)read_usual(text, arena, reply);
        return true;
    }
    if (self->at == self->end || self->requests++ == REQUESTS_MAX)
        return false;
    take_reply(self, 0, arena, reply);
    return true;
}

/* --------------------------------------------------------------------- call */

static every_place place;
static input from;
static answering_store store = {.answer = answer, .user = &from};

static void leave(void)
{
    hf_script_free(place.script);
    answering_store_end(&store, place.client);
    hf_client_close(place.client);
    every_place_end(&place);
}

static void begin(void)
{
    PROMISE(every_place_begin(&place));
    PROMISE(hf_client_open(place.url, NULL, &place.client, NULL) == HF_OK);
    answering_store_begin(&store, place.client);
    from.usual = true;
    PROMISE(hf_script_load(place.client, hf_str("return 1"), &place.script,
                           NULL) == HF_OK);
    PROMISE(atexit(leave) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const every_call *call;
    const char *wrong;
    hf_status status;
    bool starts;

    if (size < 2)
        return 0;
    if (place.client == NULL)
        begin();
    call = &every_calls[data[0] % every_call_count];
    if (call->waits)
        return 0;
    starts = call->starts && data[1] % 2 == 1;
    from = (input){.at = data + 2, .end = data + size, .usual = true};
    PROMISE(every_lock_begin(&place, call));
    every_result_begin(&place.result);
    from.usual = false;
    status = every_call_make(&place, call, starts, NULL);
    from.usual = true;
    wrong = every_result_end(&place, call, status);
    if (wrong != NULL)
        fprintf(stderr, "%s: %s: %s\n", call->name, hf_status_name(status),
                wrong);
    PROMISE(wrong == NULL);
    every_lock_end(&place);
    return 0;
}
