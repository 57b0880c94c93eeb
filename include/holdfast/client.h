/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/client.h - opening and closing a store.
 */
#ifndef HOLDFAST_CLIENT_H
#define HOLDFAST_CLIENT_H

#include "holdfast/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A connection to one store, shared by all threads of the process. */
typedef struct hf_client hf_client;

/**
 * Whom a client trusts and how it proves who it is, for URLs with TLS
 * (`rediss:` and its kin). Each member that is not NULL overrides the parameter
 * of the same name, with `tls_` in front, of every URL. Paths are of PEM files.
 *
 * Files are read when the client is opened, and again whenever a connection is
 * made after one of them has changed: certificates may be renewed under a
 * running program. What cannot be used, perhaps because only half of it is
 * there, leaves the client with what it had.
 */
typedef struct hf_tls_options {
    size_t struct_size; /**< #HF_TLS_OPTIONS_INIT sets it */
    /** Trust the certificates in this file, and not the system's. */
    const char *ca;
    /** The same with a directory made by `openssl rehash`. */
    const char *ca_dir;
    /** Our certificate with its chain; needs `key`. */
    const char *cert;
    /** Its private key; needs `cert`. */
    const char *key;
    /** File whose first line is the password of the key. */
    const char *key_password_file;
    /** That password itself; copied, and wiped when the client is closed. No
     *  URL has a parameter for it. */
    const char *key_password;
    /** Name or IP address that the server's certificate must have; NULL: the
     *  host that is connected to. */
    const char *name;
    /** "full": chain and name are verified; "ca": the chain only; "none":
     *  nothing. NULL: the URL's, else "full". */
    const char *verify;
} hf_tls_options;

/* clang-format off */
#define HF_TLS_OPTIONS_INIT \
    { sizeof(hf_tls_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }
/* clang-format on */

/** Longest `script_budget_ms`. */
#define HF_SCRIPT_BUDGET_MAX_MS 3600000

/** Options of hf_client_open(). Zero means the default of each. */
typedef struct hf_client_options {
    size_t struct_size; /**< #HF_CLIENT_OPTIONS_INIT sets it */
    /** Put before every key and lock name; NULL: what HOLDFAST_PREFIX says,
     *  else nothing; "": nothing. At most 1024 bytes, no braces. Keys and
     *  channels of the library itself begin with it too (`PREFIXhf:...`), so
     *  that clients with different prefixes share nothing. */
    const char *prefix;
    /** Longest time one call may take beside its own `wait_ms`, ms;
     *  0: 5000; range 1..3600000. */
    int64_t request_ms;
    /** Longest time to find a server (DNS), connect and log in, ms; 0: 2000;
     *  range 1..3600000. */
    int64_t connect_ms;
    /** User and password for a server; each overrides the URL's; NULL: the
     *  URL's, or the file that its `password_file` names, then (password) the
     *  file named by HOLDFAST_PASSWORD_FILE, then HOLDFAST_PASSWORD. "": no
     *  login. Ignored by the embedded store. */
    const char *username;
    const char *password;
    /** Most processor time one script may use on an embedded store, ms; 0: the
     *  URL's `script_budget_ms`, else 5000; range 1..#HF_SCRIPT_BUDGET_MAX_MS.
     *  A script that exceeds it is undone whole, and so is one that has not
     *  ended by the call's deadline (`request_ms`). It keeps all other writers
     *  out while it runs: set less than a third of the shortest lease on the
     *  same store. Ignored by servers, which have `busy-reply-threshold`. */
    int64_t script_budget_ms;
    /** File whose first line is the password, if `password` is NULL. */
    const char *password_file;
    /** What a server shows in CLIENT LIST; NULL: the URL's `client_name`, else
     *  "holdfast". 1 to 64 bytes of printable ASCII without blanks. Ignored by
     *  the embedded store. */
    const char *client_name;
    /** For URLs with TLS; NULL: what they say. HF_INVALID with the URL of a
     *  server over plain TCP; ignored where nothing leaves the machine. */
    const hf_tls_options *tls;
    /** Replicas that are to acknowledge each write, and each lock that does not
     *  say otherwise; 0: as many as the URL's `replicas` says, else none;
     *  #HF_REPLICAS_NONE; 1..#HF_REPLICAS_MAX. See "Replicas" above.
     *  HF_UNSUPPORTED where there are none (embedded stores, redlock:), and
     *  where the server has no WAIT. */
    int32_t replicas;
    uint32_t reserved0; /**< must be 0 */
    /** Longest time to wait for them, ms, within the call's own;
     *  0: the URL's `replicas_ms`, else 1000; range 1..3600000. */
    int64_t replicas_ms;
    /** Most asynchronous calls under way, that is started and not told yet;
     *  0: 65536; range 1..1000000. Beyond them a start is HF_UNAVAILABLE. Not
     *  counted are renewals and releases, up to as many again. Of calls that
     *  do not just wait for a lock, 65536 can be on their way to one server;
     *  the others are told HF_UNAVAILABLE. */
    int64_t max_calls;
    /** Most bytes that these may hold: the copies of their keys and values, and
     *  the answers that have come, beside some 2 KiB for each call itself;
     *  0: 64 MiB; range 1..2^40. Beyond them a start is HF_UNAVAILABLE, unless
     *  no other call is under way. */
    int64_t max_call_bytes;
    /** What others are told of the holder of a lock, beside program, process,
     *  user and host; NULL: what HOLDFAST_DESCRIPTION says, else nothing. Less
     *  than #HF_HOLDER_TEXT_SIZE bytes. See hf_lock_holder(). */
    const char *description;
} hf_client_options;

/* clang-format off */
#define HF_CLIENT_OPTIONS_INIT \
    { sizeof(hf_client_options), NULL, 0, 0, NULL, NULL, 0, NULL, NULL, NULL, \
      0, 0, 0, 0, 0, NULL }
/* clang-format on */

/**
 * Open a store.
 *
 * A server is connected to and logged in to before the call returns, so that a
 * wrong address or password shows here. An embedded store is created if it is
 * not there.
 *
 * - `volatile:[NAME]`, `volatile:/DIR`: embedded, in memory, shared by this
 *   user's processes, gone at reboot
 * - `file:/DIR[?durability=commit]`: embedded, on disk; an acknowledged write
 *   survives a power cut
 * - `file:/DIR?durability=flush`: the same, faster; a power cut loses at most
 *   what was acknowledged within one second, a killed process nothing
 * - `redis://[user:password@]host[:6379][/db]`, `valkey://...`: one server over
 *   TCP
 * - `rediss://...`, `valkeys://...`: the same over TLS, with the certificate's
 *   chain and name verified; parameters `tls_ca=FILE`, `tls_ca_dir=DIR`,
 *   `tls_cert=FILE` with `tls_key=FILE` and `tls_key_password_file=FILE`,
 *   `tls_name=NAME`, `tls_verify=full|ca|none`; see #hf_tls_options
 * - `redis+unix:///path/socket[?db=N]`, `valkey+unix://...`: one server over a
 *   unix socket
 * - `redis+sentinel://[user:password@]h1[:26379][,h2...]/NAME[/db]`: the master
 *   of that name, wherever the sentinels h1, h2, ... say it is; with
 *   `?sentinel_username=U&sentinel_password=P` (or
 *   `sentinel_password_file=FILE`) for their own account. So also
 *   valkey+sentinel:, and over TLS to servers and sentinels rediss+sentinel:
 *   and valkeys+sentinel: with the parameters above
 * - `redis+cluster://[user:password@]h1[:6379][,h2...]`: a cluster, found by
 *   any of these nodes. So also valkey+cluster:, and over TLS rediss+cluster:
 *   and valkeys+cluster: with the parameters above. Keys of one call must be of
 *   one hash slot: HF_INVALID names two that are not
 * - `redlock:URL,URL,URL[,...]`: 3 to 15 independent servers, each by a URL as
 *   above for one server; a lock is held by whoever holds it on most of them.
 *   Locks only: anything else is HF_UNSUPPORTED. In front of the servers may
 *   stand `quarantine=MS,` (default 60000): how long a server that was started
 *   again does not vote, which no lease may exceed (0: servers forget nothing)
 *
 * Both embedded forms take `?max_size=BYTES` (suffixes K, M, G; default 1G)
 * and `?script_budget_ms=MS` (default 5000; see #hf_client_options), all URLs
 * of servers `?password_file=FILE` and `?client_name=NAME`, and all but
 * redlock: `?replicas=N` and `?replicas_ms=MS`.
 *
 * @param url     NULL or "": the environment's HOLDFAST_STORE; if that is not
 *                set either, `volatile:`
 * @param opts    NULL for defaults
 * @param client  [out] end it with hf_client_close()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           the client is ready
 * @retval HF_INVALID      the URL or an option is wrong, and the message names
 *                         the part; or the path holds something that is not a
 *                         store of ours, which is left alone
 * @retval HF_UNSUPPORTED  the store needs something this build does not have,
 *                         an option or the store's format is newer than the
 *                         library, the server is older than 7.0, or the
 *                         directory is on a network file system
 * @retval HF_UNAVAILABLE  no server answered within connect_ms
 * @retval HF_DENIED       password or file permission refused, or a certificate
 *                         is not trusted, ours by the server or the server's
 *                         by us
 * @retval HF_FULL         no room to create the embedded store
 * @retval HF_CORRUPT      the store is damaged
 * @retval HF_SYSTEM       an operating system call failed
 * @retval HF_NO_MEMORY    nothing was opened
 *
 * Blocks: up to connect_ms. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_client_open(const char *url,
                                            const hf_client_options *opts,
                                            hf_client **client, hf_error *err);

/**
 * Close a client.
 *
 * Calls that begin from now on are HF_INVALID; blocking acquires on other
 * threads are interrupted (HF_CANCELLED); it waits for all calls under way.
 * Asynchronous ones are told from within it: HF_UNAVAILABLE if they were not
 * sent, HF_INDETERMINATE if they were, without waiting for answers. A done()
 * may close its client, also one that is told here.
 *
 * Locks and scripts may be freed before or after it. Those left can only be
 * freed: other calls on them are HF_INVALID, no lock counts as held, and the
 * lease of one that was ends by itself. They keep the client's memory, so a
 * thread that owns one may begin calls while another closes; without one, a
 * call must not begin that may come after the close.
 *
 * Within on_lost, or a callback of a blocking call of the client, it does
 * nothing.
 *
 * @param client  NULL is allowed
 *
 * Blocks: until calls under way have returned (a dump or load as a whole), then
 * at most one request. Since 0.1.
 */
HF_API void hf_client_close(hf_client *client);

/**
 * hf_lock_interrupt() for every handle of a client.
 *
 * @param client  open client
 * @param err     [out] may be NULL
 *
 * @retval HF_OK       calls under way end; also if there were none
 * @retval HF_INVALID  client is NULL, closed, or from before fork()
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_client_interrupt(hf_client *client,
                                                 hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_CLIENT_H */
