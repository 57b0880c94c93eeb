/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drivers.c - the table of drivers.
 */
#include "store/drivers.h"

#include <string.h>

#include "engine/engine.h"
#include "records/record_driver.h"
#include "store/quorum/quorum.h"
#include "store/redis/redis.h"
#include "util/error.h"
#include "util/url.h"

static const hf__store_ops *const drivers[] = {
    &hf__embedded_store_ops, &hf__redis_store_ops,  &hf__sentinel_store_ops,
    &hf__cluster_store_ops,  &hf__quorum_store_ops, &hf__postgres_store_ops,
};

static hf_status unknown_scheme(const char *name, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    return hf__fail(err, HF_INVALID,
                    "unknown scheme %s; known schemes: volatile, file, redis, "
                    "rediss, valkey, valkeys (these four also with +sentinel "
                    "or +cluster), redis+unix, valkey+unix, redlock, postgres",
                    hf__quoted(quoted, hf_str(name)));
}

hf_status hf__store_driver(const char *scheme, const hf__store_ops **ops,
                           hf_error *err)
{
    size_t at;

    for (at = 0; at < sizeof(drivers) / sizeof(drivers[0]); at++) {
        if (!hf__store_takes(drivers[at], scheme))
            continue;
        *ops = drivers[at];
        return HF_OK;
    }
    return unknown_scheme(scheme, err);
}

/* "localhost:6379" */
static bool is_address(const hf__url *url)
{
    return url->host == NULL && url->param_count == 0 && url->path[0] != '\0' &&
           url->path[strspn(url->path, "0123456789")] == '\0';
}

hf_status hf__store_open(const hf__store_config *config, hf__store **store,
                         hf_error *err)
{
    const hf__store_ops *ops = NULL;
    const hf__url *url = config->url;
    hf_status status = hf__store_driver(url->scheme, &ops, err);

    if (status != HF_OK && is_address(url))
        return hf__fail(err, status,
                        "the URL has no scheme; a server is redis://%.100s:%s",
                        url->scheme, url->path);

    return status == HF_OK ? ops->open(config, store, err) : status;
}
