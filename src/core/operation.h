/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - the commands that core sends: for each, whether it may be sent
 * twice and what it may be answered with. What a script of ours is and returns
 * stands in src/script/.
 */
#ifndef HF__CORE_OPERATION_H
#define HF__CORE_OPERATION_H

#include "store/store.h"

typedef struct hf__operation {
    const char *command;
    bool repeatable;
    hf__shape answer;
} hf__operation;

/* Fill a request; words[0] is set here. */
void hf__operation_request(hf__request *request, const hf__operation *operation,
                           hf_bytes *words, size_t count);

extern const hf__operation hf__op_get;
extern const hf__operation hf__op_set;     /* without a condition ... */
extern const hf__operation hf__op_set_if;  /* ... with NX or XX ... */
extern const hf__operation hf__op_set_get; /* ... with GET */
extern const hf__operation hf__op_load_set;
extern const hf__operation hf__op_hget;
extern const hf__operation hf__op_hgetall;
extern const hf__operation hf__op_hdel;

extern const hf__operation hf__op_pttl;
extern const hf__operation hf__op_pexpire;
extern const hf__operation hf__op_exists;
extern const hf__operation hf__op_unlink;
extern const hf__operation hf__op_del;

extern const hf__operation hf__op_scan;
extern const hf__operation hf__op_hscan;
extern const hf__operation hf__op_sscan;
extern const hf__operation hf__op_zscan;
extern const hf__operation hf__op_lrange;

extern const hf__operation hf__op_script_load; /* SCRIPT */
extern const hf__operation hf__op_dbsize;
extern const hf__operation hf__op_time;
extern const hf__operation hf__op_wait;

#endif
