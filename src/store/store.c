/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - from a URL's scheme to its driver, and the life of a request
 * outside of the drivers.
 */
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/url.h"

typedef struct scheme_row {
    const char *name;
    const hf__store_ops *ops; /* NULL: not in this version */
} scheme_row;

static const scheme_row schemes[] = {
    {"volatile", &hf__embedded_store_ops},
    {"file", &hf__embedded_store_ops},
    {"redis", &hf__redis_store_ops},
    {"valkey", &hf__redis_store_ops},
    {"redis+unix", &hf__redis_store_ops},
    {"valkey+unix", &hf__redis_store_ops},
    {"rediss", NULL},
    {"valkeys", NULL},
    {"redis+sentinel", NULL},
    {"rediss+sentinel", NULL},
    {"valkey+sentinel", NULL},
    {"valkeys+sentinel", NULL},
    {"redis+cluster", NULL},
    {"rediss+cluster", NULL},
    {"valkey+cluster", NULL},
    {"valkeys+cluster", NULL},
    {"redlock", NULL},
};

void hf__request_init(hf__request *request)
{
    /* The arena's inline bytes, the greater part, are left as they are. */
    memset(request, 0, offsetof(hf__request, arena));
    request->error = (hf_error)HF_ERROR_INIT;
    hf__arena_init(&request->arena);
    request->driver = NULL;
}

void hf__request_done(hf__request *request)
{
    hf__arena_free(&request->arena);
    hf__reply_set_nil(&request->reply);
}

void hf__request_fail(hf__request *request, hf_status status,
                      const char *format, ...)
{
    char message[HF_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    if (vsnprintf(message, sizeof(message), format, args) < 0)
        message[0] = '\0';
    va_end(args);
    request->status = hf__fail(&request->error, status, "%s", message);
}

static hf_status unknown_scheme(const char *name, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    return hf__fail(err, HF_INVALID,
                    "no store has the scheme %s; known are volatile, file, "
                    "redis, valkey, redis+unix and valkey+unix",
                    hf__quoted(quoted, hf_str(name)));
}

hf_status hf__store_open(const hf__store_config *config, hf__store **store,
                         hf_error *err)
{
    const char *name = config->url->scheme;
    size_t at;

    for (at = 0; at < sizeof(schemes) / sizeof(schemes[0]); at++) {
        if (strcmp(schemes[at].name, name) != 0)
            continue;
        if (schemes[at].ops == NULL)
            return hf__fail(err, HF_UNSUPPORTED,
                            "%s: stores are not in this version", name);
        return schemes[at].ops->open(config, store, err);
    }
    return unknown_scheme(name, err);
}
