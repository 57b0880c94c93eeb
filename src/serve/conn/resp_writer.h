/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp_writer.h - replies to clients, as bytes of RESP2 or RESP3.
 */
#ifndef HF__SERVE_RESP_WRITER_H
#define HF__SERVE_RESP_WRITER_H

#include "engine/engine.h"
#include "util/buf.h"

/* Writes what commands reply to the end of a buffer. */
typedef struct hf__answer {
    hf__out out; /* the first member */
    hf__buf *buf;
    size_t from;  /* the size of `buf` before */
    bool no_room; /* the buffer's limit, or no memory: it is incomplete */
    bool is_push; /* not a reply: CLIENT REPLY does not suppress it */
} hf__answer;

void hf__answer_begin(hf__answer *answer, hf__buf *buf, bool resp3);
/* After the command: an error takes the place of what was written. false: no
 * room. */
bool hf__answer_end(hf__answer *answer);

/* The reply of a script. */
void hf__answer_tree(hf__answer *answer, const hf_reply *reply);

/* For commands of the server. */
static inline void hf__answer_line(hf__answer *answer, const char *text)
{
    answer->out.ops->line(&answer->out, text);
}
static inline void hf__answer_text(hf__answer *answer, const char *text)
{
    answer->out.ops->bytes(&answer->out, text, strlen(text));
}
static inline void hf__answer_bytes(hf__answer *answer, hf_bytes bytes)
{
    answer->out.ops->bytes(&answer->out, bytes.data, bytes.size);
}
static inline void hf__answer_integer(hf__answer *answer, int64_t value)
{
    answer->out.ops->integer(&answer->out, value);
}
static inline void hf__answer_nil(hf__answer *answer)
{
    answer->out.ops->nil(&answer->out);
}
static inline void hf__answer_nil_array(hf__answer *answer)
{
    answer->out.ops->nil_array(&answer->out);
}
/* Of something that was not asked for; with RESP2 an array. */
void hf__answer_push(hf__answer *answer, size_t count);
static inline void hf__answer_array(hf__answer *answer, size_t count)
{
    answer->out.ops->array(&answer->out, count);
}
/* Of `pairs` names and values; with RESP2 an array. */
void hf__answer_map(hf__answer *answer, size_t pairs);
/* With RESP2 an array. */
static inline void hf__answer_set(hf__answer *answer, size_t count)
{
    if (answer->out.resp3)
        answer->out.ops->set(&answer->out, count);
    else
        answer->out.ops->array(&answer->out, count);
}
/* Text for people. */
static inline void hf__answer_verbatim(hf__answer *answer, const void *data,
                                       size_t size)
{
    if (answer->out.resp3)
        answer->out.ops->verbatim(&answer->out, data, size);
    else
        answer->out.ops->bytes(&answer->out, data, size);
}
/* The text begins with its code, such as "ERR". The first one counts. */
__attribute__((format(printf, 2, 3))) void
hf__answer_error(hf__answer *answer, const char *format, ...);

/* Is a pattern not too long? false: replied with an error. */
bool hf__answer_pattern(hf__answer *answer, hf_bytes pattern);

/* A wrong number of words for the command. */
void hf__answer_arity(hf__answer *answer, const char *name);

#endif
