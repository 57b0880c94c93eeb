/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - a growable run of bytes with a limit. Bytes are appended at the end
 * and consumed from the front; both are cheap.
 */
#ifndef HF__UTIL_BUF_H
#define HF__UTIL_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hf__buf {
    unsigned char *data; /* the allocation */
    size_t start;        /* first byte not consumed */
    size_t end;          /* after the last byte */
    size_t capacity;
    size_t limit; /* most bytes it may hold unconsumed */
} hf__buf;

void hf__buf_init(hf__buf *buf, size_t limit);
void hf__buf_done(hf__buf *buf);

static inline size_t hf__buf_size(const hf__buf *buf)
{
    return buf->end - buf->start;
}
static inline unsigned char *hf__buf_front(const hf__buf *buf)
{
    return buf->start == 0 ? buf->data : buf->data + buf->start;
}

/*
 * Make room for `size` more bytes and return where they go, or NULL (out of
 * memory or over the limit; the content is untouched). Commit with
 * hf__buf_added().
 */
unsigned char *hf__buf_reserve(hf__buf *buf, size_t size);
static inline void hf__buf_added(hf__buf *buf, size_t size)
{
    buf->end += size;
}

/* false: out of memory or over the limit; the content is untouched. */
bool hf__buf_append(hf__buf *buf, const void *data, size_t size);

__attribute__((format(printf, 2, 3))) bool
hf__buf_print(hf__buf *buf, const char *format, ...);

/* Drop bytes from the front. */
void hf__buf_consume(hf__buf *buf, size_t size);

/* Keep the first `size` bytes, at most as many as there are. */
static inline void hf__buf_truncate(hf__buf *buf, size_t size)
{
    if (size < hf__buf_size(buf))
        buf->end = buf->start + size;
}

/* Drop everything; keeps at most 64 KiB of memory. */
void hf__buf_clear(hf__buf *buf);

#endif
