/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the waist: what core uses of a store, and what a driver must
 * provide.
 *
 * A store runs requests (one command or one script each, atomic in itself) and
 * carries events, so that a waiter sleeps until it is woken. It knows nothing
 * of locks, values or hashes; core knows nothing of sockets or files.
 *
 * Locks: none of ours may be held around perform(), submit() or event_wait();
 * on_done runs with none held.
 */
#ifndef HF__STORE_STORE_H
#define HF__STORE_STORE_H

#include "holdfast/client.h"
#include "store/log_hook.h"
#include "store/request.h"
#include "util/hash_bytes.h"
#include "util/loop.h"

/* Longest prefix of a client's keys and channels, bytes. */
#define HF__PREFIX_MAX 1024

/* A client's id, 16 lower-case hexadecimal digits and the NUL; the name of the
 * channel on which it is woken: <prefix>hf:inbox:<id>. */
#define HF__STORE_ID_SIZE 17
#define HF__CHANNEL_ROLE "hf:inbox:"
#define HF__CHANNEL_SIZE (HF__PREFIX_MAX + 32)

/* How a store is opened. Strings live until open() returns. */
typedef struct hf__store_config {
    const struct hf__url *url;
    const char *prefix;    /* of keys and channels; NULL: none */
    const char *client_id; /* NULL: the store draws one; an embedded one always
                              does */
    const char *username;  /* already resolved from options, URL, environment */
    const char *password;
    const char *client_name;   /* NULL: the URL's */
    const hf_tls_options *tls; /* NULL: what the URL says */
    int64_t connect_ms;
    int64_t script_budget_ms; /* 0: what the URL says */
    /* Not 0: writes are to wait for replicas; HF_UNSUPPORTED where there are
     * none. */
    uint32_t replicas;
    /* A server need not be there yet: nothing is connected until it is used. */
    bool lazy;
    hf__loop *loop; /* the client's; outlives the store */
    /* Receives what a message says of its topic, on the loop thread, before the
     * topic's counter moves. NULL: not wanted. An embedded store never does. */
    void (*on_message)(void *user, hf_bytes topic, hf_bytes text);
    void *on_message_user;
    hf__log_hook *log; /* NULL: none; outlives the store */
} hf__store_config;

#define HF__REPLICAS_NOWHERE                                                   \
    "replicas: this store has none; only servers of Redis or Valkey do, by "   \
    "themselves, with Sentinel or in a cluster"

/* What a store can do beyond requests; bits of hf__store::capabilities. */
enum {
    HF__CAP_EVENTS = 1u << 0,  /* events arrive without polling */
    HF__CAP_DURABLE = 1u << 1, /* an acknowledged write survives a power cut */
    HF__CAP_LOCAL = 1u << 2,   /* in this process: no round trip */
    /* An acquire that is not granted is released by the store, which may come
     * to pass later: the next try needs an owner id of its own. */
    HF__CAP_UNDOES = 1u << 3,
    HF__CAP_REPLICAS = 1u << 4, /* it can wait for replicas */
    HF__CAP_WAITS = 1u << 5,    /* hf__request.wait_ms */
    /* What one of our scripts had written when it failed is undone, and one
     * that was not answered has its effect once at most: a transaction needs
     * no dedup record. Whether it was done is found out from what it has
     * written; if it only removed, or others have overwritten all of that, it
     * is HF_INDETERMINATE. */
    HF__CAP_ATOMIC = 1u << 6,
    HF__CAP_ALONE = 1u << 7, /* no other library uses its locks */
    /* No lease of a lock ends early if its clock is set. What scripts see as
     * TIME never goes back for a key, but may stand still meanwhile. */
    HF__CAP_GUARDED = 1u << 8
};

/* Key-value lines about a store, for people. */
typedef void (*hf__describe_fn)(void *user, const char *name,
                                const char *value);

/* A callback for events; the memory is the caller's. */
typedef struct hf__watch {
    void (*moved)(struct hf__watch *watch); /* on the loop thread */
    struct hf__watch *next;                 /* the driver's */
    uint32_t bucket;                        /* the driver's */
} hf__watch;

typedef struct hf__feed hf__feed; /* feed.h */

/* maintenance.h */
typedef struct hf__check hf__check;
typedef struct hf__salvage hf__salvage;
typedef struct hf__diagnosis hf__diagnosis;
struct hf_store_compaction; /* holdfast/store.h */
struct hf_store_salvaged;

/* The parts of a store, each with keys of its own. */
#define HF__PARTS_MAX 1024
typedef struct hf__parts {
    uint32_t ids[HF__PARTS_MAX];
    size_t count;
    /* Equal stamps: no key has moved between parts in the meantime. */
    uint64_t stamp;
} hf__parts;

typedef struct hf__store hf__store;

/* Size of a tag, with the NUL. */
#define HF__TAG_SIZE 8

/* Of what event_text() knows. */
#define HF__STORE_TEXT_MAX 120

/* Nodes of a quorum. */
#define HF__VOTES_MAX 15

/* Of those that can be reached, how many have sent a message? */
typedef enum hf__agreement {
    HF__AGREED_NONE,
    HF__AGREED_SOME,
    HF__AGREED_MAJORITY
} hf__agreement;

typedef struct hf__store_ops {
    /* Schemes of its URLs, ending with NULL. */
    const char *const *schemes;

    /*
     * Open. *store is set only on HF_OK. Connects to a server and logs in, for
     * at most connect_ms. Any thread.
     */
    hf_status (*open)(const hf__store_config *config, hf__store **store,
                      hf_error *err);

    /*
     * Run one request to its end on the calling thread; on return it is
     * complete. Returns by request->deadline_ms, within 20 ms: a request not
     * sent by then is HF_UNAVAILABLE, one that was sent HF_INDETERMINATE. Any
     * thread, concurrently, except the loop thread.
     */
    void (*perform)(hf__store *store, hf__request *request);

    /*
     * Run requests asynchronously. Each completes exactly once by on_done, on
     * any thread, perhaps before submit() returns, and by its own deadline.
     * Requests of one call that go to the same shard run in their order. Never
     * blocks on a socket; an embedded store may run the transaction within the
     * call. Any thread.
     */
    void (*submit)(hf__store *store, hf__request *const *requests,
                   size_t count);

    /*
     * Read the reply to a request with any_thread on the calling thread, if
     * nothing else is under way: until it completes, `fd` is readable, or
     * until_ms has come. `fd` is an event_fd that stays open until close();
     * what the store raises it lowers. Returns early at any time; false: at
     * once, as there is nothing to read. One thread at a time, not the loop
     * thread. NULL: replies are not read, or by the loop thread only.
     */
    bool (*await)(hf__store *store, int fd, int64_t until_ms);

    /*
     * This client's channel for wake-ups, a NUL-terminated text valid until
     * close(), which ends in the client's id. A script wakes a waiter by
     *     redis.call('publish', inbox, text .. '\0' .. topic)
     * which moves the event counter of `topic` for that client. The text has no
     * NUL; see on_message. Never blocks.
     */
    const char *(*inbox)(hf__store *store);

    /*
     * Events are an eventcount, so that no wake-up is lost:
     *     seq = event_seq(topic); run a script; if it refused:
     *     event_wait(topic, seq, until);
     * event_seq() makes sure, until deadline_ms at most, that this client is
     * subscribed to its inbox before it returns; if it cannot, events may be
     * lost and the caller has to poll. Topics may share a counter, so a wake-up
     * may be spurious. When events may have been missed (after a reconnection)
     * every counter moves. Any thread.
     */
    uint32_t (*event_seq)(hf__store *store, hf_bytes topic,
                          int64_t deadline_ms);

    /*
     * Of a quorum, else NULL: read each node's counter, without a subscription;
     * and which have moved since? A node that cannot be reached does not count,
     * though its counter moves, too, unless none can be reached.
     */
    void (*event_votes)(hf__store *store, hf_bytes topic,
                        uint32_t votes[HF__VOTES_MAX]);
    hf__agreement (*event_agreed)(hf__store *store, hf_bytes topic,
                                  const uint32_t votes[HF__VOTES_MAX]);

    /*
     * Would a message published now move the topic's counter? Starts nothing;
     * never blocks. Any thread. NULL: unknown.
     */
    bool (*event_listens)(hf__store *store, hf_bytes topic);

    /*
     * Have the next change of a key move the counter of the topic named like
     * it, or now, if the key exists and `held` is false, or the reverse: for a
     * lock of other libraries, which publish nothing. Does nothing if the
     * server does not report changes. Never blocks. Any thread. NULL: all
     * changes are published.
     */
    void (*event_key)(hf__store *store, hf_bytes key, bool held);

    /*
     * Have each message on a channel of another library move the counter of
     * `topic`, for keep_ms from the last such call; 0: not any more. The
     * counter moves once the client is subscribed, as messages before that are
     * missed. `sharded`: SSUBSCRIBE; the channel is in the topic's slot. If the
     * server refuses, nothing moves the counter, and the caller has to poll.
     * Never blocks. Any thread. NULL: no other library uses such a store.
     */
    void (*event_channel)(hf__store *store, hf_bytes topic, hf_bytes channel,
                          bool sharded, int64_t keep_ms);

    /*
     * Sleep until the topic's counter has moved past `seq`, until_ms at the
     * latest; true if it moved. Not from the loop thread.
     */
    bool (*event_wait)(hf__store *store, hf_bytes topic, uint32_t seq,
                       int64_t until_ms);

    /*
     * What the last message about the topic said, if the store still knows it;
     * the size, 0: it does not. It may be about another topic, or older than
     * the last move of the counter: the text must say what it is about. Never
     * blocks. Any thread. NULL: see on_message.
     */
    size_t (*event_text)(hf__store *store, hf_bytes topic,
                         char text[HF__STORE_TEXT_MAX]);

    /*
     * Move the topic's counter for the threads of this client that sleep on it,
     * without calling watches. Never blocks. Any thread but in a forked child.
     */
    void (*event_wake)(hf__store *store, hf_bytes topic);

    /*
     * The callback form: watch->moved runs on the loop thread whenever the
     * counter moves. The loop is started if it was not. HF_SYSTEM: no thread or
     * descriptor. After unwatch() no call runs or will run, except the one it
     * is called from. Any thread, the loop thread too.
     */
    hf_status (*event_watch)(hf__store *store, hf_bytes topic, hf__watch *watch,
                             hf_error *err);
    void (*event_unwatch)(hf__store *store, hf__watch *watch);

    /*
     * Which part of the store a key lives in (a hash slot in a cluster). All
     * keys of one request must give the same number. 0 where there is only
     * one part. Never blocks.
     */
    uint32_t (*shard)(const hf__store *store, hf_bytes key);

    /*
     * Describe the store by `line`: kind, address, version, mode; never
     * passwords. May block up to connect_ms.
     */
    void (*describe)(hf__store *store, hf__describe_fn line, void *user);

    /*
     * Close and free. Requests in flight complete first, HF_UNAVAILABLE or
     * HF_INDETERMINATE if need be, without waiting for replies. No call may be
     * in progress on another thread. Not from the loop thread. In a forked
     * child only memory is freed.
     */
    void (*close)(hf__store *store);

    /*
     * Check, compact or salvage the store at config->url, see hf_store_check(),
     * hf_store_compact() and hf_store_salvage(). They open the store
     * themselves, only if it exists; of the config, url and connect_ms are
     * used, the latter to wait for other processes. NULL: not supported.
     */
    hf_status (*check)(const hf__store_config *config, const hf__check *check,
                       hf_error *err);
    hf_status (*compact)(const hf__store_config *config,
                         struct hf_store_compaction *result, hf_error *err);
    /* HF_OK: what could be copied was. */
    hf_status (*salvage)(const hf__store_config *config, const hf__salvage *how,
                         struct hf_store_salvaged *done, hf_error *err);

    /*
     * Make in the database at config->url what the store needs, or, if `print`
     * is not NULL, give it the SQL that does, and connect to nothing. Of the
     * config, url, username, password, tls and connect_ms are used. NULL: there
     * is nothing to set up.
     */
    hf_status (*setup)(const hf__store_config *config,
                       void (*print)(void *user, const char *sql), void *user,
                       hf_error *err);

    /*
     * Have a submitted request complete as if its deadline had come; no effect
     * on one that has completed but is still allocated. One that waits for an
     * element stops waiting, and completes as HF_CANCELLED unless it has got
     * one. On the loop thread, where then all completions of submit() run but
     * those of requests with any_thread, of which none completes meanwhile.
     * NULL: requests complete within submit().
     */
    void (*cancel)(hf__store *store, hf__request *request);

    /*
     * How often the pipeline has connected to the server: a different number
     * may mean a different process. Any thread, never blocks. NULL: no such
     * connection.
     */
    uint32_t (*generation)(hf__store *store);

    /*
     * The current parts of the store, queried until deadline_ms.
     * HF_UNAVAILABLE: keys are being moved between parts, or have no owner. Not
     * on the loop thread. NULL: one part, and a request without keys is about
     * all keys.
     */
    hf_status (*parts)(hf__store *store, hf__parts *parts, int64_t deadline_ms,
                       hf_error *err);

    /*
     * Diagnose all servers or files of the store, until the deadline. Changes
     * nothing. Not on the loop thread, nor in a forked child. NULL: nothing to
     * report.
     */
    void (*diagnose)(hf__store *store, const hf__diagnosis *diagnosis);

    /*
     * The tag that, between braces in a key, assigns it to this shard. Any
     * thread, never blocks. NULL: one part.
     */
    void (*tag)(uint32_t shard, char text[HF__TAG_SIZE]);

    /*
     * Report the changes of all clients from now on; subscribes to them by
     * deadline_ms. The loop is started if it was not. Not on the loop thread.
     * After close() no callback runs or will run, except one that it is called
     * from. NULL: HF_UNSUPPORTED.
     */
    hf_status (*feed_open)(hf__store *store, hf__feed *feed,
                           int64_t deadline_ms, hf_error *err);
    void (*feed_close)(hf__store *store, hf__feed *feed);

    /*
     * The same without callbacks, for who only asks whether a key is unchanged:
     * HF__STAMPS words, that of a key being hf__stamp_of(). A word is odd while
     * a write to one of its keys is being committed, and has another value when
     * that write returns. Valid until close(). Not on the loop thread. NULL: a
     * feed is needed.
     */
    hf_status (*stamps_open)(hf__store *store, int64_t deadline_ms,
                             const uint32_t **stamps, hf_error *err);
    void (*stamps_close)(hf__store *store);
} hf__store_ops;

/* Keys that share a stamp invalidate one another in near caches. */
#define HF__STAMPS (UINT32_C(1) << 16)

static inline uint32_t hf__stamp_of(uint32_t database, hf_bytes key)
{
    return (uint32_t)(hf__hash(key, database) % HF__STAMPS);
}

/* A driver's own struct begins with this. */
struct hf__store {
    const hf__store_ops *ops;
    uint32_t capabilities;
    uint32_t shards;   /* shard() is below it; 0: one part */
    uint32_t database; /* for hf__stamp_of(); of an embedded store */
};

/* Read the URL of a store: the environment's if it is NULL or "". */
hf_status hf__store_url_parse(const char *url, struct hf__url *parsed,
                              hf_error *err);
/* Is it that of HOLDFAST_STORE? */
bool hf__store_url_is_default(const char *url);

/* Is it a scheme of this driver? */
bool hf__store_takes(const hf__store_ops *ops, const char *scheme);

/* Split the message of a channel into text and topic. Without a NUL it is a
 * topic. */
void hf__store_message(hf_bytes message, hf_bytes *text, hf_bytes *topic);

/* The name of a client's channel. `prefix` may be NULL. */
void hf__store_channel(char channel[HF__CHANNEL_SIZE], const char *prefix,
                       const char *id);

#endif
