/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.h - what a connection has to send: bytes of its own, and between
 * them long words that are lent to it, which are sent from where they are.
 */
#ifndef HF__STORE_REDIS_OUTGOING_H
#define HF__STORE_REDIS_OUTGOING_H

#include <sys/uio.h>

#include "util/buf.h"

/* A shorter word is copied, which costs less than a piece of its own. */
#define HF__OUTGOING_LOAN_MIN ((size_t)32 * 1024)

/* Pieces of one send. */
#define HF__OUTGOING_PIECES 64

typedef struct hf__loan {
    const char *data; /* not sent yet */
    size_t size;
    uint64_t at;        /* how many bytes of the text are sent before it */
    const void *lender; /* who may want it back */
    void *copy;         /* it was taken back, and this is ours; NULL: no */
} hf__loan;

typedef struct hf__outgoing {
    hf__buf text;       /* may be appended to */
    uint64_t text_sent; /* bytes, since the last clear() */
    hf__loan *loans;    /* in the order in which they are sent */
    size_t first;       /* of those */
    size_t count;       /* after the last one */
    size_t room;
    size_t lent;  /* bytes of loans */
    bool damaged; /* bytes are missing: nothing more may be sent */
} hf__outgoing;

void hf__outgoing_init(hf__outgoing *out, size_t text_limit);
void hf__outgoing_done(hf__outgoing *out);

/* What is to be sent, bytes. */
static inline size_t hf__outgoing_size(const hf__outgoing *out)
{
    return hf__buf_size(&out->text) + out->lent;
}

/* Make room for so many loans; false: out of memory. lend(): send this after
 * so many bytes of the text that are not sent yet. It must stay until it is
 * sent, dropped, or taken back. */
bool hf__outgoing_reserve(hf__outgoing *out, size_t count);
void hf__outgoing_lend(hf__outgoing *out, size_t after, const void *data,
                       size_t size, const void *lender);

/* What is next, `most` bytes at most; returns the number of pieces. consume():
 * so many bytes of it were sent. */
size_t hf__outgoing_pieces(const hf__outgoing *out,
                           struct iovec pieces[HF__OUTGOING_PIECES],
                           size_t most);
void hf__outgoing_consume(hf__outgoing *out, size_t size);

/* The lender's memory is its own again: what is not sent of it is copied.
 * Without memory `out` is damaged. */
void hf__outgoing_take_back(hf__outgoing *out, const void *lender);

/* Drop everything. */
void hf__outgoing_clear(hf__outgoing *out);

#endif
