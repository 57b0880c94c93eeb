/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/base.h - what every other header stands on.
 *
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

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_BASE_H */
