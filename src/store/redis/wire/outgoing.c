/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.c - text and loans in the order in which they are sent. A loan is
 * due when as many bytes of the text are sent as came before it.
 */
#include "store/redis/wire/outgoing.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

void hf__outgoing_init(hf__outgoing *out, size_t text_limit)
{
    memset(out, 0, sizeof(*out));
    hf__buf_init(&out->text, text_limit);
}

static void drop_loans(hf__outgoing *out)
{
    for (; out->first < out->count; out->first++)
        hf__free(out->loans[out->first].copy);
    out->first = out->count = 0;
    out->lent = 0;
}

void hf__outgoing_clear(hf__outgoing *out)
{
    drop_loans(out);
    hf__buf_clear(&out->text);
    out->text_sent = 0;
    out->damaged = false;
}

void hf__outgoing_done(hf__outgoing *out)
{
    drop_loans(out);
    hf__free(out->loans);
    hf__buf_done(&out->text);
    hf__outgoing_init(out, out->text.limit);
}

bool hf__outgoing_reserve(hf__outgoing *out, size_t count)
{
    size_t used = out->count - out->first;
    hf__loan *loans;

    if (count <= out->room - out->count)
        return true;
    if (count > out->room - used) {
        loans = hf__realloc(out->loans, (2 * used + count) * sizeof(*loans));
        if (loans == NULL)
            return false;
        out->loans = loans;
        out->room = 2 * used + count;
    }
    memmove(out->loans, out->loans + out->first, used * sizeof(*out->loans));
    out->first = 0;
    out->count = used;
    return true;
}

void hf__outgoing_lend(hf__outgoing *out, size_t after, const void *data,
                       size_t size, const void *lender)
{
    assert(out->count < out->room && size > 0);
    out->loans[out->count++] = (hf__loan){.data = data,
                                          .size = size,
                                          .at = out->text_sent + after,
                                          .lender = lender};
    out->lent += size;
}

/* A piece that is no longer than what is left. */
static struct iovec cut_piece(const void *data, size_t size, size_t *most)
{
    struct iovec piece = {.iov_base = (void *)(uintptr_t)data,
                          .iov_len = size < *most ? size : *most};

    *most -= piece.iov_len;
    return piece;
}

size_t hf__outgoing_pieces(const hf__outgoing *out,
                           struct iovec pieces[HF__OUTGOING_PIECES],
                           size_t most)
{
    const unsigned char *text = hf__buf_front(&out->text);
    size_t left = hf__buf_size(&out->text);
    uint64_t at = out->text_sent;
    size_t next = out->first, count = 0, size;
    const hf__loan *loan;

    while (most > 0 && count < HF__OUTGOING_PIECES &&
           (left > 0 || next < out->count)) {
        loan = next < out->count ? &out->loans[next] : NULL;
        if (loan != NULL && loan->at == at) {
            pieces[count++] = cut_piece(loan->data, loan->size, &most);
            next++;
            continue;
        }
        size = loan == NULL ? left : (size_t)(loan->at - at);
        pieces[count++] = cut_piece(text, size, &most);
        text += size;
        left -= size;
        at += size;
    }
    return count;
}

/* The first loan, which is due; returns how many bytes of `size` it took. */
static size_t consume_loan(hf__outgoing *out, size_t size)
{
    hf__loan *loan = &out->loans[out->first];

    if (size > loan->size)
        size = loan->size;
    loan->data += size;
    loan->size -= size;
    out->lent -= size;
    if (loan->size > 0)
        return size;
    hf__free(loan->copy);
    if (++out->first == out->count)
        out->first = out->count = 0;
    return size;
}

void hf__outgoing_consume(hf__outgoing *out, size_t size)
{
    size_t text;

    while (size > 0) {
        text = size;
        if (out->first < out->count) {
            const hf__loan *loan = &out->loans[out->first];

            if (loan->at == out->text_sent) {
                size -= consume_loan(out, size);
                continue;
            }
            if (text > loan->at - out->text_sent)
                text = (size_t)(loan->at - out->text_sent);
        }
        hf__buf_consume(&out->text, text);
        out->text_sent += text;
        size -= text;
    }
}

void hf__outgoing_take_back(hf__outgoing *out, const void *lender)
{
    for (size_t i = out->first; i < out->count; i++) {
        hf__loan *loan = &out->loans[i];

        if (loan->lender != lender)
            continue;
        loan->lender = NULL;
        loan->copy = hf__memdup(loan->data, loan->size);
        loan->data = loan->copy;
        out->damaged = out->damaged || loan->copy == NULL;
    }
}
