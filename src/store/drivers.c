/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drivers.c - the table of drivers.
 */
#include "store/drivers.h"

#include <string.h>

#include "util/error.h"
#include "util/url.h"

typedef struct scheme_row {
    const char *name;
    const hf__store_ops *ops;
} scheme_row;

static const scheme_row schemes[] = {
    {"volatile", &hf__embedded_store_ops},
    {"file", &hf__embedded_store_ops},
    {"redis", &hf__redis_store_ops},
    {"valkey", &hf__redis_store_ops},
    {"redis+unix", &hf__redis_store_ops},
    {"valkey+unix", &hf__redis_store_ops},
    {"rediss", &hf__redis_store_ops},
    {"valkeys", &hf__redis_store_ops},
    {"redis+sentinel", &hf__sentinel_store_ops},
    {"rediss+sentinel", &hf__sentinel_store_ops},
    {"valkey+sentinel", &hf__sentinel_store_ops},
    {"valkeys+sentinel", &hf__sentinel_store_ops},
    {"redis+cluster", &hf__cluster_store_ops},
    {"rediss+cluster", &hf__cluster_store_ops},
    {"valkey+cluster", &hf__cluster_store_ops},
    {"valkeys+cluster", &hf__cluster_store_ops},
    {"redlock", &hf__quorum_store_ops},
};

static hf_status unknown_scheme(const char *name, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    /* The list first, as a long name would cut it off. */
    return hf__fail(err, HF_INVALID,
                    "schemes of stores are volatile, file, redis, rediss, "
                    "valkey, valkeys, each of these four also with +sentinel "
                    "or +cluster, redis+unix, valkey+unix and redlock, but "
                    "not %s",
                    hf__quoted(quoted, hf_str(name)));
}

hf_status hf__store_driver(const char *scheme, const hf__store_ops **ops,
                           hf_error *err)
{
    size_t at;

    for (at = 0; at < sizeof(schemes) / sizeof(schemes[0]); at++) {
        if (strcmp(schemes[at].name, scheme) != 0)
            continue;
        *ops = schemes[at].ops;
        return HF_OK;
    }
    return unknown_scheme(scheme, err);
}

hf_status hf__store_open(const hf__store_config *config, hf__store **store,
                         hf_error *err)
{
    const hf__store_ops *ops = NULL;
    hf_status status = hf__store_driver(config->url->scheme, &ops, err);

    return status == HF_OK ? ops->open(config, store, err) : status;
}
