/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - on the calling thread: one request, from words to reply, and a
 * procedure.
 *
 * `request` is initialised here and must be ended with hf__request_done()
 * whatever the status.
 */
#ifndef HF__CORE_RUN_H
#define HF__CORE_RUN_H

#include "core/operation.h"
#include "core/procedure.h"
#include "store/store.h"

/* Stamp a filled request with its deadline: request_ms from now, limit_ms at
 * the latest. HF_INVALID: a client from before fork(). */
hf_status hf__request_stamp(hf_client *client, hf__request *request,
                            int64_t limit_ms, hf_error *err);

/* Run a filled request by limit_ms; INT64_MAX: by request_ms alone. */
hf_status hf__run(hf_client *client, hf__request *request, int64_t limit_ms,
                  hf_error *err);
/* The same inside hf__client_enter_blocking(). */
hf_status hf__run_inside(hf_client *client, hf__request *request,
                         int64_t limit_ms, hf_error *err);

hf_status hf__run_script_by(hf_client *client, uint32_t index,
                            const hf_bytes *words, size_t count,
                            size_t key_count, int64_t limit_ms,
                            hf__request *request, hf_error *err);
/* words[0] is set here. */
hf_status hf__run_operation(hf_client *client, const hf__operation *operation,
                            hf_bytes *words, size_t count, hf__request *request,
                            hf_error *err);

/* Do what is next, until the end. */
void hf__run_blocking(hf__procedure *procedure, hf__next next);

#endif
