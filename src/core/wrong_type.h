/* SPDX-License-Identifier: Apache-2.0 */
/* wrong_type.h - the message of HF_WRONG_TYPE: which key, and what it holds; of
 * HF_HELD: which key. */
#ifndef HF__CORE_WRONG_TYPE_H
#define HF__CORE_WRONG_TYPE_H

#include "store/store.h"

/* Put the request's key before what its store said, which `err` (NULL allowed)
 * holds. Nothing where the request has several, or any number. */
void hf__wrong_type_name(const hf__request *request, hf_error *err);

/* Ask the store what the key holds, until limit_ms, and say that instead. On a
 * thread that may wait. If it cannot the message stays as it is. */
void hf__wrong_type_ask(hf_client *client, const hf__request *request,
                        int64_t limit_ms, hf_error *err);

#endif
