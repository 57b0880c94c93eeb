/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.c - an incremental parser of RESP2 and RESP3 into hf_reply trees.
 *
 * Bytes are consumed as soon as possible, so that a reply in small pieces is
 * never parsed twice: only an incomplete line stays in the buffer. RESP3's
 * types become those of RESP2: null is nil, a map an array of twice the length,
 * a double or big number a string, a boolean an integer. Streamed types ("$?")
 * are refused; no server sends them. Every length is checked before anything is
 * allocated for it.
 */
#include "store/redis/wire/resp.h"

#include <assert.h>
#include <string.h>

/* Fewer bytes are received with what follows them: one call less. */
#define BODY_MIN 16384

typedef struct text_line {
    const char *text; /* after the type byte */
    size_t size;
} text_line;

void hf__resp_begin(hf__resp *resp, hf__arena *arena, hf_reply *root)
{
    hf__resp_begin_bounded(resp, arena, root, SIZE_MAX);
}

void hf__resp_begin_bounded(hf__resp *resp, hf__arena *arena, hf_reply *root,
                            size_t size_max)
{
    resp->room = size_max;
    resp->arena = arena;
    resp->root = root != NULL ? root : &resp->dropped;
    resp->depth = 0;
    resp->item_count = 0;
    resp->bulk = NULL;
    resp->push = false;
}

void hf__resp_drop(hf__resp *resp)
{
    int at;

    for (at = 0; at < resp->depth; at++)
        resp->frames[at].dropped = true;
    resp->root = &resp->dropped;
    if (resp->bulk != NULL) {
        resp->bulk = &resp->dropped;
        resp->body_skip += resp->body_left;
        resp->body_left = 0;
    }
}

/* The place of the next value. */
static hf_reply *value_target(hf__resp *resp)
{
    hf__resp_frame *frame;

    if (resp->depth == 0)
        return resp->root;
    frame = &resp->frames[resp->depth - 1];
    return frame->dropped ? &resp->dropped : frame->items;
}

/* false: the reply may not take so many bytes more. */
static bool take_room(hf__resp *resp, size_t size)
{
    if (size > resp->room)
        return false;
    resp->room -= size;
    return true;
}

/* A value is complete: advance, and leave the arrays that it completes. */
static hf__resp_result complete_value(hf__resp *resp)
{
    hf__resp_frame *frame;

    while (resp->depth > 0) {
        frame = &resp->frames[resp->depth - 1];
        if (!frame->dropped)
            frame->items++;
        if (--frame->left > 0)
            return HF__RESP_MORE;
        resp->depth--;
        if (frame->attribute)
            return HF__RESP_MORE;
    }
    return HF__RESP_DONE;
}

/* Read a line at the front of `in`. MORE: incomplete. */
static hf__resp_result read_line(const hf__buf *in, text_line *line)
{
    const char *front = (const char *)hf__buf_front(in);
    size_t size = hf__buf_size(in);
    const char *end;

    if (size == 0)
        return HF__RESP_MORE;
    end = memchr(front, '\n', size);
    if (end == NULL)
        return size > HF__RESP_LINE_MAX ? HF__RESP_BROKEN : HF__RESP_MORE;
    line->text = front + 1;
    line->size = (size_t)(end - front) - 1;
    if (end == front || line->size == 0 || end[-1] != '\r')
        return HF__RESP_BROKEN;
    line->size--;
    if (line->size > HF__RESP_LINE_MAX)
        return HF__RESP_BROKEN;
    return HF__RESP_DONE;
}

/* The whole line as a decimal number of 64 bits. */
static bool read_number(text_line line, int64_t *number)
{
    uint64_t value = 0;
    uint64_t most = INT64_MAX;
    bool negative = line.size > 0 && line.text[0] == '-';
    size_t at = negative || (line.size > 0 && line.text[0] == '+') ? 1 : 0;
    unsigned digit;

    if (at == line.size || line.size > 20)
        return false;
    if (negative)
        most++;
    for (; at < line.size; at++) {
        digit = (unsigned)(unsigned char)line.text[at] - '0';
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static hf__resp_result set_bytes(hf__resp *resp, hf_reply_kind kind,
                                 text_line line)
{
    hf_reply *reply = value_target(resp);
    char *copy;

    if (reply == &resp->dropped)
        return complete_value(resp);
    if (!take_room(resp, line.size))
        return HF__RESP_BROKEN;
    copy = hf__arena_copy(resp->arena, line.text, line.size);
    if (copy == NULL)
        return HF__RESP_NO_MEMORY;
    reply->kind = kind;
    reply->bytes.data = copy;
    reply->bytes.size = line.size;
    return complete_value(resp);
}

static hf__resp_result set_nil(hf__resp *resp)
{
    hf__reply_set_nil(value_target(resp));
    return complete_value(resp);
}

static hf__resp_result set_integer(hf__resp *resp, text_line line)
{
    int64_t number;

    if (!read_number(line, &number))
        return HF__RESP_BROKEN;
    hf__reply_set_integer(value_target(resp), number);
    return complete_value(resp);
}

static hf__resp_result set_boolean(hf__resp *resp, text_line line)
{
    if (line.size != 1 || (line.text[0] != 't' && line.text[0] != 'f'))
        return HF__RESP_BROKEN;
    hf__reply_set_integer(value_target(resp), line.text[0] == 't');
    return complete_value(resp);
}

/* Expect `count` items, kept in `items` unless NULL. */
static hf__resp_result open_frame(hf__resp *resp, hf_reply *items,
                                  int64_t count, bool attribute)
{
    hf__resp_frame *frame;

    if (resp->depth == HF__RESP_DEPTH_MAX)
        return HF__RESP_BROKEN;
    frame = &resp->frames[resp->depth++];
    frame->items = items;
    frame->left = count;
    frame->dropped = items == NULL;
    frame->attribute = attribute;
    return HF__RESP_MORE;
}

/* `each`: items of one of the number. */
static bool count_items(hf__resp *resp, int64_t count, int64_t each)
{
    if (count < 0 || count > (HF__RESP_ITEMS_MAX - resp->item_count) / each)
        return false;
    resp->item_count += count * each;
    return true;
}

/* `pairs`: two items for each of the number. */
static hf__resp_result read_array(hf__resp *resp, text_line line, bool pairs)
{
    hf_reply *reply = value_target(resp);
    hf_reply *items = NULL;
    int64_t count;

    if (!read_number(line, &count))
        return HF__RESP_BROKEN;
    if (count == -1 && !pairs) {
        hf__reply_set_nil_array(reply);
        return complete_value(resp);
    }
    if (!count_items(resp, count, pairs ? 2 : 1))
        return HF__RESP_BROKEN;
    if (pairs)
        count *= 2;
    if (count > 0 && reply != &resp->dropped) {
        if (!take_room(resp, (size_t)count * sizeof(*items)))
            return HF__RESP_BROKEN;
        items = hf__arena_alloc(resp->arena, (size_t)count * sizeof(*items));
        if (items == NULL)
            return HF__RESP_NO_MEMORY;
    }
    reply->kind = HF_REPLY_ARRAY;
    reply->array.items = items;
    reply->array.count = (size_t)count;
    if (count == 0)
        return complete_value(resp);
    return open_frame(resp, items, count, false);
}

/* Attributes of the value that follows: not kept. */
static hf__resp_result read_attribute(hf__resp *resp, text_line line)
{
    int64_t count;

    if (!read_number(line, &count) || !count_items(resp, count, 2))
        return HF__RESP_BROKEN;
    if (count == 0)
        return HF__RESP_MORE;
    return open_frame(resp, NULL, count * 2, true);
}

static hf__resp_result read_push(hf__resp *resp, text_line line)
{
    if (resp->depth != 0)
        return HF__RESP_BROKEN;
    resp->push = true;
    return read_array(resp, line, false);
}

/* The header of a string of known length; its body follows. */
static hf__resp_result open_bulk(hf__resp *resp, hf_reply_kind kind,
                                 text_line line, size_t skip)
{
    hf_reply *reply = value_target(resp);
    int64_t size;
    char *data;

    if (!read_number(line, &size))
        return HF__RESP_BROKEN;
    if (size == -1 && kind == HF_REPLY_STRING && skip == 0)
        return set_nil(resp);
    if (size < (int64_t)skip || size > HF_VALUE_MAX)
        return HF__RESP_BROKEN;
    resp->bulk = reply;
    resp->body_skip = (size_t)size;
    resp->body_left = 0;
    if (reply == &resp->dropped)
        return HF__RESP_MORE;
    resp->body_skip = skip;
    resp->body_left = (size_t)size - skip;
    if (!take_room(resp, resp->body_left))
        return HF__RESP_BROKEN;
    data = hf__arena_alloc(resp->arena, resp->body_left + 1);
    if (data == NULL)
        return HF__RESP_NO_MEMORY;
    data[resp->body_left] = '\0';
    reply->kind = kind;
    reply->bytes.data = data;
    reply->bytes.size = resp->body_left;
    return HF__RESP_MORE;
}

/* Where byte number size - body_left goes. */
static char *body_end(const hf__resp *resp)
{
    const hf_reply *bulk = resp->bulk;

    return (char *)bulk->bytes.data + bulk->bytes.size - resp->body_left;
}

static bool body_is_next(const hf__resp *resp, const hf__buf *in)
{
    return resp->bulk != NULL && resp->body_skip == 0 &&
           resp->body_left >= BODY_MIN && hf__buf_size(in) == 0;
}

void *hf__resp_room(const hf__resp *resp, hf__buf *in, size_t *size)
{
    if (!body_is_next(resp, in))
        return hf__buf_reserve(in, *size);
    *size = resp->body_left;
    return body_end(resp);
}

void hf__resp_received(hf__resp *resp, hf__buf *in, size_t size)
{
    if (body_is_next(resp, in))
        resp->body_left -= size;
    else
        hf__buf_added(in, size);
}

/* Read the available part of the body. MORE with bulk == NULL: the string is
 * complete, the reply is not. */
static hf__resp_result read_body(hf__resp *resp, hf__buf *in)
{
    size_t here = hf__buf_size(in);
    size_t size = here < resp->body_skip ? here : resp->body_skip;
    const unsigned char *front;

    hf__buf_consume(in, size);
    resp->body_skip -= size;
    here -= size;
    size = here < resp->body_left ? here : resp->body_left;
    if (size > 0) {
        memcpy(body_end(resp), hf__buf_front(in), size);
        hf__buf_consume(in, size);
        resp->body_left -= size;
        here -= size;
    }
    if (resp->body_skip > 0 || resp->body_left > 0 || here < 2)
        return HF__RESP_MORE;
    front = hf__buf_front(in);
    if (front[0] != '\r' || front[1] != '\n')
        return HF__RESP_BROKEN;
    hf__buf_consume(in, 2);
    resp->bulk = NULL;
    return complete_value(resp);
}

static hf__resp_result read_value(hf__resp *resp, char type, text_line line)
{
    switch (type) {
    case '+':
        return set_bytes(resp, HF_REPLY_STATUS, line);
    case '-':
        return set_bytes(resp, HF_REPLY_ERROR, line);
    case ':':
        return set_integer(resp, line);
    case '$':
        return open_bulk(resp, HF_REPLY_STRING, line, 0);
    case '*':
    case '~':
        return read_array(resp, line, false);
    case '_':
        return line.size == 0 ? set_nil(resp) : HF__RESP_BROKEN;
    case '#':
        return set_boolean(resp, line);
    case ',':
    case '(':
        return set_bytes(resp, HF_REPLY_STRING, line);
    case '!':
        return open_bulk(resp, HF_REPLY_ERROR, line, 0);
    case '=':
        return open_bulk(resp, HF_REPLY_STRING, line, 4);
    case '%':
        return read_array(resp, line, true);
    case '|':
        return read_attribute(resp, line);
    case '>':
        return read_push(resp, line);
    default:
        return HF__RESP_BROKEN;
    }
}

hf__resp_result hf__resp_feed(hf__resp *resp, hf__buf *in)
{
    hf__resp_result result;
    text_line line;
    char type;

    for (;;) {
        if (resp->bulk != NULL) {
            result = read_body(resp, in);
            if (result != HF__RESP_MORE || resp->bulk != NULL)
                return result;
            continue;
        }
        result = read_line(in, &line);
        if (result != HF__RESP_DONE)
            return result;
        type = line.text[-1];
        result = read_value(resp, type, line);
        hf__buf_consume(in, line.size + 3);
        if (result != HF__RESP_MORE)
            return result;
    }
}
