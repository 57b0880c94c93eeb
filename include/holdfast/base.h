/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/base.h - the rules of the API, statuses, errors and bytes.
 *
 * Holdfast keeps state that several programs share, that must change
 * atomically, and that must expire on time: locks, values, hashes and scripts,
 * in an embedded store without a server or on Redis and Valkey.
 *
 * Contents:
 * - limits: HF_NAME_MAX, HF_VALUE_MAX, HF_TTL_MAX_MS, HF_REPLICAS_MAX
 * - statuses: hf_status, hf_status_kind(), hf_status_name(), hf_status_text()
 * - errors: hf_error
 * - bytes: hf_bytes, hf_view(), hf_str(); hf_buffer, hf_buffer_free()
 * - text of keys and numbers: hf_format(), HF_FORMAT(), HF_INT();
 * hf_bytes_int(), hf_buffer_int()
 * - what values and hashes share: hf_cas_options, hf_add_options
 * - hf_version()
 *
 * @code
 * void report(const char *what, hf_status status, const hf_error *err)
 * {
 *     if (hf_status_kind(status) == HF_KIND_NO)
 *         return; // an ordinary outcome: lock held, value differs, not found
 *     fprintf(stderr, "%s: %s: %s\n", what, hf_status_name(status),
 *             err->message);
 *     if (hf_status_kind(status) == HF_KIND_RETRY)
 *         fprintf(stderr, "nothing was changed; it may be tried again\n");
 * }
 * @endcode
 *
 * Rules
 * =====
 *
 * These hold for every function of every header unless its comment says
 * otherwise. A comment names only what is particular to the function.
 *
 * **Status.** A function that can fail returns an #hf_status. The hundreds
 * digit says what to do (hf_status_kind()): 1xx the condition was not met, 2xx
 * not applied and may be retried, 3xx outcome unknown, 4xx error of the caller,
 * 5xx fatal. Output parameters are written only on HF_OK.
 *
 * In addition to the statuses that a function lists, every call that talks to a
 * store can return
 *
 * | status           | meaning                                                |
 * |------------------|--------------------------------------------------------|
 * | HF_INVALID       | an argument or an option is invalid, and the message   |
 * |                  | names it; or the client is closed or was opened before |
 * |                  | fork(). Nothing was sent.                              |
 * | HF_UNSUPPORTED   | an option is newer than this library, or the store     |
 * |                  | lacks something that the call needs. Nothing was       |
 * |                  | changed.                                               |
 * | HF_DENIED        | the store refused a command to this user. Nothing was  |
 * |                  | changed.                                               |
 * | HF_UNAVAILABLE   | the store could not be reached. Nothing was changed.   |
 * | HF_FULL          | the store has no room. Nothing was changed.            |
 * | HF_INDETERMINATE | no reply arrived. A call that writes may or may not    |
 * |                  | have been applied; a read changed nothing.             |
 * | HF_CORRUPT,      | the reply is malformed, or the files of an embedded    |
 * | HF_SCRIPT        | store were removed, replaced or truncated: close the   |
 * |                  | client and open the store again                        |
 * | HF_NO_MEMORY     | out of memory. Nothing was changed, unless what did    |
 * |                  | not fit is the reply: then the call was applied.       |
 *
 * **Errors.** The last parameter, `err`, may be NULL. Otherwise it is filled on
 * every status but HF_OK, and left alone on HF_OK. The parameter `client` is an
 * open client.
 *
 * **Time.** Durations are milliseconds (`_ms`). Local instants are milliseconds
 * of CLOCK_BOOTTIME. Only a parameter named `_unix_ms` is Unix time, and it is
 * compared with the store's clock, never with the caller's. The clock of an
 * embedded store does not follow steps of the system's before the next boot.
 *
 * **Bytes.** Keys, fields and values are binary-safe. A key, a field and a
 * lock's name have 1 to #HF_NAME_MAX bytes, a value 0 to #HF_VALUE_MAX. Inputs
 * are copied or used before the call returns.
 *
 * **Options.** Start an options structure with its `_INIT` macro, which sets
 * `struct_size`. 0 and NULL mean the default of each member; NULL instead of
 * the structure means all defaults. Reserved members must be 0.
 *
 * **Other languages.** Every `_INIT` macro sets `struct_size`, if the structure
 * has one, and all other bytes to 0, so a binding needs only to clear the
 * memory and set that member. Limits and flags are integer literals and enum
 * constants, whose values are ABI; #HF_TXN_NONE has all bits set. Every call is
 * an exported function, except hf_view(), hf_str(), hf_attribute_number() and
 * hf_attribute_text(), which only fill a structure, and hf_buffer_int(), which
 * is hf_bytes_int() of a buffer. HF_FORMAT() and HF_INT() are forms of
 * hf_format() for C.
 *
 * **Threads.** Every function may be called from any thread, and all threads
 * may share one client. Freeing an object while another thread uses it is an
 * error; for closing see hf_client_close().
 *
 * **Blocking.** A function without `err` never blocks, except hf_client_close()
 * and hf_lock_free(). One that talks to a store returns within the client's
 * `request_ms`, plus its own `wait_ms` if it has one. Resolving a host name is
 * left to the system and may take longer.
 *
 * **Batch calls.** A function whose name ends in `_many` runs independent calls
 * together: they are sent at once, up to 1024 at a time, which saves round
 * trips, and take effect in any order; they are not atomic as a whole. Each
 * 1024 have `request_ms` of their own. `statuses` has the outcome of each call,
 * and the function returns HF_OK if each is HF_OK or 1xx; otherwise the first
 * other status. If an argument is NULL nothing is done. A started one (async.h)
 * is reported when all its calls have ended, and cancelled as a whole; each of
 * them counts for `max_calls`, and is HF_UNAVAILABLE if there is no room.
 *
 * **fork().** A child process must not use its parent's clients and locks:
 * calls return HF_INVALID, and closing or freeing them only releases memory.
 *
 * **Signals.** No function may be called from a signal handler. The library
 * installs no handlers, never raises SIGPIPE, and blocks all signals in its
 * background threads.
 *
 * **Replicas.** A server acknowledges a write before its replicas have it. With
 * `replicas` in hf_client_options, hf_lock_options or the URL, a write, and so
 * every script, waits until that many have acknowledged it, for at most
 * `replicas_ms` and within the call's own time. If fewer do, it returns
 * | call         | status                                                    |
 * |--------------|-----------------------------------------------------------|
 * | acquire      | HF_UNAVAILABLE: released (at once if it waits HF_FOREVER) |
 * | renewal      | HF_OK all the same; see hf_lock_replicas()                |
 * | other writes | HF_INDETERMINATE: applied, may be lost; no output written |
 * Reads, releases, hf_store_load() and refused calls do not wait. A failover
 * then rarely loses a lock, and never if all replicas that can be promoted are
 * counted. Fencing tokens make the loss harmless.
 *
 * **Leases.** A lock is a lease: it expires unless its holder renews it, so a
 * holder that was paused may still be running while another holds the lock.
 * Check hf_lock_is_held() before each effect, and pass the fencing token
 * (hf_lock_token()) with each write, so that a late one can be refused.
 *
 * Everything here is available since version 0.1.
 */
#ifndef HOLDFAST_BASE_H
#define HOLDFAST_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header. Before 1.0 a minor version may break the ABI. */
#define HF_VERSION_MAJOR 0
#define HF_VERSION_MINOR 2
#define HF_VERSION_PATCH 0

/** Longest key, hash field or lock name, bytes, including the client's
 *  prefix. */
#define HF_NAME_MAX 4096

/** Longest value, in bytes: 512 MiB, the limit of Redis (proto-max-bulk-len).
 */
#define HF_VALUE_MAX 536870912

/** Longest time to live of a key, ms: 100 years of 365.25 days. */
#define HF_TTL_MAX_MS 3155760000000

/** Most replicas that a write can wait for; and no replicas, where 0 means the
 *  default. */
#define HF_REPLICAS_MAX 16
#define HF_REPLICAS_NONE (-1)

/** Wait without a time limit. */
#define HF_FOREVER 9223372036854775807

#if defined(__GNUC__)
#define HF_API __attribute__((visibility("default")))
#define HF_MUST_USE __attribute__((warn_unused_result))
#define HF_PRINTF __attribute__((__format__(__printf__, 3, 4)))
#else
#define HF_API
#define HF_MUST_USE
#define HF_PRINTF
#endif

/* ------------------------------------------------------------------ status */

/**
 * Every status: name, value, text. The values are ABI: new ones are only
 * added, and the hundreds digit of each is its kind.
 *
 * A call with a time limit returns HF_TIMEOUT if what it waits for has not
 * happened by then, also if the limit is 0: a lock is held, a latch is closed,
 * a limiter has too few units. HF_HELD is what a call returns that has no limit
 * and cannot be done while a lock is held: hf_lock_try(), hf_value_delete().
 */
#define HF_STATUS_MAP(X)                                                       \
    X(OK, 0, "success")                                                        \
    X(HELD, 100, "the lock is held by another owner")                          \
    X(CONFLICT, 101, "condition not met")                                      \
    X(NOT_FOUND, 102, "no such key, or it has expired")                        \
    X(LOST, 103, "the lock was lost: another owner has it, or it expired")     \
    X(TIMEOUT, 104, "timed out")                                               \
    X(EXPIRED, 105, "the lease expired; no other owner has taken the lock")    \
    X(CANCELLED, 106, "the call was cancelled; nothing was applied")           \
    X(UNAVAILABLE, 200, "the store cannot be reached; nothing was applied")    \
    X(FULL, 201, "the store has no room; nothing was applied")                 \
    X(INDETERMINATE, 300, "outcome unknown: sent, but no reply arrived")       \
    X(INVALID, 400, "invalid argument")                                        \
    X(UNSUPPORTED, 401, "not supported by this store or version")              \
    X(DENIED, 402, "permission denied, or wrong password")                     \
    X(WRONG_TYPE, 403, "the key holds a value of another type")                \
    X(SCRIPT, 404, "the script is invalid or raised an error")                 \
    X(NO_MEMORY, 500, "out of memory")                                         \
    X(CORRUPT, 501, "stored data or a reply is malformed")                     \
    X(SYSTEM, 502, "a system call failed")

/** The outcome of a call. See #HF_STATUS_MAP. */
typedef enum hf_status {
#define HF_STATUS_ENUM(name, value, text) HF_##name = value,
    HF_STATUS_MAP(HF_STATUS_ENUM)
#undef HF_STATUS_ENUM
} hf_status;

/** What the caller should do: the hundreds digit of a status. */
typedef enum hf_kind {
    HF_KIND_OK = 0,      /**< done */
    HF_KIND_NO = 1,      /**< condition not met: an ordinary outcome */
    HF_KIND_RETRY = 2,   /**< not applied; a retry may succeed */
    HF_KIND_UNKNOWN = 3, /**< may be applied; find out before a retry */
    HF_KIND_USAGE = 4,   /**< the call itself must be changed */
    HF_KIND_FATAL = 5    /**< the process or the store is broken */
} hf_kind;

/** Bytes of #hf_error::message, the terminating NUL included. */
#define HF_ERROR_MESSAGE_SIZE 240

/** Details of a failure. Start it with #HF_ERROR_INIT; nothing to free. */
typedef struct hf_error {
    size_t struct_size; /**< sizeof(hf_error) */
    hf_status status;   /**< the status that was returned */
    int sys_errno;      /**< the errno that caused it, or 0 */
    /** One line without a newline; never contains a password. */
    char message[HF_ERROR_MESSAGE_SIZE];
} hf_error;

/* clang-format off */
#define HF_ERROR_INIT { sizeof(hf_error), HF_OK, 0, { 0 } }
/* clang-format on */

/**
 * The hundreds digit of a status.
 *
 * @param status  any status, including one unknown to this header
 * @return the kind; HF_KIND_FATAL outside 0..599
 */
HF_API hf_kind hf_status_kind(hf_status status);

/**
 * The name of a status without its prefix, such as "HELD".
 *
 * @param status  any status
 * @return a static string; "UNKNOWN" if the library does not know the status
 */
HF_API const char *hf_status_name(hf_status status);

/**
 * One line of English about a status.
 *
 * @param status  any status
 * @return a static string without a newline
 */
HF_API const char *hf_status_text(hf_status status);

/**
 * Version of the running library.
 *
 * @return "major.minor.patch", a static string
 */
HF_API const char *hf_version(void);

/* ------------------------------------------------------------------- bytes */

/** A view of bytes; it does not own them. */
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
 * Bytes owned by the caller. A call that fills one allocates `data` and appends
 * a NUL, so that text can be read as a C string. `data` is NULL if there is no
 * value. Start it with #HF_BUFFER_INIT, free it with hf_buffer_free().
 */
typedef struct hf_buffer {
    void *data;  /**< NULL: no value */
    size_t size; /**< bytes, without the NUL */
} hf_buffer;

/* clang-format off */
#define HF_BUFFER_INIT { NULL, 0 }
/* clang-format on */

/**
 * Free the contents of a buffer and reset it.
 *
 * @param buffer  may be NULL
 */
HF_API void hf_buffer_free(hf_buffer *buffer);

/**
 * Write a text, such as a key, as snprintf() does.
 *
 * A text that does not fit is not cut, as it might then be another one's name:
 * the result is bytes without data, which every call refuses with HF_INVALID.
 *
 * @param buffer  where to; it must last as long as the result is used
 * @param size    of the buffer, bytes: the text and a NUL have to fit
 * @param format  of printf()
 * @return a view of the text, without the NUL; if it does not fit, NULL with
 *         its size
 */
HF_API HF_PRINTF hf_bytes hf_format(char *buffer, size_t size,
                                    const char *format, ...);

/** Bytes that HF_FORMAT() has for a text and its NUL. */
#define HF_FORMAT_SIZE 256

#ifndef __cplusplus
/**
 * hf_format() with a buffer of its own, of #HF_FORMAT_SIZE bytes, which lasts
 * until the end of the block: `hf_value_get(client, HF_FORMAT("user:%d", id),
 * ...)`. In a loop that is the end of each turn, so what is to be kept, as keys
 * of a batch, needs buffers of the caller. For C: a temporary array of C++ ends
 * with its expression.
 */
#define HF_FORMAT(...)                                                         \
    hf_format((char[HF_FORMAT_SIZE]){0}, HF_FORMAT_SIZE, __VA_ARGS__)

/** HF_FORMAT() of an integer in decimal digits: `HF_INT(number)`. */
#define HF_INT(number) HF_FORMAT("%lld", (long long)(number))
#endif

/**
 * Read an integer in the form in which counters are stored (hf_value_add()):
 * decimal digits, behind a `-` if it is negative, and nothing else.
 *
 * @param text    of any length
 * @param number  [out] the integer
 *
 * @retval HF_OK          all of the text is one
 * @retval HF_NOT_FOUND   there is no value: `text` is NULL
 * @retval HF_WRONG_TYPE  it is no such integer, or does not fit 64 bits
 */
HF_API HF_MUST_USE hf_status hf_bytes_int(hf_bytes text, int64_t *number,
                                          hf_error *err);

/**
 * Read an integer from what a call has put into a buffer: hf_bytes_int().
 *
 * @param buffer  left as it is
 * @param number  [out] the integer
 *
 * @retval HF_OK          all of the value is one
 * @retval HF_NOT_FOUND   the buffer has no value
 * @retval HF_WRONG_TYPE  it is no such integer, or does not fit 64 bits
 */
static inline HF_MUST_USE hf_status hf_buffer_int(const hf_buffer *buffer,
                                                  int64_t *number,
                                                  hf_error *err)
{
    return hf_bytes_int(hf_view(buffer->data, buffer->size), number, err);
}

/** Flags of hf_value_cas() and hf_hash_cas(). */
enum {
    /** Send the call at most once: a lost reply is HF_INDETERMINATE. By
     *  default a server keeps a record by which a call that is sent again
     *  learns the outcome of the first: a key `PREFIXhf:cas:...` of about 150
     *  bytes for each concurrent call (in a cluster, for each slot), for twice
     *  the client's `request_ms`. This costs a read and a write, on a busy
     *  server a third of the rate (docs/adr/0025). */
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

/** Flags of hf_add_options. */
enum {
    HF_ADD_MIN = 1u << 0, /**< `min` is given */
    HF_ADD_MAX = 1u << 1  /**< `max` is given */
};

/** Options of hf_value_add() and hf_hash_add(). */
typedef struct hf_add_options {
    size_t struct_size; /**< #HF_ADD_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_ADD_* bits */
    uint32_t reserved0; /**< must be 0 */
    int64_t min;        /**< with HF_ADD_MIN: least result */
    int64_t max;        /**< with HF_ADD_MAX: greatest result */
    /** Time to live of a key that the call creates, ms, 1..#HF_TTL_MAX_MS;
     *  0: none. A key that exists keeps what it has. */
    int64_t ttl_ms;
} hf_add_options;

/* clang-format off */
#define HF_ADD_OPTIONS_INIT { sizeof(hf_add_options), 0, 0, 0, 0, 0 }
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_BASE_H */
