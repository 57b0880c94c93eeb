/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - see run.h. */
#include "core/run.h"

#include "core/client.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/order.h"

hf_status hf__request_stamp(hf_client *client, hf__request *request,
                            int64_t limit_ms, hf_error *err)
{
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms =
        hf__at_most(request->began_ms + client->request_ms, limit_ms);
    return hf__client_check(client, err);
}

hf_status hf__run_inside(hf_client *client, hf__request *request,
                         int64_t limit_ms, hf_error *err)
{
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms =
        hf__at_most(request->began_ms + client->request_ms, limit_ms);
    client->store->ops->perform(client->store, request);
    if (request->status != HF_OK)
        return hf__fail_copy(err, &request->error);
    return HF_OK;
}

hf_status hf__run(hf_client *client, hf__request *request, int64_t limit_ms,
                  hf_error *err)
{
    hf_status status = hf__client_may_block(client, err);

    if (status != HF_OK)
        return status;
    return hf__run_inside(client, request, limit_ms, err);
}

hf_status hf__run_script_by(hf_client *client, uint32_t index,
                            const hf_bytes *words, size_t count,
                            size_t key_count, int64_t limit_ms,
                            hf__request *request, hf_error *err)
{
    hf__request_script(request, &hf__scripts[index], words, count, key_count);
    return hf__run(client, request, limit_ms, err);
}

hf_status hf__run_operation(hf_client *client, const hf__operation *operation,
                            hf_bytes *words, size_t count, hf__request *request,
                            hf_error *err)
{
    hf__operation_request(request, operation, words, count);
    return hf__run(client, request, INT64_MAX, err);
}
