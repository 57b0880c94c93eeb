/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what a store of records must provide: reads of records with their
 * versions, and commits that happen only if versions are as expected.
 *
 * All functions are called on the loop thread, and complete a call there by its
 * done(), exactly once, by its deadline, and not within the function.
 */
#ifndef HF__RECORDS_BACKEND_H
#define HF__RECORDS_BACKEND_H

#include "engine/engine.h"
#include "store/maintenance.h"
#include "store/store.h"

/* Of a module: these types may change with every release. */
#define HF__BACKEND_VERSION                                                    \
    ((uint32_t)HF_VERSION_MAJOR << 20 | (uint32_t)HF_VERSION_MINOR << 10 |     \
     (uint32_t)HF_VERSION_PATCH)

typedef struct hf__backend hf__backend;

typedef struct hf__backend_record {
    hf_bytes key;
    hf_bytes payload;  /* as DUMP returns it */
    int64_t expire_ms; /* see hf__backend_end() */
    int64_t at_us;     /* call->now_us of the commit that wrote it */
    uint64_t version;  /* call->version of that; 0: there is no record */
} hf__backend_record;

/*
 * When a record ends, by the store's clock, Unix time; 0: never. expire_ms of a
 * lock's lease is less than 0, and the negation of that: the clock, which may
 * have been set, says too little of whether it is over. A backend may remove a
 * record that has ended; a lease only if its end and at_us are longer ago than
 * any clock is set.
 */
static inline int64_t hf__backend_end(int64_t expire_ms)
{
    return expire_ms < 0 ? -expire_ms : expire_ms;
}

/* In the year 2255, us; and what a number of Lua holds. */
#define HF__BACKEND_TIME_MAX (INT64_C(1) << 53)

/* Can it be of a commit of ours? With other numbers, what is computed of a
 * lease or TIME would overflow. */
static inline bool hf__backend_sound(const hf__backend_record *record)
{
    return record->version <= INT64_MAX && record->at_us >= 0 &&
           record->at_us <= HF__BACKEND_TIME_MAX &&
           record->expire_ms >= -HF__BACKEND_TIME_MAX;
}

typedef struct hf__backend_write {
    size_t at;        /* index of its record in call->records */
    hf_bytes payload; /* size 0: remove the record */
    int64_t expire_ms;
} hf__backend_write;

typedef enum hf__backend_outcome {
    HF__BACKEND_DONE,     /* read, or committed */
    HF__BACKEND_CONFLICT, /* a version differs */
    HF__BACKEND_ABSENT,   /* no client listens on required[absent] */
    HF__BACKEND_TIMING,   /* now_us is ahead of the clock, or too old */
    HF__BACKEND_FAILED,   /* see `status`; nothing was written */
    HF__BACKEND_UNKNOWN   /* it may have been written, or may be yet */
} hf__backend_outcome;

/* A read or a commit. Memory is the caller's until done(). */
typedef struct hf__backend_call hf__backend_call;
struct hf__backend_call {
    /* A read sets all of a record but its key. A commit checks its version; on
     * CONFLICT all are set as by a read. */
    hf__backend_record *records;
    size_t record_count;
    /* An earlier commit of the same request was not answered: what is read, or
     * found in place, must survive all that an acknowledged commit does. */
    bool doubtful;

    /* Of a commit. */
    const hf__backend_write *writes;
    size_t write_count;
    const hf__scratch_message *messages; /* published with it */
    size_t message_count;
    const hf_bytes *required; /* channels on which a client must listen */
    size_t required_count;
    /* What scripts had as TIME. Not ahead of the store's clock, nor of what is
     * in a record that is checked, whichever is later; nor older than the
     * clock less late_us. */
    int64_t now_us;
    int64_t late_us;
    uint64_t version; /* of what it writes; drawn, never twice the same */
    bool grants;      /* it makes a lease: this client may soon end it */
    bool early;       /* it only ends leases: others may see it before it would
                         survive a power cut. It is done once it would. */
    hf_bytes first_key; /* of the request, without its dedup record: what others
                           contend for */

    int64_t deadline_ms; /* of hf__clock_boot_ms() */
    void (*done)(hf__backend_call *call);
    void *user;

    /* By the backend. */
    hf__backend_outcome outcome;
    hf_status status; /* of FAILED */
    hf_error error;
    size_t absent;    /* index in `required` */
    int64_t store_us; /* the store's clock at an instant of the call; 0: not
                         known */
    hf__arena arena;  /* of the payloads; the caller frees it */
    void *backend;
};

/* One diagnostic; see hf__report(). `remedy` is "" if there is none. */
typedef void (*hf__backend_report_fn)(void *user, hf_level level,
                                      const char *name, const char *value,
                                      const char *remedy);

typedef struct hf__backend_ops {
    void (*read)(hf__backend *backend, hf__backend_call *call);
    void (*commit)(hf__backend *backend, hf__backend_call *call);
    /* Completes what is under way, UNKNOWN or FAILED, and frees. */
    void (*close)(hf__backend *backend);

    /* Listen on this client's channel from now on, and report it;
     * once broken, try again. */
    void (*listen)(hf__backend *backend);
    /* These may block, and run on any thread but the loop's. */
    void (*describe)(hf__backend *backend, hf__describe_fn line, void *user);
    void (*diagnose)(hf__backend *backend, hf__backend_report_fn report,
                     void *user);
    /* In a forked child, instead of close(): free what no one else uses. */
    void (*close_forked)(hf__backend *backend);
} hf__backend_ops;

/* A backend's own struct begins with this. */
struct hf__backend {
    const hf__backend_ops *ops;
    bool durable; /* a commit survives a power cut */
    /* Calls that it runs at once; 0: any number. No more are begun, as TIME of
     * those that wait would be too old, and renewals would wait for them. */
    size_t calls_max;
};

/* What a backend says of the client's channel, on the loop thread. */
typedef struct hf__backend_listener {
    void (*message)(void *user, hf_bytes text);
    /* With a message: a record that its commit wrote, or of version 0,
     * removed. */
    void (*record)(void *user, const hf__backend_record *record);
    /* It listens now, or does not any more; messages may have been missed. */
    void (*state)(void *user, bool listens);
    void *user;
} hf__backend_listener;

/* How a backend is opened. All but the strings of `store` outlives it. */
typedef struct hf__backend_config {
    const hf__store_config *store; /* until open() returns */
    const char *inbox;             /* this client's channel */
    const hf__backend_listener *listener;
    hf__loop *loop; /* it runs */
    struct hf__poller *poller;
    /* hf__loop_post(): a module has no loop of its own. */
    void (*post)(hf__loop *loop, hf__task *task);
} hf__backend_config;

/*
 * A backend that is not part of the library: libholdfast-<name>.so in the
 * library's folder, which has one of these, called hf__backend_found. It is
 * loaded when a URL first names it, and stays.
 */
typedef struct hf__backend_module {
    uint32_t version; /* HF__BACKEND_VERSION; another is refused */
    /* Connects and logs in, for connect_ms at most. Not on the loop thread. */
    hf_status (*open)(const hf__backend_config *config, hf__backend **backend,
                      hf_error *err);
    /* See hf__store_ops. */
    hf_status (*setup)(const hf__store_config *config,
                       void (*print)(void *user, const char *sql), void *user,
                       hf_error *err);
} hf__backend_module;

#endif
