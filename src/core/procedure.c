/* SPDX-License-Identifier: Apache-2.0 */
/* procedure.c - see procedure.h. */
#include "core/procedure.h"

#include "core/client.h"

void hf__procedure_init(hf__procedure *self, hf_client *client,
                        const hf__procedure_kind *kind, hf_error *failure)
{
    *self =
        (hf__procedure){.kind = kind,
                        .client = client,
                        .until_ms = INT64_MAX,
                        .ask_by_ms = INT64_MAX,
                        .wake_ms = INT64_MAX,
                        .failure = failure,
                        .interrupts = atomic_load(&client->interrupts.count)};
}
