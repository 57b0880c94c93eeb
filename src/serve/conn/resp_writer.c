/* SPDX-License-Identifier: Apache-2.0 */
/* resp_writer.c - see resp_writer.h. */
#include "serve/conn/resp_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "util/glob.h"

/* A type byte, a number and the end of the line. */
#define HEAD_SIZE (HF__NUMBER_TEXT_SIZE + 3)
/* Of a verbatim string: "txt:". */
#define FORMAT_SIZE 4

static hf__answer *self_of(hf__out *out)
{
    return (hf__answer *)(void *)out;
}

static void put_bytes(hf__answer *answer, const void *data, size_t size)
{
    if (!answer->no_room && !hf__buf_append(answer->buf, data, size))
        answer->no_room = true;
}

static size_t put_head(unsigned char *at, char type, int64_t number)
{
    size_t size;

    at[0] = (unsigned char)type;
    size = 1 + hf__number_put_integer((char *)at + 1, number);
    memcpy(at + size, "\r\n", 2);
    return size + 2;
}

static void put_number(hf__answer *answer, char type, int64_t number)
{
    unsigned char *at =
        answer->no_room ? NULL : hf__buf_reserve(answer->buf, HEAD_SIZE);

    if (at == NULL)
        answer->no_room = true;
    else
        hf__buf_added(answer->buf, put_head(at, type, number));
}

static void put_bulk(hf__answer *answer, const void *data, size_t size)
{
    unsigned char *at =
        answer->no_room ? NULL
                        : hf__buf_reserve(answer->buf, HEAD_SIZE + size + 2);
    size_t used;

    if (at == NULL) {
        answer->no_room = true;
        return;
    }
    used = put_head(at, '$', (int64_t)size);
    if (size > 0)
        memcpy(at + used, data, size);
    memcpy(at + used + size, "\r\n", 2);
    hf__buf_added(answer->buf, used + size + 2);
}

/* A status or an error. */
static void put_line(hf__answer *answer, char type, const void *text,
                     size_t size)
{
    put_bytes(answer, &type, 1);
    put_bytes(answer, text, size);
    put_bytes(answer, "\r\n", 2);
}

static void put_verbatim(hf__answer *answer, const char *format,
                         const void *data, size_t size)
{
    put_number(answer, '=', (int64_t)(FORMAT_SIZE + size));
    put_bytes(answer, format, FORMAT_SIZE);
    put_bytes(answer, data, size);
    put_bytes(answer, "\r\n", 2);
}

/* -------------------------------------------------------------- of commands */

static void reply_nil(hf__out *out)
{
    hf__answer *answer = self_of(out);

    if (answer->out.resp3)
        put_bytes(answer, "_\r\n", 3);
    else
        put_bytes(answer, "$-1\r\n", 5);
}

static void reply_nil_array(hf__out *out)
{
    hf__answer *answer = self_of(out);

    if (answer->out.resp3)
        put_bytes(answer, "_\r\n", 3);
    else
        put_bytes(answer, "*-1\r\n", 5);
}

static void reply_integer(hf__out *out, int64_t value)
{
    put_number(self_of(out), ':', value);
}

static void reply_bytes(hf__out *out, const void *data, size_t size)
{
    put_bulk(self_of(out), data, size);
}

static void reply_line(hf__out *out, const char *text)
{
    put_line(self_of(out), '+', text, strlen(text));
}

static void reply_array(hf__out *out, size_t count)
{
    put_number(self_of(out), '*', (int64_t)count);
}

static void put_digits(hf__out *out, int64_t value)
{
    char text[HF__NUMBER_TEXT_SIZE];

    reply_bytes(out, text, hf__number_put_integer(text, value));
}

static void reply_instant(hf__out *out, int64_t unix_us)
{
    reply_array(out, 2);
    put_digits(out, unix_us / 1000000);
    put_digits(out, unix_us % 1000000);
}

static void reply_map(hf__out *out, size_t count)
{
    put_number(self_of(out), '%', (int64_t)count);
}

static void reply_set(hf__out *out, size_t count)
{
    put_number(self_of(out), '~', (int64_t)count);
}

static void reply_real(hf__out *out, double value)
{
    char text[HF__NUMBER_TEXT_SIZE];

    put_line(self_of(out), ',', text, hf__number_put_double(text, value));
}

static void reply_verbatim(hf__out *out, const void *data, size_t size)
{
    put_verbatim(self_of(out), "txt:", data, size);
}

static const hf__out_ops ops = {reply_nil,   reply_nil_array, reply_integer,
                                reply_bytes, reply_instant,   reply_line,
                                reply_array, reply_map,       reply_set,
                                reply_real,  reply_verbatim,  NULL};

/* ------------------------------------------------------------------- public */

void hf__answer_begin(hf__answer *answer, hf__buf *buf, bool resp3)
{
    answer->out.ops = &ops;
    answer->out.failed = false;
    answer->out.resp3 = resp3;
    answer->buf = buf;
    answer->from = hf__buf_size(buf);
    answer->no_room = false;
    answer->is_push = false;
}

bool hf__answer_end(hf__answer *answer)
{
    if (!answer->out.failed)
        return !answer->no_room;
    hf__buf_truncate(answer->buf, answer->from);
    answer->no_room = false;
    put_line(answer, '-', answer->out.error, strlen(answer->out.error));
    return !answer->no_room;
}

static void put_items(hf__answer *answer, char type, const hf_reply *reply)
{
    size_t count = reply->array.count;

    put_number(answer, type, (int64_t)(type == '%' ? count / 2 : count));
    for (size_t i = 0; i < count; i++)
        hf__answer_tree(answer, &reply->array.items[i]);
}

static void put_resp3(hf__answer *answer, const hf_reply *reply)
{
    switch (reply->resp3_type) {
    case '%':
    case '~':
        put_items(answer, reply->resp3_type, reply);
        break;
    case '#':
        put_line(answer, '#', reply->integer == 0 ? "f" : "t", 1);
        break;
    case '=':
        put_verbatim(answer, reply->bytes.data - FORMAT_SIZE, reply->bytes.data,
                     reply->bytes.size);
        break;
    default:
        put_line(answer, reply->resp3_type, reply->bytes.data,
                 reply->bytes.size);
    }
}

/* Scripts make trees as deep as their limits allow. */
void hf__answer_tree(hf__answer *answer, const hf_reply *reply)
{
    if (answer->out.resp3 && reply->resp3_type != 0) {
        put_resp3(answer, reply);
        return;
    }
    switch (reply->kind) {
    case HF_REPLY_INTEGER:
        put_number(answer, ':', reply->integer);
        break;
    case HF_REPLY_STRING:
        put_bulk(answer, reply->bytes.data, reply->bytes.size);
        break;
    case HF_REPLY_STATUS:
        put_line(answer, '+', reply->bytes.data, reply->bytes.size);
        break;
    case HF_REPLY_ERROR:
        put_line(answer, '-', reply->bytes.data, reply->bytes.size);
        break;
    case HF_REPLY_ARRAY:
        put_items(answer, '*', reply);
        break;
    default:
        if (reply->integer == 1)
            reply_nil_array(&answer->out);
        else
            reply_nil(&answer->out);
    }
}

void hf__answer_push(hf__answer *answer, size_t count)
{
    answer->is_push = true;
    put_number(answer, answer->out.resp3 ? '>' : '*', (int64_t)count);
}

void hf__answer_map(hf__answer *answer, size_t pairs)
{
    if (answer->out.resp3)
        reply_map(&answer->out, pairs);
    else
        reply_array(&answer->out, pairs * 2);
}

void hf__answer_error(hf__answer *answer, const char *format, ...)
{
    va_list args;

    if (answer->out.failed)
        return;
    answer->out.failed = true;
    va_start(args, format);
    (void)vsnprintf(answer->out.error, sizeof(answer->out.error), format, args);
    va_end(args);
    for (char *at = answer->out.error; *at != '\0'; at++) {
        if (*at == '\r' || *at == '\n')
            *at = ' ';
    }
}

bool hf__answer_pattern(hf__answer *answer, hf_bytes pattern)
{
    if (pattern.size <= HF__GLOB_MAX)
        return true;
    hf__answer_error(answer, HF__ERROR_PATTERN, pattern.size, HF__GLOB_MAX);
    return false;
}

void hf__answer_arity(hf__answer *answer, const char *name)
{
    hf__answer_error(answer, "ERR wrong number of arguments for '%s' command",
                     name);
}
