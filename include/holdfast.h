/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast.h
 * State that several programs share, that must change atomically, and that
 * must go away on time: locks, values, hashes and scripts, on an embedded
 * store with no server or on Redis and Valkey.
 *
 * Conventions, which hold for every function below unless it says otherwise:
 *
 * - **Status.** A fallible function returns an #hf_status. Its hundreds digit
 *   (hf_status_kind()) says what to do: 1xx the answer is no, 2xx not applied
 *   and may be tried again, 3xx unknown whether applied, 4xx the caller's
 *   mistake, 5xx broken. Out-parameters are written only on HF_OK, except
 *   where a parameter says otherwise.
 *   Beside those a function lists, any call to a store may answer
 *   HF_UNSUPPORTED (the server lacks something), HF_FULL (it refuses all
 *   writes), HF_SCRIPT or HF_CORRUPT (it answers what it should not; or the
 *   files of an embedded store were removed, replaced or cut short: close the
 *   client and open the store anew).
 * - **Errors.** The last parameter may be NULL. Otherwise it is filled on
 *   every status but HF_OK and left alone on HF_OK.
 * - **Time.** Durations are milliseconds (`_ms`). Local instants are
 *   milliseconds of CLOCK_BOOTTIME. Only a parameter named `_unix_ms` is wall
 *   clock, and it is compared with the store's clock, never with the caller's.
 * - **Bytes.** Keys, fields and values are binary-safe; a key, a field or a
 *   lock's name has 1 to #HF_NAME_MAX bytes, a value 0 to #HF_VALUE_MAX.
 *   Inputs are copied or used before the call returns.
 * - **Threads.** Every function may be called from any thread; one client
 *   serves them all at once. Freeing an object while another thread uses it
 *   is an error of the caller; for closing see hf_client_close().
 * - **Fork.** After fork() the child may not use the parent's clients or
 *   locks: every call answers HF_INVALID, and closing or freeing them there
 *   only releases memory.
 * - **Signals.** Nothing here may be called from a signal handler. The library
 *   installs no handlers, never raises SIGPIPE and blocks all signals in its
 *   background thread.
 * - **Blocking.** A call that talks to the store returns within the client's
 *   `request_ms`, plus its own `wait_ms` where it has one. Looking up a host's
 *   name is the system's affair and may take longer.
 *
 * - **Replicas.** A server acknowledges a write by itself; its replicas follow,
 *   and one that is promoted before it has caught up lacks the write. With
 *   `replicas` in hf_client_options, hf_lock_options or the URL, what wrote
 *   waits until so many of them have acknowledged it, for `replicas_ms` and
 *   within its own time. If fewer do: an acquire is given back and is
 *   HF_UNAVAILABLE, at once if it waits for #HF_FOREVER; any other write is
 *   HF_INDETERMINATE, as it has happened but may be lost, and its
 *   out-parameters are not written. A renewal is HF_OK then, and
 *   hf_lock_replicas() tells. Every script counts as a write. Reading,
 *   releasing and hf_store_load() do not wait, nor does what was refused. Other
 *   calls are not held up. This makes the loss of a lock by failover rare; it
 *   excludes it only if all replicas that can be promoted are asked for, and
 *   fencing tokens are what makes it harmless.
 *
 * A lock here is a lease: it ends by itself when its holder does not renew it,
 * so a holder that was paused may go on working while another holds the lock.
 * hf_lock_is_held() is the check to make before each effect, and the fencing
 * token (hf_lock_token()) is what makes a late effect harmless.
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header. Before 1.0 a minor version may break the ABI. */
#define HF_VERSION_MAJOR 0
#define HF_VERSION_MINOR 1
#define HF_VERSION_PATCH 0

/** Longest key, hash field or lock name, in bytes, the client's prefix
 *  included. */
#define HF_NAME_MAX 4096

/** Longest value, in bytes: 512 MiB, the limit of Redis (proto-max-bulk-len).
 */
#define HF_VALUE_MAX 536870912

/** Longest time to live of a key, ms: 100 years of 365.25 days. */
#define HF_TTL_MAX_MS INT64_C(3155760000000)

/** Shortest and longest lease of a lock, ms: shorter than 10 ms no renewal
 *  could keep up; a day is the longest a crashed holder can block others. */
#define HF_LOCK_TTL_MIN_MS INT64_C(10)
#define HF_LOCK_TTL_MAX_MS INT64_C(86400000)

/** Most replicas that a write can wait for, and what says "none" where 0 says
 *  "the default". */
#define HF_REPLICAS_MAX 16
#define HF_REPLICAS_NONE (-1)

/** Wait until the answer is yes. */
#define HF_FOREVER INT64_MAX

#if defined(__GNUC__)
#define HF_API __attribute__((visibility("default")))
#define HF_MUST_USE __attribute__((warn_unused_result))
#else
#define HF_API
#define HF_MUST_USE
#endif

/* ------------------------------------------------------------------ status */

/**
 * Every status: name, value, text. The values are ABI: new ones are only
 * added, and the hundreds digit of each is its kind.
 */
#define HF_STATUS_MAP(X)                                                       \
    X(OK, 0, "success")                                                        \
    X(HELD, 100, "the lock is held by another owner")                          \
    X(CONFLICT, 101, "the condition does not hold")                            \
    X(NOT_FOUND, 102, "no such key, or it has expired")                        \
    X(LOST, 103, "the lock was lost to another owner or to time")              \
    X(TIMEOUT, 104, "the wait ended before the answer was yes")                \
    X(EXPIRED, 105, "the lease had already ended; nobody holds it")            \
    X(CANCELLED, 106, "the call was cancelled; nothing was applied")           \
    X(UNAVAILABLE, 200, "the store is not reachable; nothing was applied")     \
    X(FULL, 201, "the store has no room; nothing was applied")                 \
    X(INDETERMINATE, 300, "sent, but no answer came: it may be applied")       \
    X(INVALID, 400, "invalid argument")                                        \
    X(UNSUPPORTED, 401, "not supported by this store or version")              \
    X(DENIED, 402, "permission or password refused")                           \
    X(WRONG_TYPE, 403, "the key holds another type of value")                  \
    X(SCRIPT, 404, "the script is wrong or raised an error")                   \
    X(NO_MEMORY, 500, "out of memory")                                         \
    X(CORRUPT, 501, "stored data or a reply is malformed")                     \
    X(SYSTEM, 502, "the operating system refused a call")

/** What a call came to. See #HF_STATUS_MAP. */
typedef enum hf_status {
#define HF_STATUS_ENUM(name, value, text) HF_##name = value,
    HF_STATUS_MAP(HF_STATUS_ENUM)
#undef HF_STATUS_ENUM
} hf_status;

/** What a status asks of the caller: its hundreds digit. */
typedef enum hf_kind {
    HF_KIND_OK = 0,      /**< done */
    HF_KIND_NO = 1,      /**< answered "no": an ordinary outcome */
    HF_KIND_RETRY = 2,   /**< not applied; trying again may succeed */
    HF_KIND_UNKNOWN = 3, /**< may be applied; find out before trying again */
    HF_KIND_USAGE = 4,   /**< the caller must change something */
    HF_KIND_FATAL = 5    /**< the process or the store is broken */
} hf_kind;

/** Bytes of #hf_error::message, the terminating NUL included. */
#define HF_ERROR_MESSAGE_SIZE 240

/**
 * Detail of a failure; caller-owned, no destructor. Start it with
 * #HF_ERROR_INIT.
 */
typedef struct hf_error {
    size_t struct_size; /**< sizeof(hf_error) */
    hf_status status;   /**< the status that was returned */
    int sys_errno;      /**< errno behind it, or 0 */
    /** One line of text without a newline; never holds a password. */
    char message[HF_ERROR_MESSAGE_SIZE];
} hf_error;

/* clang-format off */
#define HF_ERROR_INIT { sizeof(hf_error), HF_OK, 0, { 0 } }
/* clang-format on */

/**
 * Kind of a status: its hundreds digit.
 *
 * @param status  any status, also one this header does not know
 * @return the kind; HF_KIND_FATAL for a value outside 0..599
 *
 * Never blocks. Since 0.1.
 */
HF_API hf_kind hf_status_kind(hf_status status);

/**
 * Name of a status as written in C without the prefix, for instance "HELD".
 *
 * @param status  any status
 * @return a static string; "UNKNOWN" for a value this library does not know
 *
 * Never blocks. Since 0.1.
 */
HF_API const char *hf_status_name(hf_status status);

/**
 * One line of text about a status, for people.
 *
 * @param status  any status
 * @return a static string without a newline
 *
 * Never blocks. Since 0.1.
 */
HF_API const char *hf_status_text(hf_status status);

/**
 * Version of the library that is running.
 *
 * @return "major.minor.patch", a static string
 *
 * Never blocks. Since 0.1.
 */
HF_API const char *hf_version(void);

/* ------------------------------------------------------------------- bytes */

/** A view of bytes owned by someone else. */
typedef struct hf_bytes {
    const void *data; /**< may be NULL only if size is 0 */
    size_t size;      /**< bytes */
} hf_bytes;

/** View `size` bytes at `data`. */
static inline hf_bytes hf_view(const void *data, size_t size)
{
    hf_bytes view;

    view.data = data;
    view.size = size;
    return view;
}

/** View a C string without its NUL; NULL gives an empty view. */
static inline hf_bytes hf_str(const char *text)
{
    return hf_view(text, text == NULL ? 0 : strlen(text));
}

/**
 * Bytes owned by the caller. A call that fills one allocates `data`, with a
 * NUL behind the last byte so that text can be read as a C string. `data` is
 * NULL when there is no value at all. Start it with #HF_BUFFER_INIT and end it
 * with hf_buffer_free().
 */
typedef struct hf_buffer {
    void *data;  /**< NULL: no value */
    size_t size; /**< bytes, without the NUL */
} hf_buffer;

/* clang-format off */
#define HF_BUFFER_INIT { NULL, 0 }
/* clang-format on */

/**
 * Free what a call put into `buffer` and reset it.
 *
 * @param buffer  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_buffer_free(hf_buffer *buffer);

/* ------------------------------------------------------------------ client */

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

/* --------------------------------------------------------------------- key */

/**
 * Remaining time to live of a key of any type.
 *
 * @param client  open client
 * @param key     the key
 * @param ttl_ms  [out] ms to live; -1: the key does not expire
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*ttl_ms` is set
 * @retval HF_NOT_FOUND      no such key
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was done
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_key_ttl(hf_client *client, hf_bytes key,
                                        int64_t *ttl_ms, hf_error *err);

/**
 * Set or remove the time to live of a key of any type.
 *
 * @param client  open client
 * @param key     the key
 * @param ttl_ms  1..#HF_TTL_MAX_MS from now on the store's clock; -1: the key
 *                shall not expire
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the key lives that long from now
 * @retval HF_NOT_FOUND      no such key; nothing was changed
 * @retval HF_INVALID        bad key or ttl_ms; nothing was changed
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_key_touch(hf_client *client, hf_bytes key,
                                          int64_t ttl_ms, hf_error *err);

/* ------------------------------------------------------------------- value */

/** Flags of hf_value_set(). */
enum {
    HF_SET_NX = 1u << 0,      /**< only if the key does not exist */
    HF_SET_XX = 1u << 1,      /**< only if the key exists */
    HF_SET_KEEPTTL = 1u << 2, /**< keep the key's time to live */
    HF_SET_GET = 1u << 3      /**< hand back the value before the call */
};

/** Options of hf_value_set(). */
typedef struct hf_value_set_options {
    size_t struct_size; /**< #HF_VALUE_SET_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_SET_* bits; NX and XX exclude each other */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live, ms, 1..#HF_TTL_MAX_MS (EX and PX of Redis); 0: none. */
    int64_t ttl_ms;
    /** Instant of expiry, ms of Unix time on the store's clock (EXAT and PXAT
     *  of Redis), 1..253402300799999 (the year 9999); 0: none. An instant in
     *  the past deletes the key. At most one of ttl_ms, expires_unix_ms and
     *  HF_SET_KEEPTTL. */
    int64_t expires_unix_ms;
} hf_value_set_options;

/* clang-format off */
#define HF_VALUE_SET_OPTIONS_INIT { sizeof(hf_value_set_options), 0, 0, 0, 0 }
/* clang-format on */

/**
 * Set a value together with its expiry in one atomic step: the SET of Redis
 * with all its options.
 *
 * Without options the value replaces whatever the key held, of any type, and
 * the key does not expire. A refused call (HF_CONFLICT, HF_NOT_FOUND) changes
 * nothing, the time to live included.
 *
 * @param client    open client
 * @param key       the key
 * @param value     the bytes to store
 * @param opts      NULL for defaults
 * @param previous  [out] with HF_SET_GET: the value before the call, `data`
 *                  NULL if there was none; written also on HF_CONFLICT and
 *                  HF_NOT_FOUND. May be NULL.
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the value and its expiry are set
 * @retval HF_CONFLICT       HF_SET_NX and the key exists
 * @retval HF_NOT_FOUND      HF_SET_XX and the key does not exist
 * @retval HF_WRONG_TYPE     HF_SET_GET and the key holds no string
 * @retval HF_INVALID        bad key, value or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed, unless HF_SET_GET was asked:
 *                           then the value may be set and only the copy of the
 *                           previous one be missing
 *
 * Since 0.1. See SET in the Redis command reference.
 */
HF_API HF_MUST_USE hf_status hf_value_set(hf_client *client, hf_bytes key,
                                          hf_bytes value,
                                          const hf_value_set_options *opts,
                                          hf_buffer *previous, hf_error *err);

/**
 * Read a value.
 *
 * @param client  open client
 * @param key     the key
 * @param value   [out] the bytes; end with hf_buffer_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*value` is set
 * @retval HF_NOT_FOUND      no such key
 * @retval HF_WRONG_TYPE     the key holds no string
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the value does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_get(hf_client *client, hf_bytes key,
                                          hf_buffer *value, hf_error *err);

/**
 * Delete a value.
 *
 * @param client  open client
 * @param key     the key
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the key is gone
 * @retval HF_NOT_FOUND      there was no such key
 * @retval HF_WRONG_TYPE     the key holds no string; it was left alone
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_delete(hf_client *client, hf_bytes key,
                                             hf_error *err);

/** Flags of hf_value_cas() and hf_hash_cas(). */
enum {
    /** Send it at most once: a lost answer is HF_INDETERMINATE. Otherwise a
     *  server keeps a mark, by which a second sending finds out what became of
     *  the first: a key `PREFIXhf:cas:...` of about 150 bytes for each call
     * that is under way at once (in a cluster: for each slot), for twice the
     * client's `request_ms`. That takes one more read and one more write, at a
     * server that is busy a third of the rate (docs/adr/0025). */
    HF_CAS_ONCE = 1u << 0
};

/** Options of hf_value_cas() and hf_hash_cas(). Zero means the default. */
typedef struct hf_cas_options {
    size_t struct_size; /**< #HF_CAS_OPTIONS_INIT sets it */
    /** New time to live of the key, ms, 1..#HF_TTL_MAX_MS; 0: keep what it
     *  has (a key that is created does not expire). */
    int64_t ttl_ms;
    uint32_t flags;     /**< HF_CAS_* bits */
    uint32_t reserved0; /**< must be 0 */
} hf_cas_options;

/* clang-format off */
#define HF_CAS_OPTIONS_INIT { sizeof(hf_cas_options), 0, 0, 0 }
/* clang-format on */

/**
 * Compare and set: replace a value only if it is what the caller believes.
 *
 * The comparison is byte for byte. The key keeps its time to live unless the
 * options say otherwise. A call whose answer was lost asks again and finds out
 * what happened, until its deadline; HF_INDETERMINATE is left for a server that
 * is not reached again by then, and for #HF_CAS_ONCE. After it a look at the
 * key tells what happened only if nobody else would write the same bytes.
 *
 * @param client    open client
 * @param key       the key
 * @param expected  NULL: the key must not exist; else its present value
 * @param value     the new value
 * @param opts      NULL for defaults
 * @param current   [out] on HF_CONFLICT the present value; may be NULL
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the value was replaced
 * @retval HF_CONFLICT       the key holds another value; nothing was changed
 * @retval HF_NOT_FOUND      a value was expected and there is none
 * @retval HF_WRONG_TYPE     the key holds no string; nothing was changed
 * @retval HF_INVALID        bad key, value or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed, or `*current` does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_cas(hf_client *client, hf_bytes key,
                                          const hf_bytes *expected,
                                          hf_bytes value,
                                          const hf_cas_options *opts,
                                          hf_buffer *current, hf_error *err);

/**
 * Compare and delete: delete a value only if it is what the caller believes.
 * What was said of lost answers and marks at hf_value_cas() holds here, too.
 *
 * @param client    open client
 * @param key       the key
 * @param expected  the value to find
 * @param current   [out] on HF_CONFLICT the present value; may be NULL
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the key is gone
 * @retval HF_CONFLICT       the key holds another value; nothing was changed
 * @retval HF_NOT_FOUND      there was no such key
 * @retval HF_WRONG_TYPE     the key holds no string; nothing was changed
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed, or `*current` does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_delete_if(hf_client *client, hf_bytes key,
                                                hf_bytes expected,
                                                hf_buffer *current,
                                                hf_error *err);

/* -------------------------------------------------------------------- hash */

/** One field of a hash and its value. */
typedef struct hf_field {
    hf_bytes name;
    hf_bytes value;
} hf_field;

/** All fields of a hash, owned by the caller; end with hf_fields_free(). */
typedef struct hf_fields {
    hf_field *items; /**< in no particular order */
    size_t count;
} hf_fields;

/* clang-format off */
#define HF_FIELDS_INIT { NULL, 0 }
/* clang-format on */

/**
 * Free what hf_hash_get_all() returned and reset it.
 *
 * @param fields  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_fields_free(hf_fields *fields);

/** Most fields of one hf_hash_put(): Lua's unpack() and managed servers'
 *  limits on arguments are above it. */
#define HF_HASH_PUT_MAX 1000

/** Flags of hf_hash_put(). */
enum {
    HF_HASH_NX = 1u << 0,      /**< only if the key does not exist */
    HF_HASH_XX = 1u << 1,      /**< only if the key exists */
    HF_HASH_REPLACE = 1u << 2, /**< drop the fields that are not given */
    HF_HASH_PERSIST = 1u << 3  /**< remove the key's time to live */
};

/** Options of hf_hash_put(). */
typedef struct hf_hash_put_options {
    size_t struct_size; /**< #HF_HASH_PUT_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_HASH_* bits; NX and XX exclude each other */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live of the key, ms, 1..#HF_TTL_MAX_MS, set in the same step;
     *  0: keep what it has (a key that is created does not expire). Excludes
     *  HF_HASH_PERSIST. */
    int64_t ttl_ms;
} hf_hash_put_options;

/* clang-format off */
#define HF_HASH_PUT_OPTIONS_INIT { sizeof(hf_hash_put_options), 0, 0, 0 }
/* clang-format on */

/**
 * Write fields of a hash and the key's time to live in one atomic step.
 *
 * @param client  open client
 * @param key     the key
 * @param fields  `count` fields; the last of two equal names wins
 * @param count   1..#HF_HASH_PUT_MAX
 * @param opts    NULL: merge into what is there, keep the time to live
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             all fields and the expiry are set
 * @retval HF_CONFLICT       HF_HASH_NX and the key exists
 * @retval HF_NOT_FOUND      HF_HASH_XX and the key does not exist
 * @retval HF_WRONG_TYPE     the key holds no hash; nothing was changed
 * @retval HF_INVALID        bad key, field, count or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied, whole or not at all
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_put(hf_client *client, hf_bytes key,
                                         const hf_field *fields, size_t count,
                                         const hf_hash_put_options *opts,
                                         hf_error *err);

/**
 * Read one field.
 *
 * @param client  open client
 * @param key     the key
 * @param field   the field
 * @param value   [out] the bytes; end with hf_buffer_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*value` is set
 * @retval HF_NOT_FOUND      no such key or no such field
 * @retval HF_WRONG_TYPE     the key holds no hash
 * @retval HF_INVALID        bad key or field
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the value does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_get(hf_client *client, hf_bytes key,
                                         hf_bytes field, hf_buffer *value,
                                         hf_error *err);

/**
 * Read all fields.
 *
 * @param client  open client
 * @param key     the key
 * @param fields  [out] end with hf_fields_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*fields` holds at least one field
 * @retval HF_NOT_FOUND      no such key
 * @retval HF_WRONG_TYPE     the key holds no hash
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the fields do not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_get_all(hf_client *client, hf_bytes key,
                                             hf_fields *fields, hf_error *err);

/**
 * Compare and set one field: replace it only if it is what the caller
 * believes. The key keeps its time to live unless the options say otherwise.
 *
 * @param client    open client
 * @param key       the key
 * @param field     the field
 * @param expected  NULL: the field must not exist; else its present value
 * @param value     the new value
 * @param opts      NULL for defaults; ttl_ms is the key's
 * @param current   [out] on HF_CONFLICT the present value; may be NULL
 * @param err       [out] may be NULL
 *
 * @retval HF_OK             the field was replaced
 * @retval HF_CONFLICT       the field holds another value; nothing was changed
 * @retval HF_NOT_FOUND      a value was expected and there is none
 * @retval HF_WRONG_TYPE     the key holds no hash; nothing was changed
 * @retval HF_INVALID        bad key, field, value or options; nothing was sent
 * @retval HF_UNSUPPORTED    an option this library does not know
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed, or `*current` does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_cas(hf_client *client, hf_bytes key,
                                         hf_bytes field,
                                         const hf_bytes *expected,
                                         hf_bytes value,
                                         const hf_cas_options *opts,
                                         hf_buffer *current, hf_error *err);

/**
 * Remove fields; a hash without fields is gone.
 *
 * @param client   open client
 * @param key      the key
 * @param names    `count` field names
 * @param count    1..#HF_HASH_PUT_MAX
 * @param removed  [out] how many of them existed; may be NULL
 * @param err      [out] may be NULL
 *
 * @retval HF_OK             none of the fields exists now
 * @retval HF_WRONG_TYPE     the key holds no hash
 * @retval HF_INVALID        bad key, field or count; nothing was sent
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_remove(hf_client *client, hf_bytes key,
                                            const hf_bytes *names, size_t count,
                                            size_t *removed, hf_error *err);

/**
 * Delete a whole hash.
 *
 * @param client  open client
 * @param key     the key
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the key is gone
 * @retval HF_NOT_FOUND      there was no such key
 * @retval HF_WRONG_TYPE     the key holds no hash; it was left alone
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_delete(hf_client *client, hf_bytes key,
                                            hf_error *err);

/* -------------------------------------------------------------------- lock */

/**
 * A handle on a lock's name. The handle, not the thread, owns the lock: any
 * thread may release it, and acquiring through the same handle again is
 * re-entry.
 */
typedef struct hf_lock hf_lock;

/**
 * Told once for each acquisition that is lost, as soon as the loss is known and
 * before the validity ends (hf_lock_is_held()); later only by as much as other
 * on_lost callbacks take. Not told if the loss was learned first by releasing
 * the lock.
 *
 * Runs on the library's background thread with no lock of the library held. It
 * must return soon: while it runs no lock of this client is renewed. It may
 * call hf_lock_is_held() and the other getters, start calls (hf_..._start(),
 * on_lost's lock is released so), interrupt, and free any handle:
 * hf_lock_free() does not wait there, a lock that is held is released in the
 * background. Calls of this client that block are HF_INVALID, and
 * hf_client_close() does nothing.
 *
 * @param lock    the lock that was lost
 * @param reason  HF_LOST: another owner has it. HF_EXPIRED: it is gone from
 *                the store, or its time is over and nothing was to renew it
 *                (HF_LOCK_NO_RENEW). HF_INDETERMINATE: it could not be renewed
 * before its validity ended. HF_TIMEOUT: max_hold_ms has passed.
 * @param user    hf_lock_options::user
 */
typedef void (*hf_lock_lost_fn)(hf_lock *lock, hf_status reason, void *user);

/** Flags of hf_lock_new(). */
enum {
    HF_LOCK_NO_RENEW = 1u << 0 /**< no watchdog: the lease ends after ttl_ms */
};

/** Options of hf_lock_new(). */
typedef struct hf_lock_options {
    size_t struct_size; /**< #HF_LOCK_OPTIONS_INIT sets it */
    /** Lease, ms; 0: 30000; range #HF_LOCK_TTL_MIN_MS..#HF_LOCK_TTL_MAX_MS.
     *  The watchdog renews at a third of it; a crashed holder blocks the
     *  others for at most this long. */
    int64_t ttl_ms;
    /** The lock is lost this long after the acquisition, ms; 0: never. A hung
     *  holder blocks the others for at most this and what is left of the last
     *  lease, ttl_ms. */
    int64_t max_hold_ms;
    /** Declare the lock lost this long before its validity ends, ms; 0: at the
     *  end; at most ttl_ms / 2. Time for a holder to stop its work. */
    int64_t lost_margin_ms;
    uint32_t flags;          /**< HF_LOCK_* bits */
    uint32_t reserved0;      /**< must be 0 */
    hf_lock_lost_fn on_lost; /**< NULL: nobody is told by call */
    void *user;              /**< passed to on_lost */
    /** Replicas that are to acknowledge an acquire or a renewal; 0: as the
     *  client; #HF_REPLICAS_NONE: none; 1..#HF_REPLICAS_MAX. See "Replicas"
     *  above. */
    int32_t replicas;
    uint32_t reserved1; /**< must be 0 */
    /** Longest time to wait for them, ms; 0: as the client; range 1..3600000.
     *  An acquire waits for a third of the lease at most, a renewal for a
     *  sixth. */
    int64_t replicas_ms;
} hf_lock_options;

/* clang-format off */
#define HF_LOCK_OPTIONS_INIT \
    { sizeof(hf_lock_options), 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0 }
/* clang-format on */

/**
 * Make a handle for a lock. Nothing is sent.
 *
 * The lock's key in the store is the client's prefix followed by `name`, a
 * string with a time to live, so that it excludes and is excluded by every
 * client that locks with SET NX PX on the same key (redis-py, redsync,
 * node-redlock, LockTake of StackExchange.Redis).
 *
 * @param client  open client
 * @param name    the lock's name. One with a `}` but without a Redis hash tag
 *                ("a}b", "{}a") is refused: the lock's other keys could not
 *                share its slot.
 * @param opts    NULL for defaults; copied
 * @param lock    [out] end it with hf_lock_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           `*lock` is ready to acquire
 * @retval HF_INVALID      bad name or options; the message names the part
 * @retval HF_UNSUPPORTED  an option this library does not know, or replicas on
 *                         a store that has none
 * @retval HF_NO_MEMORY    nothing was made
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_new(hf_client *client, hf_bytes name,
                                         const hf_lock_options *opts,
                                         hf_lock **lock, hf_error *err);

/**
 * Free a handle. A lock that is still held is released first, in one attempt
 * whose outcome is not told; use hf_lock_release() to know it. Once the client
 * is closed only memory is freed.
 *
 * Asynchronous calls on it end first, an acquire by being cancelled; they are
 * told by hf_client_dispatch() as ever.
 *
 * @param lock  NULL is allowed; no blocking call on it may be in progress
 *
 * Blocks: up to request_ms if the lock is held or a call on it under way, and
 * until a running on_lost has returned. Since 0.1.
 */
HF_API void hf_lock_free(hf_lock *lock);

/**
 * Acquire the lock, waiting up to `wait_ms`.
 *
 * On success the lease runs from the moment before the request was sent. It is
 * renewed in the background until hf_lock_release(), unless HF_LOCK_NO_RENEW
 * is set, and carries a fencing token larger than that of every earlier holder
 * of the name, on this store, while the store's clock is sane.
 *
 * If the handle holds the lock already, this is a re-entry: it succeeds at
 * once without asking the store, keeps the token, and needs one more release.
 *
 * @param lock     the handle
 * @param wait_ms  0: try once; #HF_FOREVER: until acquired; negative: invalid
 * @param err      [out] may be NULL
 *
 * @retval HF_OK             held from now until lost or released
 * @retval HF_HELD           wait_ms is 0 and another owner holds it
 * @retval HF_TIMEOUT        another owner held it until wait_ms had passed
 * @retval HF_CANCELLED      interrupted: see hf_lock_interrupt()
 * @retval HF_LOST           this handle held the lock and lost it; release it
 *                           before acquiring anew
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        bad wait_ms, the handle came through fork(), or its
 *                           lease exceeds the quarantine of a redlock: store
 * @retval HF_UNAVAILABLE    the store could not be reached, or too few replicas
 *                           acknowledged the lock; nothing is held
 * @retval HF_INDETERMINATE  no answer came: the name may be blocked by this
 *                           try for at most ttl_ms; this handle does not hold
 *                           it
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           the store has no room; nothing is held
 * @retval HF_NO_MEMORY      nothing is held
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * Blocks: up to wait_ms plus request_ms. Threads: several may wait on one
 * handle; all of them then share the one acquisition. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire(hf_lock *lock, int64_t wait_ms,
                                             hf_error *err);

/**
 * End the blocking hf_lock_acquire(), hf_lock_try() and hf_lock_acquire_many()
 * calls on a handle that run on other threads: they return HF_CANCELLED and
 * leave nothing behind, neither a place in the queue nor a lock, as a grant
 * that is on its way is given back. One that sleeps ends at once, one whose
 * request is at the store when that has answered, request_ms at the latest;
 * without an answer it is HF_INDETERMINATE, as ever, and a release follows.
 * A lock that is held already, or that was granted before, is not touched.
 *
 * A call that begins later is unaffected. One that is about to begin on another
 * thread may be either: set a flag of your own before you interrupt, and look
 * at it before each acquire.
 *
 * Not from a signal handler, as nothing else here. Have the handler write a
 * byte to a pipe, or block the signal and read a signalfd, and let a thread
 * that polls the descriptor interrupt.
 *
 * @param lock  the handle; it may be in use by any thread
 * @param err   [out] may be NULL
 *
 * @retval HF_OK       calls under way end; also if there were none
 * @retval HF_INVALID  lock is NULL, from before fork(), or its client is closed
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_interrupt(hf_lock *lock, hf_error *err);

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

/**
 * Try to acquire the lock without waiting: hf_lock_acquire() with wait_ms 0. A
 * request of another thread's blocking call on the same handle is waited for:
 * if it acquires the lock this is a re-entry, else the store is asked.
 *
 * @param lock  the handle
 * @param err   [out] may be NULL
 *
 * @retval HF_OK             held from now until lost or released
 * @retval HF_HELD           another owner holds it
 * @retval HF_LOST           this handle held the lock and lost it; release it
 *                           before acquiring anew
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        the handle came through fork()
 * @retval HF_UNAVAILABLE    as in hf_lock_acquire(); nothing is held
 * @retval HF_INDETERMINATE  as in hf_lock_acquire()
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           the store has no room; nothing is held
 * @retval HF_NO_MEMORY      nothing is held
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_try(hf_lock *lock, hf_error *err);

/**
 * Release the lock: undo one acquire. The last one tells the store and wakes
 * the waiter that has waited longest.
 *
 * Afterwards the handle does not hold the lock, whatever the status, unless an
 * outer acquire of the same handle remains.
 *
 * @param lock  the handle
 * @param err   [out] may be NULL
 *
 * @retval HF_OK             released; or one of several re-entries undone
 * @retval HF_EXPIRED        the lease had ended before; nobody took it since
 * @retval HF_LOST           another owner has taken it since
 * @retval HF_INVALID        the handle does not hold the lock
 * @retval HF_UNAVAILABLE    the store was not told; the lock ends by itself
 *                           within ttl_ms
 * @retval HF_INDETERMINATE  no answer: the lock is free now or within ttl_ms
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the store was not told
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_release(hf_lock *lock, hf_error *err);

/**
 * Renew the lease now: it ends ttl_ms from now. Needed only with
 * HF_LOCK_NO_RENEW.
 *
 * @param lock  the handle
 * @param err   [out] may be NULL
 *
 * @retval HF_OK             renewed
 * @retval HF_LOST           another owner has it, or it was lost before
 * @retval HF_EXPIRED        it is gone from the store; nobody holds it
 * @retval HF_TIMEOUT        max_hold_ms has passed
 * @retval HF_INVALID        the handle does not hold the lock
 * @retval HF_UNAVAILABLE    not renewed; the validity is unchanged
 * @retval HF_INDETERMINATE  no answer; the validity is unchanged
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not renewed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew(hf_lock *lock, hf_error *err);

/**
 * Is the lock held and its validity not over? A comparison of two numbers, no
 * round trip. Validity ends `ttl_ms - (ttl_ms / 100 + 2)` ms after the last
 * successful acquire or renewal was sent, on CLOCK_BOOTTIME (the allowance for
 * clock drift is that of the Redlock description), less lost_margin_ms. A lock
 * that is not renewed is declared lost up to 5 ms before that, so that on_lost
 * has begun by then.
 *
 * @param lock  the handle
 * @return true while held
 *
 * Never blocks. Since 0.1.
 */
HF_API bool hf_lock_is_held(const hf_lock *lock);

/**
 * How long hf_lock_is_held() stays true without another renewal, ms.
 *
 * @param lock  the handle
 * @return 0 if the lock is not held
 *
 * Never blocks. Since 0.1.
 */
HF_API int64_t hf_lock_remaining_ms(const hf_lock *lock);

/**
 * Fencing token of the present or last acquisition. Pass it with each write;
 * a resource that refuses a token lower than the highest it has seen is safe
 * from a holder that was paused beyond its lease.
 *
 * @param lock  the handle
 * @return the token; 0 before the first acquisition. Below 2^53.
 *
 * Never blocks. Since 0.1.
 */
HF_API uint64_t hf_lock_token(const hf_lock *lock);

/**
 * How many replicas have acknowledged the last acquisition, or the last renewal
 * of it, by the watchdog or by hf_lock_renew(). Fewer than the lock asks for
 * after a renewal do not end it: the lease runs anew, but a failover may bring
 * back the one before.
 *
 * @param lock  the handle
 * @return how many; -1: nobody has counted them, as the lock does not ask for
 *         replicas, was not acquired yet, or the counting was interrupted
 *
 * Never blocks. Since 0.1.
 */
HF_API int hf_lock_replicas(const hf_lock *lock);

/** Bytes of an owner id as text, the terminating NUL included. */
#define HF_OWNER_SIZE 33

/**
 * Owner id of the present or last acquisition: what the lock's key holds in
 * the store. The client's id, 16 random lower-case hexadecimal digits, then
 * '-' and 15 digits of a number that the client uses for no other acquisition.
 *
 * @param lock   the handle
 * @param owner  [out] the text; "" before the first acquisition
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_lock_owner(const hf_lock *lock, char owner[HF_OWNER_SIZE]);

/**
 * A file descriptor that polls readable once the lock is lost, and until the
 * handle releases it. It belongs to the handle: do not read, write or close
 * it.
 *
 * @param lock  the handle
 * @param fd    [out] the descriptor, valid until hf_lock_free()
 * @param err   [out] may be NULL
 *
 * @retval HF_OK       `*fd` can be polled
 * @retval HF_INVALID  the handle came through fork()
 * @retval HF_SYSTEM   no descriptor could be had
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_lost_fd(hf_lock *lock, int *fd,
                                             hf_error *err);

/** Longest part of a foreign owner id that hf_lock_inspect() shows, bytes. */
#define HF_LOCK_INFO_OWNER_MAX 128

/** What hf_lock_inspect() finds. */
typedef struct hf_lock_info {
    size_t struct_size;   /**< #HF_LOCK_INFO_INIT sets it */
    int64_t remaining_ms; /**< of the lease; -1: a foreign lock without one */
    uint64_t last_token;  /**< the last fencing token that was issued for any
                               lock of the store (in a cluster, of the slot):
                               the holder's is no larger; 0: none known */
    uint64_t waiters;     /**< processes in the queue */
    size_t owner_size;    /**< bytes of the owner id in the store */
    /** The owner id, cut after #HF_LOCK_INFO_OWNER_MAX bytes, NUL-terminated.
     */
    char owner[HF_LOCK_INFO_OWNER_MAX + 1];
} hf_lock_info;

/* clang-format off */
#define HF_LOCK_INFO_INIT { sizeof(hf_lock_info), 0, 0, 0, 0, { 0 } }
/* clang-format on */

/**
 * Look at a lock without touching it, whoever holds it.
 *
 * @param client  open client
 * @param name    the lock's name
 * @param info    [in,out] start it with #HF_LOCK_INFO_INIT. Filled on HF_OK;
 *                on HF_NOT_FOUND last_token and waiters are filled.
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the lock is held
 * @retval HF_NOT_FOUND      the lock is free
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        bad name or struct_size
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not asked
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_inspect(hf_client *client, hf_bytes name,
                                             hf_lock_info *info, hf_error *err);

/** Room of each text of hf_holder, bytes, the terminating NUL included. */
#define HF_HOLDER_TEXT_SIZE 128

/** What hf_lock_holder() finds. Texts have no control characters. */
typedef struct hf_holder {
    size_t struct_size; /**< #HF_HOLDER_INIT sets it */
    int64_t held_ms;    /**< since its acquire was sent, by the store's clock */
    int64_t pid;        /**< of the process, on its host */
    char user[HF_HOLDER_TEXT_SIZE];    /**< effective; a number if unknown */
    char host[HF_HOLDER_TEXT_SIZE];    /**< its name for itself */
    char program[HF_HOLDER_TEXT_SIZE]; /**< file name */
    char description[HF_HOLDER_TEXT_SIZE]; /**< hf_client_options.description */
} hf_holder;

/* clang-format off */
#define HF_HOLDER_INIT \
    { sizeof(hf_holder), 0, 0, { 0 }, { 0 }, { 0 }, { 0 } }
/* clang-format on */

/**
 * Who the holder of a lock is, by the owner id that hf_lock_inspect() has told.
 *
 * A client registers itself when it has held a lock for 100 ms, unless the lock
 * is one that nobody watches (#HF_LOCK_NO_RENEW without `on_lost` or a
 * descriptor); the entry, `PREFIXhf:client:ID`, ends with the client, or 60 s
 * after a process that was killed. What it says is what that process says.
 *
 * @param client  open client
 * @param owner   `info.owner`, `info.owner_size` bytes
 * @param holder  [in,out] start it with #HF_HOLDER_INIT
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             filled
 * @retval HF_NOT_FOUND      it is not registered, or another library's
 * @retval HF_UNSUPPORTED    on `redlock:`, where nobody is registered
 * @retval HF_INVALID        bad struct_size
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not asked
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_holder(hf_client *client, hf_bytes owner,
                                            hf_holder *holder, hf_error *err);

/**
 * Told of a lock by hf_lock_list(), on its calling thread.
 *
 * @param user  as given
 * @param name  without the client's prefix; valid during the call
 * @param info  owner and remaining_ms; the rest is 0
 * @return 0: go on; else the list ends, HF_CANCELLED
 */
typedef int (*hf_lock_list_fn)(void *user, hf_bytes name,
                               const hf_lock_info *info);

/**
 * List the locks that clients of Holdfast hold: keys with the client's prefix
 * that hold an owner id of our form and expire. Locks of other libraries, which
 * look like any value, are not listed. A lock held from beginning to end of
 * the call is told once; others may be.
 *
 * Reads all names of keys of the store, by SCAN, in a cluster on every master,
 * 24 bytes of memory for each that fits. A user of a server needs +scan and
 * +strlen.
 *
 * @param client   open client
 * @param pattern  of names, as for Redis KEYS; empty: all
 * @param tell     told of each
 * @param user     handed to it
 * @param err      [out] may be NULL
 *
 * @retval HF_OK             all were told
 * @retval HF_CANCELLED      `tell` ended it
 * @retval HF_UNSUPPORTED    on `redlock:`
 * @retval HF_INVALID        an argument is wrong
 * @retval HF_UNAVAILABLE    the store was lost, or slots were on the move
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused a command
 * @retval HF_NO_MEMORY      some were told
 *
 * Blocks: as long as it takes; each request up to request_ms. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_list(hf_client *client, hf_bytes pattern,
                                          hf_lock_list_fn tell, void *user,
                                          hf_error *err);

/**
 * Take a lock away from whoever holds it; the waiter that has waited longest is
 * woken. The old holder learns of it at its next renewal. The next holder's
 * fencing token is larger than the old one's.
 *
 * @param client  open client
 * @param name    the lock's name
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the lock is free
 * @retval HF_NOT_FOUND      nobody held it
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        bad name
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_break(hf_client *client, hf_bytes name,
                                           hf_error *err);

/* ------------------------------------------------------------------ script */

/** What a script's answer is, in the terms of RESP2. */
typedef enum hf_reply_kind {
    HF_REPLY_NIL = 0,     /**< no value */
    HF_REPLY_INTEGER = 1, /**< a 64-bit integer */
    HF_REPLY_STRING = 2,  /**< bytes */
    HF_REPLY_STATUS = 3,  /**< a status line such as "OK" */
    HF_REPLY_ERROR = 4,   /**< an error line, inside an array only */
    HF_REPLY_ARRAY = 5    /**< a list of replies */
} hf_reply_kind;

/** An answer, or a part of one. */
typedef struct hf_reply hf_reply;

/** A script that was loaded. */
typedef struct hf_script hf_script;

/** Longest script, bytes. */
#define HF_SCRIPT_MAX 1048576

/**
 * Load a Lua 5.1 script: check its syntax and have the store remember it.
 *
 * The script sees what Redis gives to EVAL: KEYS, ARGV, redis.call(),
 * redis.pcall(), redis.error_reply(), redis.status_reply(), redis.sha1hex(),
 * redis.log(), and Lua's base, string, table and math libraries. It runs
 * atomically on every store. As in Redis, an error does not undo the commands
 * before it; a script that the embedded store had to stop is undone whole.
 *
 * @param client  open client
 * @param source  1..#HF_SCRIPT_MAX bytes of text
 * @param script  [out] end it with hf_script_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the script can be run
 * @retval HF_SCRIPT         a syntax error; the message gives the line
 * @retval HF_INVALID        empty, too long, or not text
 * @retval HF_UNAVAILABLE    not loaded
 * @retval HF_INDETERMINATE  no answer; harmless to load again
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not loaded
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_script_load(hf_client *client, hf_bytes source,
                                            hf_script **script, hf_error *err);

/**
 * Free a script. The store may go on remembering its text.
 *
 * @param script  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_script_free(hf_script *script);

/** Most keys plus arguments of one hf_script_run(). */
#define HF_SCRIPT_WORDS_MAX 100000

/**
 * Run a script.
 *
 * Keys get the client's prefix; arguments do not.
 *
 * @param script     a loaded script
 * @param keys       `key_count` keys: KEYS of the script
 * @param key_count  0..#HF_SCRIPT_WORDS_MAX together with arg_count
 * @param args       `arg_count` arguments: ARGV of the script
 * @param arg_count  see key_count
 * @param reply      [out] the answer; end it with hf_reply_free()
 * @param err        [out] may be NULL
 *
 * @retval HF_OK             the script ran to its end; `*reply` is set
 * @retval HF_SCRIPT         it raised an error; the message is the error's
 *                           text. What it had written before stays. On the
 *                           embedded store also: it exceeded its budget of
 *                           time or memory, and nothing was written.
 * @retval HF_WRONG_TYPE     a command met a key of another type
 * @retval HF_INVALID        bad key or count
 * @retval HF_UNAVAILABLE    it did not run
 * @retval HF_INDETERMINATE  no answer: it may have run, or still run
 * @retval HF_DENIED         the store refused a command
 * @retval HF_FULL           the store has no room
 * @retval HF_NO_MEMORY      it may have run if the answer does not fit
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_script_run(
    hf_script *script, const hf_bytes *keys, size_t key_count,
    const hf_bytes *args, size_t arg_count, hf_reply **reply, hf_error *err);

/**
 * Free an answer. Only for what hf_script_run() returned, not for its parts.
 *
 * @param reply  NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_reply_free(hf_reply *reply);

/**
 * Kind of an answer.
 *
 * @param reply  the answer; NULL counts as nil
 * @return the kind
 *
 * Never blocks. Since 0.1.
 */
HF_API hf_reply_kind hf_reply_type(const hf_reply *reply);

/**
 * The number in an integer answer.
 *
 * @param reply  the answer
 * @return the number; 0 for any other kind
 *
 * Never blocks. Since 0.1.
 */
HF_API int64_t hf_reply_integer(const hf_reply *reply);

/**
 * The bytes of a string, status or error answer.
 *
 * @param reply  the answer
 * @return a view that lives as long as the whole answer, with a NUL behind it;
 *         empty for any other kind
 *
 * Never blocks. Since 0.1.
 */
HF_API hf_bytes hf_reply_bytes(const hf_reply *reply);

/**
 * How many parts an array answer has.
 *
 * @param reply  the answer
 * @return the count; 0 for any other kind
 *
 * Never blocks. Since 0.1.
 */
HF_API size_t hf_reply_count(const hf_reply *reply);

/**
 * One part of an array answer.
 *
 * @param reply  the answer
 * @param index  0..hf_reply_count() - 1
 * @return the part, owned by the whole answer; NULL (which counts as nil)
 *         outside the range
 *
 * Never blocks. Since 0.1.
 */
HF_API const hf_reply *hf_reply_at(const hf_reply *reply, size_t index);

/* ------------------------------------------------------------ asynchronous */

/**
 * An asynchronous call under way, for hf_call_cancel(). It ends when done()
 * returns.
 */
typedef struct hf_call hf_call;

/**
 * Tells what an asynchronous call came to, exactly once, from within
 * hf_client_dispatch(), or from within hf_client_close() for what is still
 * under way then. It may start other calls (while closing they are HF_INVALID,
 * as is every other call on the client), free what is its own, dispatch, and
 * close the client.
 *
 * @param user    hf_async::user
 * @param status  what the blocking function would have returned, or
 *                HF_CANCELLED
 * @param err     the detail; NULL if status is HF_OK; ends with the call
 */
typedef void (*hf_done_fn)(void *user, hf_status status, const hf_error *err);

/**
 * How an asynchronous call reports.
 *
 * Each function `hf_NAME_start()` below starts what the blocking `hf_NAME()`
 * does and returns without waiting for the answer; `async` says whom to tell
 * what it came to. The other parameters are those of `hf_NAME()`: inputs are
 * copied before the start returns; out-parameters belong to the call until
 * done() is called, and are written just before that, as the blocking function
 * writes them.
 *
 * A start returns HF_OK if done() will be called. Whatever can be checked at
 * once is checked at once: then the status is that of `hf_NAME()`, nothing is
 * started and done() is never called. So it is with HF_INVALID if `async` is
 * wrong, with HF_NO_MEMORY, and with HF_UNAVAILABLE if as many calls are under
 * way, or hold as much memory, as the client's `max_calls` and `max_call_bytes`
 * allow: dispatch, and start it again.
 *
 * Calls under way at the same time take effect in any order; what must come
 * after another call is started by that one's done().
 *
 * Nothing of the user's runs on the library's thread. An embedded store that
 * waits for no disk answers within the start itself, which takes microseconds;
 * done() is called by hf_client_dispatch() there too.
 */
typedef struct hf_async {
    size_t struct_size; /**< #HF_ASYNC_INIT sets it */
    hf_done_fn done;    /**< never NULL */
    void *user;         /**< given to done() */
    hf_call **call;     /**< [out] for hf_call_cancel(); NULL: not wanted */
} hf_async;

/* clang-format off */
#define HF_ASYNC_INIT { sizeof(hf_async), NULL, NULL, NULL }
/* clang-format on */

/**
 * A file descriptor that polls readable while hf_client_dispatch() has
 * something to do. It belongs to the client: do not read, write or close it.
 * It fits any event loop, level-triggered or edge-triggered.
 *
 * @param client  open client
 * @param fd      [out] the descriptor, valid until hf_client_close()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK       `*fd` can be polled
 * @retval HF_INVALID  an argument is NULL, or the client is from before fork()
 * @retval HF_SYSTEM   no descriptor could be had
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_client_fd(hf_client *client, int *fd,
                                          hf_error *err);

/**
 * Call done() of every asynchronous call that has completed, in the order in
 * which they did. Calls that complete meanwhile are for the next time.
 *
 * @param client   open client
 * @param running  [out] asynchronous calls not told yet; may be NULL
 * @param err      [out] may be NULL
 *
 * @retval HF_OK       done() was called for whatever there was
 * @retval HF_INVALID  the client is NULL or from before fork()
 *
 * Never blocks. Threads: several may dispatch at once; each call is told by
 * one of them. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_client_dispatch(hf_client *client,
                                                size_t *running, hf_error *err);

/**
 * Have an asynchronous call completed now. It is told as any other, and in no
 * case later than without this: HF_CANCELLED if it was not sent, so that
 * nothing was applied; HF_INDETERMINATE if it was and its answer was not
 * waited for; or what it came to.
 *
 * @param call  a call whose done() has not been called; NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_call_cancel(hf_call *call);

/** Starts hf_key_ttl(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_key_ttl_start(hf_client *client, hf_bytes key,
                                              int64_t *ttl_ms,
                                              const hf_async *async,
                                              hf_error *err);

/** Starts hf_key_touch(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_key_touch_start(hf_client *client, hf_bytes key,
                                                int64_t ttl_ms,
                                                const hf_async *async,
                                                hf_error *err);

/** Starts hf_value_set(). Since 0.1. */
HF_API HF_MUST_USE hf_status
hf_value_set_start(hf_client *client, hf_bytes key, hf_bytes value,
                   const hf_value_set_options *opts, hf_buffer *previous,
                   const hf_async *async, hf_error *err);

/** Starts hf_value_get(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_value_get_start(hf_client *client, hf_bytes key,
                                                hf_buffer *value,
                                                const hf_async *async,
                                                hf_error *err);

/** Starts hf_value_delete(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_value_delete_start(hf_client *client,
                                                   hf_bytes key,
                                                   const hf_async *async,
                                                   hf_error *err);

/** Starts hf_value_cas(). Since 0.1. */
HF_API HF_MUST_USE hf_status
hf_value_cas_start(hf_client *client, hf_bytes key, const hf_bytes *expected,
                   hf_bytes value, const hf_cas_options *opts,
                   hf_buffer *current, const hf_async *async, hf_error *err);

/** Starts hf_value_delete_if(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_value_delete_if_start(
    hf_client *client, hf_bytes key, hf_bytes expected, hf_buffer *current,
    const hf_async *async, hf_error *err);

/** Starts hf_hash_put(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_put_start(
    hf_client *client, hf_bytes key, const hf_field *fields, size_t count,
    const hf_hash_put_options *opts, const hf_async *async, hf_error *err);

/** Starts hf_hash_get(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_get_start(hf_client *client, hf_bytes key,
                                               hf_bytes field, hf_buffer *value,
                                               const hf_async *async,
                                               hf_error *err);

/** Starts hf_hash_get_all(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_get_all_start(hf_client *client,
                                                   hf_bytes key,
                                                   hf_fields *fields,
                                                   const hf_async *async,
                                                   hf_error *err);

/** Starts hf_hash_remove(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_remove_start(
    hf_client *client, hf_bytes key, const hf_bytes *names, size_t count,
    size_t *removed, const hf_async *async, hf_error *err);

/** Starts hf_hash_delete(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_delete_start(hf_client *client,
                                                  hf_bytes key,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_hash_cas(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_hash_cas_start(
    hf_client *client, hf_bytes key, hf_bytes field, const hf_bytes *expected,
    hf_bytes value, const hf_cas_options *opts, hf_buffer *current,
    const hf_async *async, hf_error *err);

/**
 * hf_lock_acquire() without waiting for the answer, or for the lock.
 *
 * When done() is told HF_OK the lock is held since the store granted it, and it
 * is renewed from then on like any other, also while the call waits to be
 * dispatched: who starts calls and does not dispatch keeps locks from others.
 * If that took long, look at hf_lock_is_held(): a lock that was lost meanwhile
 * is told as HF_OK too, and on_lost has told of its loss.
 *
 * @param lock     the handle
 * @param wait_ms  as there
 * @param async    whom to tell; done() may also be told HF_CANCELLED, or
 *                 HF_HELD if another call is using the handle
 * @param err      [out] may be NULL
 *
 * @retval HF_OK           started
 * @retval HF_INVALID      an argument is wrong; nothing was started
 * @retval HF_UNAVAILABLE  too many calls are under way
 * @retval HF_NO_MEMORY    nothing was started
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_start(hf_lock *lock,
                                                   int64_t wait_ms,
                                                   const hf_async *async,
                                                   hf_error *err);

/**
 * hf_lock_release() without waiting for the answer. The handle must not be
 * freed until done() is called.
 *
 * @param lock   the handle
 * @param async  whom to tell
 * @param err    [out] may be NULL
 *
 * @retval HF_OK           started
 * @retval HF_LOST         as there: an inner acquire of a lost lock was undone
 * @retval HF_INVALID      an argument is wrong, or the handle does not hold the
 *                         lock; nothing was started
 * @retval HF_UNAVAILABLE  far too many calls are under way; nothing was
 *                         started, and the handle still holds the lock
 * @retval HF_NO_MEMORY    the same holds
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_release_start(hf_lock *lock,
                                                   const hf_async *async,
                                                   hf_error *err);

/**
 * hf_lock_renew() without waiting for the answer. The handle must not be freed
 * until done() is called.
 *
 * @param lock   the handle
 * @param async  whom to tell
 * @param err    [out] may be NULL
 *
 * @retval HF_OK           started
 * @retval HF_LOST         as there; nothing was started
 * @retval HF_TIMEOUT      as there; nothing was started
 * @retval HF_INVALID      an argument is wrong, or the handle does not hold the
 *                         lock; nothing was started
 * @retval HF_UNAVAILABLE  far too many calls are under way
 * @retval HF_NO_MEMORY    nothing was started
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew_start(hf_lock *lock,
                                                 const hf_async *async,
                                                 hf_error *err);

/** Starts hf_lock_inspect(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_lock_inspect_start(hf_client *client,
                                                   hf_bytes name,
                                                   hf_lock_info *info,
                                                   const hf_async *async,
                                                   hf_error *err);

/** Starts hf_lock_holder(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_lock_holder_start(hf_client *client,
                                                  hf_bytes owner,
                                                  hf_holder *holder,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_lock_break(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_lock_break_start(hf_client *client,
                                                 hf_bytes name,
                                                 const hf_async *async,
                                                 hf_error *err);

/** Starts hf_script_load(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_script_load_start(hf_client *client,
                                                  hf_bytes source,
                                                  hf_script **script,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_script_run(). Since 0.1. */
HF_API HF_MUST_USE hf_status
hf_script_run_start(hf_script *script, const hf_bytes *keys, size_t key_count,
                    const hf_bytes *args, size_t arg_count, hf_reply **reply,
                    const hf_async *async, hf_error *err);

/* -------------------------------------------------------------------- many */

/**
 * Read many values at once.
 *
 * The functions whose names end in `_many` run independent calls: they go to
 * the store together, up to 1024 at once, which spares the way there and back
 * for each, and in no particular order. Each 1024 have `request_ms` of their
 * own, while the store answers. None of them is atomic as a whole.
 *
 * @param client    open client
 * @param keys      `count` keys
 * @param count     any number
 * @param values    [out] `count` buffers, started with #HF_BUFFER_INIT; those
 *                  whose status is HF_OK are set
 * @param statuses  [out] `count` statuses: what hf_value_get() would have
 *                  returned for each
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    an argument is NULL, in which case nothing was done; or
 *                       the first status that is no answer. So it may be with
 *                       every other status that is neither HF_OK nor 1xx.
 * @retval HF_NO_MEMORY  nothing was done, or as above
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_get_many(hf_client *client,
                                               const hf_bytes *keys,
                                               size_t count, hf_buffer *values,
                                               hf_status *statuses,
                                               hf_error *err);

/**
 * Set many values at once, each as hf_value_set() does. See
 * hf_value_get_many().
 *
 * @param client    open client
 * @param items     `count` keys (`name`) and their values
 * @param count     any number
 * @param opts      for each; NULL for defaults; HF_SET_GET hands nothing back
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_set_many(
    hf_client *client, const hf_field *items, size_t count,
    const hf_value_set_options *opts, hf_status *statuses, hf_error *err);

/** One of many compare-and-sets: the parameters of hf_value_cas(). */
typedef struct hf_cas_item {
    hf_bytes key;
    const hf_bytes *expected; /**< NULL: the key must not exist */
    hf_bytes value;
    hf_buffer *current; /**< [out] on HF_CONFLICT; may be NULL */
} hf_cas_item;

/**
 * Compare and set many values at once, each as hf_value_cas() does. See
 * hf_value_get_many().
 *
 * @param client    open client
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for each; NULL for defaults
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_value_cas_many(
    hf_client *client, const hf_cas_item *items, size_t count,
    const hf_cas_options *opts, hf_status *statuses, hf_error *err);

/** One of many puts: the parameters of hf_hash_put(). */
typedef struct hf_hash_item {
    hf_bytes key;
    const hf_field *fields;
    size_t count; /**< of fields */
} hf_hash_item;

/**
 * Put many hashes at once, each as hf_hash_put() does. See
 * hf_value_get_many().
 *
 * @param client    open client
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for each; NULL for defaults
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_hash_put_many(
    hf_client *client, const hf_hash_item *items, size_t count,
    const hf_hash_put_options *opts, hf_status *statuses, hf_error *err);

/**
 * Acquire many locks at once, each as hf_lock_acquire() does; interrupted,
 * those that are not held yet are HF_CANCELLED. See hf_value_get_many(). Those
 * that were acquired are held whatever became of the others, so two programs
 * that take the same locks with a wait may each hold what the other waits for,
 * until wait_ms ends it.
 *
 * @param locks     `count` different handles of one client
 * @param count     any number
 * @param wait_ms   for each, from its first try on, all at the same time
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Blocks: up to wait_ms plus request_ms for each 1024 locks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_many(hf_lock *const *locks,
                                                  size_t count, int64_t wait_ms,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Release many locks at once, each as hf_lock_release() does. See
 * hf_value_get_many().
 *
 * @param locks     `count` handles of one client
 * @param count     any number
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_release_many(hf_lock *const *locks,
                                                  size_t count,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Renew many leases at once, each as hf_lock_renew() does, 128 in one script.
 * See hf_value_get_many().
 *
 * @param locks     `count` handles of one client
 * @param count     any number
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew_many(hf_lock *const *locks,
                                                size_t count,
                                                hf_status *statuses,
                                                hf_error *err);

/* ------------------------------------------------------------------- store */

/**
 * One fact about a store.
 *
 * @param user   what was given beside the function
 * @param name   what it is: lower-case words with spaces, unique in one answer
 * @param value  text; numbers are decimal and without a unit, which stands in
 *               the name. Both are valid until the function returns.
 */
typedef void (*hf_store_line_fn)(void *user, const char *name,
                                 const char *value);

/**
 * Tell facts about the client's store, for people: kind, address or path,
 * versions, sizes, counts. Names and their order may change between versions;
 * no password is among them.
 *
 * @param client  open client
 * @param line    called for each fact, on the calling thread; it may not use
 *                the client
 * @param user    handed to `line`
 * @param err     [out] may be NULL
 *
 * @retval HF_OK       everything was told; a server that did not answer is
 *                     told as a line "error"
 * @retval HF_INVALID  an argument is NULL, or the client was opened before
 *                     fork()
 *
 * Blocks: up to the client's connect_ms for a server; reading the embedded
 * store's counts takes no lock that a writer needs. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_describe(hf_client *client,
                                               hf_store_line_fn line,
                                               void *user, hf_error *err);

/** How much a remark on a store matters. */
typedef enum hf_level {
    HF_LEVEL_OK = 0,      /**< as it should be */
    HF_LEVEL_NOTE = 1,    /**< good to know */
    HF_LEVEL_WARNING = 2, /**< locks or data may be lost, or soon will */
    HF_LEVEL_ERROR = 3    /**< something that is needed does not work */
} hf_level;

/** One remark on a store. Texts are one line, end with a NUL, have no password
 *  in them, and are valid until the function that is told returns. */
typedef struct hf_store_remark {
    hf_level level;
    /** On an error what a call would answer, else #HF_OK. */
    hf_status status;
    /** Which server, as "host:port" or a path; "": the store as a whole. */
    const char *node;
    /** What was looked at: lower-case words with spaces, unique among the
     *  remarks on one node. Names stay the same in later versions. */
    const char *name;
    const char *value;  /**< what was found */
    const char *remedy; /**< what to do about it; "": nothing */
} hf_store_remark;

/**
 * Takes a remark.
 *
 * @param user    what was given beside the function
 * @param remark  valid until the function returns
 */
typedef void (*hf_store_remark_fn)(void *user, const hf_store_remark *remark);

/** Options of hf_store_examine(). Zero means the default of each. */
typedef struct hf_store_examine_options {
    size_t struct_size; /**< #HF_STORE_EXAMINE_OPTIONS_INIT sets it */
    /** How many small requests to measure on each server, one after the
     *  other; 0: 200; range 1..100000. */
    uint32_t requests;
    uint32_t reserved0; /**< must be 0 */
    /** Longest time for all of it, ms; 0: 30000; range 1..3600000. */
    int64_t limit_ms;
} hf_store_examine_options;

/* clang-format off */
#define HF_STORE_EXAMINE_OPTIONS_INIT \
    { sizeof(hf_store_examine_options), 0, 0, 0 }
/* clang-format on */

/**
 * Look at a store as a doctor does: is it reachable, how fast does it answer,
 * may it drop locks, what would a restart cost, is this client allowed what it
 * needs, what can the store do.
 *
 * Of a server, each one of a store that has several: version, time of round
 * trips, its clock, eviction, memory, persistence, replication, access list,
 * TLS and certificate, capabilities. Of an embedded store: place, file system,
 * durability, room, permissions, who has it open.
 *
 * Nothing is changed: what is tried is tried by ACL DRYRUN, or in a form that
 * has no effect; one message is published, to ourselves. What a server does not
 * tell this user is remarked as unknown.
 *
 * @param client  open client
 * @param opts    NULL for defaults
 * @param remark  called for each remark, on the calling thread; it may not use
 *                the client
 * @param user    handed to `remark`
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           all was told; how the store is, the remarks say
 * @retval HF_TIMEOUT      limit_ms have passed; the remarks are true
 * @retval HF_INVALID      an argument or option is wrong, or the client was
 *                         opened before fork()
 * @retval HF_UNSUPPORTED  an option is newer than this library
 *
 * Blocks: up to limit_ms and one request. Since 0.1.
 */
HF_API HF_MUST_USE hf_status
hf_store_examine(hf_client *client, const hf_store_examine_options *opts,
                 hf_store_remark_fn remark, void *user, hf_error *err);

/**
 * One thing that is wrong with a store.
 *
 * @param user     what was given beside the function
 * @param finding  one line of text, bytes of keys quoted; valid until the
 *                 function returns
 */
typedef void (*hf_store_finding_fn)(void *user, const char *finding);

/**
 * How far a check is; called several times a second.
 *
 * @param user   what was given beside the function
 * @param done   pages that were read
 * @param total  pages that will be read; 0: not known yet
 */
typedef void (*hf_store_progress_fn)(void *user, uint64_t done, uint64_t total);

/** Options of hf_store_check(). Zero means the default of each. */
typedef struct hf_store_check_options {
    size_t struct_size; /**< #HF_STORE_CHECK_OPTIONS_INIT sets it */
    /** Longest time it may take, ms; 0: as long as it makes progress;
     *  range 1..#HF_TTL_MAX_MS. */
    int64_t limit_ms;
    /** Most findings to tell; 0: 100; range 1..10000. */
    uint32_t findings_max;
    /** NULL: no progress is told. */
    hf_store_progress_fn progress;
} hf_store_check_options;

/* clang-format off */
#define HF_STORE_CHECK_OPTIONS_INIT \
    { sizeof(hf_store_check_options), 0, 0, NULL }
/* clang-format on */

/**
 * Read a whole embedded store and tell what is wrong with it. Nothing is
 * repaired, and no data is written.
 *
 * Every page is read: the trees, the order of all keys, that each page is used
 * once or free; then every record: its form, its counts, its checksum, that
 * each large collection has all of its elements and its indexes agree, and
 * that no element is without a key. The values inside large collections have no
 * checksum of their own.
 *
 * A store in use is read as it was at one instant; nobody is held up, but room
 * that writers free meanwhile is not used again before the check has ended: the
 * file may grow, and a store near its `max_size` may answer HF_FULL. The
 * reading is done by a process of its own, so that whatever is in the file
 * cannot crash or stop the caller; no signal tells of that process's end.
 *
 * @param url      as for hf_client_open(), NULL included
 * @param opts     NULL for defaults
 * @param finding  called for each finding, on the calling thread; NULL: only
 *                 the status counts
 * @param user     handed to `finding` and to `opts->progress`
 * @param err      [out] may be NULL
 *
 * @retval HF_OK           nothing is wrong
 * @retval HF_CORRUPT      something is; hf_client_open() refuses the store as
 *                         soon as nobody has it open
 * @retval HF_NOT_FOUND    there is no store, or only one of before the last
 *                         boot
 * @retval HF_INVALID      the URL or an option is wrong, or the path holds
 *                         something that is not a store of ours
 * @retval HF_UNSUPPORTED  not an embedded store, or one of a newer format
 * @retval HF_UNAVAILABLE  others held it up; nothing is known
 * @retval HF_TIMEOUT      limit_ms have passed; the findings told are true
 * @retval HF_DENIED       file permission refused
 * @retval HF_SYSTEM       a call of the operating system failed, the disk
 *                         did not answer for 60 s, or the reading process was
 *                         killed by somebody
 * @retval HF_NO_MEMORY    nothing is known
 *
 * Blocks: for as long as reading the file takes, but see `limit_ms`. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_check(const char *url,
                                            const hf_store_check_options *opts,
                                            hf_store_finding_fn finding,
                                            void *user, hf_error *err);

/** What hf_store_compact() did. Start it with #HF_STORE_COMPACTION_INIT. */
typedef struct hf_store_compaction {
    size_t struct_size;   /**< #HF_STORE_COMPACTION_INIT sets it */
    uint64_t keys;        /**< expired keys removed */
    uint64_t elements;    /**< elements of keys that are gone, removed */
    uint64_t size_before; /**< of the data file, bytes */
    uint64_t size_after;  /**< of the data file, bytes */
    bool rewritten;       /**< the file was written anew without holes */
    bool in_use;          /**< it was not, because others have it open */
} hf_store_compaction;

/* clang-format off */
#define HF_STORE_COMPACTION_INIT \
    { sizeof(hf_store_compaction), 0, 0, 0, 0, false, false }
/* clang-format on */

/**
 * Make an embedded store small: remove every expired key and what is left of
 * deleted ones, then write the data file anew.
 *
 * The first part goes in steps of about a millisecond, between which others
 * write. The second needs the store for itself: if anybody has it open, this
 * process's other clients included, it is left out; while it runs, whoever
 * opens the store waits for it as for any other opening. It takes room for a
 * second copy of the live data. Killed at any instant, it leaves the old file
 * or the new one.
 *
 * @param url     as for hf_client_open(), NULL included
 * @param result  [in,out] start it with #HF_STORE_COMPACTION_INIT; filled on
 *                HF_OK, and on HF_FULL
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           see `result`
 * @retval HF_FULL         no room for the second copy; what had expired is gone
 * @retval HF_NOT_FOUND    there is no store
 * @retval HF_INVALID      the URL or struct_size is wrong, or the path holds
 *                         something that is not a store of ours
 * @retval HF_UNSUPPORTED  not an embedded store, or one of a newer format
 * @retval HF_UNAVAILABLE  others held it up
 * @retval HF_CORRUPT      the store is damaged; it was left as it is
 * @retval HF_DENIED       file permission refused
 * @retval HF_SYSTEM       a call of the operating system failed
 * @retval HF_NO_MEMORY    the file is the old one
 *
 * Blocks: for as long as reading and writing the data takes. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_compact(const char *url,
                                              hf_store_compaction *result,
                                              hf_error *err);

/* --------------------------------------------------------- dump and load */

/**
 * How far a dump or a load is, and what it came to. Start it with
 * #HF_STORE_TRANSFER_INIT.
 */
typedef struct hf_store_transfer {
    size_t struct_size;  /**< #HF_STORE_TRANSFER_INIT sets it */
    uint64_t keys;       /**< keys dumped, or loaded */
    uint64_t bytes;      /**< of the dump, written or read */
    uint64_t keys_total; /**< dump: keys in the store when it began, whatever
                              the pattern; 0: not known */
    uint64_t existing;   /**< load: keys left alone, as they were there */
    uint64_t expired;    /**< load: keys left out, as their time was over */
    /** Keys of the source that the dump does not hold, as their type or their
     *  name is none of ours: streams, types of modules, names above 512 KiB. */
    uint64_t left_out;
    /** Keys of the source that went on changing while they were read; of each
     *  the dump holds elements of different moments, or nothing. */
    uint64_t changed;
    bool complete; /**< the dump has its end: what there is of it is whole */
} hf_store_transfer;

/* clang-format off */
#define HF_STORE_TRANSFER_INIT \
    { sizeof(hf_store_transfer), 0, 0, 0, 0, 0, 0, 0, false }
/* clang-format on */

/**
 * Tells how far a dump or a load is, often; on the calling thread.
 *
 * @param user    what was given beside write() or read()
 * @param so_far  valid until the function returns
 */
typedef void (*hf_store_transfer_fn)(void *user,
                                     const hf_store_transfer *so_far);

/**
 * Takes the next bytes of a dump; on the calling thread. It may take its time
 * and use the client.
 *
 * @param user  what was given beside it
 * @param data  `size` bytes, valid until the function returns
 * @param size  1..2 MiB
 * @return 0, or an errno number (ECANCELED for instance), which ends the dump
 */
typedef int (*hf_store_write_fn)(void *user, const void *data, size_t size);

/**
 * Gives the next bytes of a dump; on the calling thread. It may take its time
 * and use the client.
 *
 * @param user  what was given beside it
 * @param data  [out] room for `size` bytes
 * @param size  at least 1
 * @param got   [out] how many there are, at most `size`; 0: the dump is over
 * @return 0, or an errno number, which ends the load
 */
typedef int (*hf_store_read_fn)(void *user, void *data, size_t size,
                                size_t *got);

/** Options of hf_store_dump(). Zero means the default of each. */
typedef struct hf_store_dump_options {
    size_t struct_size; /**< #HF_STORE_DUMP_OPTIONS_INIT sets it */
    /** Only keys that fit, as SCAN's MATCH; empty: all. */
    hf_bytes pattern;
    /** NULL: no progress is told. */
    hf_store_transfer_fn progress;
    /** Told of each key that is left out, and its type; may be NULL. */
    void (*left_out)(void *user, hf_bytes key, const char *type);
} hf_store_dump_options;

/* clang-format off */
#define HF_STORE_DUMP_OPTIONS_INIT \
    { sizeof(hf_store_dump_options), { NULL, 0 }, NULL, NULL }
/* clang-format on */

/**
 * Write all keys of a store, with their contents and instants of expiry, as a
 * stream of bytes that hf_store_load() puts into any store.
 *
 * Others may go on writing. Each key that is there from beginning to end is in
 * the dump once. A string is dumped as it was at one instant, content and
 * expiry; so is a collection of up to 4096 elements and 1 MiB. A larger one is
 * read in pieces: what was in it all the time is in the dump. If its type,
 * count, expiry or (of a list) its ends are not the same afterwards, it is read
 * again, up to 3 times, and then counted in `result->changed`. Keys are not of
 * one common instant.
 *
 * Of the library's own keys the fencing tokens are dumped, so that they do not
 * go back; queues of waiters are not. Keys that expire while they wait for
 * their turn are not in the dump.
 *
 * Memory: 24 bytes for each key, one string as a whole (at most 512 MiB), and
 * some MiB.
 *
 * @param client  open client without a prefix: a dump has whole names
 * @param opts    NULL for defaults
 * @param write   takes the bytes
 * @param user    handed to `write` and to the functions in `opts`
 * @param result  [in,out] may be NULL; filled on every status but HF_INVALID
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             all keys that fit are in the dump
 * @retval HF_UNSUPPORTED    with `result->complete`: the dump is whole, but
 *                           keys were left out, and the message names one;
 *                           else an option is newer than this library
 * @retval HF_INVALID        an argument is wrong, or the client has a prefix;
 *                           nothing was written
 * @retval HF_SYSTEM         write() did not answer 0
 * @retval HF_UNAVAILABLE    the store was lost; the dump is of no use
 * @retval HF_INDETERMINATE  likewise, no answer came; nothing was changed
 * @retval HF_DENIED         the store refused a command
 * @retval HF_NO_MEMORY      the dump is of no use
 *
 * Blocks: as long as it takes; each request up to request_ms, and 1 s more for
 * each MiB it moves. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_dump(hf_client *client,
                                           const hf_store_dump_options *opts,
                                           hf_store_write_fn write, void *user,
                                           hf_store_transfer *result,
                                           hf_error *err);

/** Flags of hf_store_load(). */
enum {
    HF_LOAD_REPLACE = 1u << 0, /**< replace keys that exist */
    HF_LOAD_SKIP = 1u << 1,    /**< leave keys alone that exist */
    HF_LOAD_CHECK = 1u << 2    /**< only read the dump; nothing is stored */
};

/** Options of hf_store_load(). Zero means the default of each. */
typedef struct hf_store_load_options {
    size_t struct_size; /**< #HF_STORE_LOAD_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_LOAD_* bits; REPLACE and SKIP exclude each
                             other */
    uint32_t reserved0; /**< must be 0 */
    /** NULL: no progress is told. */
    hf_store_transfer_fn progress;
} hf_store_load_options;

/* clang-format off */
#define HF_STORE_LOAD_OPTIONS_INIT \
    { sizeof(hf_store_load_options), 0, 0, NULL }
/* clang-format on */

/**
 * Put the keys of a dump into a store.
 *
 * Each key appears at once, whole and with its expiry. Large ones are built
 * under a name `hf:load:...` that expires by itself ten minutes after the load
 * has died. An instant of expiry is the same on every store: what a key had
 * left when it was dumped goes on running while the dump lies in a file, and a
 * key whose time is over is not loaded.
 *
 * Without a flag a key that exists ends the load: it keeps what it had, and
 * its name is in the message; the keys before it, and up to 255 behind it, are
 * loaded. A fencing token never goes back, whatever the flags.
 *
 * A damaged dump is refused where the damage is met; the keys before it are
 * loaded. HF_LOAD_CHECK finds out beforehand.
 *
 * Memory: one string as a whole (embedded store), one element of a
 * collection, and some MiB.
 *
 * @param client  open client without a prefix: a dump has whole names
 * @param opts    NULL for defaults
 * @param read    gives the bytes
 * @param user    handed to `read` and to the function in `opts`
 * @param result  [in,out] may be NULL; filled on every status but HF_INVALID
 *                for an argument
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             all keys of the dump are loaded, or counted in
 *                           `result`
 * @retval HF_CONFLICT       without a flag: a key exists
 * @retval HF_CORRUPT        the dump is damaged or cut off; the message names
 *                           the place
 * @retval HF_UNSUPPORTED    with `result->complete`: all of the dump is loaded,
 *                           but keys of its source were left out of it; else
 *                           the dump or an option is newer than this library
 * @retval HF_INVALID        what is read is no dump; or an argument is wrong;
 *                           or the client has a prefix; nothing was changed
 * @retval HF_SYSTEM         read() did not answer 0
 * @retval HF_FULL           the store has no room; no key is there in part
 * @retval HF_UNAVAILABLE    the store was lost; no key is there in part
 * @retval HF_INDETERMINATE  no answer came; no key is there in part
 * @retval HF_DENIED         the store refused a command
 * @retval HF_WRONG_TYPE     the name of a fencing token holds something else
 * @retval HF_NO_MEMORY      no key is there in part
 *
 * Blocks: as long as it takes; each request up to request_ms, and 1 s more for
 * each MiB it moves. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_store_load(hf_client *client,
                                           const hf_store_load_options *opts,
                                           hf_store_read_fn read, void *user,
                                           hf_store_transfer *result,
                                           hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_H */
