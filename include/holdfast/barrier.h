/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/barrier.h - barriers: parties wait until all have arrived.
 *
 * Contents:
 * - hf_barrier_options, hf_barrier_pass
 * - hf_barrier_wait(): arrive, and wait for the others
 * - hf_barrier_reset()
 *
 * Each has a `_start` form.
 *
 * @code
 * hf_status rounds(hf_client *client, hf_error *err)
 * {
 *     hf_bytes name = hf_str("rounds");
 *     hf_barrier_pass pass;
 *     hf_status status = HF_OK;
 *
 *     for (int i = 0; i < 10 && status == HF_OK; i++) {
 *         // ... the work of this round, then:
 *         status = hf_barrier_wait(client, name, 3, 60000, NULL, &pass, err);
 *         if (status == HF_OK && pass.last)
 *             printf("generation %lld is complete\n",
 *                    (long long)pass.generation);
 *     }
 *     return status;
 * }
 * @endcode
 *
 * When the last of the parties arrives, all pass, and the next **generation**
 * begins. Generations are numbered from 1, and from 1 again after a week
 * without an arrival.
 *
 * A party has a lease, which is renewed while it waits. If one leaves, because
 * its wait ended or it died, the others would wait in vain: the barrier is
 * **broken**. All that wait and all that arrive get HF_LOST until it is reset.
 * Until its lease ends, a party that died counts as arrived; then others that
 * wait notice within a third of theirs. If all that waited have died, the
 * barrier is as if they had never arrived.
 */
#ifndef HOLDFAST_BARRIER_H
#define HOLDFAST_BARRIER_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most parties of a barrier. */
#define HF_BARRIER_PARTIES_MAX 100000

/** Options of hf_barrier_wait(). */
typedef struct hf_barrier_options {
    size_t struct_size; /**< #HF_BARRIER_OPTIONS_INIT sets it */
    uint32_t flags;     /**< must be 0 */
    uint32_t reserved0; /**< must be 0 */
    /** Lease of the party, ms, 100..86400000; 0: 30000. */
    int64_t ttl_ms;
} hf_barrier_options;

/* clang-format off */
#define HF_BARRIER_OPTIONS_INIT { sizeof(hf_barrier_options), 0, 0, 0 }
/* clang-format on */

/** How a party has passed. */
typedef struct hf_barrier_pass {
    int64_t generation; /**< which has ended */
    bool last;          /**< this party was the last to arrive */
} hf_barrier_pass;

/**
 * Arrive at a barrier, and wait until all parties have arrived.
 *
 * A wait that ends otherwise breaks the barrier, so that the others do not
 * wait in vain. If the last party arrives meanwhile, it has passed: HF_OK.
 *
 * @param name     the barrier; a key. One with a `}` needs a hash tag
 * @param parties  how many there are, 1..#HF_BARRIER_PARTIES_MAX; the same
 *                 number for all
 * @param wait_ms  longest time to wait, 0..#HF_FOREVER
 * @param opts     NULL for defaults
 * @param pass     [out] set with HF_OK; may be NULL
 *
 * @retval HF_OK             all have arrived
 * @retval HF_TIMEOUT        they had not until wait_ms had passed; the barrier
 *                           is broken
 * @retval HF_CANCELLED      interrupted (hf_client_interrupt()); the barrier is
 *                           broken
 * @retval HF_LOST           it is broken: another party left or died, it was
 *                           reset, or the store lost it; or this party was
 *                           stopped for longer than its lease, or until a
 *                           further generation had passed without it
 * @retval HF_CONFLICT       those that wait are of another number of parties
 * @retval HF_INDETERMINATE  no reply arrived until wait_ms had passed: the
 *                           barrier breaks when the lease ends
 * @retval HF_WRONG_TYPE     the key holds something that is not a barrier
 *
 * Blocks: up to wait_ms plus twice request_ms.
 */
HF_API HF_MUST_USE hf_status hf_barrier_wait(hf_client *client, hf_bytes name,
                                             int64_t parties, int64_t wait_ms,
                                             const hf_barrier_options *opts,
                                             hf_barrier_pass *pass,
                                             hf_error *err);

/**
 * End the generation of a barrier and begin the next one. All that wait get
 * HF_LOST. This repairs a broken barrier.
 *
 * @param name        the barrier
 * @param generation  [out] the one that begins; may be NULL
 *
 * @retval HF_OK         the next generation has begun
 * @retval HF_NOT_FOUND  no party has ever arrived, or none for a week
 */
HF_API HF_MUST_USE hf_status hf_barrier_reset(hf_client *client, hf_bytes name,
                                              int64_t *generation,
                                              hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_barrier_wait_start, hf_bytes name, int64_t parties, int64_t wait_ms,
         const hf_barrier_options *opts, hf_barrier_pass *pass);
HF_START(hf_barrier_reset_start, hf_bytes name, int64_t *generation);

#ifdef __cplusplus
}
#endif

#endif
