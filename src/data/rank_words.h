/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_words.h - what requests about ranks have in common: scores, and what a
 * call does where too many members are due.
 *
 * A script that ranks passes over the members that are due; where there are
 * `most` or more it does nothing but fail, with an error HFLATE, so that a
 * transaction of which it is a part is undone. A blocking call removes them
 * then, each time some with a request of its own, and runs it again:
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
#include "core/own_key.h"
#include "data/member_words.h"

/* The keys of a rank for what writes, and room for `count` more words. By the
 * positions of a timeline, the third, a script sees that the key is one, and by
 * the fourth that it is a barrier. */
static inline void hf__add_rank_keys(hf_call *call, hf_bytes key, size_t count)
{
    hf__add_member_keys(call, key, 2 + count);
    hf__add_own_key(call, HF__ROLE_ORDER, key);
    hf__add_own_key(call, HF__ROLE_BARRIER, key);
}
/* Begin a call with the keys of a rank and room for `count` more words. `*late`
 * is set if too many were due for a blocking one. */
hf_call *hf__begin_rank(hf_call *here, hf__form form,
                        const hf__operation *operation, hf_client *client,
                        hf_bytes key, size_t count, bool *late);
/* A word: `most`. */
void hf__add_most(hf_call *call);
/* Remove all members that are due. false: `*status` is why the call ends. */
bool hf__rank_clear(hf_client *client, hf_bytes key, unsigned *rounds,
                    hf_status *status, hf_error *err);

/* HF_INVALID, or a word: a score. `name` is what the caller calls it. */
void hf__add_score(hf_call *call, double score, const char *name);
/* A score as the store has it; false: it is none. */
bool hf__read_score(hf_bytes text, double *score);

#endif
