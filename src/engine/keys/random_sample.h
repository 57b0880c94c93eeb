/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_sample.h - HRANDFIELD and ZRANDMEMBER: choosing from a list at random.
 */
#ifndef HF__ENGINE_RANDOM_SAMPLE_H
#define HF__ENGINE_RANDOM_SAMPLE_H

#include "engine/keys/members.h"

typedef struct hf__random_sample {
    bool counted;  /* with a count: the reply is an array */
    int64_t count; /* distinct ones; negative: with repetitions */
    bool details;  /* values or scores too */
} hf__random_sample;

/* Read the arguments after the key; `option` asks for the details. false:
 * replied with an error. */
bool hf__random_sample_read(hf__random_sample *pick, hf__tx *tx,
                            const hf_bytes *args, size_t count,
                            const char *option);

/* Choose and reply. With `values` each name in the list is followed by its
 * value; else the details are scores. Reorders the list. */
void hf__random_sample_reply(const hf__random_sample *pick, hf__members *list,
                             bool values);

#endif
