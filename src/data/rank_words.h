/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_words.h - what requests about ranks have in common: scores, and what a
 * call does where too many members are due.
 *
 * A script that ranks passes over the members that are due; it refuses where
 * there are `most` or more, with the reply HF__RANK_LATE. A blocking call
 * removes them then and runs it again:
 *
 *     unsigned rounds = 0;
 *     do {
 *         call = hf__begin_rank(&here, form, &get, client, key, 2, &late);
 *         ...
 *         status = hf__end(call);
 *     } while (late && hf__rank_clear(client, key, &rounds, &status,
 *                                    form.err));
 */
#ifndef HF__DATA_RANK_WORDS_H
#define HF__DATA_RANK_WORDS_H

#include "core/form.h"

#define HF__RANK_LATE (-1)

/* Begin a call with the keys of a rank and room for `count` more words. */
hf_call *hf__begin_rank(hf_call *here, hf__form form,
                        const hf__operation *operation, hf_client *client,
                        hf_bytes key, size_t count, bool *late);
/* A word: `most`. */
void hf__add_most(hf_call *call);
/* From its finish: the reply was HF__RANK_LATE. Sets `*late` of a blocking
 * call. */
hf_status hf__rank_late(hf_call *call, hf_error *err);
/* Remove all members that are due. false: `*status` is why the call ends. */
bool hf__rank_clear(hf_client *client, hf_bytes key, unsigned *rounds,
                    hf_status *status, hf_error *err);

/* HF_INVALID, or a word: a score. `name` is what the caller calls it. */
void hf__add_score(hf_call *call, double score, const char *name);
/* A score as the store has it; false: it is none. */
bool hf__read_score(hf_bytes text, double *score);

#endif
