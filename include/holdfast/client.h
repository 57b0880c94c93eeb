/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/client.h - opening and closing a store.
 *
 * Contents:
 * - hf_client_options, hf_tls_options
 * - hf_client_open(), hf_client_close()
 * - hf_client_interrupt(): end waiting calls
 * - hf_client_stats, hf_client_read_stats(): counters
 * - hf_log_fn, hf_log_level: what the client's background work meets
 *
 * @code
 * int main(void)
 * {
 *     hf_error err = HF_ERROR_INIT;
 *     hf_client *client = NULL;
 *
 *     if (hf_client_open("volatile:", NULL, &client, &err) != HF_OK) {
 *         fprintf(stderr, "%s\n", err.message);
 *         return 1;
 *     }
 *     hf_client_close(client);
 *     return 0;
 * }
 * @endcode
 */
#ifndef HOLDFAST_CLIENT_H
#define HOLDFAST_CLIENT_H

#include "holdfast/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open store, shared by all threads of the process. */
typedef struct hf_client hf_client;

/**
 * Trust and identity for URLs with TLS (`rediss:` and its variants). A member
 * that is not NULL overrides the URL parameter of the same name, which begins
 * with `tls_`. Paths name PEM files.
 *
 * On `postgres:` its URL must not have `sslmode`, there is no `ca_dir`, `name`
 * or `key_password_file`, and without `ca` only "full" is possible, with a
 * libpq of version 16 or later (#HF_UNSUPPORTED).
 *
 * Files are read when the client is opened, and again when a connection is made
 * after one of them has changed, so certificates may be renewed while the
 * program runs. If the new files cannot be used, perhaps because only one of a
 * pair has been replaced, the client keeps the old ones.
 */
typedef struct hf_tls_options {
    size_t struct_size; /**< #HF_TLS_OPTIONS_INIT sets it */
    /** Trust the certificates in this file instead of the system's. */
    const char *ca;
    /** The same, a directory prepared by `openssl rehash`. */
    const char *ca_dir;
    /** The client's certificate with its chain; needs `key`. */
    const char *cert;
    /** Its private key; needs `cert`. */
    const char *key;
    /** File whose first line is the password of `key`. */
    const char *key_password_file;
    /** That password itself; copied, and wiped when the client is closed. It
     *  has no URL parameter. */
    const char *key_password;
    /** Name or IP address that the server's certificate must be for; NULL: the
     *  host of the URL. */
    const char *name;
    /** "full": verify chain and name; "ca": the chain only; "none": nothing.
     *  NULL: the URL's, else "full". */
    const char *verify;
} hf_tls_options;

/* clang-format off */
#define HF_TLS_OPTIONS_INIT \
    { sizeof(hf_tls_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }
/* clang-format on */

/** Longest `script_budget_ms`. */
#define HF_SCRIPT_BUDGET_MAX_MS 3600000

/** How much a message of hf_log_fn() matters. */
typedef enum hf_log_level {
    /** Something is lost: a lease, or the store behind the client. */
    HF_LOG_ERROR = 1,
    /** The client works around it: a connection lost, a renewal without an
     *  answer, wake-ups lost so that waiters poll, a failover. */
    HF_LOG_WARNING = 2,
    /** It works again, or the servers' roles have changed as planned. */
    HF_LOG_INFO = 3,
    /** Connections made, and what a call left to be undone. */
    HF_LOG_DEBUG = 4
} hf_log_level;

/**
 * Called with what the client's background work meets and no call returns.
 *
 * On the client's background thread, one message at a time and with no lock
 * held, until hf_client_close() returns. That thread also renews leases: the
 * function must not block, nor call the library.
 *
 * The same text comes at most once a second, and more rarely the longer it
 * recurs, up to once a minute; how often it was left out follows it, as in
 * "... (7 more times)". Of different texts at most 64 come in a second.
 *
 * @param user     `log_user`
 * @param level    how much it matters
 * @param message  a line of text in English, without a newline and never with a
 *                 password; valid during the call. The texts may change from
 *                 version to version
 */
typedef void (*hf_log_fn)(void *user, hf_log_level level, const char *message);

/** Options of hf_client_open(). */
typedef struct hf_client_options {
    size_t struct_size; /**< #HF_CLIENT_OPTIONS_INIT sets it */
    /** Added in front of every key and lock name; NULL: $HOLDFAST_PREFIX, else
     *  none; "": none. At most 1024 bytes, no braces. The library's own keys
     *  and channels begin with it too (`PREFIXhf:...`), so clients with
     *  different prefixes share nothing. */
    const char *prefix;
    /** Longest time a call may take in addition to its own `wait_ms`, ms;
     *  0: the URL's `request_ms`, else 5000; range 1..3600000. */
    int64_t request_ms;
    /** Longest time to resolve a server's name, connect and log in, ms;
     *  0: the URL's `connect_ms`, else 2000; range 1..3600000. */
    int64_t connect_ms;
    /** User and password for a server; each overrides the URL's. NULL: the
     *  URL's; for the password also the file named by the URL's
     *  `password_file`, then that named by $HOLDFAST_PASSWORD_FILE, then
     *  $HOLDFAST_PASSWORD. "": no login. Ignored by the embedded store. */
    const char *username;
    const char *password;
    /** Most processor time a script may use on an embedded store, or of a
     *  client of PostgreSQL, ms; 0: the URL's `script_budget_ms`, else 5000;
     *  range 1..#HF_SCRIPT_BUDGET_MAX_MS.
     *  A script that exceeds it, or that has not ended by the call's deadline
     *  (`request_ms`), is undone completely. If it runs again because the store
     *  had to grow, the budget is for all its runs. All other writers wait
     *  while it runs: set it below a third of the shortest lease on the store.
     *  Ignored by servers of Redis, which have `busy-reply-threshold`. */
    int64_t script_budget_ms;
    /** File whose first line is the password, if `password` is NULL. */
    const char *password_file;
    /** The name that a server shows in CLIENT LIST; NULL: the URL's
     *  `client_name`, else "holdfast". 1 to 64 bytes of printable ASCII without
     *  spaces. PostgreSQL shows it in `pg_stat_activity`, unless the URL has
     *  `application_name`. Ignored by the embedded store. */
    const char *client_name;
    /** For URLs with TLS; NULL: the URL's parameters. HF_INVALID with the URL
     *  of a server over plain TCP; ignored by embedded stores and unix
     *  sockets. */
    const hf_tls_options *tls;
    /** Replicas that must acknowledge each write, and each lock whose options
     *  do not say otherwise; 0: the URL's `replicas`, else none;
     *  #HF_REPLICAS_NONE; 1..#HF_REPLICAS_MAX. See "Replicas" in base.h.
     *  HF_UNSUPPORTED on stores without replicas (embedded, redlock:) and on
     *  servers without WAIT. */
    int32_t replicas;
    uint32_t reserved0; /**< must be 0 */
    /** Longest time to wait for them, ms, within the call's own limit; 0: the
     *  URL's `replicas_ms`, else 1000; range 1..3600000. */
    int64_t replicas_ms;
    /** Most asynchronous calls in progress, that is, started and not yet
     *  reported; 0: 65536; range 1..1000000. Beyond that a start returns
     *  HF_UNAVAILABLE. Renewals and releases are not counted, up to as many
     *  again. At most 65536 calls can be in flight to one server, not counting
     *  those that only wait for a lock; a call beyond is HF_UNAVAILABLE. */
    int64_t max_calls;
    /** Most bytes that these may hold: copies of their keys and values, and
     *  replies, in addition to about 2 KiB for each call; 0: 64 MiB; range
     *  1..2^40. Beyond that a start returns HF_UNAVAILABLE, unless no other
     *  call is in progress. */
    int64_t max_call_bytes;
    /** What hf_lock_holder() shows to others in addition to program, process,
     *  user and host; NULL: $HOLDFAST_DESCRIPTION, else nothing. Less than
     *  #HF_HOLDER_TEXT_SIZE bytes. */
    const char *description;
    /** Called with what the client's background work meets, see hf_log_fn();
     *  NULL: nothing is called. With it, the client has its background thread
     *  from the beginning. */
    hf_log_fn on_log;
    void *log_user; /**< for `on_log` */
    /** The least important messages that are wanted, a #hf_log_level; 0:
     *  #HF_LOG_INFO. */
    int32_t log_level;
    uint32_t reserved1; /**< must be 0 */
} hf_client_options;

/* clang-format off */
#define HF_CLIENT_OPTIONS_INIT \
    { sizeof(hf_client_options), NULL, 0, 0, NULL, NULL, 0, NULL, NULL, NULL, \
      0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0 }
/* clang-format on */

/**
 * Open a store.
 *
 * The call connects to a server and logs in before it returns, so that a wrong
 * address or password shows here. An embedded store is created if it does not
 * exist.
 *
 * - `volatile:[NAME]`, `volatile:/DIR`: embedded, in memory, shared by this
 *   user's processes, gone at reboot
 * - `file:/DIR[?durability=commit]`: embedded, on disk; an acknowledged write
 *   survives a power cut
 * - `file:/DIR?durability=log`: the same promise, by a log: one flush of the
 *   disk for a write in place of two
 * - `file:/DIR?durability=flush`: faster; a power cut loses at most
 *   what was acknowledged within the last second, a killed process nothing
 * - `redis://[user:password@]host[:6379][/db]`, `valkey://...`: one server over
 *   TCP
 * - `rediss://...`, `valkeys://...`: the same over TLS; the certificate's chain
 *   and name are verified. Parameters: `tls_ca=FILE`, `tls_ca_dir=DIR`,
 *   `tls_cert=FILE`, `tls_key=FILE`, `tls_key_password_file=FILE`,
 *   `tls_name=NAME`, `tls_verify=full|ca|none`; see #hf_tls_options
 * - `redis+unix:///path/socket[?db=N]`, `valkey+unix://...`: one server over a
 *   unix socket
 * - `redis+sentinel://[user:password@]h1[:26379][,h2...]/NAME[/db]`: the master
 *   NAME as reported by the sentinels h1, h2, ...; their own account is
 *   `?sentinel_username=U&sentinel_password=P` (or
 *   `sentinel_password_file=FILE`). Also valkey+sentinel:, and over TLS, to
 *   servers and sentinels, rediss+sentinel: and valkeys+sentinel:
 * - `redis+cluster://[user:password@]h1[:6379][,h2...]`: a cluster, found
 *   through any of these nodes. Also valkey+cluster:, and over TLS
 *   rediss+cluster: and valkeys+cluster:. The keys of a call must share a hash
 *   slot: HF_INVALID names two that do not
 * - `redlock:URL,URL,URL[,...]`: 3 to 15 independent servers, each given by the
 *   URL of one server; a lock is held if most of them granted it. Locks only:
 *   other calls are HF_UNSUPPORTED. `quarantine=MS,` (default 60000) may come
 *   before the servers: how long a restarted server does not vote, which no
 *   lease may exceed (0: servers lose no data in a restart)
 * - `postgres://[user[:password]@]host[:5432][,h2...][/database]`,
 *   `postgresql://...`: tables in PostgreSQL, which hf_store_setup() makes; it
 *   has parameters of its own, see docs/reference/stores.md. HF_UNSUPPORTED:
 *   the package libholdfast-postgres is not installed
 *
 * Embedded stores accept `?max_size=BYTES` (suffixes K, M, G; default 1G),
 * `?script_budget_ms=MS` (default 5000; see #hf_client_options) and `?db=N`
 * (0..15, default 0: a database, which has keys of its own), all servers of
 * Redis `?password_file=FILE` and `?client_name=NAME`, and all of them but
 * redlock: `?replicas=N` and `?replicas_ms=MS`, `?layout=redisson` and
 * `?channels=auto|plain|sharded`, see redisson.h. All stores but redlock:
 * accept `?request_ms=MS` and `?connect_ms=MS`; see #hf_client_options.
 *
 * @param url     NULL or "": $HOLDFAST_STORE, else `volatile:`
 * @param opts    NULL for defaults
 * @param client  [out] close it with hf_client_close()
 *
 * @retval HF_OK           the client is ready
 * @retval HF_INVALID      the URL or an option is invalid, and the message
 *                         names the part; or the path holds something other
 *                         than a store, which is left alone
 * @retval HF_UNSUPPORTED  this build lacks something that the store needs, an
 *                         option or the store's format is newer than the
 *                         library, the server is older than 7.0, or the
 *                         directory is on a network file system
 * @retval HF_UNAVAILABLE  no server answered within connect_ms
 * @retval HF_DENIED       wrong password, no permission for a file, or one side
 *                         does not trust the other's certificate
 * @retval HF_FULL         no room to create the embedded store
 * @retval HF_CORRUPT      the store is damaged
 * @retval HF_SYSTEM       a system call failed
 *
 * Blocks: up to connect_ms; on an embedded store, which processes open one
 * after another, until none has opened it for connect_ms.
 */
HF_API HF_MUST_USE hf_status hf_client_open(const char *url,
                                            const hf_client_options *opts,
                                            hf_client **client, hf_error *err);

/**
 * Close a client.
 *
 * New calls return HF_INVALID. Blocking acquires of other threads are
 * interrupted (HF_CANCELLED), and calls in progress are waited for.
 * Asynchronous calls are completed by the close itself: HF_UNAVAILABLE if they
 * were not sent, HF_INDETERMINATE if they were, without waiting for replies. A
 * command that waits for an element, blocking or started: HF_CANCELLED, or
 * HF_INDETERMINATE if the server does not answer. A done() may close its
 * client, even one called by the close.
 *
 * Locks and scripts may be freed before or after it. Afterwards they can only
 * be freed: other calls on them return HF_INVALID, no lock counts as held, and
 * a lease expires by itself. They keep the client's memory allocated, so a
 * thread that owns one may safely begin calls while another thread closes the
 * client; a thread that owns none must not begin calls that could come after
 * the close.
 *
 * Within on_lost, or in a callback of a blocking call of the client, it does
 * nothing.
 *
 * @param client  may be NULL
 *
 * Blocks: until calls in progress have returned (a dump or load completely),
 * then at most one request.
 */
HF_API void hf_client_close(hf_client *client);

/**
 * hf_lock_interrupt() for every handle of a client; and end the blocking calls
 * of commands that wait for an element, see command.h. One that was started is
 * ended by hf_call_cancel().
 *
 * @retval HF_OK  calls in progress end; also if there are none
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_client_interrupt(hf_client *client,
                                                 hf_error *err);

/** What a client has done since it was opened, and is doing. */
typedef struct hf_client_stats {
    size_t struct_size;       /**< #HF_CLIENT_STATS_INIT sets it */
    uint64_t calls_running;   /**< asynchronous calls in progress now */
    uint64_t calls_bytes;     /**< what these hold; see `max_call_bytes` */
    uint64_t calls_completed; /**< those whose done() has been called */
    uint64_t leases_granted;  /**< locks, permits and elections acquired; a
                                   re-entry is none */
    uint64_t leases_renewed;  /**< renewals that the store has granted */
    uint64_t renewals_failed; /**< those without a reply, or that the store
                                   could not decide; they are repeated while
                                   the lease is valid */
    uint64_t leases_lost;     /**< ended before their release; a growing number
                                   calls for longer leases */
} hf_client_stats;

/* clang-format off */
#define HF_CLIENT_STATS_INIT { sizeof(hf_client_stats), 0, 0, 0, 0, 0, 0, 0 }
/* clang-format on */

/**
 * Read the counters of a client. Those of calls are of one instant, and so are
 * those of leases.
 *
 * @param stats  filled; its `struct_size` is set
 *
 * @retval HF_OK       read
 * @retval HF_INVALID  also: `struct_size` is not set
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_client_read_stats(hf_client *client,
                                                  hf_client_stats *stats,
                                                  hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_CLIENT_H */
