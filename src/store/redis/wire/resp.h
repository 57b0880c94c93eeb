/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.h - the wire format of Redis and Valkey: RESP2 and RESP3 in, RESP2 out.
 */
#ifndef HF__STORE_REDIS_RESP_H
#define HF__STORE_REDIS_RESP_H

#include "holdfast/reply.h"
#include "store/redis/wire/outgoing.h"
#include "store/reply.h"
#include "store/store.h"
#include "util/arena.h"
#include "util/buf.h"

/* Replies nest two or three levels deep, those of user scripts perhaps more;
 * the limit keeps the parser's stack fixed. */
#define HF__RESP_DEPTH_MAX 32

/* Items of one reply, all arrays together: 16 Mi items take 400 MB, allocated
 * before a hostile server has to send them. */
#define HF__RESP_ITEMS_MAX ((int64_t)1 << 24)

/* Statuses, errors and numbers; Redis's own lines are far shorter. */
#define HF__RESP_LINE_MAX 65536

/* One request: a value of maximal length, and as much again; servers refuse
 * more than 1 GiB (client-query-buffer-limit). */
#define HF__RESP_REQUEST_MAX ((size_t)1 << 30)

typedef enum hf__resp_result {
    HF__RESP_MORE,      /* feed more bytes */
    HF__RESP_DONE,      /* one reply is complete */
    HF__RESP_BROKEN,    /* not RESP; the connection is unusable */
    HF__RESP_NO_MEMORY, /* likewise */
} hf__resp_result;

typedef struct hf__resp_frame {
    hf_reply *items;
    int64_t left;   /* items still to be read */
    bool dropped;   /* they are read but not kept */
    bool attribute; /* attributes: a value follows in its place */
} hf__resp_frame;

/* The state of a parser between two reads. */
typedef struct hf__resp {
    hf__arena *arena;
    hf_reply *root;
    hf__resp_frame frames[HF__RESP_DEPTH_MAX];
    int depth;
    int64_t item_count;
    size_t room;      /* bytes that it may still take */
    hf_reply *bulk;   /* a string whose body is being read, or NULL */
    size_t body_skip; /* bytes of it to drop first */
    size_t body_left; /* bytes of it to keep after those */
    hf_reply dropped; /* receives every value that is not kept */
    bool push;        /* the reply is an out-of-band push */
} hf__resp;

/* Begin a reply: its bytes and items go to `arena`, its top into `*root`. Both
 * must stay valid until the reply is complete or dropped. NULL and NULL: read
 * and discard it. */
void hf__resp_begin(hf__resp *resp, hf__arena *arena, hf_reply *root);
/* The same, and BROKEN before it takes more than `size_max` bytes. */
void hf__resp_begin_bounded(hf__resp *resp, hf__arena *arena, hf_reply *root,
                            size_t size_max);

/* Discard the rest of the reply being read; arena and root may be freed. */
void hf__resp_drop(hf__resp *resp);

/*
 * Where the next bytes of the stream go: to the end of `in`, or straight into a
 * long string that is being read, if `in` is empty. `*size` is how many `in`
 * would take, and then how many fit. NULL: out of memory. received(): so many
 * were put there; a reply that ends by them is found by hf__resp_feed().
 */
void *hf__resp_room(const hf__resp *resp, hf__buf *in, size_t *size);
void hf__resp_received(hf__resp *resp, hf__buf *in, size_t size);

/* Parse and consume the available part of the current reply. */
hf__resp_result hf__resp_feed(hf__resp *resp, hf__buf *in);

/* An upper bound of a request's size on the wire; SIZE_MAX if it exceeds
 * HF__RESP_REQUEST_MAX. */
size_t hf__resp_request_bound(const hf__request *request);

/* Append a request to `out`: a command, or EVALSHA; `whole`: EVAL with the
 * script's text. false: out of memory or over the buffer's limit. */
bool hf__resp_put_request(hf__buf *out, const hf__request *request, bool whole);

/* The same, without a copy of long words: the request lends them. */
bool hf__resp_lend_request(hf__outgoing *out, const hf__request *request,
                           bool whole);

/* Append a command of NUL-terminated words. */
bool hf__resp_put_words(hf__buf *out, const char *const *words, size_t count);

#endif
