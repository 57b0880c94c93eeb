/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - a reply as a tree whose nodes and bytes are in one arena.
 */
#ifndef HF__STORE_REPLY_H
#define HF__STORE_REPLY_H

#include "holdfast/reply.h"
#include "util/arena.h"

struct hf_reply {
    hf_reply_kind kind; /* never NIL_ARRAY */
    /* Of a script: its type in RESP3 if RESP2 has none: a map '%' (an array of
     * keys and values), a set '~', a double ',', a boolean '#' (0 or 1), a
     * large number '(', a verbatim string '=' whose format, such as "txt:", is
     * in the four bytes before it. Otherwise 0. */
    char resp3_type;
    union {
        int64_t integer; /* INTEGER; NIL: 1 if it stands for an array */
        struct {
            const char *data; /* a NUL follows */
            size_t size;
        } bytes; /* STRING, STATUS, ERROR */
        struct {
            hf_reply *items;
            size_t count;
        } array; /* ARRAY */
    };
};

/* Set `*reply`; false: out of memory. */
bool hf__reply_set_bytes(hf_reply *reply, hf_reply_kind kind, const void *data,
                         size_t size, hf__arena *arena);
/* The same of text that is not ours: line ends become blanks, but those that
 * end an error are left out, and all but a string ends at its first NUL. */
bool hf__reply_set_line(hf_reply *reply, hf_reply_kind kind, const char *text,
                        size_t size, hf__arena *arena);
bool hf__reply_set_array(hf_reply *reply, size_t count, hf__arena *arena);

/* Is it a string of these bytes? */
bool hf__reply_is(const hf_reply *reply, const char *text);

/* The value after `name` in a list of names and values; NULL: missing, or
 * `reply` is not a list. */
const hf_reply *hf__reply_field(const hf_reply *reply, const char *name);

static inline void hf__reply_set_nil(hf_reply *reply)
{
    reply->kind = HF_REPLY_NIL;
    reply->resp3_type = 0;
    reply->integer = 0;
}
static inline void hf__reply_set_nil_array(hf_reply *reply)
{
    reply->kind = HF_REPLY_NIL;
    reply->resp3_type = 0;
    reply->integer = 1;
}
static inline void hf__reply_set_integer(hf_reply *reply, int64_t value)
{
    reply->kind = HF_REPLY_INTEGER;
    reply->resp3_type = 0;
    reply->integer = value;
}

#endif
