/* SPDX-License-Identifier: Apache-2.0 */
/* maintenance.h - how a store is to be checked, salvaged and diagnosed. */
#ifndef HF__STORE_MAINTENANCE_H
#define HF__STORE_MAINTENANCE_H

#include "holdfast/store.h"
#include "store/store.h"

/* How a store is to be checked; see hf_store_check_options. */
struct hf__check {
    int64_t limit_ms; /* 0: none */
    uint32_t findings_max;
    hf_store_fault_fn finding;     /* never NULL */
    hf_store_progress_fn progress; /* NULL: not wanted */
    void *user;
};

/* How a store is to be salvaged; see hf_store_salvage(). */
struct hf__salvage {
    const struct hf__url *new_url; /* of the same driver */
    hf_store_lost_fn lost;         /* never NULL */
    void *user;
};

/* How to diagnose a store; see hf_store_diagnose_options. */
struct hf__diagnosis {
    const char *node;    /* the target; "": the whole store */
    uint32_t requests;   /* round trips to measure for each */
    int64_t request_ms;  /* longest time for one request */
    int64_t deadline_ms; /* for all; on hf__clock_boot_ms() */
    hf_bytes prefix;     /* of the client's keys */
    hf_store_diagnostic_fn remark;
    void *user;
};

#endif
