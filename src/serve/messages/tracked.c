/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracked.c - see tracked.h.
 *
 *  1. A feed of the store's changes is open before a client that tracks reads
 *     a key, and while any tracks.
 *  2. After each unit, what it read for a client that tracks and what it
 *     changed is put into the log of the round. The transaction's notes say
 *     what changed; the unit's connection is who changed it.
 *  3. When the round is committed, the log is gone through in its order: a key
 *     that was read goes into the table, one that was changed goes out of it,
 *     which is reported to those who have read it. What was undone has no
 *     log.
 *  4. The feed reports what else was changed: by other processes, or because
 *     it expired. The round's own notes are known by their place in the ring.
 *     A read of the round may be older than a commit by another process: that
 *     comes after 3, and so is never missed. If the commit was before the
 *     read, it is reported for nothing.
 *
 * A process that is killed between its commit and the publication of its notes
 * leaves them to the next writer, or to the feed, which looks for them within
 * 0.5 s (ring_write.c). Where notes are missing there is a gap: then all
 * keys are reported, and dropped from the table.
 */
#include "serve/messages/tracked.h"

#include <stdlib.h>
#include <string.h>

#include "serve/messages/push.h"
#include "serve/messages/sweep.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "store/known_commands.h"
#include "util/container.h"
#include "util/mem.h"

#define CHANNEL "__redis__:invalidate"

/* So many keys beyond the limit are dropped in a turn. */
#define DROP_MAX 1000

/* As many pairs of a key and a client as the limit of keys times this. */
#define PAIRS_PER_KEY 16u

typedef enum line_kind { READ, CHANGED, ALL, SPENT } line_kind;

/* Of the log, and of the list of changes; the key follows. */
typedef struct log_line {
    line_kind kind;
    hf__conn *conn; /* who reads or writes; NULL: none of this server's */
    size_t size;
} log_line;

static hf_server *server_of(hf__trackers *all)
{
    return hf__container_of(all, hf_server, trackers);
}

static bool put_line(hf__buf *buf, line_kind kind, hf__conn *conn, hf_bytes key)
{
    const log_line head = {kind, conn, key.size};

    return hf__buf_append(buf, &head, sizeof(head)) &&
           hf__buf_append(buf, key.data, key.size);
}

/* Returns where the next one is. */
static size_t read_line(const hf__buf *buf, size_t at, log_line *head,
                        hf_bytes *key)
{
    const unsigned char *from = hf__buf_front(buf) + at;

    memcpy(head, from, sizeof(*head));
    *key = hf_view(from + sizeof(*head), head->size);
    return at + sizeof(*head) + head->size;
}

/* ---------------------------------------------------------------- messages */

static hf__conn *find_conn(const hf_server *server, int64_t id)
{
    hf__conn *conn = server->conns;

    while (conn != NULL && (int64_t)conn->id != id)
        conn = conn->next;
    return conn;
}

static void say_broken(hf__tracker *tracker)
{
    hf__answer *answer;

    tracker->broken = true;
    if (!tracker->conn->resp3)
        return;
    answer = hf__push_begin(tracker->conn, 2);
    hf__answer_text(answer, "tracking-redir-broken");
    hf__answer_integer(answer, tracker->redirect);
    hf__push_end(tracker->conn);
}

/* Where its messages go; NULL: nowhere. */
static hf__conn *target_of(hf__tracker *tracker)
{
    hf__conn *conn = tracker->conn;

    if (conn->dead)
        return NULL;
    if (tracker->redirect == 0)
        return conn->resp3 ? conn : NULL;
    conn = find_conn(conn->server, tracker->redirect);
    if (conn == NULL)
        say_broken(tracker);
    else if (conn->closing || (!conn->resp3 && conn->followed == NULL))
        return NULL;
    return conn;
}

/* The keys follow. NULL: it goes nowhere. */
static hf__answer *begin_message(hf__tracker *tracker, hf__conn **conn)
{
    hf__answer *answer;

    *conn = target_of(tracker);
    if (*conn == NULL)
        return NULL;
    answer = hf__push_begin(*conn, (*conn)->resp3 ? 2 : 3);
    if ((*conn)->resp3) {
        hf__answer_text(answer, "invalidate");
    } else {
        hf__answer_text(answer, "message");
        hf__answer_text(answer, CHANNEL);
    }
    return answer;
}

static void say_key(hf__tracker *tracker, hf_bytes key)
{
    hf__conn *conn;
    hf__answer *answer = begin_message(tracker, &conn);

    if (answer == NULL)
        return;
    hf__answer_array(answer, 1);
    hf__answer_bytes(answer, key);
    hf__push_end(conn);
}

static void say_all(hf__tracker *tracker)
{
    hf__conn *conn;
    hf__answer *answer = begin_message(tracker, &conn);

    if (answer == NULL)
        return;
    hf__answer_nil(answer);
    hf__push_end(conn);
}

/* ------------------------------------------------------------------- table */

static void drop_follower(hf__trackers *all, hf__follower *one)
{
    hf__followed *channel = one->channel;

    if (channel->kind == HF__CHANNEL)
        all->items--;
    hf__follower_free(one);
    if (channel->followers == NULL)
        hf__channel_table_drop(&all->table, channel);
}

static void drop_followed(hf__trackers *all, hf__tracker *tracker)
{
    while (tracker->followed != NULL)
        drop_follower(all, tracker->followed);
}

/* false: no memory. */
static bool follow_name(hf__tracker *tracker, hf__channel_kind kind,
                        hf_bytes name)
{
    hf__trackers *all = &tracker->conn->server->trackers;
    hf__followed *channel = hf__channel_table_find(&all->table, kind, name);

    if (channel == NULL)
        channel = hf__channel_table_make(&all->table, kind, name);
    if (channel == NULL)
        return false;
    if (hf__follower_find(channel, tracker->followed, tracker->conn) != NULL)
        return true;
    if (hf__follower_new(channel, tracker->conn, &tracker->followed) != NULL) {
        all->items += kind == HF__CHANNEL;
        return true;
    }
    if (channel->followers == NULL)
        hf__channel_table_drop(&all->table, channel);
    return false;
}

bool hf__tracked_prefix(hf__tracker *tracker, hf_bytes prefix)
{
    return follow_name(tracker, HF__CHANNEL_PATTERN, prefix);
}

/* Report it to those who have read it, once. */
static void report_key(hf__trackers *all, hf__followed *key,
                       const hf__conn *writer)
{
    hf__follower *next;

    for (hf__follower *one = key->followers; one != NULL; one = next) {
        hf__tracker *tracker = one->conn->tracker;

        next = one->next;
        if (one->conn != writer || !(tracker->flags & HF__TRACK_NOLOOP))
            say_key(tracker, hf__channel_name(key));
        if (next == NULL) {
            drop_follower(all, one);
            return;
        }
        drop_follower(all, one);
    }
}

static void report_all(hf__trackers *all)
{
    for (hf__tracker *one = all->first; one != NULL; one = one->next) {
        if (!(one->flags & HF__TRACK_BCAST))
            drop_followed(all, one);
        say_all(one);
    }
    hf__buf_clear(&all->changed);
}

static void change_key(hf__trackers *all, hf_bytes key, hf__conn *writer)
{
    hf__followed *found;

    if (all->table.counts[HF__CHANNEL_PATTERN] > 0 &&
        !put_line(&all->changed, CHANGED, writer, key)) {
        report_all(all);
        return;
    }
    found = hf__channel_table_find(&all->table, HF__CHANNEL, key);
    if (found != NULL)
        report_key(all, found, writer);
}

/* A client whose reads cannot be remembered is closed. */
static void read_key(hf__conn *conn, hf_bytes key)
{
    hf__tracker *tracker = conn->tracker;

    if (tracker != NULL && !(tracker->flags & HF__TRACK_BCAST) &&
        !follow_name(tracker, HF__CHANNEL, key))
        hf__conn_close(conn);
}

/* ------------------------------------------------------------------ rounds */

void hf__tracked_begin(hf_server *server)
{
    hf__trackers *all = &server->trackers;

    if (hf__buf_size(&all->log) > 0)
        hf__buf_clear(&all->log);
    all->log_lost = all->script_reads = false;
    all->seen = 0;
    all->seen_lost = all->flushed = false;
}

static void add_line(hf__trackers *all, line_kind kind, hf__conn *conn,
                     hf_bytes key)
{
    if (!all->log_lost && !put_line(&all->log, kind, conn, key))
        all->log_lost = true;
}

static bool wants_read(const hf__tracker *tracker)
{
    if (tracker == NULL || (tracker->flags & HF__TRACK_BCAST))
        return false;
    return (!(tracker->flags & HF__TRACK_OPTIN) || tracker->caching) &&
           (!(tracker->flags & HF__TRACK_OPTOUT) || !tracker->caching);
}

static bool is_read(const hf_bytes *words, size_t count)
{
    const hf__known_command *known = hf__known_find_words(words, count);

    return known != NULL && (known->categories & HF__CATEGORY_READ) != 0 &&
           !(known->categories & HF__CATEGORY_WRITE);
}

/* Where the keys of a subcommand are, its command says. */
static void log_reads(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__key_words keys;

    hf__known_keys(hf__known_find(words[0]), words, count, &keys);
    for (size_t at = hf__key_words_begin(&keys); at != 0;
         at = hf__key_words_next(&keys, at))
        add_line(&conn->server->trackers, READ, conn, words[at]);
}

void hf__tracked_called(hf__conn *conn, const hf_bytes *words, size_t count)
{
    if (!wants_read(conn->tracker) || !is_read(words, count))
        return;
    conn->server->trackers.script_reads = true;
    log_reads(conn, words, count);
}

/* After a FLUSHALL notes may be missing. */
static void log_changes(hf__conn *conn, bool writes)
{
    hf_server *server = conn->server;
    hf__trackers *all = &server->trackers;
    const hf__tx *tx = server->round.tx;
    const hf__noted *noted = &tx->noted[HF__RING_CHANGES];
    size_t seen = all->seen;
    hf_bytes key;

    if (!hf__tx_notes(tx, HF__RING_CHANGES))
        return;
    if (!hf__tx_flush(server->round.tx)) {
        server->broken = tx->error;
        return;
    }
    while (hf__note_next(tx, &all->seen, &key)) {
        if (!noted->lost)
            add_line(all, CHANGED, conn, key);
    }
    if (noted->lost && (writes || all->seen != seen || !all->seen_lost))
        add_line(all, ALL, conn, hf_view(NULL, 0));
    all->seen_lost = noted->lost;
    all->flushed = noted->flushed;
}

/* A script that has called a command that reads is taken to have read its KEYS,
 * as in Redis, and before what it changed: it may read a key and then change
 * it. Others change one at most because they find it expired. */
void hf__tracked_ran(hf__conn *conn, const hf__command *command,
                     const hf_bytes *words, size_t count)
{
    hf__trackers *all = &conn->server->trackers;
    bool script = (command->flags & HF__COMMAND_EVAL) != 0;
    bool reads = wants_read(conn->tracker) &&
                 (script ? all->script_reads : is_read(words, count));

    all->script_reads = false;
    if (reads && script)
        log_reads(conn, words, count);
    if (conn->server->round.tx->writable)
        log_changes(conn, (command->flags & HF__COMMAND_WRITES) != 0);
    if (reads && !script)
        log_reads(conn, words, count);
}

static void replay_log(hf__trackers *all)
{
    size_t size = hf__buf_size(&all->log);
    size_t at = 0;
    hf_bytes key;
    log_line head;

    while (at < size) {
        at = read_line(&all->log, at, &head, &key);
        if (head.kind == READ)
            read_key(head.conn, key);
        else if (head.kind == CHANGED)
            change_key(all, key, head.conn);
        else if (head.kind == ALL)
            report_all(all);
        else if (head.conn->tracker != NULL)
            head.conn->tracker->spent = false;
    }
    if (all->log_lost)
        report_all(all);
    hf__buf_clear(&all->log);
}

/* What was logged is not to be reported once more. A gap that does not follow
 * what has been read may be of others, too; where there was no room for notes,
 * it is not known that all was logged. */
static void find_own(hf__trackers *all, const hf__round_notes *notes,
                     uint64_t position)
{
    bool same = all->seen == notes->size && all->seen_lost && all->flushed &&
                notes->flushed && position == notes->from;

    all->own_from = notes->from;
    all->own_to = notes->from + (notes->lost ? 0 : all->seen);
    all->own_gap = notes->lost && same ? notes->from + hf__note_size(0) : 0;
}

void hf__tracked_commit(hf_server *server)
{
    hf__trackers *all = &server->trackers;
    hf__ring_reader *ring = hf__embedded_changes(server->store);

    replay_log(all);
    if (!all->open)
        return;
    find_own(all, &server->round.notes, ring->position);
    hf__ring_reader_look(ring);
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf__trackers *all = hf__container_of(feed, hf__trackers, feed);
    hf_server *server = server_of(all);
    uint64_t end = hf__embedded_changes(server->store)->position;

    if (kind == HF_CHANGE_GAP ? end == all->own_gap
                              : end > all->own_from && end <= all->own_to)
        return;
    if (kind == HF_CHANGE_GAP)
        report_all(all);
    else
        change_key(all, key, NULL);
    hf__tick_set(hf__loop_poller(server->loop), &server->tick, 0);
}

/* -------------------------------------------------------------------- turns */

typedef struct change {
    hf_bytes key;
    const hf__conn *writer;
    size_t order;
} change;

static int compare_names(hf_bytes one, hf_bytes other)
{
    size_t size = one.size < other.size ? one.size : other.size;
    int order = size == 0 ? 0 : memcmp(one.data, other.data, size);

    return order != 0 ? order
                      : (one.size > other.size) - (one.size < other.size);
}

static int compare_changes(const void *a, const void *b)
{
    const change *one = a;
    const change *other = b;
    int order = compare_names(one->key, other->key);

    return order != 0
               ? order
               : (one->order > other->order) - (one->order < other->order);
}

/* Each key once, with who wrote it last, sorted as in Redis. NULL: no memory.
 */
static change *sort_changes(const hf__buf *buf, size_t *count)
{
    size_t size = hf__buf_size(buf);
    change *list = hf__alloc(size / sizeof(log_line) * sizeof(*list));
    size_t all = 0;
    log_line head;

    *count = 0;
    if (list == NULL)
        return NULL;
    for (size_t at = 0; at < size; all++) {
        at = read_line(buf, at, &head, &list[all].key);
        list[all].writer = head.conn;
        list[all].order = all;
    }
    qsort(list, all, sizeof(*list), compare_changes);
    for (size_t i = 0; i < all; i++) {
        if (i + 1 == all || compare_names(list[i].key, list[i + 1].key) != 0)
            list[(*count)++] = list[i];
    }
    return list;
}

/* Is the change to be reported to it? */
static bool concerns_one(const hf__follower *one, const change *what)
{
    hf_bytes prefix = hf__channel_name(one->channel);

    return what->key.size >= prefix.size &&
           memcmp(what->key.data, prefix.data, prefix.size) == 0 &&
           (what->writer != one->conn ||
            !(one->conn->tracker->flags & HF__TRACK_NOLOOP));
}

static void say_changes(const hf__follower *one, const change *list,
                        size_t count)
{
    hf__conn *conn;
    hf__answer *answer;
    size_t reported = 0;

    for (size_t i = 0; i < count; i++)
        reported += concerns_one(one, &list[i]);
    if (reported == 0)
        return;
    answer = begin_message(one->conn->tracker, &conn);
    if (answer == NULL)
        return;
    hf__answer_array(answer, reported);
    for (size_t i = 0; i < count; i++) {
        if (concerns_one(one, &list[i]))
            hf__answer_bytes(answer, list[i].key);
    }
    hf__push_end(conn);
}

/* One message for each prefix of a client. */
static void report_prefixes(hf__trackers *all)
{
    size_t count;
    change *list;

    if (hf__buf_size(&all->changed) == 0)
        return;
    list = sort_changes(&all->changed, &count);
    if (list == NULL) {
        report_all(all);
        return;
    }
    for (const hf__followed *prefix = all->table.patterns; prefix != NULL;
         prefix = prefix->pattern_next) {
        for (const hf__follower *one = prefix->followers; one != NULL;
             one = one->next)
            say_changes(one, list, count);
    }
    hf__free(list);
    hf__buf_clear(&all->changed);
}

static hf__followed *any_key(hf__trackers *all)
{
    hf__followed *found = NULL;

    while (found == NULL) {
        found = all->table.chains[all->hand % all->table.chain_count];
        while (found != NULL && found->kind != HF__CHANNEL)
            found = found->next;
        all->hand += found == NULL;
    }
    return found;
}

static bool is_over(const hf__trackers *all)
{
    uint64_t max = (uint64_t)all->max;

    return max > 0 && (all->table.counts[HF__CHANNEL] > max ||
                       (all->items + PAIRS_PER_KEY - 1) / PAIRS_PER_KEY > max);
}

void hf__tracked_look(hf_server *server)
{
    hf__trackers *all = &server->trackers;

    report_prefixes(all);
    for (int i = 0; i < DROP_MAX && is_over(all); i++)
        report_key(all, any_key(all), NULL);
    if (is_over(all))
        hf__tick_set(hf__loop_poller(server->loop), &server->tick, 0);
}

void hf__tracked_prepare(hf_server *server)
{
    hf__trackers *all = &server->trackers;
    hf__store *store = server->store;

    if (all->open && all->first == NULL) {
        all->open = false;
        store->ops->feed_close(store, &all->feed);
        hf__sweep_set(server);
    }
    if (all->open || all->first == NULL)
        return;
    all->open = store->ops->feed_open(store, &all->feed, server->deadline_ms,
                                      NULL) == HF_OK;
    hf__sweep_set(server);
    /* They must not believe that changes would be reported. */
    for (hf__tracker *one = all->first; one != NULL && !all->open;
         one = one->next)
        hf__conn_close(one->conn);
}

/* -------------------------------------------------------------------- life */

hf__tracker *hf__tracked_join(hf__conn *conn)
{
    hf__trackers *all = &conn->server->trackers;
    hf__tracker *tracker = hf__calloc(1, sizeof(*tracker));

    if (tracker == NULL)
        return NULL;
    if (all->first == NULL)
        hf__tracked_begin(conn->server);
    tracker->conn = conn;
    tracker->next = all->first;
    tracker->link = &all->first;
    if (tracker->next != NULL)
        tracker->next->link = &tracker->next;
    all->first = tracker;
    all->count++;
    conn->tracker = tracker;
    return tracker;
}

void hf__tracked_leave(hf__conn *conn)
{
    hf__trackers *all = &conn->server->trackers;
    hf__tracker *tracker = conn->tracker;

    if (tracker == NULL)
        return;
    drop_followed(all, tracker);
    conn->tracker = NULL;
    all->count--;
    *tracker->link = tracker->next;
    if (tracker->next != NULL)
        tracker->next->link = tracker->link;
    hf__free(tracker);
    if (all->first == NULL)
        hf__buf_clear(&all->changed);
}

void hf__tracked_spend(hf__tracker *tracker)
{
    if (!tracker->caching)
        return;
    tracker->caching = false;
    /* Otherwise it was not part of the round. */
    if (tracker->conn->units == 0)
        return;
    tracker->spent = true;
    add_line(&tracker->conn->server->trackers, SPENT, tracker->conn,
             hf_view(NULL, 0));
}

static void rewind_caching(hf__conn *conn)
{
    if (conn->tracker == NULL || !conn->tracker->spent)
        return;
    conn->tracker->caching = true;
    conn->tracker->spent = false;
}

const hf__part hf__tracking_part = {.freed = hf__tracked_leave,
                                    .rewind = rewind_caching};

void hf__tracked_open_server(hf_server *server)
{
    hf__trackers *all = &server->trackers;

    all->max = HF__TRACKED_MAX;
    all->feed.prefix = hf_str("");
    all->feed.all_databases = true; /* as in Redis */
    all->feed.changed = on_changed;
    hf__buf_init(&all->log, SIZE_MAX);
    hf__buf_init(&all->changed, SIZE_MAX);
}

void hf__tracked_close_server(hf_server *server)
{
    hf__channel_table_done(&server->trackers.table);
    hf__buf_done(&server->trackers.log);
    hf__buf_done(&server->trackers.changed);
}
