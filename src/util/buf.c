/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.c - growing and compacting a run of bytes.
 *
 * start <= end <= capacity, and what is unconsumed never exceeds the limit.
 * Bytes move only when at least as many were consumed or the capacity doubles,
 * so an append costs constant time on average; the exception is a buffer that
 * already has all the memory its limit allows.
 */
#include "util/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define CAPACITY_MIN 256
#define KEEP_MAX ((size_t)64 * 1024)

void hf__buf_init(hf__buf *buf, size_t limit)
{
    memset(buf, 0, sizeof(*buf));
    buf->limit = limit;
}

void hf__buf_done(hf__buf *buf)
{
    hf__free(buf->data);
    hf__buf_init(buf, buf->limit);
}

static size_t grown_capacity(const hf__buf *buf, size_t need)
{
    size_t capacity = CAPACITY_MIN;

    if (buf->capacity > buf->limit / 2)
        capacity = buf->limit;
    else if (buf->capacity > 0)
        capacity = buf->capacity * 2;
    return capacity < need ? need : capacity;
}

static bool grow_buf(hf__buf *buf, size_t need)
{
    size_t size = hf__buf_size(buf);
    size_t capacity = grown_capacity(buf, need);
    unsigned char *data;

    /* The system moves pages of a large one instead of copying bytes. */
    if (buf->start == 0) {
        data = hf__realloc(buf->data, capacity);
        if (data == NULL)
            return false;
    } else {
        data = hf__alloc(capacity);
        if (data == NULL)
            return false;
        if (size > 0)
            memcpy(data, hf__buf_front(buf), size);
        hf__free(buf->data);
    }
    buf->data = data;
    buf->capacity = capacity;
    buf->start = 0;
    buf->end = size;
    return true;
}

static void compact_buf(hf__buf *buf)
{
    size_t size = hf__buf_size(buf);

    memmove(buf->data, hf__buf_front(buf), size);
    buf->start = 0;
    buf->end = size;
}

unsigned char *hf__buf_reserve(hf__buf *buf, size_t size)
{
    size_t used = hf__buf_size(buf);

    if (size > buf->limit - used)
        return NULL;
    if (buf->data == NULL || size > buf->capacity - buf->end) {
        bool fits = buf->data != NULL && used + size <= buf->capacity;

        if (fits && (buf->start >= used || buf->capacity >= buf->limit))
            compact_buf(buf);
        else if (!grow_buf(buf, used + size))
            return NULL;
    }
    return buf->data + buf->end;
}

bool hf__buf_append(hf__buf *buf, const void *data, size_t size)
{
    unsigned char *room;

    if (size == 0)
        return true;
    room = hf__buf_reserve(buf, size);
    if (room == NULL)
        return false;
    memcpy(room, data, size);
    hf__buf_added(buf, size);
    return true;
}

bool hf__buf_print(hf__buf *buf, const char *format, ...)
{
    va_list args, again;
    unsigned char *room;
    int size;

    va_start(args, format);
    va_copy(again, args);
    size = vsnprintf(NULL, 0, format, args);
    room = size < 0 ? NULL : hf__buf_reserve(buf, (size_t)size + 1);
    if (room != NULL) {
        (void)vsnprintf((char *)room, (size_t)size + 1, format, again);
        hf__buf_added(buf, (size_t)size);
    }
    va_end(again);
    va_end(args);
    return room != NULL;
}

void hf__buf_consume(hf__buf *buf, size_t size)
{
    assert(size <= hf__buf_size(buf));
    buf->start += size;
    if (buf->start == buf->end)
        buf->start = buf->end = 0;
}

void hf__buf_clear(hf__buf *buf)
{
    buf->start = buf->end = 0;
    if (buf->capacity > KEEP_MAX)
        hf__buf_done(buf);
}
