/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - helpers of all drivers.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/url.h"

hf_status hf__store_url_parse(const char *url, hf__url *parsed, hf_error *err)
{
    bool given = url != NULL && url[0] != '\0';
    hf_error cause = HF_ERROR_INIT;
    hf_status status;

    if (!given)
        url = getenv("HOLDFAST_STORE");
    if (url == NULL || url[0] == '\0')
        url = "volatile:";
    status = hf__url_parse(url, parsed, given ? err : &cause);
    if (!given && status != HF_OK)
        (void)hf__fail(err, status, "HOLDFAST_STORE: %s", cause.message);
    return status;
}

bool hf__store_url_is_default(const char *url)
{
    const char *variable = getenv("HOLDFAST_STORE");

    return (url == NULL || url[0] == '\0') && variable != NULL &&
           variable[0] != '\0';
}

bool hf__store_takes(const hf__store_ops *ops, const char *scheme)
{
    const char *const *at = ops->schemes;

    while (*at != NULL && strcmp(*at, scheme) != 0)
        at++;
    return *at != NULL;
}

void hf__store_channel(char channel[HF__CHANNEL_SIZE], const char *prefix,
                       const char *id)
{
    snprintf(channel, HF__CHANNEL_SIZE, "%.*s" HF__CHANNEL_ROLE "%.*s",
             HF__PREFIX_MAX, prefix == NULL ? "" : prefix,
             HF__STORE_ID_SIZE - 1, id);
}

void hf__store_message(hf_bytes message, hf_bytes *text, hf_bytes *topic)
{
    const char *bytes = message.data;
    const char *nul =
        message.size > 0 ? memchr(bytes, '\0', message.size) : NULL;
    size_t size = nul == NULL ? 0 : (size_t)(nul - bytes);

    *text = hf_view(bytes, size);
    *topic = nul == NULL ? message : hf_view(nul + 1, message.size - size - 1);
}
