/* SPDX-License-Identifier: Apache-2.0 */
/* background.h - requests that no caller waits for. */
#ifndef HF__CORE_BACKGROUND_H
#define HF__CORE_BACKGROUND_H

#include "core/client.h"
#include "store/request.h"

/* A copy of a filled request, with what its words refer to, which has time_ms;
 * NULL: out of memory. */
hf__request *hf__background_copy(const hf__request *filled, int64_t time_ms);

/* Send it, and free it once it is answered. NULL is allowed. */
void hf__background_send(hf_client *client, hf__request *copy);

#endif
