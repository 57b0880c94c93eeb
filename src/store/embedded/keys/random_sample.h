/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_sample.h - HRANDFIELD and ZRANDMEMBER: choosing at random from what
 * was gathered.
 */
#ifndef HF__EMBEDDED_RANDOM_SAMPLE_H
#define HF__EMBEDDED_RANDOM_SAMPLE_H

#include "store/embedded/keys/members.h"

typedef struct hf__random_sample {
    bool counted;  /* a count was given: the answer is an array */
    int64_t count; /* distinct ones; negative: so many, each from all */
    bool details;  /* values or scores too */
} hf__random_sample;

/* Read what stands behind the key; `option` asks for the details. false: an
 * error was said. */
bool hf__random_sample_read(hf__random_sample *pick, hf__tx *tx,
                            const hf_bytes *args, size_t count,
                            const char *option);

/* Choose and say. Behind each name in the list stands its value, if `values`;
 * else the details are scores. Puts the list out of order. */
void hf__random_sample_reply(const hf__random_sample *pick, hf__members *list,
                             bool values);

#endif
