/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_io.c - entries of the shared connection on the loop thread: writing,
 * matching replies, deadlines.
 *
 * An entry comes in at the end of its lane and then
 *
 * 1. While the socket takes them, entries are formatted, a batch at a time,
 *    the lease lane first, and join the in-flight list. Nothing is formatted
 *    while bytes wait to be written, so at its deadline an entry of a lane is
 *    known to be unsent.
 * 2. Replies answer the list's first entry. An entry whose deadline passed
 *    stays in the list without its request, so that matching never shifts.
 * 3. When the connection breaks, what retry.c allows goes back to the front of
 *    its lane in the old order; the rest completes (pipeline_requeue.c).
 * 4. If a server is silent for 2 s or longer (silence_limit.h) and all that is
 * in flight may be sent again, it is tried on a new connection, and the silent
 *    one is left when that is there (pipeline_probe.c). What may not be is left
 * to its own deadline: a script of minutes is silence, too.
 *
 * The first time a script is used on a connection it is sent whole, which
 * loads it: answering NOSCRIPT with a second try would let the requests behind
 * it overtake. That remains possible when the server forgets a script later.
 *
 * Only the loop thread is here, and holds no lock: on_done may submit.
 */
#include "store/redis/server/pipeline_internal.h"

#include <string.h>

#include "store/redis/server/retry.h"
#include "store/redis/server/silence_limit.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

/* Written and not answered; leases may exceed it. Some hundred keep a server
 * busy over any network. */
#define IN_FLIGHT_MAX 4096

/* What is formatted before it is sent. */
#define BATCH_SIZE 65536

/* Silence of which the topology is told, as it can ask others. */
#define SUSPECT_MS 500

/* ---------------------------------------------------------------- writing */

/* Has the script been sent whole on this connection? It will be now. */
static bool is_known(hf__mux *mux, const hf__script *script)
{
    uint64_t digest;
    uint64_t *place;

    memcpy(&digest, script->sha1, sizeof(digest));
    place =
        &mux->scripts[(digest ^ digest >> 32 ^ digest >> 16) % HF__MUX_SCRIPTS];
    if (*place == digest)
        return true;
    *place = digest;
    return false;
}

/* What is appended to link->out next is this entry's. */
static void join_flight(hf__mux *mux, hf__entry *entry)
{
    entry->place = HF__ENTRY_WRITTEN;
    entry->begins_at = mux->link.sent + hf__buf_size(&mux->link.out);
    if (mux->in_flight.count == 0)
        mux->waiting_since_ms = hf__clock_boot_ms();
    hf__entry_append(&mux->in_flight, entry);
}

/* ASKING is for the next command only. Its answer is nobody's: what the
 * command behind it is told says all. */
static bool put_asking(hf__mux *mux)
{
    static const char *const words[] = {"ASKING"};
    hf__entry *entry = hf__calloc(1, sizeof(*entry));

    if (entry == NULL)
        return false;
    join_flight(mux, entry);
    if (hf__resp_put_words(&mux->link.out, words, 1))
        return true;
    hf__entry_unlink(&mux->in_flight, entry);
    hf__free(entry);
    return false;
}

static void format_entry(hf__mux *mux, hf__entry *entry)
{
    hf__request *request = entry->request;
    bool whole = entry->attempts.whole;
    bool fits = !entry->attempts.asking || put_asking(mux);
    hf_error err = HF_ERROR_INIT;

    entry->attempts.asking = false;
    if (request->script != NULL && !is_known(mux, request->script))
        whole = true;
    join_flight(mux, entry);
    if (fits && hf__resp_put_request(&mux->link.out, request, whole)) {
        request->sends++;
        return;
    }
    hf__entry_unlink(&mux->in_flight, entry);
    hf__fail(&err, HF_NO_MEMORY, "out of memory");
    hf__flight_fail(mux, entry, &err);
}

static hf__entry *take_next(hf__mux *mux)
{
    hf__entry *entry = hf__entry_take(&mux->lanes[HF__LANE_LEASE]);

    if (entry == NULL && mux->in_flight.count < IN_FLIGHT_MAX)
        entry = hf__entry_take(&mux->lanes[HF__LANE_USER]);
    return entry;
}

static bool may_write(const hf__mux *mux)
{
    return mux->link.state == HF__LINK_UP && !mux->leaving &&
           !hf__probe_is_on(mux) &&
           !atomic_load_explicit(&mux->retired, memory_order_acquire) &&
           (mux->turn == NULL || !hf__turn_is_open(mux));
}

/* Write what the socket takes. */
static void pump(hf__mux *mux)
{
    hf__link *link = &mux->link;
    size_t most = mux->turn == NULL ? BATCH_SIZE : HF__TURN_SIZE;
    hf__entry *entry;

    if (mux->turn != NULL)
        hf__turn_go_on(mux);
    while (may_write(mux) && hf__buf_size(&link->out) == 0) {
        while (hf__buf_size(&link->out) < most &&
               (entry = take_next(mux)) != NULL)
            format_entry(mux, entry);
        if (mux->turn != NULL)
            hf__turn_written(mux);
        if (hf__buf_size(&link->out) == 0)
            return;
        hf__link_flush(link);
    }
}

static void on_up(hf__link *link)
{
    atomic_fetch_add(&hf__container_of(link, hf__mux, link)->generation, 1);
    pump(hf__container_of(link, hf__mux, link));
}

static void on_drained(hf__link *link)
{
    hf__mux *mux = hf__container_of(link, hf__mux, link);

    pump(mux);
    hf__flight_settle(mux);
}

/* ---------------------------------------------------------------- reading */

/* What was read last is no answer to what it should be one to. */
static void lose_place(hf__mux *mux, hf_error *err)
{
    hf__fail_prefix(err, "%s", mux->link.peer);
    mux->link.error = *err;
    mux->broken = true;
}

/* The request of an entry that is in no list has its reply. */
static void answered(hf__mux *mux, hf__entry *entry)
{
    hf__redirect redirect;
    hf__verdict verdict;

    if (mux->turn != NULL && hf__turn_answered(mux, entry))
        return;
    if (entry->request == NULL) {
        hf__free(entry);
        return;
    }
    verdict =
        hf__retry_judge(entry->request, entry->attempts.doubtful, &redirect);
    if (verdict == HF__VERDICT_DROP)
        mux->leaving = true;
    if (verdict == HF__VERDICT_BREAK)
        lose_place(mux, &entry->request->error);
    if (hf__flight_hand_on(mux, entry, &redirect))
        return;
    switch (verdict) {
    case HF__VERDICT_LOAD:
        memset(mux->scripts, 0, sizeof(mux->scripts));
        entry->attempts.whole = true;
        hf__flight_put_back(mux, entry);
        return;
    case HF__VERDICT_BACK_OFF:
        entry->place = HF__ENTRY_LATER;
        hf__heap_put(&mux->again, &entry->again,
                     hf__clock_boot_ms() +
                         hf__retry_delay_ms(entry->attempts.waits++));
        return;
    case HF__VERDICT_DROP:
    case HF__VERDICT_BREAK:
    case HF__VERDICT_ANSWER:
        break;
    }
    hf__flight_complete(mux, entry);
}

/* Parse one reply; false: there is none, or (broken) there never will be. */
static bool read_reply(hf__mux *mux)
{
    hf__link *link = &mux->link;
    hf__entry *head = mux->in_flight.first;
    hf__request *request = head == NULL ? NULL : head->request;
    hf__resp_result parsed;

    if (!mux->parsing)
        hf__resp_begin(&link->resp, request != NULL ? &request->arena : NULL,
                       request != NULL ? &request->reply : NULL);
    parsed = hf__resp_feed(&link->resp, &link->in);
    mux->parsing = parsed == HF__RESP_MORE;
    if (mux->parsing)
        return false;
    if (parsed == HF__RESP_DONE && link->resp.push) {
        if (request != NULL)
            hf__arena_free(&request->arena);
        return true;
    }
    if (parsed == HF__RESP_DONE && head != NULL) {
        hf__entry_unlink(&mux->in_flight, head);
        answered(mux, head);
        return !mux->broken;
    }
    if (parsed == HF__RESP_NO_MEMORY)
        hf__fail(&link->error, HF_NO_MEMORY, "out of memory");
    else
        hf__fail(&link->error, HF_CORRUPT, "%s sent what is not an answer",
                 link->peer);
    if (request != NULL) {
        hf__entry_unlink(&mux->in_flight, head);
        hf__flight_fail(mux, head, &link->error);
    }
    mux->broken = true;
    return false;
}

/* It is silent no more. What a script may take says nothing of the server. */
static void note_silence(hf__mux *mux)
{
    const hf__entry *head = mux->in_flight.first;
    int64_t since_ms = mux->heard_ms;

    if (since_ms < mux->waiting_since_ms)
        since_ms = mux->waiting_since_ms;
    mux->heard_ms = mux->link.alive_ms;
    if (head != NULL && head->request != NULL &&
        hf__retry_is_safe(head->request))
        hf__patience_learn(mux->link.node, mux->heard_ms - since_ms);
    hf__probe_end(mux);
}

static void on_input(hf__link *link)
{
    hf__mux *mux = hf__container_of(link, hf__mux, link);

    note_silence(mux);

    while (hf__buf_size(&link->in) > 0 && read_reply(mux))
        continue;
    if (mux->leaving && mux->in_flight.count == 0)
        hf__fail(&link->error, HF_UNAVAILABLE, "%s is no longer of use",
                 link->peer);
    if (mux->broken || (mux->leaving && mux->in_flight.count == 0))
        hf__link_drop(link);
    pump(mux);
    hf__flight_settle(mux);
}

static bool is_wanted(hf__link *link)
{
    const hf__mux *mux = hf__container_of(link, hf__mux, link);

    return mux->lanes[HF__LANE_LEASE].count > 0 ||
           mux->lanes[HF__LANE_USER].count > 0;
}

/* ------------------------------------------------------------------- time */

/* An entry's deadline has passed. */
static void expire(hf__mux *mux, hf__entry *entry)
{
    const hf__link *link = &mux->link;
    hf_error err = HF_ERROR_INIT;

    if (entry->place == HF__ENTRY_HELD) {
        hf__turn_expire(mux, entry);
        return;
    }
    if (entry->place == HF__ENTRY_WRITTEN) {
        if (mux->parsing && entry == mux->in_flight.first)
            hf__resp_drop(&mux->link.resp);
        hf__fail(&err, HF_INDETERMINATE, "no answer from %s in time",
                 link->peer);
        hf__flight_expire(mux, entry, &err);
        return;
    }
    if (entry->place == HF__ENTRY_QUEUED)
        hf__entry_unlink(hf__mux_lane(mux, entry), entry);
    if (entry->place == HF__ENTRY_LATER)
        err = entry->request->error;
    else if (link->state != HF__LINK_UP && link->error.status != HF_OK)
        hf__fail(&err, HF_UNAVAILABLE, "%s", link->error.message);
    else
        hf__fail(&err, HF_UNAVAILABLE, "not sent to %s in time", link->peer);
    hf__flight_fail(mux, entry, &err);
}

/* The first instant in a heap, or never. */
static int64_t first_of(const hf__heap *heap)
{
    const hf__heap_node *node = hf__heap_first(heap);

    return node == NULL ? INT64_MAX : node->at_ms;
}

/* Since when it owes an answer and is silent; INT64_MAX: it is not. */
static int64_t silent_since(const hf__mux *mux)
{
    const hf__link *link = &mux->link;
    int64_t since_ms = link->alive_ms;

    if (link->state != HF__LINK_UP || mux->in_flight.count == 0)
        return INT64_MAX;
    if (since_ms < mux->waiting_since_ms)
        since_ms = mux->waiting_since_ms;
    if (mux->turn != NULL)
        since_ms = hf__turn_owes_since(mux, since_ms);
    return since_ms;
}

/* When another connection is tried, should it go on being silent. */
static int64_t dead_at(const hf__mux *mux)
{
    int64_t since_ms = silent_since(mux);

    if (since_ms == INT64_MAX || hf__probe_is_on(mux))
        return INT64_MAX;
    return since_ms + hf__patience_with(mux->link.node, HF__RETRY_SILENCE_MS);
}

/* When the topology is to be told; again, should the silence go on. */
static int64_t suspect_at(const hf__mux *mux)
{
    int64_t since_ms = silent_since(mux);

    if (since_ms == INT64_MAX)
        return INT64_MAX;
    if (mux->suspected_ms > since_ms)
        return mux->suspected_ms + SUSPECT_MS;
    return since_ms + SUSPECT_MS;
}

static void check_suspicion(hf__mux *mux, int64_t now_ms)
{
    if (now_ms < suspect_at(mux))
        return;
    mux->suspected_ms = now_ms;
    hf__route_suspect(mux->link.node);
}

static bool all_repeatable(const hf__mux *mux)
{
    const hf__entry *entry;

    for (entry = mux->in_flight.first; entry != NULL; entry = entry->next) {
        if (entry->request != NULL && !entry->request->repeatable)
            return false;
    }
    return true;
}

/* Drop a connection that is silent although the server is there, unless what
 * is in flight may not be sent again. */
static void leave(hf__mux *mux)
{
    hf__link *link = &mux->link;
    int64_t now_ms = hf__clock_boot_ms();
    int64_t since_ms = silent_since(mux);

    if (since_ms == INT64_MAX)
        return;
    if (!all_repeatable(mux)) {
        mux->waiting_since_ms = now_ms; /* look again later */
        return;
    }
    hf__patience_learn(link->node, now_ms - since_ms);
    hf__fail(&link->error, HF_UNAVAILABLE, "%s was silent for %lld ms",
             link->peer, (long long)(now_ms - since_ms));
    hf__link_drop(link);
}

static void on_probe_up(hf__mux *mux)
{
    /* What has come, and was not read yet, is no silence. */
    if (!hf__channel_is_stale(&mux->link.channel))
        leave(mux);
    hf__link_update(&mux->link);
}

static void on_probe_failed(hf__mux *mux)
{
    hf__salvage_unsent(mux);
    hf__flight_settle(mux);
}

static void check_silence(hf__mux *mux, int64_t now_ms)
{
    if (now_ms < dead_at(mux))
        return;
    if (!all_repeatable(mux) ||
        !hf__probe_begin(mux, on_probe_up, on_probe_failed))
        leave(mux);
}

static int64_t on_tick(hf__link *link, int64_t now_ms)
{
    hf__mux *mux = hf__container_of(link, hf__mux, link);
    hf__entry *entry;
    int64_t next_ms;

    while (first_of(&mux->due) <= now_ms)
        expire(mux,
               hf__container_of(hf__heap_first(&mux->due), hf__entry, due));
    while (first_of(&mux->again) <= now_ms) {
        entry = hf__container_of(hf__heap_first(&mux->again), hf__entry, again);
        hf__heap_remove(&mux->again, &entry->again);
        hf__flight_put_back(mux, entry);
    }
    check_suspicion(mux, now_ms);
    check_silence(mux, now_ms);
    if (mux->turn != NULL)
        hf__turn_tick(mux, now_ms);
    pump(mux);
    hf__flight_settle(mux);
    next_ms = first_of(&mux->due);
    if (first_of(&mux->again) < next_ms)
        next_ms = first_of(&mux->again);
    if (suspect_at(mux) < next_ms)
        next_ms = suspect_at(mux);
    if (dead_at(mux) < next_ms)
        next_ms = dead_at(mux);
    if (mux->turn != NULL && hf__turn_next(mux) < next_ms)
        next_ms = hf__turn_next(mux);
    return next_ms;
}

/* ------------------------------------------------------- coming, closing */

void hf__flight_accept(hf__mux *mux, hf__entry *entry)
{
    size_t count = mux->due.count + 1;
    hf_error err = HF_ERROR_INIT;

    if (!hf__heap_reserve(&mux->due, count) ||
        !hf__heap_reserve(&mux->again, count)) {
        hf__fail(&err, HF_NO_MEMORY, "out of memory");
        hf__flight_fail(mux, entry, &err);
        return;
    }
    hf__heap_put(&mux->due, &entry->due, entry->request->deadline_ms);
    if (entry->not_before_ms > hf__clock_boot_ms()) {
        entry->place = HF__ENTRY_LATER;
        hf__heap_put(&mux->again, &entry->again, entry->not_before_ms);
    } else {
        hf__entry_append(hf__mux_lane(mux, entry), entry);
    }
}

void hf__flight_fail_all(hf__mux *mux)
{
    hf_error err = HF_ERROR_INIT;
    hf__entry *entry;

    hf__fail(&err, HF_UNAVAILABLE, "the client was closed");
    while (mux->due.count > 0) {
        entry = hf__container_of(hf__heap_first(&mux->due), hf__entry, due);
        if (entry->place == HF__ENTRY_QUEUED)
            hf__entry_unlink(hf__mux_lane(mux, entry), entry);
        hf__flight_fail(mux, entry, &err);
    }
    hf__flight_settle(mux);
}

const hf__link_ops hf__flight_link_ops = {
    .up = on_up,
    .input = on_input,
    .drained = on_drained,
    .down = hf__salvage_down,
    .wanted = is_wanted,
    .tick = on_tick,
};
