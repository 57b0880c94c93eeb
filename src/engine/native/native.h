/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.h - the library's scripts as C functions, which the build makes of the
 * same text that servers are sent (tools/lua_to_c.py).
 *
 * A function runs within one transaction and runs commands as redis.call()
 * does. It leaves by longjmp() on errors and out of memory.
 */
#ifndef HF__ENGINE_NATIVE_H
#define HF__ENGINE_NATIVE_H

#include "engine/commands/command_row.h"
#include "store/store.h"

typedef struct hf__native hf__native;

/* What functions need while they run: memory. NULL: no memory. */
hf__native *hf__native_new(hf__command_finder *find);
void hf__native_free(hf__native *native);

/*
 * Run the function of the request's script (hf__script::native) in `tx`. Its
 * status and reply are in the request; or tx->fatal is set, which undoes its
 * writes. Scripts are bounded by their arguments, but for those of
 * transactions, which end after budget_ms, or at the request's deadline.
 */
void hf__native_run(hf__native *native, hf__tx *tx, hf__request *request,
                    int64_t budget_ms);

#endif
