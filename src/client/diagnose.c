/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - hf_store_diagnose(): arguments, what concerns the environment of
 * this process, and then the driver, which knows its store.
 */
#include <stdlib.h>

#include "core/client.h"
#include "holdfast/store.h"
#include "store/diagnosis.h"
#include "store/maintenance.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/options.h"

#define REQUESTS_DEFAULT 200
#define REQUESTS_MAX 100000
#define LIMIT_MS_DEFAULT 30000
#define LIMIT_MS_MAX 3600000

static hf_status load_options(hf_store_diagnose_options *options,
                              const hf_store_diagnose_options *from,
                              hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_store_diagnose_options", err);

    if (status != HF_OK)
        return status;
    if (options->reserved0 != 0)
        return hf__fail(err, HF_UNSUPPORTED, "reserved0 is not 0");
    status = hf__check_option(options->requests, REQUESTS_MAX, "requests", err);
    if (status == HF_OK)
        status =
            hf__check_option(options->limit_ms, LIMIT_MS_MAX, "limit_ms", err);
    if (status != HF_OK)
        return status;
    if (options->requests == 0)
        options->requests = REQUESTS_DEFAULT;
    if (options->limit_ms == 0)
        options->limit_ms = LIMIT_MS_DEFAULT;
    return HF_OK;
}

/* The options' or the environment's; a URL's is for the driver. */
static void look_at_password_file(const hf_client *client,
                                  const hf__diagnosis *diagnosis)
{
    const char *path = client->password_file;

    if (path == NULL)
        path = getenv("HOLDFAST_PASSWORD_FILE");
    if (path != NULL && path[0] != '\0')
        hf__diagnose_secret_file(diagnosis, "password file", path);
}

hf_status hf_store_diagnose(hf_client *client,
                            const hf_store_diagnose_options *opts,
                            hf_store_diagnostic_fn remark, void *user,
                            hf_error *err)
{
    hf_store_diagnose_options options;
    hf__diagnosis diagnosis = {.node = "", .remark = remark, .user = user};
    hf__visit visit;
    hf_status status;

    if (client == NULL || remark == NULL)
        return hf__fail(err, HF_INVALID, "an argument is NULL");
    status = load_options(&options, opts, err);
    if (status == HF_OK)
        status = hf__client_visit(client, &visit, err);
    if (status != HF_OK)
        return status;
    diagnosis.requests = options.requests;
    diagnosis.request_ms = client->request_ms;
    diagnosis.prefix = hf_view(client->prefix, client->prefix_size);
    diagnosis.deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), options.limit_ms);
    look_at_password_file(client, &diagnosis);
    if (client->store->ops->diagnose != NULL)
        client->store->ops->diagnose(client->store, &diagnosis);
    hf__client_visit_end(client, &visit);
    if (hf__diagnosis_is_over(&diagnosis))
        return hf__fail(err, HF_TIMEOUT,
                        "the store was not examined as a whole in %lld ms",
                        (long long)options.limit_ms);
    return HF_OK;
}
