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
#include "store/store.h"

/* How much older than the store's clock the instant of a commit may be, us. */
#define HF__BACKEND_LATE_US INT64_C(250000)

typedef struct hf__backend hf__backend;

typedef struct hf__backend_record {
    hf_bytes key;
    hf_bytes payload;  /* as DUMP returns it */
    int64_t expire_ms; /* by the store's clock, Unix time; 0: never */
    int64_t at_us;     /* call->now_us of the commit that wrote it */
    uint64_t version;  /* call->version of that; 0: there is no record */
} hf__backend_record;

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

    /* Of a commit. */
    const hf__backend_write *writes;
    size_t write_count;
    const hf__scratch_message *messages; /* published with it */
    size_t message_count;
    const hf_bytes *required; /* channels on which a client must listen */
    size_t required_count;
    /* What scripts had as TIME. Not ahead of the store's clock, nor of what is
     * in a record that is checked, whichever is later; nor older than
     * HF__BACKEND_LATE_US. */
    int64_t now_us;
    uint64_t version; /* of what it writes; drawn, never twice the same */

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

typedef struct hf__backend_ops {
    void (*read)(hf__backend *backend, hf__backend_call *call);
    void (*commit)(hf__backend *backend, hf__backend_call *call);
    /* Completes what is under way, UNKNOWN or FAILED, and frees. */
    void (*close)(hf__backend *backend);
} hf__backend_ops;

/* A backend's own struct begins with this. */
struct hf__backend {
    const hf__backend_ops *ops;
};

#endif
