/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - what an operation is, apart from the words of one call: a
 * command or a script, whether it may be sent twice, what it may be answered
 * with, what it wrote. What a script of ours returns is in src/script/.
 */
#ifndef HF__CORE_OPERATION_H
#define HF__CORE_OPERATION_H

#include "holdfast/async.h"
#include "store/store.h"

typedef struct hf__operation {
    const char *command; /* NULL: a script */
    const hf__script *script;
    /* NULL, or the same script with a dedup record (core/cas_session.h), where
     * an answer can be lost; `without`: back again. */
    const hf__script *once;
    hf__narrow without;
    bool repeatable;  /* a command: may it be sent twice? */
    hf__shape answer; /* of a command */
    /* Given the answer, did it write? NULL: it only reads. */
    bool (*wrote)(const hf__request *request);
    /* Read the reply, on HF_OK, and write the caller's results. It has the
     * shape that was asked for: only what it says is to be judged. */
    hf_status (*finish)(hf_call *call, hf_error *err);
    const char *absent; /* message of HF_NOT_FOUND; NULL: "no such key" */
    bool lease;       /* it renews or releases: started, there is always room */
    bool alone;       /* it cannot be part of a transaction */
    bool reply_stays; /* finish hands the reply out (hf__call_keep()) */
} hf__operation;

#define HF__SCRIPT(name) (&hf__scripts[HF__SCRIPT_##name])

/* Fill a request of a command; words[0] is set here. */
void hf__operation_request(hf__request *request, const hf__operation *operation,
                           hf_bytes *words, size_t count);

extern const hf__operation hf__op_get;
extern const hf__operation hf__op_load_set;
extern const hf__operation hf__op_dump;
extern const hf__operation hf__op_function_dump;
extern const hf__operation hf__op_function_restore;

extern const hf__operation hf__op_exists;
extern const hf__operation hf__op_unlink;
extern const hf__operation hf__op_del;

extern const hf__operation hf__op_scan;
extern const hf__operation hf__op_hscan;
extern const hf__operation hf__op_sscan;
extern const hf__operation hf__op_zscan;
extern const hf__operation hf__op_lrange;
extern const hf__operation hf__op_hpexpiretime;
extern const hf__operation hf__op_hpexpireat;

extern const hf__operation hf__op_dbsize;
extern const hf__operation hf__op_time;
extern const hf__operation hf__op_wait;

#endif
