/* SPDX-License-Identifier: Apache-2.0 */
/* command_round.c - see command_round.h. */
#include "engine/run/command_round.h"

#include "engine/commit/flush.h"
#include "engine/commit/readers.h"
#include "engine/keys/records.h"
#include "engine/keys/tx_life.h"
#include "engine/lua/eval.h"
#include "engine/lua/functions.h"
#include "engine/lua/machine.h"
#include "engine/run/write.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

#include <string.h>

void hf__command_round_init(hf__command_round *round, hf__env *env,
                            int64_t budget_ms)
{
    *round = (hf__command_round){.env = env, .budget_ms = budget_ms};
    hf__request_init(&round->request);
    round->request.keeps_error = true;
}

void hf__command_round_done(hf__command_round *round)
{
    hf__request_done(&round->request);
    hf__free(round->tries);
    if (round->reader == NULL)
        return;
    if (round->reader->txn != NULL)
        mdb_txn_abort(round->reader->txn);
    hf__tx_free(round->reader);
}

void hf__command_round_limit(hf__command_round *round,
                             hf__command_refuser *refuse, void *user)
{
    round->request.refuse = refuse;
    round->request.refuse_user = user;
}

/* --------------------------------------------------------------- beginning */

static hf_status begin_read(hf__command_round *round, hf_error *err)
{
    hf_status status;

    if (round->reader == NULL)
        round->reader = hf__tx_new(round->env, false);
    if (round->reader == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__env_begin_read(round->env, &round->reader->txn, err);
    if (status != HF_OK)
        return status;
    round->tx = round->reader;
    return HF_OK;
}

static hf_status begin_write(hf__command_round *round, int64_t deadline_ms,
                             hf_error *err)
{
    hf__env *env = round->env;
    hf_status status;

    if (env->read_only)
        return hf__env_fail_read_only(err);
    status = hf__flush_lock(env, deadline_ms, err);
    if (status != HF_OK)
        return status;
    if (hf__execute_prepare(env, NULL))
        status = hf__env_begin_write(env, hf__clock_boot_ms(),
                                     &env->write_tx->txn, err);
    else
        status = hf__fail(err, HF_NO_MEMORY, "out of memory");
    if (status == HF_OK) {
        round->tx = env->write_tx;
        round->hits -= round->tx->hits;
        round->misses -= round->tx->misses;
        return HF_OK;
    }
    if (env->write_tx != NULL) {
        env->write_tx->event_count = 0;
        env->write_tx->wanted_size = 0;
    }
    hf__write_end(env);
    return status;
}

static void end_read(hf__command_round *round)
{
    (void)hf__tx_finish(round->tx);
    round->tx = NULL;
}

/* The time of the next command. */
static void set_time(hf__command_round *round)
{
    int64_t now_ms = hf__clock_boot_ms();

    if (now_ms == round->now_ms)
        return;
    if (!round->tx->writable || hf__tx_flush(round->tx))
        hf__tx_next(round->tx, now_ms);
    round->now_ms = now_ms;
}

hf_status hf__command_round_enter(hf__command_round *round, bool writes,
                                  int64_t deadline_ms, hf_error *err)
{
    hf_status status = HF_OK;

    if (round->tx != NULL && (round->tx->writable || !writes)) {
        set_time(round);
        return HF_OK;
    }
    if (round->tx != NULL)
        end_read(round);
    if (!writes)
        status = begin_read(round, err);
    if (writes || status == HF_UNAVAILABLE)
        status = begin_write(round, deadline_ms, err);
    if (status != HF_OK)
        return status;
    round->now_ms = hf__clock_boot_ms();
    hf__tx_start(round->tx, round->now_ms);
    return HF_OK;
}

/* ----------------------------------------------------------------- running */

/* Of the next script; NULL: no memory. */
static hf__script_tries *next_tries(hf__command_round *round)
{
    size_t more = round->tries_capacity + 16;
    hf__script_tries *tries;

    if (round->script_count == round->tries_capacity) {
        tries = hf__realloc(round->tries, more * sizeof(*tries));
        if (tries == NULL)
            return NULL;
        memset(tries + round->tries_capacity, 0, 16 * sizeof(*tries));
        round->tries = tries;
        round->tries_capacity = more;
    }
    return &round->tries[round->script_count++];
}

/* If the transaction is to run again, what was used counts then. Otherwise the
 * next round begins with what remains, if anything does. */
static void keep_tries(hf__command_round *round, hf_status status)
{
    size_t count = round->script_count;

    if (count == 0 || status == HF_FULL) {
        round->script_count = 0;
        return;
    }
    if (status != HF_OK)
        count = round->tries_capacity;
    memmove(round->tries, round->tries + count,
            (round->tries_capacity - count) * sizeof(*round->tries));
    memset(round->tries + round->tries_capacity - count, 0,
           count * sizeof(*round->tries));
    round->script_count = 0;
}

static void run_script(hf__command_round *round, const hf__command *command,
                       const hf_bytes *words, size_t count,
                       const hf_reply **reply)
{
    hf__request *request = &round->request;
    hf__script_tries *tries = next_tries(round);

    *reply = &request->reply;
    if (tries == NULL) {
        hf__tx_no_memory(round->tx);
        return;
    }
    hf__request_done(request);
    request->words = words;
    request->word_count = count;
    request->began_ms = round->now_ms;
    request->deadline_ms = INT64_MAX;
    request->status = HF_OK;
    request->tries = *tries;
    hf__eval_run(round->env->users, round->tx, command, request,
                 round->budget_ms);
    if (request->status != HF_OK && round->tx->fatal == HF_OK)
        hf__tx_no_memory(round->tx);
    *tries = request->tries;
}

bool hf__command_round_run(hf__command_round *round, const hf__command *command,
                           const hf_bytes *words, size_t count, hf__out *out,
                           const hf_reply **reply)
{
    hf__tx *tx = round->tx;
    const hf__job job = {.command = command};

    *reply = NULL;
    if (tx->fatal != HF_OK)
        return false;
    if ((command->flags & HF__COMMAND_MACHINE) != 0 &&
        !hf__execute_prepare(round->env, &job)) {
        hf__tx_no_memory(tx);
        return false;
    }
    if ((command->flags & HF__COMMAND_EVAL) != 0) {
        run_script(round, command, words, count, reply);
    } else {
        tx->out = out;
        hf__command_run(tx, command, words, count);
    }
    if ((command->flags & HF__COMMAND_MACHINE) != 0) {
        round->cached_scripts = hf__machine_count(round->env->users);
        hf__command_round_functions(round);
    }
    return tx->fatal == HF_OK;
}

bool hf__command_round_only_reads(hf__command_round *round,
                                  const hf__command *command,
                                  const hf_bytes *words)
{
    const hf__job job = {.command = command};

    return hf__execute_prepare(round->env, &job) &&
           hf__eval_only_reads(round->env->users, round->tx, command, words[1]);
}

void hf__command_round_functions(hf__command_round *round)
{
    const hf__functions *all = round->env->functions;

    round->library_count = all != NULL ? all->library_count : 0;
    round->function_count = all != NULL ? all->function_count : 0;
}

/* The transaction that writes is only the round's while the lock is held. */
void hf__command_round_lookups(const hf__command_round *round,
                               hf__lookups *lookups)
{
    const hf__tx *all[] = {round->reader,
                           round->tx != round->reader ? round->tx : NULL};

    *lookups =
        (hf__lookups){round->hits, round->misses,
                      __atomic_load_n(&round->env->expired, __ATOMIC_RELAXED)};
    for (size_t i = 0; i < 2; i++) {
        if (all[i] == NULL)
            continue;
        lookups->hits += all[i]->hits;
        lookups->misses += all[i]->misses;
    }
}

/* ------------------------------------------------------------------ ending */

/* After the commit, while the writer lock is held. */
static void keep_notes(hf__command_round *round, const hf__tx *tx)
{
    const hf__noted *noted = &tx->noted[HF__RING_CHANGES];

    round->notes = (hf__round_notes){0};
    if (tx->writable && hf__tx_notes(tx, HF__RING_CHANGES))
        round->notes =
            (hf__round_notes){noted->from, hf__buf_size(&noted->notes),
                              noted->lost, noted->flushed};
}

/* The writer lock is held, and released. */
static bool make_room(hf__command_round *round, int64_t deadline_ms)
{
    hf__env *env = round->env;
    bool made = hf__write_make_room(env);
    bool flush = !made && env->flush != NULL;
    uint64_t tried = flush ? hf__readers_oldest(env) : 0;

    hf__write_end(env);
    if (!flush)
        return made;
    made = hf__flush_make_room(env, true, tried, deadline_ms);
    if (made)
        hf__env_unlock(env);
    return made;
}

hf_status hf__command_round_end(hf__command_round *round, int64_t deadline_ms,
                                hf_error *err)
{
    hf__tx *tx = round->tx;
    hf_status status;

    round->made_room = false;
    if (tx == NULL)
        return HF_OK;
    status = hf__tx_finish(tx);
    round->tx = NULL;
    keep_notes(round, tx);
    keep_tries(round, status);
    if (status != HF_OK)
        (void)hf__fail(err, status, "%s", tx->error.message);
    if (!tx->writable)
        return status;
    round->hits += tx->hits;
    round->misses += tx->misses;
    if (status == HF_FULL)
        round->made_room = make_room(round, deadline_ms);
    else
        hf__write_end(round->env);
    return status;
}
