/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h - replies parsed from fuzzed bytes, for targets that read replies. */
#ifndef TESTS_FUZZ_PARSE_H
#define TESTS_FUZZ_PARSE_H

#include "fuzz.h"
#include "store/redis/wire/resp.h"

/* Where the next reply begins. */
typedef struct replies {
    hf__buf in;
} replies;

static inline void replies_begin(replies *self, const uint8_t *data,
                                 size_t size)
{
    hf__buf_init(&self->in, size + 1);
    PROMISE(hf__buf_append(&self->in, data, size));
}

static inline void replies_end(replies *self)
{
    hf__buf_done(&self->in);
}

/* The next one, in `arena`; false: there is no complete one. */
static inline bool replies_next(replies *self, hf__arena *arena,
                                hf_reply *reply)
{
    hf__resp resp;

    hf__resp_begin(&resp, arena, reply);
    return hf__buf_size(&self->in) > 0 &&
           hf__resp_feed(&resp, &self->in) == HF__RESP_DONE;
}

#endif
